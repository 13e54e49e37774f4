//! The kernel list: what checks of GPU code walk over. Each row is a tensor program of symbolic sizes, the sizes at
//! which its speed matters, and small sizes with tails at which the interpreter of PTX can tell whether it is right.
//!
//! Rows are data (`data/gpu_kernels.json`); programs are built from a row by its `program` (`programs.rs`).

mod attention;
mod contract;
mod rows;

use crate::random::data::{Values, tensor};
use crate::random::{Case, Rng};
use serde::Deserialize;
use std::collections::BTreeMap;
use tegula_base::{DType, Dim, HostTensor, Shape, SymbolInfo};
use tegula_ir::Value;
use tegula_tensor::build::Built;
use tegula_tensor::{Builder, TensorFunc, TensorProgram};

/// Sizes by name, of all symbols of a row.
pub type Sizes = BTreeMap<String, i64>;

/// A row of the list.
#[derive(Clone, Debug, Deserialize)]
pub struct GpuKernel {
    pub name: String,
    /// Size symbols and what each is a multiple of, in every run.
    pub symbols: BTreeMap<String, i64>,
    /// Sizes that are constants in every program of the row, as a model's weights have them.
    #[serde(default)]
    constants: Sizes,
    /// Sizes of the speed table.
    table: Vec<TableRow>,
    /// Sizes for checks of results.
    pub small: Vec<Sizes>,
    #[serde(flatten)]
    pub kind: Kind,
}

/// What a program computes, with what is constant in it.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "program", rename_all = "snake_case")]
pub enum Kind {
    Gemm(contract::Gemm),
    GemmBlockScales {},
    GroupedGemm { operands: String, out: String },
    GemmWeights { bits: i64, group: i64 },
    Gemv { operands: String },
    Attention(attention::Attention),
    Decode(attention::Decode),
    PagedDecode(attention::Decode),
    Rows { op: rows::RowOp, dtype: String, columns: i64 },
    RowsAny { op: rows::RowOp, dtype: String },
    Swiglu { dtype: String },
    AddRmsNormQuant { dtype: String, columns: i64 },
    RopeKvUpdate { dtype: String, heads: i64, d: i64 },
    Transpose { dtype: String },
    Sum { dtype: String },
    Argmax { dtype: String, columns: i64 },
    Sample { dtype: String, columns: i64 },
}

#[derive(Clone, Debug, Deserialize)]
struct TableRow {
    tag: Option<String>,
    #[serde(flatten)]
    sizes: Sizes,
}

/// The list, in its file's order.
pub fn gpu_kernels() -> Vec<GpuKernel> {
    let text = include_str!("../../../data/gpu_kernels.json");
    serde_json::from_str(text).expect("invariant: the list is a part of this program")
}

impl GpuKernel {
    /// The sizes of the speed table, each with the model it is from.
    pub fn table(&self) -> impl Iterator<Item = (Option<&str>, &Sizes)> {
        self.table.iter().map(|row| (row.tag.as_deref(), &row.sizes))
    }

    /// Whether matrix units should do the row's products: all of narrow types, but rows that begin anywhere.
    pub fn is_for_matrix_units(&self) -> bool {
        let begins_anywhere = self.symbols.values().all(|divisor| *divisor == 1);
        match &self.kind {
            Kind::Gemm(gemm) => gemm.is_narrow() && !begins_anywhere,
            Kind::Attention(attention) => attention.is_narrow(),
            Kind::GroupedGemm { .. } | Kind::GemmWeights { .. } => true,
            Kind::Decode(_) => true,
            // Keys one by one come without the copy engine, which alone feeds warpgroups' products.
            Kind::PagedDecode(decode) => !decode.is_single_keys(),
            // Scales are applied before the product; one row is bound by its bytes.
            Kind::GemmBlockScales {} | Kind::Gemv { .. } => false,
            Kind::Rows { .. } | Kind::RowsAny { .. } | Kind::Swiglu { .. } | Kind::AddRmsNormQuant { .. } => {
                false
            }
            Kind::RopeKvUpdate { .. } | Kind::Transpose { .. } | Kind::Sum { .. } => false,
            Kind::Argmax { .. } | Kind::Sample { .. } => false,
        }
    }

