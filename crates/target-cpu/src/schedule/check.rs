//! The rules of the schedule level: effects, regions, and the numbered constraints of each op.
//!
//! Every op obeys: c1, the operands it lists, in that order and of those types; c2, vectors and masks have a
//! lane count that is a power of two and fill at most 512 bits; c3, all vectors of one op have equal lanes.
//! Further constraints stand at the op's arm. Result types follow from the operands, but for `if`, whose
//! results are what its branches yield.

use super::calls;
use super::ops::{Address, CompareOp, ConvertOp, CpuOp, ReduceOp, VecOp};
use super::types::{CpuType, Elem};
use tegula_base::DType;
use tegula_ir::op::{OpRules, Types};
use tegula_ir::{Effects, Func, Op, OpId, RegionId, Value};

impl OpRules for CpuOp {
    type Type = CpuType;

    fn effects(&self) -> Effects {
        match self {
            CpuOp::Const { .. }
            | CpuOp::Arg { .. }
            | CpuOp::Scratch {}
            | CpuOp::Begin {}
            | CpuOp::End {}
            | CpuOp::Index { .. }
            | CpuOp::IndexSelect {}
            | CpuOp::VecConst { .. }
            | CpuOp::Splat { .. }
            | CpuOp::Iota { .. }
            | CpuOp::Vec { .. }
            | CpuOp::Compare { .. }
            | CpuOp::Select {}
            | CpuOp::MaskOp { .. }
            | CpuOp::MaskFirst { .. }
            | CpuOp::MaskToVec {}
            | CpuOp::Convert { .. }
            | CpuOp::Extract { .. }
            | CpuOp::Reduce { .. }
            | CpuOp::Shuffle { .. }
            | CpuOp::Tabulated { .. }
            | CpuOp::DotU8S8 {}
            | CpuOp::DotU8S8Pairs {}
            | CpuOp::DotWords {}
            | CpuOp::DotBf16 {}
            | CpuOp::Call { .. } => Effects::Pure,
            CpuOp::Load { .. }
            | CpuOp::LoadMasked { .. }
            | CpuOp::LoadSplat { .. }
            | CpuOp::LoadStrided { .. }
            | CpuOp::Gather { .. }
            | CpuOp::LookUp { .. }
            | CpuOp::LoadRaw { .. }
            | CpuOp::LoadWords { .. } => Effects::Reads,
            CpuOp::Store { .. }
            | CpuOp::StoreStrided { .. }
            | CpuOp::Scatter { .. }
            | CpuOp::Prefetch { .. }
            | CpuOp::For { .. }
            | CpuOp::If {}
            | CpuOp::Yield {}
            | CpuOp::Return {} => Effects::Writes,
        }
    }

    fn is_terminator(&self) -> bool {
        matches!(self, CpuOp::Yield {} | CpuOp::Return {})
    }

    fn region_count(&self) -> usize {
        match self {
            CpuOp::For { .. } => 1,
            CpuOp::If {} => 2,
            _ => 0,
        }
    }

    fn check(func: &Func<CpuOp>, op: OpId) -> Result<Types<CpuType>, String> {
        let mut operands = Operands { func, op, values: func.operands(op), next: 0 };
        let types = check_kind(&mut operands)?;
        operands.end()?;
        Ok(types)
    }
}

/// Whether a vector or mask of this shape exists (c2).
pub fn is_legal(ty: CpuType) -> bool {
    match ty {
        CpuType::Index => true,
        CpuType::Mask { lanes } => lanes.is_power_of_two() && lanes <= 64,
        CpuType::Vector { elem, lanes } => lanes.is_power_of_two() && usize::from(lanes) * elem.bytes() <= 64,
    }
}

/// The operands of one op, read in order.
struct Operands<'a> {
    func: &'a Func<CpuOp>,
    op: OpId,
    values: &'a [Value],
    next: usize,
}

