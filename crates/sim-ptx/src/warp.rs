//! A warp: its registers, and its lanes in groups that stand at the same instruction.
//! Divergence: groups are kept in the order of their instructions and the first one that can runs, so that lanes
//! that went ahead wait for those behind where their ways meet; groups at the same instruction become one.

use crate::lanes::{FULL, Lanes, lanes, mask_of};
use crate::map::Map;
use crate::problem::{Problem, Run};
use crate::program::{At, Guard, Program, Row};

pub struct Warp {
    /// Registers, then constants.
    pub rows: Vec<Lanes>,
    /// The lanes that each row was written for.
    pub defined: Vec<u32>,
    pub fragments: Vec<Fragment>,
    /// Lanes that have not ended.
    pub live: u32,
    /// Lanes that there were at the start.
    pub born: u32,
    /// Groups of `cp.async`, oldest first.
    pub copies: crate::copies::Copies,
    /// Bulk copies out of shared memory: whether they have read, and have written.
    pub bulk_reads: crate::copies::Copies,
    pub bulk_writes: crate::copies::Copies,
    pub products: crate::wgmma::Products,
    /// Counts `wgmma.fence`, from 1; and its value when each row was last written.
    pub fence_epoch: u32,
    pub stamp: Vec<u32>,
    /// Lanes that have arrived at the cluster's barrier, and the generation that they wait for.
    pub cluster_arrived: u32,
    pub cluster_ticket: u64,
    /// Registers a thread may use (setmaxnreg).
    pub budget: u32,
}

/// Lanes at one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Fragment {
    pub pc: u32,
    pub mask: u32,
    /// What the fragment got when it arrived at what it waits for.
    pub ticket: u64,
    pub waiting: Option<Waiting>,
}

/// What lanes wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// Other lanes of the warp.
    Lanes(u32),
    Barrier {
        id: u32,
        arrived: u32,
        expected: u32,
    },
    Copies {
        groups: u32,
    },
    Registers {
        count: u32,
    },
    Mbarrier {
        at: crate::mbarrier::BarrierAt,
        barrier: crate::mbarrier::Mbarrier,
    },
    Cluster,
    Products {
        groups: u32,
    },
    Bulk {
        groups: u32,
    },
    /// The grids before this one.
    Grids,
}

impl Warp {
    pub fn new(program: &Program, born: u32, budget: u32) -> Warp {
        let n_registers = program.registers.total();
        let mut rows = vec![[0; 32]; n_registers];
        rows.extend(program.constants.iter().map(|bits| [*bits; 32]));
        let mut defined = vec![0; n_registers];
        defined.resize(rows.len(), FULL);
        let stamp = vec![crate::wgmma::SETTLED; rows.len()];
        let start = Fragment { pc: 0, mask: born, ticket: 0, waiting: None };
        Warp {
            rows,
            defined,
            fragments: vec![start],
            live: born,
            born,
            copies: Default::default(),
            bulk_reads: Default::default(),
            bulk_writes: Default::default(),
            products: Default::default(),
            fence_epoch: 1,
            stamp,
            cluster_arrived: 0,
            cluster_ticket: 0,
            budget,
        }
    }

    /// Errors: some of the lanes never wrote the row.
    pub fn need(&self, program: &Program, row: Row, mask: u32) -> Run<()> {
        let missing = mask & !self.defined[row as usize];
        if missing == 0 {
            return Ok(());
        }
        let name = program.register(row).map_or_else(String::new, |reg| reg.to_string());
        let lane = missing.trailing_zeros();
        Err(Problem::new("sim-unwritten", format!("lane {lane} reads {name}, which was never written")))
    }

    pub fn get(&self, program: &Program, row: Row, mask: u32) -> Run<&Lanes> {
        self.need(program, row, mask)?;
        Ok(&self.rows[row as usize])
    }

    pub fn set(&mut self, row: Row, mask: u32, values: &Lanes) {
        let d = &mut self.rows[row as usize];
        if mask == FULL {
            *d = *values;
        } else {
            for lane in lanes(mask) {
                d[lane] = values[lane];
            }
        }
        self.defined[row as usize] |= mask;
        self.stamp[row as usize] = self.fence_epoch;
    }

