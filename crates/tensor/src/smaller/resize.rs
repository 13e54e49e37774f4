//! The same ops on tensors of other sizes: types follow from the inputs' anew, constants are cut to fit.

use crate::{TensorFunc, TensorOp, TensorProgram, TensorType, infer};
use std::collections::BTreeSet;
use tegula_base::{Dim, HashMap, Origin};
use tegula_ir::{ConstData, ConstStore, OpId, RegionId, Value};

/// The constant extents of inputs and constants, largest first: what [`resize`] can make smaller.
pub fn extents(func: &TensorFunc) -> Vec<i64> {
    let args = func.args(func.body()).iter().copied();
    let sources = func.walk().into_iter().filter(|op| func.operands(*op).is_empty());
    let values = args.chain(sources.flat_map(|op| func.results(op).to_vec()));
    let sizes =
        values.flat_map(|value| func.ty(value).shape.iter().filter_map(Dim::as_const).collect::<Vec<_>>());
    let found: BTreeSet<i64> = sizes.filter(|n| *n > 1).collect();
    found.into_iter().rev().collect()
}

/// Every size of inputs, attributes and constants as `map` says; the sizes of all else follow. A constant keeps the
/// elements of its first indexes.
/// `None`: the ops do not fit together then, or a constant would have to grow.
pub fn resize(program: &TensorProgram, map: &dyn Fn(&Dim) -> Dim) -> Option<TensorProgram> {
    let source = program.entry();
    let mut func = TensorFunc::new(source.name.clone());
    func.arg_names = source.arg_names.clone();
    func.result_names = source.result_names.clone();
    let to = func.body();
    let mut consts = program.consts.clone();
    let mut copy = Copy { source, map, consts: &mut consts, values: HashMap::default() };
    copy.region(&mut func, source.body(), to)?;
    let mut symbols = program.symbols.clone();
    for info in symbols.0.values_mut() {
        if let Origin::Data { upper } = &mut info.origin {
            *upper = map(upper);
        }
    }
    Some(TensorProgram { symbols, consts, funcs: vec![func] })
}

struct Copy<'a> {
    source: &'a TensorFunc,
    map: &'a dyn Fn(&Dim) -> Dim,
    consts: &'a mut ConstStore,
    values: HashMap<Value, Value>,
}

impl Copy<'_> {
    fn ty(&self, ty: &TensorType) -> TensorType {
        TensorType::new(ty.dtype, ty.shape.iter().map(self.map).collect::<Vec<Dim>>())
    }

    fn region(&mut self, func: &mut TensorFunc, from: RegionId, to: RegionId) -> Option<()> {
        for arg in self.source.args(from) {
            let copy = func.add_arg(to, self.ty(self.source.ty(*arg)));
            self.values.insert(*arg, copy);
        }
        self.source.ops_in(from).iter().try_for_each(|op| self.op(func, *op, to))
    }

    fn op(&mut self, func: &mut TensorFunc, op: OpId, to: RegionId) -> Option<()> {
        let operands: Option<Vec<Value>> =
            self.source.operands(op).iter().map(|value| self.values.get(value).copied()).collect();
        let operands = operands?;
        let kind = self.kind(self.source.kind(op))?;
        let regions = self.source.regions_of(op).to_vec();
        let types = match regions.is_empty() {
            true => {
                let types: Vec<&TensorType> = operands.iter().map(|value| func.ty(*value)).collect();
                infer(&kind, &types).ok()?
            }
            false => self.source.result_types(op).iter().map(|ty| self.ty(ty)).collect(),
        };
        let location = self.source.op(op).location.clone();
        let copy = func.push_op(to, kind, &operands, types, location);
        self.values.extend(self.source.results(op).iter().copied().zip(func.results(copy).iter().copied()));
        let inner = func.regions_of(copy).to_vec();
        regions.into_iter().zip(inner).try_for_each(|(from, to)| self.region(func, from, to))
    }

    fn kind(&mut self, kind: &TensorOp) -> Option<TensorOp> {
        let mapped: Result<TensorOp, std::convert::Infallible> =
            kind.map_dims(&mut |dim| Ok((self.map)(dim)));
        let mut kind = mapped.ok()?;
        if let TensorOp::Constant { id, shape, .. } = &mut kind {
            let wanted: Option<Vec<usize>> =
                shape.iter().map(|dim| usize::try_from(dim.as_const()?).ok()).collect();
            let (wanted, data) = (wanted?, self.consts.get(*id)?);
            if wanted != data.shape {
                let data = first(data, &wanted)?;
                *id = self.consts.push(data);
            }
        }
        Some(kind)
    }
}

/// The elements of the first indexes along each axis.
fn first(data: &ConstData, wanted: &[usize]) -> Option<ConstData> {
    if wanted.len() != data.shape.len() || wanted.iter().zip(&data.shape).any(|(new, old)| new > old) {
        return None;
    }
    let size = data.dtype.size();
    let mut bytes = Vec::with_capacity(wanted.iter().product::<usize>() * size);
    take(&data.data, &data.shape, wanted, size, &mut bytes);
    ConstData::new(data.dtype, wanted.to_vec(), bytes.into()).ok()
}

fn take(data: &[u8], shape: &[usize], wanted: &[usize], size: usize, into: &mut Vec<u8>) {
    let ([_, inner @ ..], [count, rest @ ..]) = (shape, wanted) else {
        into.extend_from_slice(&data[..size]);
        return;
    };
    let stride = inner.iter().product::<usize>() * size;
    for i in 0..*count {
        take(&data[i * stride..], inner, rest, size, into);
    }
}
