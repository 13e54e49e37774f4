//! `det(x[..., n, n]) -> [...]`: determinants of f32 or f64 matrices, by elimination with row pivoting in f64.

use super::{Params, RuntimeKernel, RuntimeKernelArgs, Signature, expect_slots, gather};
use crate::stop::Running;
use tegula_base::DType;

pub(super) fn prepare(signature: &Signature, _: &Params) -> Result<Box<dyn RuntimeKernel>, String> {
    expect_slots("operands", &signature.operands, &[(None, None)])?;
    let x = &signature.operands[0];
    if x.rank < 2 || !matches!(x.dtype, DType::F32 | DType::F64) {
        return Err(format!("operand 0 cannot be {} of rank {}", x.dtype, x.rank));
    }
    expect_slots("results", &signature.results, &[(Some(x.dtype), Some(x.rank - 2))])?;
    Ok(Box::new(Det))
}

struct Det;

impl RuntimeKernel for Det {
    fn run(&self, mut args: RuntimeKernelArgs<'_>) -> Result<(), String> {
        let (x, result) = (&args.operands[0], &mut args.results[0]);
        let [.., rows, n] = x.shape[..] else { return Err("a matrix is needed".to_string()) };
        let batch: usize = x.shape[..x.shape.len() - 2].iter().product();
        let size = x.dtype.size();
        if rows != n || result.bytes.len() != batch * size {
            return Err(format!("determinants of {rows} by {n} matrices are not defined"));
        }
        for b in 0..batch {
            let matrix = x.bytes[b * n * n * size..][..n * n * size].chunks_exact(size);
            let mut matrix: Vec<f64> = gather(matrix.map(|bytes| read(x.dtype, bytes)))?;
            let det = eliminate(&mut matrix, n, args.running);
            let out = &mut result.bytes[b * size..][..size];
            match x.dtype {
                DType::F32 => out.copy_from_slice(&(det as f32).to_le_bytes()),
                _ => out.copy_from_slice(&det.to_le_bytes()),
            }
        }
        Ok(())
    }
}

fn read(dtype: DType, bytes: &[u8]) -> f64 {
    match dtype {
        DType::F32 => f64::from(f32::from_le_bytes(bytes.try_into().expect("invariant: four bytes"))),
        _ => f64::from_le_bytes(bytes.try_into().expect("invariant: eight bytes")),
    }
}

/// Turns the matrix upper triangular; the determinant is the product of its diagonal.
fn eliminate(matrix: &mut [f64], n: usize, running: Running<'_>) -> f64 {
    let mut det = 1.0;
    for column in 0..n {
        if running.is_stopped() {
            break;
        }
        let pivot = (column..n)
            .max_by(|a, b| matrix[a * n + column].abs().total_cmp(&matrix[b * n + column].abs()))
            .expect("invariant: at least one row is left");
        if pivot != column {
            (0..n).for_each(|k| matrix.swap(pivot * n + k, column * n + k));
            det = -det;
        }
        let diagonal = matrix[column * n + column];
        det *= diagonal;
        if diagonal == 0.0 {
            return det;
        }
        for row in column + 1..n {
            let factor = matrix[row * n + column] / diagonal;
            for k in column..n {
                matrix[row * n + k] -= factor * matrix[column * n + k];
            }
        }
    }
    det
}
