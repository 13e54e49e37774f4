//! The body language: one element in, one element out. Elementwise ops, reductions, scans, tile elementwise and
//! every executor share this enum and its semantics table (`scalar/eval.rs`; rules in `docs/numerics.md`).

pub mod eval;
mod lane;
mod small;

use tegula_base::DType;

/// An operation on scalars. Operands have one dtype unless stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ScalarOp {
    // One operand.
    Neg,
    Abs,
    /// -1, 0 or 1; NaN stays, zero keeps its sign.
    Sign,
    Ceil,
    Floor,
    /// To nearest, ties to even.
    Round,
    Trunc,
    Sqrt,
    Rsqrt,
    Reciprocal,
    Exp,
    Log,
    Log1p,
    Expm1,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Sigmoid,
    /// Logical on `bool`, bitwise on integers.
    Not,
    /// Float to `bool`.
    IsNan,
    /// Float to `bool`.
    IsInf,
    /// To another dtype: float to int truncates and saturates, NaN to 0; int to int wraps; to `bool` is `!= 0`;
    /// to a float rounds to nearest even; to a float of at most 8 bits saturates when `saturate`
    /// (`base::small_float`).
    Cast {
        to: DType,
        saturate: bool,
    },
    /// Same bits, other dtype held in as many bytes; the unused bits of a byte follow the type.
    Bitcast {
        to: DType,
    },
    // Two operands.
    Add,
    Sub,
    Mul,
    /// Integers truncate; division by zero gives 0, `MIN / -1` wraps.
    Div,
    /// Sign of the dividend (C `%`, `fmod`); integer remainder by zero is 0.
    Rem,
    /// Sign of the divisor (Python `%`); integer modulo by zero is 0.
    Mod,
    Pow,
    /// NaN if either is NaN; -0 < +0.
    Min,
    Max,
    Atan2,
    And,
    Or,
    Xor,
    /// Shift of the first by the second, counts at or above the width give 0.
    ShiftLeft,
    /// Logical for unsigned, arithmetic for signed types.
    ShiftRight,
    /// Comparisons give `bool`; with NaN all but `Ne` are false.
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    // Three operands.
    /// `(bool, a, a)`: the second where true, else the third.
    Select,
    /// `a * b + c`, rounded once.
    Fma,
    // One operand, for recipes.
    /// Of `f32`: `2^x`, at most 2 ulp; a result below the smallest normal number may be 0.
    Exp2,
}

impl ScalarOp {
    /// All ops without parameters, for tables and tests.
    pub const PLAIN: [ScalarOp; 53] = {
        use ScalarOp::*;
        [
            Neg, Abs, Sign, Ceil, Floor, Round, Trunc, Sqrt, Rsqrt, Reciprocal, Exp, Log, Log1p, Expm1, Sin,
            Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Erf, Sigmoid, Not, IsNan,
            IsInf, Add, Sub, Mul, Div, Rem, Mod, Pow, Min, Max, Atan2, And, Or, Xor, ShiftLeft, ShiftRight,
            Eq, Ne, Lt, Le, Gt, Ge, Select,
        ]
    };

