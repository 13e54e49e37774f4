//! Where the views of a kernel lie: buffers of the caller's, by words of the argument block, and parts of the thread's
//! scratch area.

use super::Lower;
use crate::schedule::Builder;
use tegula_base::HashMap;
use tegula_ir::{OpId, Value};
use tegula_tile::{TileFunc, TileKernel, TileOp, ViewType};

#[derive(Clone, Copy)]
enum Place {
    /// The argument block's word with its address.
    Argument(usize),
    /// Bytes from the start of the scratch area.
    Scratch(i64),
}

struct Memory {
    ty: ViewType,
    place: Place,
    written: bool,
    in_place: Option<usize>,
}

/// The views of a kernel by number: its arguments, then its own.
#[derive(Default)]
pub(super) struct Memories {
    list: Vec<Memory>,
    numbers: HashMap<Value, usize>,
}

impl Memories {
    pub fn of(kernel: &TileKernel) -> Memories {
        let mut memories = Memories::default();
        let arguments = kernel.func.args(kernel.func.body());
        for (number, (param, view)) in kernel.views.iter().zip(arguments).enumerate() {
            let (ty, place) = (param.ty.clone(), Place::Argument(1 + number));
            let memory = Memory { ty, place, written: param.written, in_place: param.in_place };
            memories.push(*view, memory);
        }
        memories
    }

    fn push(&mut self, view: Value, memory: Memory) {
        self.numbers.insert(view, self.list.len());
        self.list.push(memory);
    }

    /// The number of the view that a memory op uses.
    pub fn number(&self, func: &TileFunc, op: OpId) -> usize {
        self.numbers[&func.operand(op, 0)]
    }

    pub fn ty(&self, number: usize) -> &ViewType {
        &self.list[number].ty
    }

    /// Whether a store through view `a` may change what view `b` reads.
    pub fn may_alias(&self, a: usize, b: usize) -> bool {
        let paired = |a: usize, b: usize| self.list[a].in_place == Some(b);
        a == b || paired(a, b) || paired(b, a)
    }

    /// Whether the kernel writes what this view reads.
    pub fn is_written(&self, number: usize) -> bool {
        let written = self.list.iter().enumerate().filter(|(_, memory)| memory.written);
        written.into_iter().any(|(i, _)| self.may_alias(i, number))
    }
}

impl Lower<'_> {
    /// Gives a `tgt.scratch` its part of the thread's area.
    pub fn place_scratch(&mut self, op: OpId) {
        let view = self.func.result(op);
        let (TileOp::Scratch { dtype, shape }, Some(ty)) = (self.func.kind(op), self.func.ty(view).as_view())
        else {
            unreachable!("invariant: called on scratch")
        };
        let bytes = shape.iter().product::<i64>() * dtype.size() as i64;
        let place = Place::Scratch(self.reserve_scratch(bytes));
        self.memories.push(view, Memory { ty: ty.clone(), place, written: true, in_place: None });
    }

    /// Where a view's first element lies: a base, and bytes from there.
    pub fn origin(&self, b: &mut Builder, number: usize) -> (Value, i64) {
        match self.memories.list[number].place {
            Place::Argument(word) => (b.arg(word), 0),
            Place::Scratch(offset) => (b.scratch(), offset),
        }
    }
}
