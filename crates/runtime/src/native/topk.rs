//! `topk(x) -> values, indices: i64`: the first k elements along `axis`, by decreasing (`largest`) or increasing
//! value; equal elements by index. k is the results' extent; with k the whole extent this is a stable sort.
//! NaN counts as the largest value.

use super::{
    NativeArgs, NativeKernel, Params, Signature, expect_slots, gather, order, split_at_axis, write_i64,
};
use tegula_base::DType;

pub(super) fn prepare(signature: &Signature, params: &Params) -> Result<Box<dyn NativeKernel>, String> {
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

impl NativeKernel for TopK {
    fn run(&self, args: NativeArgs<'_>) -> Result<(), String> {
        let x = &args.operands[0];
        let [values, indices]: [_; 2] =
            args.results.try_into().map_err(|_| "two results are needed".to_string())?;
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
        let size = x.dtype.size();
        let keys = order::keys(x.dtype, x.bytes)?;
        let mut ranked: Vec<(u64, usize)> = gather((0..extent).map(|n| (0, n)))?;
        for lane in 0..outer * inner {
            if args.running.is_stopped() {
                break;
            }
            let (o, i) = (lane / inner, lane % inner);
            let at = |n: usize| (o * extent + n) * inner + i;
            ranked.clear();
            ranked.extend((0..extent).map(|n| (keys[at(n)], n)));
            self.select(&mut ranked, k);
            for (rank, (_, n)) in ranked[..k].iter().enumerate() {
                let to = (o * k + rank) * inner + i;
                let from = at(*n) * size;
                values.bytes[to * size..(to + 1) * size].copy_from_slice(&x.bytes[from..from + size]);
                write_i64(indices.bytes, to, *n as i64);
            }
        }
        Ok(())
    }
}

impl TopK {
    /// The first `k` entries in order; `k` is not 0.
    fn select(&self, ranked: &mut [(u64, usize)], k: usize) {
        // Inverted keys turn "largest first, ties by index" into an increasing order.
        if self.largest {
            ranked.iter_mut().for_each(|(key, _)| *key = !*key);
        }
        if k < ranked.len() {
            ranked.select_nth_unstable(k - 1);
        }
        ranked[..k].sort_unstable();
    }
}
