//! The ops of the schedule level. Lane-wise ops never fail and never trap.

use super::types::Elem;
use tegula_base::DType;
use tegula_ir::{define_ops, enum_attr, struct_attr};

/// Integer arithmetic on `index` values. Wraps; comparisons give 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexOp {
    Add,
    Sub,
    Mul,
    /// Rounds towards negative infinity; by zero gives 0.
    FloorDiv,
    /// Sign of the divisor; by zero gives 0.
    Mod,
    Min,
    Max,
    And,
    Or,
    Xor,
    ShiftLeft,
    /// Arithmetic.
    ShiftRight,
    Eq,
    Ne,
    Lt,
    Le,
}
enum_attr!(IndexOp {
    Add = "add",
    Sub = "sub",
    Mul = "mul",
    FloorDiv = "floordiv",
    Mod = "mod",
    Min = "min",
    Max = "max",
    And = "and",
    Or = "or",
    Xor = "xor",
    ShiftLeft = "shl",
    ShiftRight = "shr",
    Eq = "eq",
    Ne = "ne",
    Lt = "lt",
    Le = "le",
});

/// Which part of the machine a loop's working set is meant to stay in; for `explain`, never for meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LoopLevel {
    /// Over the work units of `[begin, end)`.
    Parallel,
    L3,
    L2,
    L1,
    Register,
}
enum_attr!(LoopLevel { Parallel = "parallel", L3 = "l3", L2 = "l2", L1 = "l1", Register = "register" });

/// Lane-wise arithmetic. "int" ops take `i32`/`i64` lanes, "float" ops `f32`/`f64` lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum VecOp {
    /// int or float.
    Add,
    Sub,
    Mul,
    /// float: IEEE. int: truncates; by zero gives 0; `MIN / -1` wraps.
    Div,
    /// int, truncating remainder; by zero gives 0.
    Rem,
    /// int, unsigned: by zero gives 0.
    DivU,
    RemU,
    /// float: x86 `min`: the second operand when either is NaN or both are zero. int: signed.
    Min,
    Max,
    /// int, unsigned.
    MinU,
    MaxU,
    /// float: NaN if either is, -0 below +0; the signs of both orders of `Max` and-ed, their other bits or-ed.
    Maximum,
    /// Bitwise, on any lanes (floats as bits).
    And,
    Or,
    Xor,
    /// `!a & b`.
    AndNot,
    /// int; the second operand holds counts a lane; counts outside of `0..width` give 0 (for `Sar`: the sign).
    Shl,
    Shr,
    Sar,
    /// float, one operand.
    Sqrt,
    Floor,
    Ceil,
    Trunc,
    RoundEven,
    /// float, `a * b + c` rounded once.
    Fma,
    /// float, `-(a * b) + c` rounded once.
    Fnma,
}
enum_attr!(VecOp {
    Add = "add",
    Sub = "sub",
    Mul = "mul",
    Div = "div",
    Rem = "rem",
    DivU = "divu",
    RemU = "remu",
    Min = "min",
    Max = "max",
    MinU = "minu",
    MaxU = "maxu",
    Maximum = "maximum",
    And = "and",
    Or = "or",
    Xor = "xor",
    AndNot = "andnot",
    Shl = "shl",
    Shr = "shr",
    Sar = "sar",
    Sqrt = "sqrt",
    Floor = "floor",
    Ceil = "ceil",
    Trunc = "trunc",
    RoundEven = "round_even",
    Fma = "fma",
    Fnma = "fnma",
});

impl VecOp {
    pub const fn arity(self) -> usize {
        match self {
            VecOp::Sqrt | VecOp::Floor | VecOp::Ceil | VecOp::Trunc | VecOp::RoundEven => 1,
            VecOp::Fma | VecOp::Fnma => 3,
            _ => 2,
        }
    }
}

