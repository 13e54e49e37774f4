//! A matrix plane: weights that are loaded and installed, rows on their way through it, and rows of sums.

use crate::trap::Fault;
use crate::vector::Vector;
use std::collections::VecDeque;
use tegula_isa_lpu::Tag;
use tegula_isa_lpu::arith::{added, pass};
use tegula_isa_lpu::word::Factors;
use tegula_machine::Mxm;

pub(crate) struct Plane {
    loading: Vec<Option<Vector>>,
    installed: Option<Installed>,
    /// Rows that were multiplied, with the cycle that their sums are taken in.
    passing: VecDeque<Passing>,
    sums: Vec<Option<Sums>>,
}

struct Installed {
    tag: Tag,
    rows: Vec<Option<Vector>>,
    /// The first cycle that a row may be multiplied in.
    from: i64,
}

struct Passing {
    due: i64,
    sums: Sums,
    /// The queue's word, to name it if nobody takes the sums.
    place: u32,
}

/// A row of sums.
#[derive(Clone)]
pub(crate) struct Sums {
    factors: Factors,
    pub(crate) words: Vec<u32>,
}

impl Plane {
    pub(crate) fn new(mxm: &Mxm) -> Plane {
        Plane {
            loading: vec![None; mxm.k as usize],
            installed: None,
            passing: VecDeque::new(),
            sums: vec![None; mxm.accumulators as usize],
        }
    }

    /// Takes a row of weights into the buffer that is not installed; a plane of one buffer loses what is.
    pub(crate) fn load(&mut self, row: u32, vector: Vector, mxm: &Mxm) -> Result<(), Fault> {
        if mxm.buffers == 1 {
            self.installed = None;
        }
        *self.loading.get_mut(row as usize).ok_or(Fault::OutOfRange("row of weights"))? = Some(vector);
        Ok(())
    }

    pub(crate) fn install(&mut self, cycle: i64, tag: Tag, mxm: &Mxm) {
        let rows = std::mem::replace(&mut self.loading, vec![None; mxm.k as usize]);
        self.installed = Some(Installed { tag, rows, from: cycle + i64::from(mxm.install) });
    }

    /// The installed rows, which must be those wanted, the first `k` of which are there.
    fn weights(&self, cycle: i64, wanted: Tag, k: u32) -> Result<&[Option<Vector>], Fault> {
        let installed = self.installed.as_ref().ok_or(Fault::NothingInstalled)?;
        if installed.tag != wanted {
            return Err(Fault::Other { wanted, found: installed.tag });
        }
        if cycle < installed.from {
            return Err(Fault::Installing);
        }
        let rows = &installed.rows[..k as usize];
        match rows.iter().position(Option::is_none) {
            Some(row) => Err(Fault::RowNotLoaded { row: row as u32 }),
            None => Ok(rows),
        }
    }

    /// Whether a row was multiplied in the cycle.
    pub(crate) fn is_busy(&self, cycle: i64, mxm: &Mxm) -> bool {
        self.passing.back().is_some_and(|passing| passing.due == due(cycle, mxm))
    }

    /// Multiplies a row; `high` has the high bytes of 16-bit weights.
    pub(crate) fn multiply(
        &mut self,
        row: &[u32],
        (weights, high): (Tag, Option<&Plane>),
        (factors, k): (Factors, u32),
        (cycle, place): (i64, u32),
        mxm: &Mxm,
    ) -> Result<(), Fault> {
        let low = self.weights(cycle, weights, k)?;
        let high = high
            .map(|plane| plane.weights(cycle, weights.part(weights.part.wrapping_add(1)), k))
            .transpose()?;
        let byte = |rows: &[Option<Vector>], k: usize, n: usize| rows[k].as_ref().map_or(0, |row| row[n]);
        let words = (0..mxm.n as usize).map(|n| {
            let weight = |k: usize| {
                let upper = high.map_or(0, |rows| byte(rows, k, n));
                u16::from_le_bytes([byte(low, k, n), upper])
            };
            pass(factors, (0..k as usize).map(|k| (row[k] as u16, weight(k))))
        });
        let sums = Sums { factors, words: words.collect() };
        self.passing.push_back(Passing { due: due(cycle, mxm), sums, place });
        Ok(())
    }

    /// Takes the sums that are due into a row, and gives the row if it is emitted.
    pub(crate) fn accumulate(
        &mut self,
        row: u16,
        add: bool,
        emit: bool,
        cycle: i64,
    ) -> Result<Option<Sums>, Fault> {
        let is_due = self.passing.front().is_some_and(|passing| passing.due == cycle);
        let Some(passing) = self.passing.pop_front().filter(|_| is_due) else { return Err(Fault::NoSums) };
        let slot = self.sums.get_mut(usize::from(row)).ok_or(Fault::OutOfRange("row of sums"))?;
        let sums = match (slot.take(), add) {
            (None, false) => passing.sums,
            (Some(before), true) if before.factors == passing.sums.factors => {
                let pairs = before.words.iter().zip(&passing.sums.words);
                let words = pairs.map(|(sum, pass)| added(before.factors, *sum, *pass)).collect();
                Sums { words, ..before }
            }
            (None | Some(_), true) => return Err(Fault::SumsNotSet),
            (Some(_), false) => return Err(Fault::SumsDue),
        };
        if emit {
            return Ok(Some(sums));
        }
        *slot = Some(sums);
        Ok(None)
    }

    /// The end of a phase. Errors: the place of a word whose sums nobody took.
    pub(crate) fn rest(&mut self) -> Result<(), u32> {
        self.installed.iter_mut().for_each(|installed| installed.from = 0);
        match self.passing.pop_front() {
            Some(passing) => Err(passing.place),
            None => Ok(()),
        }
    }
}

fn due(cycle: i64, mxm: &Mxm) -> i64 {
    cycle + i64::from(mxm.latency) - 1
}