    /// The lanes of `mask` for which the predicate holds.
    pub fn guard(&self, program: &Program, guard: Guard, mask: u32) -> Run<u32> {
        let set = mask_of(self.get(program, guard.row, mask)?);
        Ok(mask & if guard.negated { !set } else { set })
    }

    pub fn map(&mut self, program: &Program, map: &Map, mask: u32) -> Run<()> {
        for row in map.sources() {
            self.need(program, *row, mask)?;
        }
        match map {
            Map::One(d, a, f) => {
                let values = f(&self.rows[*a as usize]);
                self.set(*d, mask, &values);
            }
            Map::Two(d, [a, b], f) => {
                let values = f(&self.rows[*a as usize], &self.rows[*b as usize]);
                self.set(*d, mask, &values);
            }
            Map::Three(d, [a, b, c], f) => {
                let values = f(&self.rows[*a as usize], &self.rows[*b as usize], &self.rows[*c as usize]);
                self.set(*d, mask, &values);
            }
            Map::Many(d, a, f) => {
                let mut sources = [[0; 32]; 4];
                let mut values = [[0; 32]; 4];
                for (source, row) in sources.iter_mut().zip(a) {
                    *source = self.rows[*row as usize];
                }
                f(&sources[..a.len().min(4)], &mut values[..d.len().min(4)]);
                for (row, values) in d.iter().zip(&values) {
                    self.set(*row, mask, values);
                }
            }
        }
        Ok(())
    }

    /// Addresses of the lanes; those of other lanes mean nothing.
    pub fn addresses(&self, program: &Program, at: At, mask: u32) -> Run<Lanes> {
        let base = self.get(program, at.row, mask)?;
        Ok(std::array::from_fn(|lane| base[lane].wrapping_add(at.offset as i64 as u64)))
    }

    /// A value that is the same in all lanes.
    pub fn uniform(&self, program: &Program, row: Row, mask: u32) -> Run<u64> {
        let values = self.get(program, row, mask)?;
        let first = values[mask.trailing_zeros() as usize & 31];
        match lanes(mask).find(|lane| values[*lane] != first) {
            Some(lane) => Err(Problem::new(
                "sim-divergent",
                format!(
                    "lanes {} and {lane} give different operands where all must agree",
                    mask.trailing_zeros()
                ),
            )),
            None => Ok(first),
        }
    }

    /// The fragment goes on; where it meets another one, they become one.
    pub fn advance(&mut self, at: usize, pc: u32) {
        let fragment = &mut self.fragments[at];
        fragment.pc = pc;
        fragment.ticket = 0;
        fragment.waiting = None;
        if self.fragments.len() > 1 {
            self.settle();
        }
    }

    /// Lanes of the fragment go elsewhere.
    pub fn split(&mut self, at: usize, taken: u32, target: u32) {
        let fragment = &mut self.fragments[at];
        let rest = fragment.mask & !taken;
        if rest == 0 {
            return self.advance(at, target);
        }
        *fragment = Fragment { pc: fragment.pc + 1, mask: rest, ticket: 0, waiting: None };
        self.fragments.push(Fragment { pc: target, mask: taken, ticket: 0, waiting: None });
        self.settle();
    }

    /// Lanes end.
    pub fn end(&mut self, at: usize, mask: u32) {
        self.live &= !mask;
        let fragment = &mut self.fragments[at];
        fragment.mask &= !mask;
        fragment.pc += 1;
        if fragment.mask == 0 {
            self.fragments.remove(at);
        }
        self.settle();
    }

    /// In the order of instructions, one fragment each; those that already arrived somewhere stay apart.
    fn settle(&mut self) {
        self.fragments.sort_by_key(|fragment| fragment.pc);
        let mut at = 0;
        while at + 1 < self.fragments.len() {
            let (a, b) = (self.fragments[at], self.fragments[at + 1]);
            if a.pc == b.pc && a.ticket == 0 && b.ticket == 0 {
                self.fragments[at].mask |= b.mask;
                self.fragments[at].waiting = None;
                self.fragments.remove(at + 1);
            } else {
                at += 1;
            }
        }
    }
}