/// Lane comparisons; floats are ordered (false with NaN) but for `Ne`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CompareOp {
    Eq,
    Ne,
    Lt,
    Le,
    /// int, unsigned.
    LtU,
    LeU,
}
enum_attr!(CompareOp { Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", LtU = "ltu", LeU = "leu" });

/// Combines all lanes of a vector into one, as a balanced tree: lane i with lane i + lanes/2, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReduceOp {
    Add,
    Mul,
    Min,
    Max,
    MinU,
    MaxU,
    And,
    Or,
    Xor,
}
enum_attr!(ReduceOp {
    Add = "add",
    Mul = "mul",
    Min = "min",
    Max = "max",
    MinU = "minu",
    MaxU = "maxu",
    And = "and",
    Or = "or",
    Xor = "xor",
});

/// Lane conversions between register elements; lane count stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConvertOp {
    /// `i32` to `i64`.
    SignExtend,
    ZeroExtend,
    /// `i64` to `i32`, low bits.
    Truncate,
    /// Signed integer (`i32`, `i64`) to float (`f32`, `f64`), nearest even.
    IntToFloat,
    UintToFloat,
    /// Float to signed integer, truncating; out of range and NaN give the "integer indefinite" value
    /// (only the top bit set), as x86 does. Callers clamp first.
    FloatToInt,
    /// Float to signed integer, nearest even; otherwise as `FloatToInt`.
    FloatToIntNearest,
    /// `f32` to `f64`.
    Extend,
    /// `f64` to `f32`, nearest even.
    Round,
    /// Rounds `f32` lanes to the nearest even `f16` value, kept in `f32` lanes.
    RoundToF16,
    /// Rounds `f32` lanes to the nearest even `bf16` value, kept in `f32` lanes.
    RoundToBf16,
    /// Same bits, other element of the same width.
    Bitcast,
}
enum_attr!(ConvertOp {
    SignExtend = "sext",
    ZeroExtend = "zext",
    Truncate = "trunc",
    IntToFloat = "sitofp",
    UintToFloat = "uitofp",
    FloatToInt = "fptosi",
    FloatToIntNearest = "fptosi_nearest",
    Extend = "fpext",
    Round = "fptrunc",
    RoundToF16 = "round_f16",
    RoundToBf16 = "round_bf16",
    Bitcast = "bitcast",
});

/// The form of an address: `base + index * scale + disp` bytes. Operands of a memory op are, in this order:
/// base; index when `indexed`; (the stored value for stores); the count of active lanes when `counted`.
/// Inactive lanes (at or above the count) touch no memory and read as 0. Counts below 0 are 0, above `lanes` all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Address {
    pub indexed: bool,
    /// 1, 2, 4 or 8.
    pub scale: u32,
    pub disp: i64,
    pub counted: bool,
}
struct_attr!(Address { indexed, scale, disp, counted });

