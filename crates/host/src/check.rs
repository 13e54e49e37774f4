//! The rules of host ops. Error texts name the constraint.

use crate::{BufferType, HostFunc, HostOp};
use tegula_ir::op::{OpRules, Types};
use tegula_ir::{Effects, Op, OpId, Value};

impl OpRules for HostOp {
    type Type = BufferType;

    fn effects(&self) -> Effects {
        if self.is_step() || self.is_terminator() {
            return Effects::Writes;
        }
        match self {
            // Two allocations are two buffers.
            HostOp::Alloc {} => Effects::Reads,
            _ => Effects::Pure,
        }
    }

    fn is_terminator(&self) -> bool {
        matches!(self, HostOp::Yield {} | HostOp::Return { .. })
    }

    fn region_count(&self) -> usize {
        match self {
            HostOp::If {} | HostOp::Fork {} => 2,
            HostOp::Loop { .. } => 1,
            _ => 0,
        }
    }

    fn check(func: &HostFunc, op: OpId) -> Result<Types<BufferType>, String> {
        let kind = func.kind(op);
        let operands = func.operands(op).len();
        let takes = |n: usize| match operands == n {
            true => Ok(()),
            false => Err(format!("{}_c0: takes {n} buffers, got {operands}", kind.name())),
        };
        match kind {
            HostOp::Constant { packing, .. } => {
                takes(0)?;
                packing.iter().try_for_each(|packing| packing.check())?;
                declared(func, op)
            }
            HostOp::Input { .. }
            | HostOp::Updated { .. }
            | HostOp::Output { .. }
            | HostOp::Alloc {}
            | HostOp::State { .. } => {
                takes(0)?;
                declared(func, op)
            }
            HostOp::Alias { .. } => {
                takes(1)?;
                let types = declared(func, op)?;
                match types[0].device == func.ty(func.operand(op, 0)).device {
                    true => Ok(types),
                    false => Err("alias_c1: a part of a buffer is on another device".into()),
                }
            }
            HostOp::Launch { written, .. } => {
                let legal = written.is_sorted_by(|a, b| a < b) && written.iter().all(|i| *i < operands);
                if !legal {
                    return Err(format!(
                        "launch_c1: {written:?} are not operands, of which there are {operands}"
                    ));
                }
                written.iter().try_for_each(|i| writable(func, func.operand(op, *i)))?;
                if !on_one_device(func, op) {
                    return Err("launch_c2: buffers of a launch are on several devices".into());
                }
                Ok(Types::new())
            }
            HostOp::Copy { .. } | HostOp::Transfer { .. } => {
                takes(2)?;
                writable(func, func.operand(op, 1))?;
                match (kind, on_one_device(func, op)) {
                    (HostOp::Copy { .. }, false) => Err("copy_c1: a copy goes to another device".into()),
                    (HostOp::Transfer { .. }, true) => {
                        Err("transfer_c1: a transfer stays on a device".into())
                    }
                    _ => Ok(Types::new()),
                }
            }
            HostOp::Fill { value, .. } => {
                takes(1)?;
                writable(func, func.operand(op, 0))?;
                if *value > 255 {
                    return Err(format!("fill_c1: {value} is no byte"));
                }
                Ok(Types::new())
            }
            HostOp::Bind { .. } => takes(1).map(|()| Types::new()),
            HostOp::Assert { .. } => takes(0).map(|()| Types::new()),
            HostOp::If {} => takes(1).map(|()| Types::new()),
            HostOp::Loop { trip, cond, counter } => {
                if !trip && !cond {
                    return Err("loop_c1: the loop has no end".into());
                }
                takes([*trip, *cond, *counter].into_iter().filter(|there| *there).count())?;
                if *counter {
                    writable(func, func.operand(op, operands - 1))?;
                }
                Ok(Types::new())
            }
            HostOp::Fork {} | HostOp::Yield {} => takes(0).map(|()| Types::new()),
            HostOp::Return { names, dtypes, shapes } => {
                takes(names.len())?;
                if names.len() != dtypes.len() || names.len() != shapes.len() {
                    return Err("return_c1: names, dtypes and shapes differ in number".into());
                }
                Ok(Types::new())
            }
        }
    }
}

/// The op declares how large its one buffer is.
fn declared(func: &HostFunc, op: OpId) -> Result<Types<BufferType>, String> {
    let types = func.result_types(op);
    match types.len() {
        1 => Ok(types.into()),
        n => Err(format!("{}_c0: gives one buffer, not {n}", func.kind(op).name())),
    }
}

/// Whether all operands are on one device.
fn on_one_device(func: &HostFunc, op: OpId) -> bool {
    let mut devices = func.operands(op).iter().map(|buffer| func.ty(*buffer).device);
    let first = devices.next();
    devices.all(|device| Some(device) == first)
}

/// Nothing writes to inputs and constants, also not through an alias.
fn writable(func: &HostFunc, mut buffer: Value) -> Result<(), String> {
    while let Some(def) = func.def_op(buffer) {
        match func.kind(def) {
            HostOp::Alias { .. } => buffer = func.operand(def, 0),
            kind @ (HostOp::Input { .. } | HostOp::Constant { .. }) => {
                return Err(format!("step_c1: {buffer} is written, but it is an {}", kind.name()));
            }
            _ => break,
        }
    }
    Ok(())
}
