//! Turns an entry into a program: registers and immediates become rows, blocks become places in one list of steps,
//! and each instruction its body. What an instruction computes is in the files below, by kind.
//! Errors: instructions that break the language's rules, or that this simulator does not know.

mod arithmetic;
mod asynchronous;
mod convert;
mod effects;
mod float;
mod integer;
mod logic;

use std::collections::BTreeMap;

use tegula_base::{Diagnostic, Diagnostics};
use tegula_isa_ptx::{Address, Base, Entry, Module, Op, Operand, Predicate, Reg, RegCounts, print_inst};

use crate::program::{At, Body, Guard, Program, Row, SHARED_START, Step};

/// Characters of an instruction in messages.
const MOST_TEXT: usize = 120;

/// Gives rows to registers, immediates and the addresses of variables.
pub struct Rows {
    registers: RegCounts,
    constants: Vec<u64>,
    known: BTreeMap<u64, Row>,
    shared: Vec<u32>,
    params: Vec<u32>,
}

impl Rows {
    pub fn reg(&self, reg: Reg) -> Row {
        self.registers.dense(reg) as Row
    }

    pub fn regs(&self, regs: &[Reg]) -> Vec<Row> {
        regs.iter().map(|reg| self.reg(*reg)).collect()
    }

    pub fn constant(&mut self, bits: u64) -> Row {
        let next = (self.registers.total() + self.constants.len()) as Row;
        let row = *self.known.entry(bits).or_insert(next);
        if row == next {
            self.constants.push(bits);
        }
        row
    }

    pub fn operand(&mut self, operand: Operand) -> Row {
        match operand {
            Operand::Reg(reg) => self.reg(reg),
            Operand::Imm(bits) => self.constant(bits),
        }
    }

    pub fn opt(&mut self, operand: Option<Operand>) -> Option<Row> {
        operand.map(|operand| self.operand(operand))
    }

    pub fn guard(&self, predicate: Predicate) -> Guard {
        Guard { row: self.reg(predicate.reg), negated: predicate.negated }
    }

    /// The address of a variable is a constant.
    pub fn at(&mut self, address: Address) -> At {
        let row = match address.base {
            Base::Reg(reg) => self.reg(reg),
            Base::Shared(id) => self.constant(self.shared.get(id.0 as usize).copied().unwrap_or(0) as u64),
            Base::Param(id) => self.constant(self.params.get(id.0 as usize).copied().unwrap_or(0) as u64),
        };
        At { row, offset: address.offset }
    }

    /// The address itself, where it is of a variable.
    pub fn symbol(&mut self, address: Address) -> Row {
        let at = self.at(address);
        let bits = at.row as usize - self.registers.total().min(at.row as usize);
        let base = self.constants.get(bits).copied().unwrap_or(0);
        self.constant(base.wrapping_add(at.offset as i64 as u64) & u32::MAX as u64)
    }
}

/// Errors: as the module says.
pub fn decode(entry: &Entry) -> Result<Program, Diagnostics> {
    Module { target: entry.needs().target, entries: vec![entry.clone()] }.verify()?;
    let (shared, shared_end, has_dynamic) = lay_out_shared(entry)?;
    let params = entry.param_offsets();
    let mut rows = Rows {
        registers: entry.registers,
        constants: Vec::new(),
        known: BTreeMap::new(),
        shared,
        params: params.clone(),
    };
    let mut steps = Vec::new();
    let mut starts = Vec::new();
    for (block_idx, block) in entry.blocks.iter().enumerate() {
        starts.push(steps.len() as u32);
        for (at, inst) in block.insts.iter().enumerate() {
            let body = body(&inst.op, &mut rows).ok_or_else(|| unknown(entry, &inst.op))?;
            let guard = inst.guard.map(|guard| rows.guard(guard));
            let place = (block_idx as u32, at as u32);
            let text = shortened(print_inst(entry, inst).trim_end_matches(';'));
            steps.push(Step { guard, body, place, text });
        }
    }
    for step in &mut steps {
        if let Body::Branch { target } = &mut step.body {
            *target = *starts.get(*target as usize).ok_or_else(|| {
                Diagnostic::error("sim-program", format!("a branch in `{}` leads to no block", entry.name))
            })?;
        }
    }
    let labels = entry.blocks.iter().enumerate().map(|(idx, block)| match block.name.as_str() {
        "" => format!("$L{idx}"),
        name => format!("$L{idx}_{name}"),
    });
    Ok(Program {
        name: entry.name.clone(),
        steps,
        registers: entry.registers,
        constants: rows.constants,
        directives: entry.directives,
        shared_end,
        has_dynamic,
        param_offsets: params,
        labels: labels.collect(),
    })
}

/// Long lists of registers say nothing in a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_TEXT) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_string(),
    }
}

fn unknown(entry: &Entry, op: &Op) -> Diagnostic {
    Diagnostic::error(
        "sim-program",
        format!(
            "`{}` ({}) in `{}` is an instruction that the simulator lacks",
            op.mnemonic(),
            op.kind(),
            entry.name
        ),
    )
}

fn body(op: &Op, rows: &mut Rows) -> Option<Body> {
    integer::map(op, rows)
        .or_else(|| logic::map(op, rows))
        .or_else(|| float::map(op, rows))
        .or_else(|| convert::map(op, rows))
        .map(Body::Map)
        .or_else(|| effects::body(op, rows))
        .or_else(|| asynchronous::body(op, rows))
}

/// Addresses of the shared variables, the end of those whose size is known, and whether one grows with the launch.
fn lay_out_shared(entry: &Entry) -> Result<(Vec<u32>, u32, bool), Diagnostic> {
    let mut addresses = vec![0; entry.shared.len()];
    let mut end = SHARED_START;
    let place = |end: u32, align: u32| end.checked_next_multiple_of(align.max(1));
    let too_large =
        || Diagnostic::error("sim-program", format!("shared memory of `{}` is too large", entry.name));
    for (address, shared) in addresses.iter_mut().zip(&entry.shared) {
        let Some(size) = shared.size else { continue };
        *address = place(end, shared.align).ok_or_else(too_large)?;
        end = address.checked_add(size).filter(|end| *end < 1 << 24).ok_or_else(too_large)?;
    }
    let align = entry.shared.iter().filter(|shared| shared.size.is_none()).map(|shared| shared.align).max();
    if let Some(align) = align {
        end = place(end, align).ok_or_else(too_large)?;
    }
    for (address, shared) in addresses.iter_mut().zip(&entry.shared) {
        if shared.size.is_none() {
            *address = end;
        }
    }
    Ok((addresses, end, align.is_some()))
}
