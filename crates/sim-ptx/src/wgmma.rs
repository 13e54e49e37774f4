//! `wgmma`: each warp of a warpgroup multiplies 16 of the 64 rows; products are done later, in order, and their sums
//! may be read when a wait says so.
//! Until then the sums count as unwritten, so that reading them early is reported; writing them early is seen at the
//! wait. A register that was written since the last `wgmma.fence` may be neither sum nor factor.

use std::collections::VecDeque;

use tegula_isa_ptx::mma::{WgmmaShape, WgmmaType};
use tegula_isa_ptx::types::Scalar;

use crate::clock::Who;
use crate::descriptor::Descriptor;
use crate::events::Work;
use crate::factor::{Factor, group_factors};
use crate::lanes::{FULL, Lanes};
use crate::machine::{Cta, Here, Machine, Outcome};
use crate::number::{F16, Rounding};
use crate::problem::{Problem, Run};
use crate::program::{Body, Guard, Row};
use crate::race::{Area, Touch};
use crate::shared::Shared;
use crate::warp::{Waiting, Warp};

pub struct Wgmma {
    pub shape: WgmmaShape,
    pub satfinite: bool,
    pub ty: WgmmaType,
    pub d: Vec<Row>,
    pub a: Source,
    pub b: Row,
    pub accumulate: Guard,
    pub negate: bool,
    pub transpose_a: bool,
    pub transpose_b: bool,
}

pub enum Source {
    /// By a descriptor.
    Shared(Row),
    Registers(Vec<Row>),
}

/// Products of a warp whose end was not yet waited for.
#[derive(Default)]
pub struct Products {
    queue: VecDeque<Product>,
    /// Groups that were closed.
    groups: u64,
    /// When the last product is done.
    due: u64,
}

struct Product {
    pc: u32,
    a: u64,
    b: u64,
    accumulate: bool,
    /// Factors in registers, as they were.
    fragments: Vec<Lanes>,
    group: u64,
    is_done: bool,
}

const ROWS: usize = 16;