impl Operands<'_> {
    fn fail<T>(&self, constraint: u32, text: impl std::fmt::Display) -> Result<T, String> {
        Err(format!("{}_c{constraint}: {text}", self.func.kind(self.op).name()))
    }

    fn require(&self, holds: bool, constraint: u32, text: impl std::fmt::Display) -> Result<(), String> {
        if holds { Ok(()) } else { self.fail(constraint, text) }
    }

    /// The next operand's type.
    fn next_type(&mut self) -> Option<CpuType> {
        let value = self.values.get(self.next)?;
        self.next += 1;
        Some(*self.func.ty(*value))
    }

    /// The next operand is none such, or there is none.
    #[cold]
    fn misfit<T>(&self, got: Option<CpuType>, what: &str, wanted: &str) -> Result<T, String> {
        match got {
            Some(_) => self.fail(1, format_args!("operand {} ({what}) must {wanted}", self.next - 1)),
            None => self.fail(1, format_args!("operand {} ({what}) is missing", self.next)),
        }
    }

    fn any(&mut self, what: &str) -> Result<CpuType, String> {
        self.next_type().map_or_else(|| self.misfit(None, what, "be there"), Ok)
    }

    fn index(&mut self, what: &str) -> Result<(), String> {
        match self.next_type() {
            Some(CpuType::Index) => Ok(()),
            got => self.misfit(got, what, "be an index"),
        }
    }

    fn vector(&mut self, what: &str) -> Result<(Elem, u8), String> {
        match self.next_type() {
            Some(CpuType::Vector { elem, lanes }) => Ok((elem, lanes)),
            got => self.misfit(got, what, "be a vector"),
        }
    }

    fn mask(&mut self, what: &str) -> Result<u8, String> {
        match self.next_type() {
            Some(CpuType::Mask { lanes }) => Ok(lanes),
            got => self.misfit(got, what, "be a mask"),
        }
    }

    fn same(&mut self, what: &str, ty: CpuType) -> Result<(), String> {
        match self.next_type() {
            Some(got) if got == ty => Ok(()),
            got => self.misfit(got, what, "have the type of the one before"),
        }
    }

    /// Base and index, before the op's own operands.
    fn address(&mut self, at: &Address) -> Result<(), String> {
        self.require(
            matches!(at.scale, 1 | 2 | 4 | 8),
            4,
            format_args!("scale {} is none of 1, 2, 4, 8", at.scale),
        )?;
        self.index("base")?;
        if at.indexed { self.index("address index") } else { Ok(()) }
    }

    /// The lane count, after the op's own operands.
    fn count(&mut self, at: &Address) -> Result<(), String> {
        if at.counted { self.index("lane count") } else { Ok(()) }
    }

    /// A stored vector: its lanes are the register form of `dtype`.
    fn stored(&mut self, dtype: DType) -> Result<u8, String> {
        let (elem, lanes) = self.vector("value")?;
        let form = Elem::of(dtype);
        self.require(
            elem == form,
            5,
            format_args!("{dtype} is stored from {} lanes, got {}", form.name(), elem.name()),
        )?;
        Ok(lanes)
    }

    fn offsets(&mut self, at: &Address) -> Result<u8, String> {
        let (elem, lanes) = self.vector("offsets")?;
        self.require(matches!(elem, Elem::I32 | Elem::I64), 6, "offsets are i32 or i64 lanes")?;
        self.require(!at.indexed, 7, "an address with lane offsets has no index")?;
        Ok(lanes)
    }

    fn lanes(&self, lanes: u32) -> Result<u8, String> {
        u8::try_from(lanes).or_else(|_| self.fail(2, format_args!("{lanes} lanes are too many")))
    }

    /// The only result, after c2.
    fn result(&self, ty: CpuType) -> Result<Types<CpuType>, String> {
        match ty {
            _ if is_legal(ty) => Ok(Types::from_buf([ty])),
            CpuType::Vector { elem, lanes } => {
                self.fail(2, format_args!("{lanes} lanes of {} are no register", elem.name()))
            }
            CpuType::Mask { lanes } => self.fail(2, format_args!("{lanes} lanes are no mask")),
            CpuType::Index => Ok(Types::from_buf([ty])),
        }
    }

    fn vector_of(&self, elem: Elem, lanes: u32) -> Result<Types<CpuType>, String> {
        self.result(CpuType::Vector { elem, lanes: self.lanes(lanes)? })
    }

    fn end(&self) -> Result<(), String> {
        let got = self.values.len();
        self.require(got == self.next, 1, format_args!("takes {} operands, got {got}", self.next))
    }
}

