//! `nonzero_count(x) -> count: i64` and `nonzero(x) -> indices: i64[rank, count]`: where elements are not zero,
//! row-major (NaN is not zero, -0 is). The second wants its count bound before; a scalar counts as `x[1]`.

use super::count::Count;
use super::{Params, RuntimeKernel, RuntimeKernelArgs, Signature, View, expect_slots, write_i64};
use tegula_base::DType;

pub(super) fn prepare_count(signature: &Signature, _: &Params) -> Result<Box<dyn RuntimeKernel>, String> {
    expect_slots("operands", &signature.operands, &[(None, None)])?;
    expect_slots("results", &signature.results, &[(Some(DType::I64), Some(0))])?;
    Ok(Box::new(Count(|x: &View<'_>| Ok(positions(x).count()))))
}

pub(super) fn prepare(signature: &Signature, _: &Params) -> Result<Box<dyn RuntimeKernel>, String> {
    expect_slots("operands", &signature.operands, &[(None, None)])?;
    let (indices, count) = ((Some(DType::I64), Some(2)), (Some(DType::I64), Some(0)));
    match signature.results.len() {
        1 => expect_slots("results", &signature.results, &[indices])?,
        _ => expect_slots("results", &signature.results, &[indices, count])?,
    }
    Ok(Box::new(NonZero))
}

struct NonZero;

impl RuntimeKernel for NonZero {
    fn run(&self, mut args: RuntimeKernelArgs<'_>) -> Result<(), String> {
        let x = &args.operands[0];
        let shape: &[usize] = if x.shape.is_empty() { &[1] } else { &x.shape };
        let (indices, counts) = args.results.split_at_mut(1);
        let indices = &mut indices[0];
        let [rank, count] = indices.shape[..] else { return Err("indices have rank 2".to_string()) };
        if rank != x.shape.len() && rank != shape.len() {
            return Err(format!("{rank} rows of indices for an operand of rank {}", shape.len()));
        }
        let mut written = 0;
        for position in positions(x) {
            if written == count {
                return Err(format!("more than {count} elements are not zero"));
            }
            let mut rest = position;
            for axis in (0..rank.min(shape.len())).rev() {
                write_i64(indices.bytes, axis * count + written, (rest % shape[axis]) as i64);
                rest /= shape[axis];
            }
            written += 1;
        }
        if let [number] = counts {
            for axis in 0..rank {
                (written..count).for_each(|column| write_i64(indices.bytes, axis * count + column, 0));
            }
            write_i64(number.bytes, 0, written as i64);
            return Ok(());
        }
        if written == count { Ok(()) } else { Err(format!("{written} elements are not zero, not {count}")) }
    }
}

fn positions<'a>(x: &View<'a>) -> impl Iterator<Item = usize> + use<'a> {
    // Floats whose zeros are other ones are only stored.
    let minus_zero = if x.dtype.is_float() { 1u64 << (x.dtype.bits() - 1) } else { 0 };
    let elements = x.bytes.chunks_exact(x.dtype.size()).enumerate();
    let is_zero = move |element: &[u8]| {
        let bits = element.iter().rfold(0, |bits, byte| bits << 8 | u64::from(*byte));
        bits == 0 || bits == minus_zero
    };
    elements.filter(move |(_, element)| !is_zero(element)).map(|(position, _)| position)
}
