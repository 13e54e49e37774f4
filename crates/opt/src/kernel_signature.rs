//! What makes two kernels one: they are the same in everything but names and places.

use std::hash::Hash;
use tegula_base::{EntityId, HashMap};
use tegula_ir::OpId;
use tegula_tensor::{TensorFunc, TensorOp, TensorType};

/// Signatures of kernels; equal ones are of equal kernels, also of several functions.
#[derive(Default)]
pub(crate) struct Signatures<'a> {
    kinds: HashMap<&'a TensorOp, u32>,
    types: HashMap<&'a TensorType, u32>,
    /// By the value's index; of values outside of the kernel at hand it says nothing.
    numbers: Vec<u32>,
    /// Of the kernel at hand.
    signature: Vec<u32>,
}

/// Ends a list.
const END: u32 = u32::MAX;
/// Less the rank: stands for a number that is not told.
const SOME_NUMBER: u32 = u32::MAX - 1;

impl<'a> Signatures<'a> {
    /// The types of what the kernel reads and gives, and of each op in it the kind and what it reads: the types
    /// of its results follow, and only buffers have layouts. The class comes first: an update writes less than a scatter.
    /// Kinds and types are numbered as they appear, values in order of definition. Of the splats in `open`, numbers of one
    /// type, only the rank is told, and that at their readers.
    pub fn of(&mut self, func: &'a TensorFunc, kernel: OpId, open: &[OpId]) -> &[u32] {
        let region = func.regions_of(kernel)[0];
        let signature = &mut self.signature;
        signature.clear();
        self.numbers.resize(self.numbers.len().max(func.value_count()), 0);
        signature.push(number(&mut self.kinds, func.kind(kernel)));
        let mut next = 0;
        for value in func.operands(kernel).iter().chain(func.results(kernel)) {
            signature.push(number(&mut self.types, func.ty(*value)));
        }
        signature.push(END);
        for arg in func.args(region) {
            self.numbers[arg.index()] = next;
            next += 1;
        }
        for &op in func.ops_in(region) {
            if open.contains(&op) {
                let result = func.result(op);
                self.numbers[result.index()] = SOME_NUMBER - func.ty(result).shape.rank() as u32;
                continue;
            }
            signature.push(number(&mut self.kinds, func.kind(op)));
            signature.extend(func.operands(op).iter().map(|value| self.numbers[value.index()]));
            signature.push(END);
            for result in func.results(op) {
                self.numbers[result.index()] = next;
                next += 1;
            }
        }
        signature
    }
}

/// The number of a key, the next one where it is new.
fn number<K: Hash + Eq>(numbers: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = numbers.len() as u32;
    *numbers.entry(key).or_insert(next)
}