fn check_kind(cx: &mut Operands) -> Result<Types<CpuType>, String> {
    let (func, op) = (cx.func, cx.op);
    let index = || Ok(Types::from_buf([CpuType::Index]));
    match func.kind(op) {
        CpuOp::Const { .. } | CpuOp::Arg { .. } | CpuOp::Scratch {} | CpuOp::Begin {} | CpuOp::End {} => {
            index()
        }
        CpuOp::Index { .. } => {
            cx.index("left")?;
            cx.index("right")?;
            index()
        }
        CpuOp::IndexSelect {} => {
            cx.index("condition")?;
            cx.index("then")?;
            cx.index("else")?;
            index()
        }
        CpuOp::For { step, .. } => check_for(cx, *step),
        CpuOp::If {} => check_if(cx),
        CpuOp::Yield {} => {
            cx.next = func.operands(op).len();
            Ok(Types::new())
        }
        CpuOp::Return {} => Ok(Types::new()),

        CpuOp::Load { dtype, lanes, at } => {
            cx.address(at)?;
            cx.count(at)?;
            cx.vector_of(Elem::of(*dtype), *lanes)
        }
        CpuOp::LoadMasked { dtype, lanes, at } => {
            // c8: never counted.
            cx.require(!at.counted, 8, "a mask says which lanes are loaded, not a lane count")?;
            cx.address(at)?;
            let named = cx.mask("mask")?;
            cx.require(u32::from(named) == *lanes, 3, format_args!("a mask of {named} for {lanes} lanes"))?;
            cx.vector_of(Elem::of(*dtype), *lanes)
        }
        CpuOp::LoadSplat { dtype, lanes, at } => {
            // c8: never counted.
            cx.require(!at.counted, 8, "a splat has no lane count")?;
            cx.address(at)?;
            cx.vector_of(Elem::of(*dtype), *lanes)
        }
        CpuOp::LoadWords { lanes, at } => {
            // c8: never counted.
            cx.require(!at.counted, 8, "words have no lane count")?;
            cx.address(at)?;
            cx.vector_of(Elem::I32, *lanes)
        }
        CpuOp::LoadStrided { dtype, lanes, at } => {
            cx.address(at)?;
            cx.index("stride")?;
            cx.count(at)?;
            cx.vector_of(Elem::of(*dtype), *lanes)
        }
        CpuOp::Gather { dtype, lanes, at } => {
            cx.address(at)?;
            let offsets = cx.offsets(at)?;
            cx.count(at)?;
            cx.require(u32::from(offsets) == *lanes, 3, format_args!("{offsets} offsets for {lanes} lanes"))?;
            cx.vector_of(Elem::of(*dtype), *lanes)
        }
        CpuOp::LookUp { lanes, at } => {
            cx.address(at)?;
            let offsets = cx.offsets(at)?;
            cx.require(u32::from(offsets) == *lanes, 3, format_args!("{offsets} offsets for {lanes} lanes"))?;
            cx.vector_of(Elem::I32, *lanes)
        }
        CpuOp::LoadRaw { elem, lanes, at } => {
            cx.address(at)?;
            cx.count(at)?;
            cx.vector_of(*elem, *lanes)
        }
        CpuOp::Store { dtype, at } => {
            cx.address(at)?;
            cx.stored(*dtype)?;
            cx.count(at)?;
            Ok(Types::new())
        }
        CpuOp::StoreStrided { dtype, at } => {
            cx.address(at)?;
            cx.stored(*dtype)?;
            cx.index("stride")?;
            cx.count(at)?;
            Ok(Types::new())
        }
        CpuOp::Scatter { dtype, at } => {
            cx.address(at)?;
            let lanes = cx.stored(*dtype)?;
            let offsets = cx.offsets(at)?;
            cx.count(at)?;
            cx.require(offsets == lanes, 3, format_args!("{offsets} offsets for {lanes} lanes"))?;
            Ok(Types::new())
        }

        CpuOp::Prefetch { at } => {
            // c8: never counted.
            cx.require(!at.counted, 8, "a prefetch has no lane count")?;
            cx.address(at)?;
            Ok(Types::new())
        }

        CpuOp::VecConst { elem, lanes, .. } => cx.vector_of(*elem, *lanes),
        CpuOp::Splat { elem, lanes } => {
            cx.index("value")?;
            cx.vector_of(*elem, *lanes)
        }
        CpuOp::Iota { elem, lanes } => {
            // c4: integers count.
            cx.require(!elem.is_float(), 4, "lanes are integers")?;
            cx.vector_of(*elem, *lanes)
        }
        CpuOp::Vec { op } => {
            let (elem, lanes) = cx.vector("a")?;
            let ty = CpuType::Vector { elem, lanes };
            for _ in 1..op.arity() {
                cx.same("b", ty)?;
            }
            // c4: the operation exists on these lanes.
            cx.require(
                vec_takes(*op, elem),
                4,
                format_args!("`{}` is not defined on {}", op.name(), elem.name()),
            )?;
            cx.result(ty)
        }
        CpuOp::Compare { op } => {
            let (elem, lanes) = cx.vector("a")?;
            cx.same("b", CpuType::Vector { elem, lanes })?;
            let takes = match op {
                CompareOp::Eq | CompareOp::Ne | CompareOp::Lt | CompareOp::Le => is_arithmetic(elem),
                CompareOp::LtU | CompareOp::LeU => is_int(elem),
            };
            cx.require(takes, 4, format_args!("`{}` is not defined on {}", op.name(), elem.name()))?;
            cx.result(CpuType::Mask { lanes })
        }
        CpuOp::Select {} => {
            let mask = cx.mask("condition")?;
            let ty = cx.any("then")?;
            cx.same("else", ty)?;
            cx.require(ty.lanes() == Some(mask), 3, "mask and data have different lanes")?;
            // c4: raw bytes and half words are not selected.
            let selected = !matches!(ty, CpuType::Vector { elem, .. } if !is_arithmetic(elem));
            cx.require(selected, 4, "lanes of at least 32 bits are expected")?;
            cx.result(ty)
        }
        CpuOp::MaskOp { op } => {
            let lanes = cx.mask("a")?;
            cx.same("b", CpuType::Mask { lanes })?;
            let bitwise = matches!(op, VecOp::And | VecOp::Or | VecOp::Xor | VecOp::AndNot);
            cx.require(bitwise, 4, format_args!("`{}` is not defined on masks", op.name()))?;
            cx.result(CpuType::Mask { lanes })
        }
        CpuOp::MaskFirst { lanes } => {
            cx.index("count")?;
            cx.result(CpuType::Mask { lanes: cx.lanes(*lanes)? })
        }
        CpuOp::MaskToVec {} => {
            let lanes = cx.mask("mask")?;
            cx.vector_of(Elem::I32, lanes.into())
        }
        CpuOp::Convert { op, elem } => {
            let (from, lanes) = cx.vector("a")?;
            cx.require(
                converts(*op, from, *elem),
                4,
                format_args!("no `{}` of {} to {}", op.name(), from.name(), elem.name()),
            )?;
            cx.vector_of(*elem, lanes.into())
        }
        CpuOp::Extract { lane } => {
            let (_, lanes) = cx.vector("a")?;
            cx.require(*lane < u32::from(lanes), 4, format_args!("lane {lane} of {lanes}"))?;
            index()
        }
        CpuOp::Reduce { op } => {
            let (elem, lanes) = cx.vector("a")?;
            let takes = match op {
                ReduceOp::Add | ReduceOp::Mul | ReduceOp::Min | ReduceOp::Max => is_arithmetic(elem),
                ReduceOp::MinU | ReduceOp::MaxU | ReduceOp::And | ReduceOp::Or | ReduceOp::Xor => {
                    is_int(elem)
                }
            };
            cx.require(takes, 4, format_args!("`{}` is not defined on {}", op.name(), elem.name()))?;
            cx.result(CpuType::Vector { elem, lanes })
        }
        CpuOp::Shuffle { lanes: picks } => {
            let (elem, lanes) = cx.vector("a")?;
            cx.same("b", CpuType::Vector { elem, lanes })?;
            if let Some(lane) = picks.iter().find(|lane| **lane >= 2 * u32::from(lanes)) {
                return cx.fail(4, format_args!("lane {lane} of {}", 2 * u32::from(lanes)));
            }
            cx.vector_of(elem, picks.len() as u32)
        }
        CpuOp::Tabulated { bits } => {
            let (elem, lanes) = cx.vector("places")?;
            cx.require(elem == Elem::I32, 4, "places are i32")?;
            let n = bits.len();
            cx.require(matches!(lanes, 8 | 16), 4, format_args!("{lanes} lanes are no whole register"))?;
            cx.require(n == usize::from(lanes), 4, format_args!("{n} entries for {lanes} lanes"))?;
            cx.result(CpuType::Vector { elem: Elem::F32, lanes })
        }
        CpuOp::DotU8S8 {} | CpuOp::DotU8S8Pairs {} | CpuOp::DotWords {} => {
            let (elem, lanes) = cx.vector("acc")?;
            let ty = CpuType::Vector { elem, lanes };
            cx.same("a", ty)?;
            cx.same("b", ty)?;
            cx.require(elem == Elem::I32, 4, "lanes are i32")?;
            cx.result(ty)
        }
        CpuOp::DotBf16 {} => {
            let (elem, lanes) = cx.vector("acc")?;
            let pairs = CpuType::Vector { elem: Elem::I32, lanes };
            cx.require(elem == Elem::F32, 4, "the accumulator is f32")?;
            if cx.any("a")? != pairs || cx.any("b")? != pairs {
                return cx.fail(5, "factors are pairs of bf16 in i32 lanes");
            }
            cx.result(CpuType::Vector { elem, lanes })
        }
        CpuOp::Call { function } => check_call(cx, function),
    }
}

