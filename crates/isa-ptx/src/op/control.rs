//! Control flow, and what a thread says of itself to the machine.

use crate::form::{ops, rule};
use crate::module::BlockId;
use crate::operand::Operand;
use crate::target::{Needs, Target};
use crate::types::Scalar;

ops! {
    /// Goes to the block; `uni`: all threads of the warp that run it agree on the guard.
    struct Bra "bra" { uni: bool, target: BlockId }
        form |v| v.flag(uni, "uni").label(target);

    /// Ends the thread.
    struct Ret "ret" {}
        form |v| {};

    /// Ends the thread.
    struct Exit "exit" {}
        form |v| {};

    /// Ends the grid with an error.
    struct Trap "trap" {}
        form |v| {};

    /// Sleeps about so many nanoseconds, at most 1 ms.
    struct Nanosleep "nanosleep.u32" { time_ns: Operand }
        form |v| v.operand(time_ns, Scalar::U32);

    /// Lets grids start that depend on this one, when all CTAs have said so or ended.
    struct GriddepLaunchDependents "griddepcontrol.launch_dependents" {}
        form |v| {};
        needs Needs::new(Target::Sm90, 7, 8);

    /// Waits until the grids that this one depends on are done and what they wrote is seen.
    struct GriddepWait "griddepcontrol.wait" {}
        form |v| {};
        needs Needs::new(Target::Sm90, 7, 8);

    /// Waits for registers until each thread of the warpgroup has `registers` (24 to 256, a multiple of 8).
    struct SetmaxnregInc "setmaxnreg.inc.sync.aligned.u32" { registers: u32 }
        form |v| v.immediate(registers);
        check register_rule(*registers);
        needs Needs::new(Target::Sm90a, 8, 0);

    /// Gives back registers until each thread of the warpgroup has `registers` (24 to 256, a multiple of 8).
    struct SetmaxnregDec "setmaxnreg.dec.sync.aligned.u32" { registers: u32 }
        form |v| v.immediate(registers);
        check register_rule(*registers);
        needs Needs::new(Target::Sm90a, 8, 0);
}

fn register_rule(registers: u32) -> Result<(), &'static str> {
    rule(
        (24..=256).contains(&registers) && registers.is_multiple_of(8),
        "24 to 256 registers, a multiple of 8",
    )
}