define_ops! {
    /// Ops of the CPU's schedule level.
    pub enum CpuOp: "tgc" {
        /// A constant index.
        Const = "const" { value: i64 },
        /// Word `word` of the argument block: an address or a size.
        Arg = "arg" { word: usize },
        /// The address of this thread's scratch area.
        Scratch = "scratch" {},
        /// First work unit.
        Begin = "begin" {},
        /// One past the last work unit.
        End = "end" {},
        /// `(index, index) -> index`.
        Index = "index" { op: IndexOp },
        /// `(condition, a, b) -> index`: `a` where the condition is not 0.
        IndexSelect = "index_select" {},
        /// Counted loop `(lo, hi, inits...)`: body arguments are the induction variable and the carried values;
        /// its `yield` gives the next carried values; results are the last ones. `step` is positive.
        For = "for" { step: i64, level: LoopLevel },
        /// `(condition)`: then-region and else-region, both end in `yield` of the results. Regions capture.
        If = "if" {},
        /// Ends a loop body or a branch.
        Yield = "yield" {},
        /// Ends the kernel.
        Return = "return" {},

        /// Consecutive elements of storage type `dtype`, widened to its register form.
        Load = "load" { dtype: DType, lanes: u32, at: Address },
        /// As `load`, of the lanes that a mask, the last operand, names; the others touch no memory and read as 0. Never
        /// counted. The address may lie outside of the memory that the lanes named are in.
        LoadMasked = "load_masked" { dtype: DType, lanes: u32, at: Address },
        /// One element, widened, in every lane. Never counted.
        LoadSplat = "load_splat" { dtype: DType, lanes: u32, at: Address },
        /// Elements `stride` bytes apart: the last operand before the count is the stride (index).
        LoadStrided = "load_strided" { dtype: DType, lanes: u32, at: Address },
        /// Elements at `base + disp + offsets[lane] * scale`: operands base, offsets (`i32` or `i64` lanes),
        /// count when counted. `indexed` is false.
        Gather = "gather" { dtype: DType, lanes: u32, at: Address },
        /// The bytes at `base + disp + offsets[lane]`, as a gather: offsets (`i32` lanes) are less than 256, and the
        /// table has [`tegula_tensor::lookup::SLACK`] bytes more.
        LookUp = "look_up" { lanes: u32, at: Address },
        /// Raw register contents without widening: `lanes` of `elem` (e.g. 64 x `i8` for a dot product).
        LoadRaw = "load_raw" { elem: Elem, lanes: u32, at: Address },
        /// Two signed bytes a lane, consecutive, each extended to 16 bits in its half of an `i32`. Never counted.
        LoadWords = "load_words" { lanes: u32, at: Address },
        /// Narrows each lane to `dtype` (integers keep low bits; `f32` lanes round to nearest even for `f16`,
        /// `bf16`, 8-bit floats) and stores consecutively.
        Store = "store" { dtype: DType, at: Address },
        /// As `store`, elements `stride` bytes apart: operands base, index?, value, stride, count?.
        StoreStrided = "store_strided" { dtype: DType, at: Address },
        /// As `store`, at `base + disp + offsets[lane] * scale`, lanes in order (the last of equal offsets wins):
        /// operands base, value, offsets, count?.
        Scatter = "scatter" { dtype: DType, at: Address },

        /// The cache line at this address is read soon: it is brought to L2. Any address; changes nothing.
        Prefetch = "prefetch" { at: Address },

        /// Every lane the same bits.
        VecConst = "vec_const" { elem: Elem, lanes: u32, bits: i64 },
        /// An index truncated or converted into every lane: integers keep low bits.
        Splat = "splat" { elem: Elem, lanes: u32 },
        /// `0, 1, 2, ...`, integer lanes.
        Iota = "iota" { elem: Elem, lanes: u32 },
        /// Lane-wise arithmetic.
        Vec = "vec" { op: VecOp },
        /// `(vector, vector) -> mask`.
        Compare = "compare" { op: CompareOp },
        /// `(mask, a, b) -> vector` or masks: `a` where true.
        Select = "select" {},
        /// `and`, `or`, `xor`, `andnot` of masks.
        MaskOp = "mask_op" { op: VecOp },
        /// A mask whose first `count` lanes are true.
        MaskFirst = "mask_first" { lanes: u32 },
        /// Lanes of a mask as `i32` 0 or 1.
        MaskToVec = "mask_to_vec" {},
        /// Lane conversion to `elem`.
        Convert = "convert" { op: ConvertOp, elem: Elem },
        /// One lane as an index: integers sign-extend, floats give their bits.
        Extract = "extract" { lane: u32 },
        /// All lanes into one, result in every lane of a vector of the same type.
        Reduce = "reduce" { op: ReduceOp },
        /// Lane `i` of the result is lane `lanes[i]` of the two operands joined.
        Shuffle = "shuffle" { lanes: Vec<u32> },
        /// `(places: i32) -> f32`: each lane is the entry of a constant table that its place, modulo their number,
        /// names. The table is one whole register: 8 or 16 entries, one a lane, given as bits.
        Tabulated = "tabulated" { bits: Vec<u32> },
        /// `(acc: i32, a: i32, b: i32)`: each lane of `a` holds 4 unsigned bytes, of `b` 4 signed bytes;
        /// adds the 4 products exactly (no saturation of pairs), wrapping.
        DotU8S8 = "dot_u8s8" {},
        /// As `dot_u8s8`, but the products of each two neighbours are summed in 16 bits first, with saturation.
        DotU8S8Pairs = "dot_u8s8_pairs" {},
        /// `(acc: i32, a: i32, b: i32)`: each lane of `a` and of `b` holds 2 signed words; adds the 2 products, wrapping.
        DotWords = "dot_words" {},
        /// `(acc: f32, a: i32, b: i32)`: each lane holds 2 bf16, the first in the low half: `acc + a1*b1`, then
        /// `+ a0*b0`, each rounded once. A machine may take denormal operands of either step for 0, and make 0 of a
        /// denormal result, as `vdpbf16ps` does.
        DotBf16 = "dot_bf16" {},
        /// Calls an entry of the ABI's function table (by its name in `package::functions`) for every lane: one or two operands.
        Call = "call" { function: String },
    }
}
