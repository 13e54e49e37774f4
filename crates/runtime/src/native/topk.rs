//! `topk(x) -> values, indices: i64`: the first k elements along `axis`, by decreasing (`largest`) or increasing
//! value; equal elements by index. k is the results' extent; with k the whole extent this is a stable sort.
//! NaN counts as the largest value.
//!
//! Method: one pass over a lane keeps those that are before the k-th of what was seen, which most elements fail by
//! one comparison; as soon as k are too many they are partitioned. What is left is sorted.

use super::{
    Params, Running, RuntimeKernel, RuntimeKernelArgs, Signature, View, ViewMut, expect_slots, order, room,
    split_at_axis, write_i64,
};
use std::ops::Not;
use tegula_base::DType;

/// Elements compared with the bound at once.
const BLOCK: usize = 16;

pub(super) fn prepare(signature: &Signature, params: &Params) -> Result<Box<dyn RuntimeKernel>, String> {
    expect_slots("operands", &signature.operands, &[(None, None)])?;
    let x = &signature.operands[0];
    let results = [(Some(x.dtype), Some(x.rank)), (Some(DType::I64), Some(x.rank))];
    expect_slots("results", &signature.results, &results)?;
    let axis = params.axis(x.rank)?.ok_or("`axis` is missing")?;
    Ok(Box::new(TopK { axis, largest: params.bool("largest")? }))
}

struct TopK {
    axis: usize,
    largest: bool,
}

impl RuntimeKernel for TopK {
    fn run(&self, args: RuntimeKernelArgs<'_>) -> Result<(), String> {
        let x = &args.operands[0];
        let mut results: [_; 2] =
            args.results.try_into().map_err(|_| "two results are needed".to_string())?;
        let [values, indices] = &results;
        let (outer, extent, inner) = split_at_axis(&x.shape, self.axis);
        let k = values.shape[self.axis];
        let (out_outer, _, out_inner) = split_at_axis(&values.shape, self.axis);
        if values.shape != indices.shape || (outer, inner) != (out_outer, out_inner) {
            return Err("the results' shapes do not fit the operand's".to_string());
        }
        if k > extent {
            return Err(format!("the {k} first of {extent} elements are asked for"));
        }
        if k == 0 {
            // Nothing to write, though there may be more lanes than memory has bytes.
            return Ok(());
        }
        if order::is_narrow(x.dtype) {
            self.lanes(x, &mut results, &args.running, order::narrow_keys::<i32>)
        } else {
            self.lanes(x, &mut results, &args.running, order::wide_keys)
        }
    }
}

impl TopK {
    /// All lanes, one after the other; `read` makes a lane's keys. Errors: there is no memory for a lane.
    fn lanes<K: Copy + Ord + Not<Output = K>>(
        &self,
        x: &View<'_>,
        [values, indices]: &mut [ViewMut<'_>; 2],
        running: &Running<'_>,
        read: impl Fn(DType, &[u8], &mut Vec<K>),
    ) -> Result<(), String> {
        let (outer, extent, inner) = split_at_axis(&x.shape, self.axis);
        let (k, size) = (values.shape[self.axis], x.dtype.size());
        let mut gathered = room(if inner == 1 { 0 } else { extent * size })?;
        let mut keys = room(extent)?;
        let mut first = First { k, kept: room(extent.min(First::<K>::room(k)))? };
        for lane in 0..outer * inner {
            if running.is_stopped() {
                break;
            }
            let (o, i) = (lane / inner, lane % inner);
            let block = &x.bytes[o * extent * inner * size..][..extent * inner * size];
            let elements = if inner == 1 {
                block
            } else {
                gathered.clear();
                block.chunks_exact(inner * size).for_each(|row| gathered.extend(&row[i * size..][..size]));
                &gathered
            };
            read(x.dtype, elements, &mut keys);
            if self.largest {
                // Inverted keys turn "largest first, ties by index" into an increasing order.
                keys.iter_mut().for_each(|key| *key = !*key);
            }
            for (rank, (_, n)) in first.of(&keys).iter().enumerate() {
                let to = (o * k + rank) * inner + i;
                values.bytes[to * size..][..size].copy_from_slice(&elements[n * size..][..size]);
                write_i64(indices.bytes, to, *n as i64);
            }
        }
        Ok(())
    }
}

/// The least `k` of some keys with their indices, `k` not 0.
struct First<K> {
    k: usize,
    kept: Vec<(K, usize)>,
}

impl<K: Copy + Ord> First<K> {
    /// How many are kept at most: partitioning them costs each new one a few steps.
    fn room(k: usize) -> usize {
        k.saturating_mul(2).saturating_add(BLOCK)
    }

    /// In order, of at least `k` keys.
    fn of(&mut self, keys: &[K]) -> &[(K, usize)] {
        let room = Self::room(self.k);
        let start = room.min(keys.len());
        self.kept.clear();
        self.kept.extend(keys[..start].iter().copied().zip(0..));
        let mut bound = self.cut();
        for (block, at) in keys[start..].chunks(BLOCK).zip((start..).step_by(BLOCK)) {
            // Without a branch, so that several are compared at once.
            if !block.iter().fold(false, |any, key| any | (*key < bound)) {
                continue;
            }
            for (key, n) in block.iter().copied().zip(at..) {
                // One that equals the bound comes after it.
                if key < bound {
                    self.kept.push((key, n));
                    if self.kept.len() == room {
                        bound = self.cut();
                    }
                }
            }
        }
        self.cut();
        self.kept.sort_unstable();
        &self.kept
    }

    /// Keeps the first `k`, and tells the last one's key.
    fn cut(&mut self) -> K {
        let (_, (bound, _), _) = self.kept.select_nth_unstable(self.k - 1);
        let bound = *bound;
        self.kept.truncate(self.k);
        bound
    }
}