impl Machine<'_> {
    pub fn wgmma_fence(&mut self, here: Here, mask: u32, active: u32) -> Run<Outcome> {
        if let Some(outcome) = self.whole_warp(here, mask, active)? {
            return Ok(outcome);
        }
        self.ctas[here.cta].warps[here.warp].fence_epoch += 1;
        Ok(Outcome::Next)
    }

    pub fn wgmma_commit(&mut self, here: Here, mask: u32, active: u32) -> Run<Outcome> {
        if let Some(outcome) = self.whole_warp(here, mask, active)? {
            return Ok(outcome);
        }
        self.ctas[here.cta].warps[here.warp].products.groups += 1;
        Ok(Outcome::Next)
    }

    pub fn wgmma(&mut self, here: Here, o: &Wgmma, mask: u32, active: u32) -> Run<Outcome> {
        if let Some(outcome) = self.whole_warp(here, mask, active)? {
            return Ok(outcome);
        }
        let program = self.program;
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let pc = warp.fragments[here.fragment].pc;
        let b = warp.uniform(program, o.b, FULL)?;
        let (a, fragments) = match &o.a {
            Source::Shared(row) => (warp.uniform(program, *row, FULL)?, Vec::new()),
            Source::Registers(rows) => {
                let mut fragments = Vec::with_capacity(rows.len());
                for row in rows {
                    warp.check_fenced(program, *row)?;
                    fragments.push(*warp.get(program, *row, FULL)?);
                }
                (0, fragments)
            }
        };
        let yes = warp.guard(program, o.accumulate, FULL)?;
        if yes != 0 && yes != FULL {
            return Err(Problem::new("sim-divergent", "lanes disagree on whether to add to the sums"));
        }
        if warp.fence_epoch == 1 {
            return Err(Problem::new("sim-race", "no wgmma.fence comes before"));
        }
        for row in &o.d {
            warp.check_fenced(program, *row)?;
            let in_flight =
                warp.products.queue.iter().any(|product| match &program.steps[product.pc as usize].body {
                    Body::Wgmma(earlier) => earlier.d.contains(row),
                    _ => false,
                });
            if in_flight {
                if warp.defined[*row as usize] != 0 {
                    return Err(touched(program.register(*row)));
                }
            } else if yes != 0 {
                warp.need(program, *row, FULL)?;
            }
        }
        for row in &o.d {
            warp.defined[*row as usize] = 0;
        }
        let group = warp.products.groups;
        self.touch_factors(here, o, a, b, group as u32 + 1)?;
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let product = Product { pc, a, b, accumulate: yes != 0, fragments, group, is_done: false };
        warp.products.queue.push_back(product);
        let k = o.shape.k();
        self.counters.matrix_macs += (ROWS * o.shape.n() * k) as u64;
        let work = Work::Product { cta: here.cta, warp: here.warp, pc };
        if self.launch.options.seed.is_none() {
            return self.start(work).map(|()| Outcome::Next);
        }
        // Products of a warp are done in order.
        let later = 1 + self.random.below(self.launch.options.max_delay.max(1));
        let products = &mut self.ctas[here.cta].warps[here.warp].products;
        products.due = products.due.max(self.now + later) + 1;
        let due = products.due;
        self.events.push(due, work);
        Ok(Outcome::Next)
    }

    pub fn wgmma_wait(&mut self, here: Here, keep: u32, mask: u32, active: u32) -> Run<Outcome> {
        if let Some(outcome) = self.whole_warp(here, mask, active)? {
            return Ok(outcome);
        }
        let program = self.program;
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        let covered = warp.products.groups.saturating_sub(keep as u64);
        if warp.products.queue.iter().any(|product| product.group < covered && !product.is_done) {
            return Ok(Outcome::Wait(Waiting::Products { groups: keep }));
        }
        let mut settled = Vec::new();
        while warp.products.queue.front().is_some_and(|product| product.group < covered) {
            let Some(product) = warp.products.queue.pop_front() else { break };
            let Body::Wgmma(o) = &program.steps[product.pc as usize].body else { continue };
            if let Source::Registers(rows) = &o.a {
                for (row, before) in rows.iter().zip(&product.fragments) {
                    if warp.rows[*row as usize] != *before {
                        return Err(touched(program.register(*row)));
                    }
                }
            }
            settled.push(o);
        }
        for o in settled {
            let still = |row: &Row| {
                warp.products.queue.iter().any(|product| match &program.steps[product.pc as usize].body {
                    Body::Wgmma(later) => later.d.contains(row),
                    _ => false,
                })
            };
            let free: Vec<Row> = o.d.iter().copied().filter(|row| !still(row)).collect();
            for row in free {
                if warp.defined[row as usize] != 0 && warp.stamp[row as usize] != SETTLED {
                    return Err(touched(program.register(row)));
                }
                warp.defined[row as usize] = FULL;
                warp.stamp[row as usize] = SETTLED;
            }
        }
        self.learns(here, Who::Products(here.cta, here.warp), covered);
        Ok(Outcome::Next)
    }

    /// Records what a product reads of shared memory.
    fn touch_factors(&mut self, here: Here, o: &Wgmma, a: u64, b: u64, group: u32) -> Run<()> {
        if self.races.is_none() {
            return Ok(());
        }
        let work = Some((Who::Products(here.cta, here.warp), group, true));
        let area = Area::Shared(here.cta);
        let mut chunks = Vec::new();
        if let Source::Shared(_) = o.a {
            let first = ROWS * (here.warp % 4);
            chunks.extend(Descriptor::new(a)?.chunks(first..first + ROWS, o.shape.k(), o.transpose_a));
        }
        chunks.extend(Descriptor::new(b)?.chunks(0..o.shape.n(), o.shape.k(), o.transpose_b));
        for address in chunks {
            let address = address as u64;
            self.touch(here, Touch { area, address, len: 16, write: false, strong: false, lane: 0, work })?;
        }
        Ok(())
    }

    /// Does the warp's next product.
    pub fn perform_product(&mut self, c: usize, w: usize) -> Run<()> {
        let program = self.program;
        let Cta { warps, shared, factors, .. } = &mut self.ctas[c];
        let warp = &mut warps[w];
        let Some(at) = warp.products.queue.iter().position(|product| !product.is_done) else { return Ok(()) };
        let mut product = warp.products.queue.remove(at).expect("invariant: it was found there");
        let Body::Wgmma(o) = &program.steps[product.pc as usize].body else { return Ok(()) };
        let result = multiply(warp, shared, factors, o, &product, w % 4);
        product.is_done = true;
        warp.products.queue.insert(at, product);
        result
    }
}