    /// The spelling in text, without parameters.
    pub fn name(self) -> &'static str {
        use ScalarOp::*;
        match self {
            Neg => "neg",
            Abs => "abs",
            Sign => "sign",
            Ceil => "ceil",
            Floor => "floor",
            Round => "round",
            Trunc => "trunc",
            Sqrt => "sqrt",
            Rsqrt => "rsqrt",
            Reciprocal => "reciprocal",
            Exp => "exp",
            Log => "log",
            Log1p => "log1p",
            Expm1 => "expm1",
            Sin => "sin",
            Cos => "cos",
            Tan => "tan",
            Asin => "asin",
            Acos => "acos",
            Atan => "atan",
            Sinh => "sinh",
            Cosh => "cosh",
            Tanh => "tanh",
            Asinh => "asinh",
            Acosh => "acosh",
            Atanh => "atanh",
            Erf => "erf",
            Sigmoid => "sigmoid",
            Not => "not",
            IsNan => "is_nan",
            IsInf => "is_inf",
            Cast { .. } => "cast",
            Bitcast { .. } => "bitcast",
            Add => "add",
            Sub => "sub",
            Mul => "mul",
            Div => "div",
            Rem => "rem",
            Mod => "mod",
            Pow => "pow",
            Min => "min",
            Max => "max",
            Atan2 => "atan2",
            And => "and",
            Or => "or",
            Xor => "xor",
            ShiftLeft => "shift_left",
            ShiftRight => "shift_right",
            Eq => "eq",
            Ne => "ne",
            Lt => "lt",
            Le => "le",
            Gt => "gt",
            Ge => "ge",
            Select => "select",
            Fma => "fma",
            Exp2 => "exp2",
        }
    }

    /// Whether 0 is allowed where the result is below the smallest normal number of `f32` (`docs/numerics.md`).
    pub const fn may_flush(self) -> bool {
        matches!(self, ScalarOp::Exp | ScalarOp::Exp2 | ScalarOp::Sigmoid)
    }

    /// Number of operands, 1 to 3.
    pub fn arity(self) -> usize {
        use ScalarOp::*;
        match self {
            Select | Fma => 3,
            Add | Sub | Mul | Div | Rem | Mod | Pow | Min | Max | Atan2 | And | Or | Xor | ShiftLeft
            | ShiftRight | Eq | Ne | Lt | Le | Gt | Ge => 2,
            _ => 1,
        }
    }

    pub fn is_comparison(self) -> bool {
        use ScalarOp::*;
        matches!(self, Eq | Ne | Lt | Le | Gt | Ge)
    }

    /// The result's dtype. Errors: the operand dtypes do not fit the op.
    pub fn result_type(self, operands: &[DType]) -> Result<DType, String> {
        use ScalarOp::*;
        let name = self.name();
        if operands.len() != self.arity() {
            return Err(format!("`{name}` takes {} operands, got {}", self.arity(), operands.len()));
        }
        let (data, first) =
            if self == Select { (&operands[1..], operands[1]) } else { (operands, operands[0]) };
        if self == Select && operands[0] != DType::Bool {
            return Err(format!("`select` chooses by bool, got {}", operands[0]));
        }
        if data.iter().any(|dtype| *dtype != first) {
            let list: Vec<&str> = data.iter().map(|dtype| dtype.name()).collect();
            return Err(format!("`{name}` takes operands of one element type, got {}", list.join(" and ")));
        }
        let allowed = match self {
            Select | Eq | Ne | Cast { .. } | Bitcast { .. } => true,
            _ if first.is_stored_only() => false,
            And | Or | Xor | Not => !first.is_float(),
            ShiftLeft | ShiftRight => first.is_int(),
            Neg | Abs | Sign | Add | Sub | Mul | Div | Rem | Mod | Pow | Ceil | Floor | Round | Trunc => {
                first != DType::Bool
            }
            Min | Max | Lt | Le | Gt | Ge => true,
            Exp2 => first == DType::F32,
            _ => first.is_float(),
        };
        if !allowed {
            let hint = if first.is_stored_only() { ", which is only stored: cast it first" } else { "" };
            return Err(format!("`{name}` is not defined on {first}{hint}"));
        }
        Ok(match self {
            Eq | Ne | Lt | Le | Gt | Ge | IsNan | IsInf => DType::Bool,
            Cast { to, .. } => to,
            Bitcast { to } if to.size() != first.size() => {
                return Err(format!("`bitcast` keeps the width, got {first} to {to}"));
            }
            Bitcast { to } => to,
            _ => first,
        })
    }
}

/// `add`, `cast:f32`, `cast:f8e4m3fn:wrap`, `bitcast:i32`.
impl std::fmt::Display for ScalarOp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ScalarOp::Cast { to, saturate: true } => write!(f, "cast:{to}"),
            ScalarOp::Cast { to, saturate: false } => write!(f, "cast:{to}:wrap"),
            ScalarOp::Bitcast { to } => write!(f, "bitcast:{to}"),
            plain => f.write_str(plain.name()),
        }
    }
}

impl std::str::FromStr for ScalarOp {
    type Err = String;
    fn from_str(text: &str) -> Result<ScalarOp, String> {
        let mut parts = text.split(':');
        let name = parts.next().unwrap_or_default();
        let op = match name {
            "cast" | "bitcast" => {
                let to = parts.next().ok_or_else(|| format!("`{name}` needs an element type"))?.parse()?;
                match (name, parts.next()) {
                    ("cast", None) => ScalarOp::Cast { to, saturate: true },
                    ("cast", Some("wrap")) => ScalarOp::Cast { to, saturate: false },
                    ("bitcast", None) => ScalarOp::Bitcast { to },
                    (_, rest) => {
                        return Err(format!("`{}` is no option of `{name}`", rest.unwrap_or_default()));
                    }
                }
            }
            "fma" => ScalarOp::Fma,
            "exp2" => ScalarOp::Exp2,
            _ => *ScalarOp::PLAIN
                .iter()
                .find(|op| op.name() == name)
                .ok_or_else(|| format!("no scalar operation is called `{name}`"))?,
        };
        match parts.next() {
            None => Ok(op),
            Some(rest) => Err(format!("`{rest}` is no option of `{name}`")),
        }
    }
}

impl crate::AttrText for ScalarOp {
    fn to_attr(&self) -> crate::mlir::Attr {
        crate::attr::string(self.to_string())
    }
    fn from_attr(attr: &crate::mlir::Attr) -> Result<ScalarOp, String> {
        crate::attr::as_string(attr)?.parse()
    }
}
