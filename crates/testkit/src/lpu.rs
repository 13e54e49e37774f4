//! Programs of words of streaming chips, with inputs and results: the worked example of `docs/lpu.md`, a large product,
//! weights of all planes, a barrier of all queues, and faults planted into small ones.

mod barrier;
mod gemm;
mod install;
pub mod planted;

pub use barrier::barrier;
pub use gemm::gemm;
pub use install::install;

use std::collections::BTreeMap;
use tegula_base::Diagnostic;
use tegula_isa_lpu::{Image, Queue, QueueId, Tag, Word, parse};
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

/// A word and repeats of it, from a cycle on.
fn burst(id: QueueId, cycle: i64, word: Word, tags: &[Tag], times: u32, stride: i16, steps: &[Tag]) -> Queue {
    let mut queue = Queue::new(0, id);
    if cycle > 0 {
        queue.push(Word::Nop { cycles: cycle as u16 }, &[]);
    }
    queue.push(word, tags);
    queue.push(Word::Repeat { count: times as u16 - 1, gap: 0, strides: [stride; 3] }, steps);
    queue
}

#[cfg(test)]
mod tests {
    use super::*;
    use tegula_isa_lpu::verify;

    /// The cycles of a program, which its proof and a run agree on.
    fn cycles(words: &Words) -> u64 {
        let proof = verify(&words.image, &words.machine).unwrap_or_else(|faults| panic!("{faults}"));
        let outcome = words.run(words.image.clone()).unwrap_or_else(|trap| panic!("{trap}"));
        assert_eq!(outcome.outputs, words.outputs);
        assert_eq!(outcome.cycles as u64, proof.programs[0].cycles);
        proof.programs[0].cycles
    }

    /// The farthest weights read in cycle 0 come in 11; 20 loads and `iw` follow.
    #[test]
    fn four_planes_are_installed() {
        assert_eq!(cycles(&install()), 11 + 20 + 1);
    }

    #[test]
    fn a_barrier_holds_all_queues() {
        assert_eq!(cycles(&barrier()), 35 + 1);
    }
}