/// The stamp of sums that a wait gave back.
pub const SETTLED: u32 = 0;

fn touched(reg: Option<tegula_isa_ptx::Reg>) -> Problem {
    let name = reg.map_or_else(String::new, |reg| reg.to_string());
    Problem::new("sim-race", format!("{name} was written while a wgmma that uses it was under way"))
}

impl Warp {
    /// Errors: the register was written after the last `wgmma.fence`.
    fn check_fenced(&self, program: &crate::program::Program, row: Row) -> Run<()> {
        if self.stamp[row as usize] < self.fence_epoch {
            return Ok(());
        }
        let name = program.register(row).map_or_else(String::new, |reg| reg.to_string());
        Err(Problem::new("sim-race", format!("{name} was written, and no wgmma.fence came after")))
    }
}

fn multiply(
    warp: &mut Warp,
    shared: &Shared,
    factors: &mut Factors,
    o: &Wgmma,
    product: &Product,
    quarter: usize,
) -> Run<()> {
    let (n, k) = (o.shape.n(), o.shape.k());
    let (a_ty, b_ty) = group_factors(o.ty);
    if o.ty.is_integer() {
        let mut a = vec![0i32; ROWS * k];
        read_a(shared, o, product, quarter, a_ty, &mut a, |bits| a_ty.integer(bits))?;
        let mut b = vec![0i32; k * n];
        let into = |row: usize, at: usize, bits| b[at * n + row] = b_ty.integer(bits);
        Descriptor::new(product.b)?.read(shared, 0..n, k, b_ty, false, into)?;
        return integers(warp, o, product.accumulate, &a, &b);
    }
    let sign = if o.negate { -1.0 } else { 1.0 };
    let mut a = vec![0f32; ROWS * k];
    read_a(shared, o, product, quarter, a_ty, &mut a, |bits| sign * a_ty.float(bits))?;
    let b = factors.get(shared, o, product.b)?;
    floats(warp, o, product.accumulate, &a, b);
    Ok(())
}

/// Second factors that the warps of a warpgroup have in common, by rows of k.
#[derive(Default)]
pub struct Factors(VecDeque<(FactorKey, Vec<f32>)>);

/// Version of shared memory, descriptor, n, type, and whether n goes along rows.
type FactorKey = (u64, u64, usize, Factor, bool);

/// Factors that are kept: those of a few steps of k.
const KEPT: usize = 8;

impl Factors {
    fn get(&mut self, shared: &Shared, o: &Wgmma, descriptor: u64) -> Run<&[f32]> {
        let (n, k, ty) = (o.shape.n(), o.shape.k(), group_factors(o.ty).1);
        let key = (shared.version(), descriptor, n, ty, o.transpose_b);
        if let Some(at) = self.0.iter().position(|(known, _)| *known == key) {
            return Ok(&self.0[at].1);
        }
        let mut b = vec![0f32; k * n];
        let from = Descriptor::new(descriptor)?;
        // The common types have loops of their own.
        match ty {
            Factor::BF16 => from.read(shared, 0..n, k, ty, o.transpose_b, |row, at, bits| {
                b[at * n + row] = Factor::BF16.float(bits);
            })?,
            Factor::F16 => from.read(shared, 0..n, k, ty, o.transpose_b, |row, at, bits| {
                b[at * n + row] = Factor::F16.float(bits);
            })?,
            _ => from
                .read(shared, 0..n, k, ty, o.transpose_b, |row, at, bits| b[at * n + row] = ty.float(bits))?,
        }
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        self.0.push_back((key, b));
        Ok(self.0.back().map_or(&[], |(_, b)| b))
    }
}

