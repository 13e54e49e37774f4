//! `mma.sync`: a product of small matrices whose elements are spread over the registers of a warp.
//! Layout (PTX ISA, "Matrix Fragments for mma"), for all shapes and types: with g = lane / 4, t = lane % 4 and e
//! elements in a register, register r of `a` has row g + 8 (r % (m / 8)) and k from 4e (r / (m / 8)) + e t on;
//! that of `b` has column g and k from 4e r + e t on; sums have rows g + 8 and columns 2t + 1.
//! Sums of f16, bf16, tf32 and 8-bit floats are taken in f32 in the order of k.

use tegula_isa_ptx::mma::{MmaShape, MmaType};

use crate::factor::{Factor, factors};
use crate::lanes::{FULL, Lanes};
use crate::machine::{Here, Machine, Outcome};
use crate::number::{F16, Rounding};
use crate::problem::Run;
use crate::program::Row;
use crate::warp::Warp;

pub struct Mma {
    pub shape: MmaShape,
    pub satfinite: bool,
    pub ty: MmaType,
    pub d: Vec<Row>,
    pub a: Vec<Row>,
    pub b: Vec<Row>,
    pub c: Vec<Row>,
}

const N: usize = 8;

impl Machine<'_> {
    pub fn mma(&mut self, here: Here, o: &Mma, mask: u32, active: u32) -> Run<Outcome> {
        if let Some(outcome) = self.whole_warp(here, mask, active)? {
            return Ok(outcome);
        }
        let (m, n, k) = o.shape.mnk();
        self.counters.matrix_macs += (m * n * k) as u64;
        let warp = &mut self.ctas[here.cta].warps[here.warp];
        for row in o.a.iter().chain(&o.b).chain(&o.c) {
            warp.need(self.program, *row, FULL)?;
        }
        match factors(o.ty) {
            None => doubles(warp, o),
            Some((a, b)) if o.ty.is_integer() => integers(warp, o, a, b),
            Some((a, b)) if k <= 16 => floats::<16>(warp, o, a, b),
            Some((a, b)) => floats::<64>(warp, o, a, b),
        }
        Ok(Outcome::Next)
    }
}

/// `K`: at least the shape's k.
fn floats<const K: usize>(warp: &mut Warp, o: &Mma, a_ty: Factor, b_ty: Factor) {
    let (m, _, k) = o.shape.mnk();
    let mut a = [[0f32; K]; 16];
    let mut b = [[0f32; N]; K];
    match a_ty {
        // The common types have loops of their own.
        Factor::BF16 => spread_a(warp, o, 16, &mut a, |bits| Factor::BF16.float(bits)),
        Factor::F16 => spread_a(warp, o, 16, &mut a, |bits| Factor::F16.float(bits)),
        _ => spread_a(warp, o, a_ty.bits(), &mut a, |bits| a_ty.float(bits)),
    }
    match b_ty {
        Factor::BF16 => spread_b(warp, o, 16, &mut b, |bits| Factor::BF16.float(bits)),
        Factor::F16 => spread_b(warp, o, 16, &mut b, |bits| Factor::F16.float(bits)),
        _ => spread_b(warp, o, b_ty.bits(), &mut b, |bits| b_ty.float(bits)),
    }
    let is_half = o.ty == MmaType::F16F16;
    let mut sums = [[0f32; N]; 16];
    each_sum(o, |row, lane, at| {
        let c = warp.rows[o.c[row] as usize][lane];
        if is_half {
            sums[at.0][at.1] = Factor::F16.float(c as u32);
            sums[at.0][at.1 + 1] = Factor::F16.float((c >> 16) as u32);
        } else {
            sums[at.0][at.1] = f32::from_bits(c as u32);
        }
    });
    for (sums, a) in sums.iter_mut().zip(&a).take(m) {
        let mut row = *sums;
        for (a, b) in a.iter().zip(&b).take(k) {
            for (sum, b) in row.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
        *sums = row;
    }
    write_sums(warp, o, |at| {
        if is_half {
            let pair =
                [sums[at.0][at.1], sums[at.0][at.1 + 1]].map(|s| F16.encode(s as f64, Rounding::Nearest));
            pair[0] | pair[1] << 16
        } else {
            sums[at.0][at.1].to_bits() as u64
        }
    });
}

fn integers(warp: &mut Warp, o: &Mma, a_ty: Factor, b_ty: Factor) {
    let (m, _, k) = o.shape.mnk();
    let mut a = [[0i32; 64]; 16];
    let mut b = [[0i32; N]; 64];
    spread_a(warp, o, a_ty.bits(), &mut a, |bits| a_ty.integer(bits));
    spread_b(warp, o, b_ty.bits(), &mut b, |bits| b_ty.integer(bits));
    let mut sums = [[0i64; N]; 16];
    each_sum(o, |row, lane, at| sums[at.0][at.1] = warp.rows[o.c[row] as usize][lane] as u32 as i32 as i64);
    for (sums, a) in sums.iter_mut().zip(&a).take(m) {
        for (a, b) in a.iter().zip(&b).take(k) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += (a * b) as i64;
            }
        }
    }
    write_sums(warp, o, |at| {
        let sum = sums[at.0][at.1];
        let sum = if o.satfinite { sum.clamp(i32::MIN as i64, i32::MAX as i64) } else { sum };
        sum as u32 as u64
    });
}

