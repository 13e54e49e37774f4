//! Programs of words of streaming chips, with inputs and results: the worked example of `docs/lpu.md`, a large product,
//! and faults planted into small ones.

mod gemm;
pub mod planted;

pub use gemm::gemm;

use std::collections::BTreeMap;
use tegula_base::Diagnostic;
use tegula_isa_lpu::{Image, parse};
use tegula_machine::Machine;
use tegula_sim_lpu::{Outcome, Rack};

pub const EXAMPLE: &str = include_str!("../../../data/lpu_example.lpu");

/// A program called `main`.
pub struct Words {
    pub name: &'static str,
    pub image: Image,
    pub machine: Machine,
    /// Bytes of each tensor.
    pub inputs: BTreeMap<String, Vec<u8>>,
    pub outputs: BTreeMap<String, Vec<u8>>,
}

impl Words {
    /// Runs an image in place of its own, with its inputs.
    pub fn run(&self, image: Image) -> Result<Outcome, Diagnostic> {
        let inputs = self.inputs.iter().map(|(name, bytes)| (name.clone(), bytes.as_slice())).collect();
        Rack::load(image, &self.machine)?.run("main", &inputs)
    }
}

/// Two rows of a quantised layer: `X[r][k] = (k (r + 2) mod 5) - 2`, and the example's formula in integers.
pub fn example() -> Words {
    let x: Vec<u8> = (0..2).flat_map(|r| (0..16).map(move |k| (k * (r + 2) % 5 - 2) as i8 as u8)).collect();
    let of = |r: usize, n: i32| {
        let products = (0..16).map(|k| i32::from(x[r * 16 + k as usize] as i8) * ((3 * k + 5 * n) % 7 - 3));
        (((products.sum::<i32>() + 4 * n - 30).max(0) + 2) >> 2).clamp(-128, 127) as u8
    };
    let y = (0..2).flat_map(|r| (0..16).map(move |n| (r, n))).map(|(r, n)| of(r, n)).collect();
    Words {
        name: "example",
        image: parse(EXAMPLE).expect("invariant: the example is right"),
        machine: Machine::class("lpu-mini").expect("invariant: a class that comes with Tegula"),
        outputs: BTreeMap::from([("y".to_string(), y)]),
        inputs: BTreeMap::from([("x".to_string(), x)]),
    }
}