/// The 16 rows of this warp.
fn read_a<T: Copy>(
    shared: &Shared,
    o: &Wgmma,
    product: &Product,
    quarter: usize,
    ty: Factor,
    into: &mut [T],
    f: impl Fn(u32) -> T,
) -> Run<()> {
    let k = o.shape.k();
    if let Source::Shared(_) = o.a {
        let descriptor = Descriptor::new(product.a)?;
        return descriptor.read(
            shared,
            ROWS * quarter..ROWS * (quarter + 1),
            k,
            ty,
            o.transpose_a,
            |row, at, bits| {
                into[row % ROWS * k + at] = f(bits);
            },
        );
    }
    let bits = ty.bits();
    let per_register = (32 / bits) as usize;
    for (r, fragment) in product.fragments.iter().enumerate() {
        for (lane, value) in fragment.iter().enumerate() {
            let row = lane / 4 + 8 * (r % 2);
            let first = per_register * (4 * (r / 2) + lane % 4);
            for i in 0..per_register {
                into[row * k + first + i] = f(*value as u32 >> (bits * i as u32));
            }
        }
    }
    Ok(())
}

fn floats(warp: &mut Warp, o: &Wgmma, accumulate: bool, a: &[f32], b: &[f32]) {
    let (n, k) = (o.shape.n(), o.shape.k());
    let is_half = o.ty.sum_register() == Scalar::F16x2;
    let mut sums = vec![0f32; ROWS * n];
    if accumulate {
        for (i, row) in o.d.iter().enumerate() {
            let values = &warp.rows[*row as usize];
            each_sum(is_half, i, n, |lane, at| {
                let bits = values[lane] as u32;
                if is_half {
                    sums[at] = Factor::F16.float(bits);
                    sums[at + 1] = Factor::F16.float(bits >> 16);
                } else {
                    sums[at] = f32::from_bits(bits);
                }
            });
        }
    }
    for (sums, a) in sums.chunks_exact_mut(n).zip(a.chunks_exact(k)) {
        // Four steps of k at a time, in order; k is a multiple of 8.
        for (a, b) in a.as_chunks::<4>().0.iter().zip(b.chunks_exact(4 * n)) {
            let (b0, rest) = b.split_at(n);
            let (b1, rest) = rest.split_at(n);
            let (b2, b3) = rest.split_at(n);
            for ((((sum, b0), b1), b2), b3) in sums.iter_mut().zip(b0).zip(b1).zip(b2).zip(b3) {
                *sum = (((*sum + a[0] * b0) + a[1] * b1) + a[2] * b2) + a[3] * b3;
            }
        }
    }
    for (i, row) in o.d.iter().enumerate() {
        let values = &mut warp.rows[*row as usize];
        each_sum(is_half, i, n, |lane, at| {
            values[lane] = if is_half {
                let pair = [sums[at], sums[at + 1]].map(|sum| F16.encode(sum as f64, Rounding::Nearest));
                pair[0] | pair[1] << 16
            } else {
                sums[at].to_bits() as u64
            };
        });
    }
}

fn integers(warp: &mut Warp, o: &Wgmma, accumulate: bool, a: &[i32], b: &[i32]) -> Run<()> {
    let (n, k) = (o.shape.n(), o.shape.k());
    for (i, row) in o.d.iter().enumerate() {
        let values = &mut warp.rows[*row as usize];
        each_sum(false, i, n, |lane, at| {
            let (row, column) = (at / n, at % n);
            let before = if accumulate { values[lane] as u32 as i32 as i64 } else { 0 };
            let sum = (0..k).fold(before, |sum, at| sum + (a[row * k + at] * b[at * n + column]) as i64);
            let sum = if o.satfinite { sum.clamp(i32::MIN as i64, i32::MAX as i64) } else { sum };
            values[lane] = sum as u32 as u64;
        });
    }
    Ok(())
}

/// Calls `f` with each lane and where its `i`-th register of sums stands in the warp's 16 rows of n.
fn each_sum(is_half: bool, i: usize, n: usize, mut f: impl FnMut(usize, usize)) {
    let first =
        if is_half { 8 * (i % 2) * n + 8 * (i / 2) } else { 8 * (i / 2 % 2) * n + 8 * (i / 4) + i % 2 };
    for row in 0..8 {
        for pair in 0..4 {
            f(4 * row + pair, first + row * n + 2 * pair);
        }
    }
}
