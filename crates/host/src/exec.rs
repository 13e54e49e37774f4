//! The meaning of host programs: runs the steps over plain vectors, launches by a callback.
//!
//! Before: a verified function whose input symbols have values.  After: the bytes of each output.
//! Every buffer that is no alias has memory of its own, made at its first use, so that no plan of an arena can
//! hide a missing write: fresh memory is filled with [`UNDEFINED`].

use crate::{HostFunc, HostOp};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tegula_base::{Diagnostic, Dim, EntityId};
use tegula_ir::{ConstStore, Op, OpId, RegionId, Value};

/// What memory holds before it is written.
pub const UNDEFINED: u8 = 0xA5;

/// One launch, for the callback.
#[derive(Debug)]
pub struct Launch<'a> {
    pub kernel: u32,
    pub name: &'a str,
    pub sizes: Vec<i64>,
    pub grid: i64,
    /// Which of the buffers the kernel writes; changes of the others are dropped.
    pub written: &'a [usize],
}

/// Does a launch on copies of its buffers. Errors: why the kernel failed.
pub type Launcher<'a> = dyn FnMut(&Launch, &mut [Vec<u8>]) -> Result<(), String> + 'a;

/// Runs a program. `symbols` holds the input symbols' values.
/// Errors: a failed assertion or launch, a size without value, an access outside of a buffer.
pub fn execute(
    func: &HostFunc,
    consts: &ConstStore,
    symbols: BTreeMap<Arc<str>, i64>,
    inputs: &[&[u8]],
    launcher: &mut Launcher,
) -> Result<Vec<Vec<u8>>, Diagnostic> {
    let mut run = Run { func, consts, symbols, inputs, memory: HashMap::new(), launcher };
    run.region(func.body())?;
    let end =
        func.terminator(func.body()).ok_or_else(|| Diagnostic::internal("a host program has no end"))?;
    let outputs = func.operands(end).iter().map(|buffer| run.read(*buffer));
    outputs.collect::<Result<_, String>>().map_err(|error| run.diagnose(end, error))
}

struct Run<'a, 'l> {
    func: &'a HostFunc,
    consts: &'a ConstStore,
    symbols: BTreeMap<Arc<str>, i64>,
    inputs: &'a [&'a [u8]],
    /// Content of buffers that are no aliases, by value.
    memory: HashMap<Value, Vec<u8>>,
    launcher: &'a mut Launcher<'l>,
}

impl Run<'_, '_> {
    fn region(&mut self, region: RegionId) -> Result<(), Diagnostic> {
        for &op in self.func.ops_in(region) {
            self.step(op)?;
        }
        Ok(())
    }

    fn step(&mut self, op: OpId) -> Result<(), Diagnostic> {
        let func = self.func;
        let regions = func.regions_of(op);
        match func.kind(op) {
            HostOp::If {} => {
                let cond = self.read_bool(func.operand(op, 0)).map_err(|error| self.diagnose(op, error))?;
                self.region(regions[usize::from(!cond)])
            }
            HostOp::Loop { trip, cond, counter } => self.repeat(op, [*trip, *cond, *counter]),
            HostOp::Fork {} => regions.iter().try_for_each(|region| self.region(*region)),
            HostOp::Assert { left, relation, right, message } => {
                let sides = self.size(left).and_then(|l| Ok((l, self.size(right)?)));
                let (l, r) = sides.map_err(|error| self.diagnose(op, error))?;
                match relation.holds(l, r) {
                    true => Ok(()),
                    false => {
                        Err(Diagnostic::error("assertion", message.clone()).note(format!("{l} and {r}")))
                    }
                }
            }
            _ => self.plain(op).map_err(|error| self.diagnose(op, error)),
        }
    }

    /// A step without regions.
    fn plain(&mut self, op: OpId) -> Result<(), String> {
        let func = self.func;
        let operands = func.operands(op);
        match func.kind(op) {
            HostOp::Launch { kernel, name, written, sizes, grid } => {
                let sizes = sizes.iter().map(|size| self.size(size)).collect::<Result<_, _>>()?;
                let launch = Launch { kernel: *kernel, name, sizes, grid: self.size(grid)?, written };
                let mut buffers =
                    operands.iter().map(|buffer| self.read(*buffer)).collect::<Result<Vec<_>, _>>()?;
                let lengths: Vec<usize> = buffers.iter().map(Vec::len).collect();
                (self.launcher)(&launch, &mut buffers)?;
                if buffers.iter().map(Vec::len).ne(lengths) {
                    return Err("the launch changed the size of a buffer".into());
                }
                written.iter().try_for_each(|i| self.write(operands[*i], 0, &buffers[*i]))
            }
            HostOp::Copy { src_offset, dst_offset, bytes }
            | HostOp::Transfer { src_offset, dst_offset, bytes } => {
                let (from, to) = (self.offset(src_offset)?, self.offset(dst_offset)?);
                let bytes = self.offset(bytes)?;
                let source = self.read(operands[0])?;
                let part = source.get(from..from + bytes).ok_or("the copy leaves its source")?;
                self.write(operands[1], to, part)
            }
            HostOp::Fill { value, bytes } => {
                let bytes = self.offset(bytes)?;
                self.write(operands[0], 0, &vec![*value as u8; bytes])
            }
            HostOp::Bind { symbol } => {
                let value = self.read_i64(operands[0])?;
                self.symbols.insert(symbol.as_str().into(), value);
                Ok(())
            }
            HostOp::Input { .. }
            | HostOp::Updated { .. }
            | HostOp::Output { .. }
            | HostOp::Constant { .. }
            | HostOp::State { .. }
            | HostOp::Alias { .. }
            | HostOp::Yield {}
            | HostOp::Return { .. } => Ok(()),
            // A new iteration gets new memory.
            HostOp::Alloc {} => {
                self.memory.remove(&func.result(op));
                Ok(())
            }
            HostOp::If {} | HostOp::Loop { .. } | HostOp::Fork {} | HostOp::Assert { .. } => {
                Err("a step with regions is no plain one".into())
            }
        }
    }