    /// The program; symbols that `fixed` names are constants.
    /// Errors: the tensor level cannot say it.
    pub fn program(&self, fixed: &Sizes) -> Result<TensorProgram, String> {
        Ok(self.build(fixed)?.0)
    }

    /// The program with symbols, and random inputs for it. Errors: as [`Self::program`].
    pub fn case(&self, sizes: &Sizes, seed: u64) -> Result<Case, String> {
        let (program, kinds) = self.build(&Sizes::new())?;
        let func = program.entry();
        let mut rng = Rng::new(seed);
        let inputs = func.args(func.body()).iter().zip(kinds).map(|(arg, kind)| {
            let ty = func.ty(*arg);
            let extent = |dim: &Dim| dim.eval(&|name| sizes.get(name).copied()).map(|n| n as usize);
            let shape: Option<Vec<usize>> = ty.shape.iter().map(extent).collect();
            let shape = shape.ok_or_else(|| format!("{}: a size of {} is not given", self.name, ty.shape))?;
            Ok(kind.tensor(&mut rng, ty.dtype, &shape, sizes))
        });
        let inputs = inputs.collect::<Result<Vec<HostTensor>, String>>()?;
        Ok(Case { seed, program, inputs, drawn_sizes: vec![], choices: None })
    }

    fn build(&self, fixed: &Sizes) -> Result<(TensorProgram, Vec<Fill>), String> {
        let fixed = &self.constants.iter().chain(fixed).map(|(name, n)| (name.clone(), *n)).collect();
        let mut program = TensorProgram::new(TensorFunc::new("main"));
        let TensorProgram { symbols, consts, funcs } = &mut program;
        let mut b = Builder::new(&mut funcs[0], consts);
        b.location = Some(self.name.as_str().into());
        let mut p = Params { b, fixed, fills: vec![], names: vec![] };
        let results = self.kind.build(&mut p)?;
        p.b.ret(&results)?;
        let (fills, names) = (p.fills, p.names);
        let func = &mut funcs[0];
        func.arg_names = names;
        func.result_names = (0..results.len()).map(|i| format!("y{i}")).collect();
        for (input, arg) in func.args(func.body()).iter().enumerate() {
            for (axis, dim) in func.ty(*arg).shape.iter().enumerate() {
                let Some(name) = dim.as_symbol() else { continue };
                if symbols.get(name).is_none() {
                    let divisor = self.symbols.get(name).copied().unwrap_or(1);
                    let info = SymbolInfo::input(input as u32, axis as u32);
                    symbols.insert(name, SymbolInfo { min: 1, divisor, ..info });
                }
            }
        }
        tegula_ir::verify_program(&program).map_err(|found| found.to_string())?;
        Ok((program, fills))
    }
}

/// Random elements of an input that are drawn; longer ones repeat them. A prime, so that no two rows are alike.
const DISTINCT: usize = 1_048_573;

/// A tensor of this shape whose elements are those of `drawn`, again and again.
pub fn repeated(drawn: &HostTensor, shape: &[usize]) -> HostTensor {
    let mut left = shape.iter().product::<usize>() * drawn.dtype.size();
    let mut bytes = Vec::with_capacity(left);
    while left > 0 && !drawn.bytes.is_empty() {
        let part = left.min(drawn.bytes.len());
        bytes.extend_from_slice(&drawn.bytes[..part]);
        left -= part;
    }
    HostTensor { dtype: drawn.dtype, shape: shape.to_vec(), bytes }
}

/// How an input is filled.
#[derive(Clone, Debug)]
enum Fill {
    Plain(Values),
    /// Any bits.
    Bytes,
    /// Numbers below the value of a size.
    Below(Dim),
    /// Different numbers below the value of a size.
    Distinct(Dim),
}