/// c4: `step` is positive. c5: the body's arguments are an index and the types of the inits. c6: the body yields
/// the types of the inits. A body that is still empty passes: loops are built from the outside in.
fn check_for(cx: &mut Operands, step: i64) -> Result<Types<CpuType>, String> {
    cx.index("lower bound")?;
    cx.index("upper bound")?;
    let (func, op) = (cx.func, cx.op);
    let inits: Types<CpuType> = func.operands(op)[2..].iter().map(|value| *func.ty(*value)).collect();
    cx.next = func.operands(op).len();
    cx.require(step > 0, 4, format_args!("step {step} is not positive"))?;
    let &[body] = func.regions_of(op) else {
        return cx.fail(5, "has one region");
    };
    let args = types_of(func, func.args(body));
    if !args.is_empty() || !func.ops_in(body).is_empty() {
        let fits = args.first() == Some(&CpuType::Index) && args[1..] == inits[..];
        cx.require(fits, 5, "the body takes an index and the carried values")?;
        if let Some(yields) = yields_of(func, body) {
            cx.require(yields == inits, 6, "the body yields other types than it carries")?;
        }
    }
    Ok(inits)
}

/// c4: both branches yield the same types.
fn check_if(cx: &mut Operands) -> Result<Types<CpuType>, String> {
    cx.index("condition")?;
    let (func, op) = (cx.func, cx.op);
    let &[then, other] = func.regions_of(op) else {
        return cx.fail(4, "has two regions");
    };
    match (yields_of(func, then), yields_of(func, other)) {
        (Some(a), Some(b)) if a != b => cx.fail(4, "the branches yield different types"),
        (Some(types), _) | (None, Some(types)) => Ok(types),
        (None, None) => Ok(types_of(func, func.results(op))),
    }
}

