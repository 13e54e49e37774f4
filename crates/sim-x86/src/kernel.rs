//! A kernel and a call of it.

use crate::exec::Machine;
use crate::inst::Kind;
use crate::problem::Problem;
use crate::program::Program;
use crate::space::{self, Space};
use crate::state::{self, KEPT, State};
use tegula_package::Memory;

/// Instructions between two questions whether the run was stopped.
const STOP_EVERY: u64 = 1 << 12;

/// Code, ready to run.
pub struct Kernel {
    code: Vec<u8>,
    program: Program,
}

/// One call, by `docs/abi.md`.
pub struct Call<'a> {
    /// The argument block; word 0 is replaced by the simulator's own function table.
    pub words: &'a [u64],
    /// Where this thread's scratch memory begins.
    pub scratch: u64,
    pub begin: u64,
    pub end: u64,
}

/// What a call ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Those of functions that it calls are not among them.
    pub instructions: u64,
    /// Of buffers, scratch, constants, arguments and the stack.
    pub bytes_read: u64,
    pub bytes_written: u64,
}

/// Why a call did not run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    ByCaller,
    Failed(Problem),
}

impl From<Problem> for Stopped {
    fn from(problem: Problem) -> Stopped {
        Stopped::Failed(problem)
    }
}

impl Kernel {
    /// Position-independent code that is entered at its first byte.
    /// Errors: bytes that are no code of kernels; instructions that are not simulated.
    pub fn new(code: &[u8]) -> Result<Kernel, Problem> {
        Ok(Kernel { program: Program::decode(code)?, code: code.to_vec() })
    }

    /// Does the call's work units.
    /// Errors: an access outside of `memory`, an undefined flag that decides, a register that is not kept; or the
    /// caller stopped the run.
    pub fn run(&self, call: &Call, memory: &dyn Memory) -> Result<Counters, Stopped> {
        let space = Space::new(memory, &self.code, call.words);
        let mut machine = Machine { state: State::new(), space };
        let top = machine.space.stack_top() - 8;
        machine.space.write(top, &space::CALLER.to_le_bytes())?;
        let general = &mut machine.state.general;
        general[state::RSP] = top;
        general[state::RDI] = space::ARGS;
        general[state::RSI] = call.scratch;
        general[state::RDX] = call.begin;
        general[state::RCX] = call.end;
        let mut kept = machine.state.general;
        // The return takes its address.
        kept[state::RSP] += 8;
        let instructions = self.steps(&mut machine)?;
        if let Some(register) = KEPT.into_iter().find(|i| machine.state.general[*i] != kept[*i]) {
            let message = format!("the kernel returns with another value in {}", state::name(register));
            return Err(Problem::new(message).into());
        }
        if machine.state.has_upper_halves() {
            return Err(
                Problem::new("the kernel returns with bits in upper halves of vector registers").into()
            );
        }
        let Space { bytes_read, bytes_written, .. } = machine.space;
        Ok(Counters { instructions, bytes_read, bytes_written })
    }

    /// From the entry to the return; how many ran.
    fn steps(&self, machine: &mut Machine) -> Result<u64, Stopped> {
        let (mut at, mut count) = (0, 0);
        loop {
            let failed = |problem| Stopped::Failed(self.program.at(at, problem));
            let Some(inst) = self.program.insts.get(at) else {
                return Err(Problem::new("the code runs past its end").into());
            };
            count += 1;
            if count % STOP_EVERY == 0 && machine.space.is_stopped() {
                return Err(Stopped::ByCaller);
            }
            at = match inst.kind {
                Kind::Nothing => at + 1,
                Kind::Act(act) => {
                    act(machine, inst).map_err(failed)?;
                    at + 1
                }
                Kind::Jump(to) => to,
                Kind::Branch(to) => match machine.state.flags.hold(inst.condition).map_err(failed)? {
                    true => to,
                    false => at + 1,
                },
                Kind::Call => {
                    machine.call(inst).map_err(failed)?;
                    at + 1
                }
                Kind::Return => match machine.pop().map_err(failed)? {
                    space::CALLER => return Ok(count),
                    _ => return Err(failed(Problem::new("returns to where nobody called from"))),
                },
            };
        }
    }
}