fn doubles(warp: &mut Warp, o: &Mma) {
    let (m, _, k) = o.shape.mnk();
    let value = |rows: &[Row], r: usize, lane: usize| f64::from_bits(warp.rows[rows[r] as usize][lane]);
    let mut sums = [[0f64; N]; 16];
    each_sum(o, |row, lane, at| sums[at.0][at.1] = value(&o.c, row, lane));
    let n_row_groups = m / 8;
    for (i, sums) in sums.iter_mut().enumerate().take(m) {
        for (j, sum) in sums.iter_mut().enumerate() {
            for k in 0..k {
                let a = value(&o.a, k / 4 * n_row_groups + i / 8, 4 * (i % 8) + k % 4);
                let b = value(&o.b, k / 4, 4 * j + k % 4);
                *sum = a.mul_add(b, *sum);
            }
        }
    }
    write_sums(warp, o, |at| sums[at.0][at.1].to_bits());
}

fn spread_a<T, const K: usize>(
    warp: &Warp,
    o: &Mma,
    bits: u32,
    into: &mut [[T; K]; 16],
    f: impl Fn(u32) -> T,
) {
    let n_row_groups = o.shape.mnk().0 / 8;
    let per_register = 32 / bits as usize;
    for (r, row) in o.a.iter().enumerate() {
        let values = &warp.rows[*row as usize];
        let k = r / n_row_groups * 4 * per_register;
        let first = 8 * (r % n_row_groups);
        for (quad, into) in values.as_chunks::<4>().0.iter().zip(&mut into[first..first + 8]) {
            let into = into[k..k + 4 * per_register].chunks_exact_mut(per_register);
            for (value, into) in quad.iter().zip(into) {
                for (i, element) in into.iter_mut().enumerate() {
                    *element = f(*value as u32 >> (bits * i as u32));
                }
            }
        }
    }
}

fn spread_b<T, const K: usize>(
    warp: &Warp,
    o: &Mma,
    bits: u32,
    into: &mut [[T; N]; K],
    f: impl Fn(u32) -> T,
) {
    let per_register = 32 / bits as usize;
    for (r, row) in o.b.iter().enumerate() {
        for (lane, value) in warp.rows[*row as usize].iter().enumerate() {
            let k = per_register * (4 * r + lane % 4);
            for i in 0..per_register {
                into[k + i][lane / 4] = f(*value as u32 >> (bits * i as u32));
            }
        }
    }
}

/// Calls `f` with each register of the sums, lane, and the place of its (first) element.
fn each_sum(o: &Mma, mut f: impl FnMut(usize, usize, (usize, usize))) {
    for r in 0..o.d.len() {
        each_lane(o.ty, r, |lane, at| f(r, lane, at));
    }
}

fn each_lane(ty: MmaType, r: usize, mut f: impl FnMut(usize, (usize, usize))) {
    let (first, odd) = if ty == MmaType::F16F16 { (8 * r, 0) } else { (8 * (r / 2), r % 2) };
    for row in 0..8 {
        for pair in 0..4 {
            f(4 * row + pair, (first + row, 2 * pair + odd));
        }
    }
}

fn write_sums(warp: &mut Warp, o: &Mma, value: impl Fn((usize, usize)) -> u64) {
    for (r, d) in o.d.iter().enumerate() {
        let mut values: Lanes = [0; 32];
        each_lane(o.ty, r, |lane, at| values[lane] = value(at));
        warp.set(*d, FULL, &values);
    }
}