/// c4: the function table has it. c5: lanes are its operands. c6: one or two operands.
fn check_call(cx: &mut Operands, function: &str) -> Result<Types<CpuType>, String> {
    let Some(entry) = calls::function(function) else {
        return cx.fail(4, format_args!("the function table has no `{function}`"));
    };
    let (elem, lanes) = cx.vector("a")?;
    let ty = CpuType::Vector { elem, lanes };
    if cx.func.operands(cx.op).len() > 1 {
        cx.same("b", ty)?;
    }
    let form = Elem::of(entry.dtype());
    cx.require(
        elem == form,
        5,
        format_args!("`{function}` takes {} lanes, got {}", form.name(), elem.name()),
    )?;
    cx.result(ty)
}

fn types_of(func: &Func<CpuOp>, values: &[Value]) -> Types<CpuType> {
    values.iter().map(|value| *func.ty(*value)).collect()
}

fn yields_of(func: &Func<CpuOp>, region: RegionId) -> Option<Types<CpuType>> {
    func.terminator(region).map(|op| types_of(func, func.operands(op)))
}

fn is_int(elem: Elem) -> bool {
    matches!(elem, Elem::I32 | Elem::I64)
}

fn is_arithmetic(elem: Elem) -> bool {
    is_int(elem) || elem.is_float()
}

