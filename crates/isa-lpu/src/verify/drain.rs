//! What a trip leaves on its way: every result comes before the next trip starts, a barrier later.
//!
//! A vector that was driven before the next trip can't hide one that this trip drives: on a diagonal the later drive lies
//! further downstream. So only results that come late could be taken for those of the next trip.

use super::report::Report;
use super::schedule::Schedule;
use crate::word::EndKind;

/// Checks the delays of the last words.
pub(super) fn check(schedule: &Schedule, report: &mut Report) {
    let next = schedule.cycles as i64 + i64::from(schedule.lpu.barrier);
    // Issues lie in the order of cycles, so only the last ones can be late.
    let longest = i64::from(longest_delay(schedule));
    let first = schedule.issues.partition_point(|issue| issue.cycle + longest < next);
    for issue in &schedule.issues[first..] {
        for (end, tag) in schedule.ends(issue) {
            let (EndKind::Drive(_, delay) | EndKind::Give(delay)) = end.kind else { continue };
            if issue.cycle + i64::from(delay) >= next {
                let what = report.name(tag);
                report.fault(issue, format!("{what} comes when the next trip has started, in cycle {next}"));
            }
        }
    }
}

fn longest_delay(schedule: &Schedule) -> u32 {
    let lpu = schedule.lpu;
    let sxm = lpu.sxm.shift_delay.max(lpu.sxm.permute_delay).max(lpu.sxm.transpose_delay);
    let vxm = lpu.vxm.delay.max(lpu.vxm.special_delay);
    // The sums of a row come one cycle after the `acc`.
    sxm.max(vxm).max(lpu.mem.read_delay).max(1)
}
