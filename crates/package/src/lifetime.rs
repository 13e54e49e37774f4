//! How long the memory of each buffer is needed: its own lifetime, those of its aliases, and to the end of the
//! program for what an output shows.

use crate::host::{Buffer, HostProgram, Place, Step};

/// First and last step, inclusive; an output's last is the number of steps, which stands for the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetime {
    pub first: u32,
    pub last: u32,
}

/// The buffer whose memory each buffer uses (itself, if it is no alias), by index.
pub fn roots(program: &HostProgram) -> Vec<usize> {
    let root = |(index, buffer): (usize, &Buffer)| match buffer.place {
        Place::Alias { of, .. } => of.index(),
        _ => index,
    };
    program.buffers.iter().enumerate().map(root).collect()
}

/// Lifetimes of memory, by buffer; only those of roots matter.
pub fn lifetimes(program: &HostProgram, roots: &[usize]) -> Vec<Lifetime> {
    let mut lives: Vec<Lifetime> =
        program.buffers.iter().map(|buffer| Lifetime { first: buffer.first, last: buffer.last }).collect();
    for (buffer, root) in program.buffers.iter().zip(roots) {
        let life = &mut lives[*root];
        life.first = life.first.min(buffer.first);
        life.last = life.last.max(buffer.last);
    }
    let end = Step::for_each(&program.steps, 0, &mut |_, _| {});
    for port in &program.outputs {
        lives[roots[port.buffer.index()]].last = end;
    }
    lives
}