impl Fill {
    fn tensor(&self, rng: &mut Rng, dtype: DType, shape: &[usize], sizes: &Sizes) -> HostTensor {
        let limit = |dim: &Dim| dim.eval(&|name| sizes.get(name).copied()).unwrap_or(1).max(1);
        let count: usize = shape.iter().product();
        match self {
            Fill::Plain(values) => repeated(&tensor(rng, dtype, &[count.min(DISTINCT)], *values), shape),
            Fill::Bytes => {
                let drawn = count.min(DISTINCT);
                let bytes = (0..drawn * dtype.size()).map(|_| rng.bits() as u8).collect();
                repeated(&HostTensor { dtype, shape: vec![drawn], bytes }, shape)
            }
            Fill::Below(dim) => {
                let numbers: Vec<i64> = (0..count).map(|_| rng.between(0, limit(dim) - 1)).collect();
                HostTensor::from_elements(shape, &numbers)
            }
            Fill::Distinct(dim) => {
                let mut all: Vec<i64> = (0..limit(dim)).collect();
                let swaps = all.len();
                for i in 0..swaps {
                    let other = rng.between(0, swaps as i64 - 1) as usize;
                    all.swap(i, other);
                }
                let numbers: Vec<i64> = (0..count).map(|i| all[i % swaps]).collect();
                HostTensor::from_elements(shape, &numbers)
            }
        }
    }
}

/// What programs are built with.
struct Params<'a> {
    b: Builder<'a>,
    fixed: &'a Sizes,
    fills: Vec<Fill>,
    names: Vec<String>,
}

impl Params<'_> {
    /// A size of the row.
    fn dim(&self, name: &str) -> Dim {
        self.fixed.get(name).map_or_else(|| Dim::symbol(name), |n| Dim::from(*n))
    }

    fn input(&mut self, name: &str, dtype: DType, shape: impl Into<Shape>) -> Value {
        self.filled(name, dtype, shape, Fill::Plain(Values::Ordinary))
    }

    fn positive(&mut self, name: &str, dtype: DType, shape: impl Into<Shape>) -> Value {
        self.filled(name, dtype, shape, Fill::Plain(Values::Positive))
    }

    fn filled(&mut self, name: &str, dtype: DType, shape: impl Into<Shape>, fill: Fill) -> Value {
        self.names.push(name.to_string());
        self.fills.push(fill);
        self.b.arg(dtype, shape)
    }
}

impl Kind {
    fn build(&self, p: &mut Params) -> Built<Vec<Value>> {
        match self {
            Kind::Gemm(gemm) => gemm.build(p),
            Kind::GemmBlockScales {} => contract::block_scales(p),
            Kind::GroupedGemm { operands, out } => contract::grouped(p, operands.parse()?, out.parse()?),
            Kind::GemmWeights { bits, group } => contract::weights(p, *bits, *group),
            Kind::Gemv { operands } => contract::gemv(p, operands.parse()?),
            Kind::Attention(attention) => attention.build(p),
            Kind::Decode(decode) => decode.build(p),
            Kind::PagedDecode(decode) => decode.paged(p),
            Kind::Rows { op, dtype, columns } => op.build(p, dtype.parse()?, Dim::from(*columns)),
            Kind::RowsAny { op, dtype } => {
                let columns = p.dim("c");
                op.build(p, dtype.parse()?, columns)
            }
            Kind::Swiglu { dtype } => rows::swiglu(p, dtype.parse()?),
            Kind::AddRmsNormQuant { dtype, columns } => {
                rows::add_rms_norm_quant(p, dtype.parse()?, Dim::from(*columns))
            }
            Kind::RopeKvUpdate { dtype, heads, d } => rows::rope_kv_update(p, dtype.parse()?, *heads, *d),
            Kind::Transpose { dtype } => rows::transpose(p, dtype.parse()?),
            Kind::Sum { dtype } => rows::sum(p, dtype.parse()?),
            Kind::Argmax { dtype, columns } => rows::argmax(p, dtype.parse()?, *columns),
            Kind::Sample { dtype, columns } => rows::sample(p, dtype.parse()?, *columns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_a_program_with_inputs_at_its_small_sizes() {
        for kernel in gpu_kernels() {
            for sizes in &kernel.small {
                let case = kernel.case(sizes, 1).unwrap_or_else(|error| panic!("{}: {error}", kernel.name));
                assert!(!case.inputs.is_empty(), "{}", kernel.name);
                let multiples = kernel.symbols.iter().all(|(name, divisor)| sizes[name] % divisor == 0);
                assert!(multiples, "{}: {sizes:?}", kernel.name);
            }
            for (_, sizes) in kernel.table() {
                kernel.program(sizes).unwrap_or_else(|error| panic!("{}: {error}", kernel.name));
            }
        }
    }
}
