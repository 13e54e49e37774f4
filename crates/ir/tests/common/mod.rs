//! A small level with one op of every sort, and the runner of text tests: input, a line `// -----`, blessed result.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::path::{Path, PathBuf};
use tegula_base::{DType, Dim, Shape};
use tegula_ir::mlir::Type;
use tegula_ir::op::Types;
use tegula_ir::{
    AttrText, ConstId, Effects, Func, Op, OpId, RegionId, ScalarOp, TypeText, Value, define_ops, dtype_of,
    element_type,
};

define_ops! {
    /// One op of every sort.
    pub enum DemoOp: "demo" {
        /// A constant; the result's type is the constant's.
        Const = "const" { value: ConstId },
        /// Elementwise. map_c1: the dtypes suit the function; map_c2: shapes are equal.
        Map = "map" { function: ScalarOp },
        /// Sums over an axis. sum_c1: the axis exists.
        Sum = "sum" { axis: usize, keep: bool },
        /// Two results of the operand's type.
        Split = "split" { tag: Option<i64> },
        /// One of two regions, which may use outer values. if_c1: the condition is a scalar bool.
        If = "if" {},
        /// Repeats its region, which sees its arguments alone. repeat_c1: it yields what it takes.
        Repeat = "repeat" { times: i64 },
        /// Writes.
        Store = "store" { slot: i64 },
        /// Reads what `store` wrote.
        Load = "load" { slot: i64 },
        /// Ends a region.
        Yield = "yield" {},
        /// Ends a function.
        Return = "return" {},
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DemoType {
    pub dtype: DType,
    pub shape: Shape,
}

/// Symbolic dims print as `?`, with all dims in the encoding.
impl TypeText for DemoType {
    fn to_mlir(&self) -> Type {
        let is_static = self.shape.iter().all(|dim| dim.as_const().is_some());
        Type::RankedTensor {
            shape: self.shape.iter().map(|dim| dim.as_const().map(|n| n as u64)).collect(),
            element: Box::new(element_type(self.dtype)),
            encoding: (!is_static).then(|| Box::new(self.shape.to_attr())),
        }
    }
    fn from_mlir(ty: &Type) -> Result<DemoType, String> {
        let Type::RankedTensor { shape, element, encoding } = ty else {
            return Err("a tensor type is expected".into());
        };
        let shape = match encoding {
            Some(dims) => Shape::from_attr(dims)?,
            None => shape
                .iter()
                .map(|n| n.map(|n| Dim::from(n as usize)).ok_or("`?` needs its size".to_string()))
                .collect::<Result<Vec<Dim>, String>>()?
                .into(),
        };
        Ok(DemoType { dtype: dtype_of(element)?, shape })
    }
}

impl tegula_ir::op::OpRules for DemoOp {
    type Type = DemoType;

    fn effects(&self) -> Effects {
        match self {
            DemoOp::Store { .. } | DemoOp::Yield {} | DemoOp::Return {} => Effects::Writes,
            DemoOp::Load { .. } => Effects::Reads,
            DemoOp::Const { .. }
            | DemoOp::Map { .. }
            | DemoOp::Sum { .. }
            | DemoOp::Split { .. }
            | DemoOp::If {}
            | DemoOp::Repeat { .. } => Effects::Pure,
        }
    }

    fn is_terminator(&self) -> bool {
        matches!(self, DemoOp::Yield {} | DemoOp::Return {})
    }

    fn region_count(&self) -> usize {
        match self {
            DemoOp::If {} => 2,
            DemoOp::Repeat { .. } => 1,
            _ => 0,
        }
    }

    fn regions_capture(&self) -> bool {
        !matches!(self, DemoOp::Repeat { .. })
    }

    fn check(func: &Func<DemoOp>, op: OpId) -> Result<Types<DemoType>, String> {
        result_types(func, op).map(Types::from)
    }
}

fn result_types(func: &Func<DemoOp>, op: OpId) -> Result<Vec<DemoType>, String> {
    let types: Vec<&DemoType> = func.operands(op).iter().map(|value| func.ty(*value)).collect();
    let yields = |region: RegionId| func.terminator(region).map(|end| func.operands(end)).unwrap_or_default();
    let types_of = |values: &[Value]| values.iter().map(|value| func.ty(*value).clone()).collect::<Vec<_>>();
    match (func.kind(op), types.as_slice()) {
        (DemoOp::Const { .. } | DemoOp::Load { .. }, []) => Ok(func.result_types(op)),
        (DemoOp::Map { function }, [first, ..]) => {
            if types.iter().any(|ty| ty.shape != first.shape) {
                return Err("map_c2: shapes differ".into());
            }
            let dtypes: Vec<DType> = types.iter().map(|ty| ty.dtype).collect();
            let dtype = function.result_type(&dtypes).map_err(|error| format!("map_c1: {error}"))?;
            Ok(vec![DemoType { dtype, shape: first.shape.clone() }])
        }
        (DemoOp::Sum { axis, keep }, [ty]) => {
            if *axis >= ty.shape.rank() {
                return Err(format!("sum_c1: no axis {axis} in {}", ty.shape));
            }
            let (outer, inner) = ty.shape.split_at(*axis);
            let kept = keep.then(|| Dim::from(1));
            let shape = outer.iter().cloned().chain(kept).chain(inner[1..].iter().cloned()).collect();
            Ok(vec![DemoType { dtype: ty.dtype, shape }])
        }
        (DemoOp::Split { .. }, [ty]) => Ok(vec![(*ty).clone(), (*ty).clone()]),
        (DemoOp::If {}, [ty]) if ty.dtype == DType::Bool && ty.shape.rank() == 0 => {
            let [yes, no] = func.regions_of(op) else { return Err("two regions".into()) };
            let (yes, no) = (types_of(yields(*yes)), types_of(yields(*no)));
            if yes == no { Ok(yes) } else { Err("if_c2: the regions yield different types".into()) }
        }
        (DemoOp::If {}, _) => Err("if_c1: the condition is a scalar bool".into()),
        (DemoOp::Repeat { .. }, _) => {
            let region = func.regions_of(op)[0];
            let taken = types_of(func.operands(op));
            if types_of(func.args(region)) != taken || types_of(yields(region)) != taken {
                return Err("repeat_c1: the region takes and yields what the op takes".into());
            }
            Ok(taken)
        }
        (DemoOp::Store { .. }, [_]) | (DemoOp::Yield {} | DemoOp::Return {}, _) => Ok(vec![]),
        (kind, operands) => Err(format!("`{}` does not take {} operands", kind.name(), operands.len())),
    }
}

pub const RULE: &str = "// -----\n";

/// Compares every `.mlir` case of a folder with what `run` makes of its input, and fails once with all differences.
/// `BLESS=1` rewrites the results.
pub fn check(folder: &str, run: impl Fn(&str) -> String) {
    let bless = std::env::var_os("BLESS").is_some();
    let mut failures = Vec::new();
    for path in cases(folder) {
        let text = std::fs::read_to_string(&path).expect("readable case");
        let (input, blessed) = text.split_once(RULE).unwrap_or((&text, ""));
        let actual = run(input);
        if actual == blessed {
            continue;
        }
        if bless {
            std::fs::write(&path, format!("{input}{RULE}{actual}")).expect("writable case");
        } else {
            failures.push(format!("{}\n--- blessed\n{blessed}--- actual\n{actual}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}\nBLESS=1 accepts the actual texts", failures.join("\n"));
}

fn cases(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("readable folder").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "mlir"));
    paths.sort();
    assert!(!paths.is_empty(), "no cases in {}", folder.display());
    paths
}

/// Diagnostics as comment lines.
pub fn commented(found: &tegula_base::Diagnostics) -> String {
    found.to_string().lines().map(|line| format!("// {line}\n")).collect()
}
