//! `unique_count(x) -> count: i64` and `unique(x) -> values, indices, inverse, counts`: the distinct slices along
//! `axis` (elements of the flattened operand without one), in increasing order or by first occurrence; where
//! each first occurs, which one each slice is, how often each occurs. NaNs are equal to each other.

use super::count::Count;
use super::{
    Params, RuntimeKernel, RuntimeKernelArgs, Signature, View, expect_slots, gather, order, room,
    split_at_axis, write_i64,
};
use tegula_base::DType;

pub(super) fn prepare_count(
    signature: &Signature,
    params: &Params,
) -> Result<Box<dyn RuntimeKernel>, String> {
    let axis = check(signature, params)?;
    expect_slots("results", &signature.results, &[(Some(DType::I64), Some(0))])?;
    Ok(Box::new(Count(move |x: &View<'_>| count(x, axis))))
}

pub(super) fn prepare(signature: &Signature, params: &Params) -> Result<Box<dyn RuntimeKernel>, String> {
    let axis = check(signature, params)?;
    let x = &signature.operands[0];
    let rank = if axis.is_some() { x.rank } else { 1 };
    let index = (Some(DType::I64), Some(1));
    let values = (Some(x.dtype), Some(rank));
    match signature.results.len() {
        4 => expect_slots("results", &signature.results, &[values, index, index, index])?,
        _ => {
            let count = (Some(DType::I64), Some(0));
            expect_slots("results", &signature.results, &[values, index, index, index, count])?;
        }
    }
    Ok(Box::new(Unique { axis, sorted: params.bool("sorted")? }))
}

fn check(signature: &Signature, params: &Params) -> Result<Option<usize>, String> {
    expect_slots("operands", &signature.operands, &[(None, None)])?;
    params.axis(signature.operands[0].rank)
}

fn count(x: &View<'_>, axis: Option<usize>) -> Result<usize, String> {
    if x.bytes.is_empty() {
        // However many slices without elements there are, they are equal.
        return Ok(axis.map_or(0, |axis| x.shape[axis].min(1)));
    }
    Ok(Groups::new(x, axis)?.starts.len())
}

struct Unique {
    axis: Option<usize>,
    sorted: bool,
}

/// Slices in increasing order, equal ones side by side by index.
struct Groups {
    order: Vec<usize>,
    /// Where in `order` each group starts.
    starts: Vec<usize>,
    /// Elements before, along and behind the axis.
    extents: (usize, usize, usize),
}

impl Groups {
    /// Errors: there is no memory for them.
    fn new(x: &View<'_>, axis: Option<usize>) -> Result<Groups, String> {
        let extents = match axis {
            Some(axis) => split_at_axis(&x.shape, axis),
            None => (1, x.shape.iter().product(), 1),
        };
        let (outer, extent, inner) = extents;
        let mut order = gather(0..extent)?;
        if x.bytes.is_empty() {
            // Slices without elements are equal.
            return Ok(Groups { order, starts: (0..extent.min(1)).collect(), extents });
        }
        let mut keys = room(outer * extent * inner)?;
        order::wide_keys(x.dtype, x.bytes, &mut keys);
        let slice = |n: usize| {
            let keys = &keys;
            (0..outer).flat_map(move |o| keys[(o * extent + n) * inner..][..inner].iter().copied())
        };
        order.sort_by(|a, b| slice(*a).cmp(slice(*b)));
        let starts = (0..extent).filter(|&i| i == 0 || !slice(order[i - 1]).eq(slice(order[i]))).collect();
        Ok(Groups { order, starts, extents })
    }

    /// The slices of group `group`, by index.
    fn members(&self, group: usize) -> &[usize] {
        let end = self.starts.get(group + 1).copied().unwrap_or(self.order.len());
        &self.order[self.starts[group]..end]
    }
}

impl RuntimeKernel for Unique {
    fn run(&self, args: RuntimeKernelArgs<'_>) -> Result<(), String> {
        let x = &args.operands[0];
        let mut results = args.results;
        // With a fifth result the others are as large as can be, and it tells how much of them counts.
        let number = if results.len() == 5 { results.pop() } else { None };
        let [values, indices, inverse, counts]: [_; 4] =
            results.try_into().map_err(|_| "four or five results are needed".to_string())?;
        let [slices] = inverse.shape[..] else { return Err("the inverse has rank 1".to_string()) };
        if slices != self.axis.map_or_else(|| x.shape.iter().product(), |axis| x.shape[axis]) {
            return Err(format!("an inverse of {slices} elements does not fit the operand"));
        }
        let groups = Groups::new(x, self.axis)?;
        let (outer, extent, inner) = groups.extents;
        let count = groups.starts.len();
        let room = if number.is_some() { extent } else { count };
        if values.shape.get(self.axis.unwrap_or(0)) != Some(&room)
            || values.bytes.len() != outer * room * inner * x.dtype.size()
            || indices.shape != [room]
            || counts.shape != [room]
        {
            return Err(format!("the results' shapes do not fit {count} distinct of {extent} slices"));
        }
        let mut ranked: Vec<usize> = (0..count).collect();
        if !self.sorted {
            ranked.sort_by_key(|group| groups.members(*group)[0]);
        }
        let row = inner * x.dtype.size();
        if let Some(number) = number {
            [&mut *values.bytes, &mut *indices.bytes, &mut *counts.bytes]
                .into_iter()
                .for_each(|all| all.fill(0));
            write_i64(number.bytes, 0, count as i64);
        }
        for (rank, group) in ranked.into_iter().enumerate() {
            let members = groups.members(group);
            // Slices without elements may be many.
            let parts = if row == 0 { 0 } else { outer };
            for o in 0..parts {
                let from = (o * extent + members[0]) * row;
                values.bytes[(o * room + rank) * row..][..row].copy_from_slice(&x.bytes[from..from + row]);
            }
            write_i64(indices.bytes, rank, members[0] as i64);
            write_i64(counts.bytes, rank, members.len() as i64);
            members.iter().for_each(|member| write_i64(inverse.bytes, *member, rank as i64));
        }
        Ok(())
    }
}
