//! Which rows of pixels a row of a window op's results reads, along the axis whose pixels lie side by side in rows.
//!
//! Rows are counted along that axis. A result row of `out` pixels reads pixels `stride` apart from one another, and as many taps
//! of each; some lie in the row at hand, some in its neighbours. Which tap takes which lane repeats from one result row to one a
//! few rows further: rows that read alike are a [`Phase`], and share their weights.

/// A window along that axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Along {
    /// Pixels of a row that is read, and of one that is written.
    pub(super) pixels: usize,
    pub(super) out_pixels: usize,
    /// Rows.
    pub(super) rows: usize,
    pub(super) out_rows: usize,
    pub(super) stride: usize,
    pub(super) dilation: usize,
    /// Taps.
    pub(super) size: usize,
    /// Pixels before the first.
    pub(super) low: usize,
}

/// Result rows that read alike: `first`, `first + step` ..., `count` of them. The first reads from row `base` on and from rows
/// beside it, the next from row `base + base_step` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) first: usize,
    pub(super) step: usize,
    pub(super) count: usize,
    pub(super) base: i64,
    pub(super) base_step: usize,
    /// Where the first tap of the first pixel lies, from the first pixel of row `base` on.
    offset: i64,
}

impl Along {
    pub(super) fn phases(&self) -> Vec<Phase> {
        let apart = self.out_pixels * self.stride;
        let step = self.pixels / gcd(self.pixels, apart);
        let phase = |first: usize| {
            let from = first * apart;
            Phase {
                first,
                step,
                count: (self.out_rows - first).div_ceil(step),
                base: (from / self.pixels) as i64,
                base_step: step * apart / self.pixels,
                offset: (from % self.pixels) as i64 - self.low as i64,
            }
        };
        (0..step.min(self.out_rows)).map(phase).collect()
    }

    /// The pixel that a tap of a result pixel takes: how many rows behind the base, and which of that row.
    pub(super) fn taken(&self, phase: &Phase, out_pixel: usize, tap: usize) -> (i64, usize) {
        let x = (out_pixel * self.stride + tap * self.dilation) as i64 + phase.offset;
        let pixels = self.pixels as i64;
        (x.div_euclid(pixels), x.rem_euclid(pixels) as usize)
    }

    /// The first and the last row that a phase's result rows read, from their base on.
    pub(super) fn reach(&self, phase: &Phase) -> [i64; 2] {
        [self.taken(phase, 0, 0).0, self.taken(phase, self.out_pixels - 1, self.size - 1).0]
    }

    /// Rows of padding that are read before the first row and behind the last.
    pub(super) fn padding(&self) -> [usize; 2] {
        let mut padding = [0; 2];
        for phase in self.phases() {
            let [low, high] = self.reach(&phase);
            let last = phase.base + (phase.base_step * (phase.count - 1)) as i64;
            padding[0] = padding[0].max(-(phase.base + low));
            padding[1] = padding[1].max(last + high + 1 - self.rows as i64);
        }
        padding.map(|rows| rows as usize)
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn along(pixels: [usize; 2], rows: [usize; 2], window: [usize; 4]) -> Along {
        let [size, stride, dilation, low] = window;
        let ([pixels, out_pixels], [rows, out_rows]) = (pixels, rows);
        Along { pixels, out_pixels, rows, out_rows, stride, dilation, size, low }
    }

    /// Each result pixel takes what the window says, and nothing beyond the padding.
    fn check(along: Along) {
        let mut seen = vec![false; along.out_rows];
        let [low, high] = along.padding();
        for phase in along.phases() {
            for i in 0..phase.count {
                let row = phase.first + i * phase.step;
                assert!(!std::mem::replace(&mut seen[row], true));
                let base = phase.base + (i * phase.base_step) as i64;
                for pixel in 0..along.out_pixels {
                    for tap in 0..along.size {
                        let out = row * along.out_pixels + pixel;
                        let x = (out * along.stride + tap * along.dilation) as i64 - along.low as i64;
                        let (behind, own) = along.taken(&phase, pixel, tap);
                        assert_eq!((base + behind) * along.pixels as i64 + own as i64, x);
                        assert!((-(low as i64)..(along.rows + high) as i64).contains(&(base + behind)));
                    }
                }
            }
        }
        assert!(seen.iter().all(|seen| *seen));
    }

    #[test]
    fn every_result_pixel_takes_its_window() {
        check(along([56, 4], [4, 28], [7, 2, 1, 3]));
        check(along([4, 4], [14, 14], [3, 1, 1, 1]));
        check(along([2, 8], [28, 7], [1, 1, 1, 0]));
        check(along([8, 1], [7, 28], [1, 2, 1, 0]));
        check(along([5, 3], [3, 5], [3, 1, 2, 2]));
        check(along([1, 1], [9, 4], [3, 2, 1, 0]));
    }

    #[test]
    fn a_small_window_pads_a_row_on_each_side() {
        assert_eq!(along([4, 4], [14, 14], [3, 1, 1, 1]).padding(), [1, 1]);
        assert_eq!(along([4, 4], [14, 14], [1, 1, 1, 0]).padding(), [0, 0]);
    }
}