    fn repeat(&mut self, op: OpId, [trip, cond, counter]: [bool; 3]) -> Result<(), Diagnostic> {
        let func = self.func;
        let mut operands = func.operands(op).iter().copied();
        let mut take = |there: bool| if there { operands.next() } else { None };
        let (trip, cond, counter) = (take(trip), take(cond), take(counter));
        let trip = trip.map_or(Ok(i64::MAX), |trip| self.read_i64(trip));
        let trip = trip.map_err(|error| self.diagnose(op, error))?;
        for iteration in 0..trip.max(0) {
            let go = cond.map_or(Ok(true), |cond| self.read_bool(cond));
            if !go.map_err(|error| self.diagnose(op, error))? {
                break;
            }
            if let Some(counter) = counter {
                let counted = self.write(counter, 0, &iteration.to_le_bytes());
                counted.map_err(|error| self.diagnose(op, error))?;
            }
            self.region(func.regions_of(op)[0])?;
        }
        Ok(())
    }

    /// The buffer at the end of the chain of aliases, and the byte where `buffer` starts in it.
    fn root(&self, buffer: Value) -> Result<(Value, usize), String> {
        let (mut at, mut offset) = (buffer, 0);
        while let Some(def) = self.func.def_op(at)
            && let HostOp::Alias { offset: step } = self.func.kind(def)
        {
            offset += self.offset(step)?;
            at = self.func.operand(def, 0);
        }
        Ok((at, offset))
    }

    /// The memory of a buffer that is no alias.
    fn memory(&mut self, root: Value) -> Result<&mut Vec<u8>, String> {
        if !self.memory.contains_key(&root) {
            let content = self.initial(root)?;
            self.memory.insert(root, content);
        }
        Ok(self.memory.get_mut(&root).expect("invariant: just inserted"))
    }

    fn initial(&self, root: Value) -> Result<Vec<u8>, String> {
        let def = self.func.def_op(root).ok_or_else(|| format!("{root} is no buffer of the program"))?;
        let bytes = self.offset(&self.func.ty(root).bytes)?;
        Ok(match self.func.kind(def) {
            HostOp::Input { index, .. } | HostOp::Updated { index, .. } => {
                self.inputs.get(*index as usize).ok_or_else(|| format!("input {index} is missing"))?.to_vec()
            }
            HostOp::Constant { id, packing } => {
                let data = &self.consts.get(*id).ok_or_else(|| format!("{id} is not in the store"))?.data;
                match packing {
                    None => data.to_vec(),
                    Some(packing) if packing.source_bytes() == data.len() => {
                        let mut out = vec![0; packing.bytes()];
                        packing.pack(data, &mut out);
                        out
                    }
                    Some(_) => return Err(format!("constant_c1: the packing of {id} is of another size")),
                }
            }
            HostOp::State { .. } => vec![0; bytes],
            _ => vec![UNDEFINED; bytes],
        })
    }

    fn read(&mut self, buffer: Value) -> Result<Vec<u8>, String> {
        let (root, offset) = self.root(buffer)?;
        let bytes = self.offset(&self.func.ty(buffer).bytes)?;
        let memory = self.memory(root)?;
        let part = memory.get(offset..offset + bytes);
        part.map(<[u8]>::to_vec).ok_or_else(|| format!("{buffer} is not inside of {root}"))
    }

    fn write(&mut self, buffer: Value, at: usize, bytes: &[u8]) -> Result<(), String> {
        let (root, offset) = self.root(buffer)?;
        let memory = self.memory(root)?;
        let part = memory.get_mut(offset + at..offset + at + bytes.len());
        part.ok_or_else(|| format!("a step writes outside of {buffer}"))?.copy_from_slice(bytes);
        Ok(())
    }

    fn read_i64(&mut self, buffer: Value) -> Result<i64, String> {
        let bytes = self.read(buffer)?;
        let bytes = bytes.get(..8).and_then(|bytes| bytes.try_into().ok());
        bytes.map(i64::from_le_bytes).ok_or_else(|| format!("{buffer} holds no i64"))
    }

    fn read_bool(&mut self, buffer: Value) -> Result<bool, String> {
        let bytes = self.read(buffer)?;
        bytes.first().map(|byte| *byte != 0).ok_or_else(|| format!("{buffer} holds no bool"))
    }

    fn size(&self, dim: &Dim) -> Result<i64, String> {
        dim.eval(&|name| self.symbols.get(name).copied())
            .ok_or_else(|| format!("the size {dim} has no value here"))
    }

    fn offset(&self, dim: &Dim) -> Result<usize, String> {
        let n = self.size(dim)?;
        usize::try_from(n).map_err(|_| format!("the size {dim} is {n}"))
    }

    fn diagnose(&self, op: OpId, error: String) -> Diagnostic {
        let name = self.func.kind(op).name();
        let place = match &self.func.op(op).location {
            Some(node) => format!("node \"{node}\" ({name}, step {})", op.index()),
            None => format!("{name}, step {}", op.index()),
        };
        Diagnostic::error("execute", error).at(place)
    }
}
