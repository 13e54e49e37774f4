//! Matrices in shared memory as `wgmma` finds them: by a descriptor of 64 bits.
//! Source: PTX ISA, "Matrix Descriptor Format" and "Canonical Layouts"; offsets as CuTe's `mma_traits_sm90_gmma.hpp`
//! has them.

use tegula_package::MapSwizzle;

use crate::factor::Factor;
use crate::problem::{Problem, Run};
use crate::shared::Shared;
use crate::swizzle::swizzle;

/// A matrix in shared memory (PTX ISA, "Matrix Descriptor Format").
pub struct Descriptor {
    start: u32,
    /// Bytes along the leading dimension, and along the stride dimension.
    leading: u32,
    stride: u32,
    swizzle: MapSwizzle,
}

impl Descriptor {
    pub fn new(bits: u64) -> Run<Descriptor> {
        let field = |at: u32| ((bits >> at & 0x3fff) as u32) << 4;
        if bits >> 49 & 7 != 0 {
            return Err(Problem::new(
                "sim-program",
                "a matrix descriptor with a base offset is not simulated",
            ));
        }
        let swizzle =
            [MapSwizzle::None, MapSwizzle::B128, MapSwizzle::B64, MapSwizzle::B32][(bits >> 62) as usize];
        Ok(Descriptor { start: field(0), leading: field(16), stride: field(32), swizzle })
    }

    /// Calls `f` with row (m or n), k and bits of each element.
    pub fn read(
        &self,
        shared: &Shared,
        rows: std::ops::Range<usize>,
        k: usize,
        ty: Factor,
        transposed: bool,
        mut f: impl FnMut(usize, usize, u32),
    ) -> Run<()> {
        if transposed {
            for group in rows.start / 8..rows.end / 8 {
                for at in 0..k {
                    let chunk = shared.read(self.along_rows(group as u32, at as u32), 16)?;
                    elements(chunk, ty, |i, bits| f(8 * group + i, at, bits));
                }
            }
            return Ok(());
        }
        let per_chunk = k / 2;
        for row in rows {
            for part in 0..2 {
                let chunk = shared.read(self.along_k(row as u32, part), 16)?;
                elements(chunk, ty, |i, bits| f(row, per_chunk * part as usize + i, bits));
            }
        }
        Ok(())
    }

    /// Where all chunks of 16 bytes of the rows are.
    pub fn chunks(&self, rows: std::ops::Range<usize>, k: usize, transposed: bool) -> Vec<u32> {
        if transposed {
            let groups = rows.start / 8..rows.end / 8;
            return groups
                .flat_map(|group| (0..k).map(move |at| self.along_rows(group as u32, at as u32)))
                .collect();
        }
        rows.flat_map(|row| (0..2).map(move |chunk| self.along_k(row as u32, chunk))).collect()
    }

    /// The 16 bytes of a row at a chunk of k.
    fn along_k(&self, row: u32, chunk: u32) -> u32 {
        match self.swizzle.span() {
            None => self.start + row / 8 * self.stride + row % 8 * 16 + chunk * self.leading,
            Some(span) => {
                swizzle(self.swizzle, self.start + row / 8 * self.stride + row % 8 * span + chunk * 16)
            }
        }
    }

    /// The 16 bytes of 8 rows at one k.
    fn along_rows(&self, group: u32, k: u32) -> u32 {
        match self.swizzle.span() {
            None => self.start + group * self.stride + k / 8 * self.leading + k % 8 * 16,
            Some(span) => {
                let per_atom = span / 16;
                let atom = self.start + group / per_atom * self.leading + k / 8 * self.stride;
                swizzle(self.swizzle, atom + k % 8 * span + group % per_atom * 16)
            }
        }
    }
}

/// Bits of the elements of 16 bytes.
#[inline(always)]
fn elements(chunk: &[u8], ty: Factor, mut f: impl FnMut(usize, u32)) {
    match ty.bits() {
        8 => chunk.iter().enumerate().for_each(|(i, byte)| f(i, *byte as u32)),
        16 => {
            let pairs = chunk.as_chunks::<2>().0;
            pairs.iter().enumerate().for_each(|(i, pair)| f(i, u16::from_le_bytes(*pair) as u32));
        }
        _ => {
            let words = chunk.as_chunks::<4>().0;
            words.iter().enumerate().for_each(|(i, word)| f(i, u32::from_le_bytes(*word)));
        }
    }
}