fn vec_takes(op: VecOp, elem: Elem) -> bool {
    match op {
        VecOp::Add | VecOp::Sub | VecOp::Mul | VecOp::Div | VecOp::Min | VecOp::Max => is_arithmetic(elem),
        VecOp::Rem
        | VecOp::DivU
        | VecOp::RemU
        | VecOp::MinU
        | VecOp::MaxU
        | VecOp::Shl
        | VecOp::Shr
        | VecOp::Sar => is_int(elem),
        VecOp::And | VecOp::Or | VecOp::Xor | VecOp::AndNot => true,
        VecOp::Maximum
        | VecOp::Sqrt
        | VecOp::Floor
        | VecOp::Ceil
        | VecOp::Trunc
        | VecOp::RoundEven
        | VecOp::Fma
        | VecOp::Fnma => elem.is_float(),
    }
}

fn converts(op: ConvertOp, from: Elem, to: Elem) -> bool {
    match op {
        ConvertOp::SignExtend | ConvertOp::ZeroExtend => (from, to) == (Elem::I32, Elem::I64),
        ConvertOp::Truncate => (from, to) == (Elem::I64, Elem::I32),
        ConvertOp::IntToFloat | ConvertOp::UintToFloat => is_int(from) && to.is_float(),
        ConvertOp::FloatToInt | ConvertOp::FloatToIntNearest => from.is_float() && is_int(to),
        ConvertOp::Extend => (from, to) == (Elem::F32, Elem::F64),
        ConvertOp::Round => (from, to) == (Elem::F64, Elem::F32),
        ConvertOp::RoundToF16 | ConvertOp::RoundToBf16 => (from, to) == (Elem::F32, Elem::F32),
        ConvertOp::Bitcast => from.bytes() == to.bytes(),
    }
}
