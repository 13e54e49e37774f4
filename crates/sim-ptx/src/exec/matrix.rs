//! 8x8 matrices of 16-bit elements: to and from shared memory, and across the warp.

use crate::lanes::{FULL, Lanes};
use crate::machine::{Here, Machine, Outcome};
use crate::problem::{Problem, Run, of_lane};
use crate::program::{At, Row};
use crate::race::{Area, Touch};

/// A matrix by rows.
type Matrix = [[u16; 8]; 8];

impl Machine<'_> {
    pub fn ldmatrix(
        &mut self,
        here: Here,
        trans: bool,
        d: &[Row],
        at: At,
        mask: u32,
        active: u32,
    ) -> Run<Outcome> {
        if let Some(outcome) = self.whole_warp(here, mask, active)? {
            return Ok(outcome);
        }
        let addresses = self.row_addresses(here, at, d.len())?;
        for (i, d) in d.iter().enumerate() {
            let mut matrix: Matrix = [[0; 8]; 8];
            for (r, row) in matrix.iter_mut().enumerate() {
                let lane = 8 * i + r;
                self.touch_row(here, addresses[lane], lane, false)?;
                let bytes = self.ctas[here.cta].shared.read(addresses[lane] as u32, 16);
                for (element, pair) in row.iter_mut().zip(bytes.map_err(|p| of_lane(p, lane))?.chunks(2)) {
                    *element = u16::from_le_bytes([pair[0], pair[1]]);
                }
            }
            let values = to_lanes(&if trans { transpose(&matrix) } else { matrix });
            self.ctas[here.cta].warps[here.warp].set(*d, FULL, &values);
        }
        Ok(Outcome::Next)
    }

    pub fn stmatrix(
        &mut self,
        here: Here,
        trans: bool,
        a: &[Row],
        at: At,
        mask: u32,
        active: u32,
    ) -> Run<Outcome> {
        if let Some(outcome) = self.whole_warp(here, mask, active)? {
            return Ok(outcome);
        }
        let addresses = self.row_addresses(here, at, a.len())?;
        self.effects += 1;
        for (i, a) in a.iter().enumerate() {
            let matrix = from_lanes(self.ctas[here.cta].warps[here.warp].get(self.program, *a, FULL)?);
            let matrix = if trans { transpose(&matrix) } else { matrix };
            for (r, row) in matrix.iter().enumerate() {
                let mut bytes = [0; 16];
                for (pair, element) in bytes.chunks_mut(2).zip(row) {
                    pair.copy_from_slice(&element.to_le_bytes());
                }
                let lane = 8 * i + r;
                self.touch_row(here, addresses[lane], lane, true)?;
                let shared = &mut self.ctas[here.cta].shared;
                shared.write(addresses[lane] as u32, &bytes).map_err(|p| of_lane(p, lane))?;
            }
        }
        Ok(Outcome::Next)
    }

    pub fn movmatrix(&mut self, here: Here, d: Row, a: Row, mask: u32, active: u32) -> Run<Outcome> {
        if let Some(outcome) = self.whole_warp(here, mask, active)? {
            return Ok(outcome);
        }
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let values = to_lanes(&transpose(&from_lanes(warp.get(self.program, a, FULL)?)));
        warp.set(d, FULL, &values);
        Ok(Outcome::Next)
    }

    fn touch_row(&mut self, here: Here, address: u64, lane: usize, write: bool) -> Run<()> {
        let area = Area::Shared(here.cta);
        self.touch(here, Touch { area, address, len: 16, write, strong: false, lane, work: None })
    }

    /// Addresses of the rows, by lane: those of the first `8 * n` lanes count.
    fn row_addresses(&mut self, here: Here, at: At, n: usize) -> Run<Lanes> {
        let used = crate::lanes::ones(8 * n as u32) as u32;
        let addresses = self.ctas[here.cta].warps[here.warp].addresses(self.program, at, used)?;
        for (lane, address) in addresses.iter().enumerate().take(8 * n) {
            if address % 16 != 0 || *address > u32::MAX as u64 {
                let message = format!("lane {lane} gives a row at {address:#x}, which is no multiple of 16");
                return Err(Problem::new("sim-misaligned", message));
            }
        }
        self.counters.shared(&addresses[..8 * n], 16);
        Ok(addresses)
    }
}

/// Lane `l` has elements `2(l % 4)` and the next of row `l / 4`.
fn to_lanes(matrix: &Matrix) -> Lanes {
    std::array::from_fn(|l| {
        let pair = &matrix[l / 4][2 * (l % 4)..];
        pair[0] as u64 | (pair[1] as u64) << 16
    })
}

fn from_lanes(values: &Lanes) -> Matrix {
    std::array::from_fn(|r| std::array::from_fn(|c| (values[4 * r + c / 2] >> (16 * (c % 2))) as u16))
}

fn transpose(matrix: &Matrix) -> Matrix {
    std::array::from_fn(|r| std::array::from_fn(|c| matrix[c][r]))
}
