//! What a schedule promises, checked before it is planned.

use super::plan::PRODUCT_ROWS;
use super::{Schedule, Step, WARPGROUP};

/// Errors: the rule that is broken. `registers`: those of an SM.
pub fn verify(schedule: &Schedule, registers: u32) -> Result<(), &'static str> {
    let rule = |holds: bool, rule: &'static str| if holds { Ok(()) } else { Err(rule) };
    rule(schedule.roles.len() > 1, "a schedule has a producer and a consumer")?;
    let used: u32 = schedule.roles.iter().map(|role| role.warpgroups * role.registers * WARPGROUP).sum();
    rule(used <= registers, "the roles' registers fit an SM")?;
    let budgets = schedule.roles.iter().all(|role| {
        (24..=240).contains(&role.registers) && role.registers.is_multiple_of(8) && role.warpgroups > 0
    });
    rule(budgets, "a thread has 24 to 240 registers, a multiple of 8")?;
    rule((1..=8).contains(&schedule.cluster), "a cluster has 1 to 8 CTAs")?;
    for (id, channel) in schedule.channels.iter().enumerate() {
        let count = |role: &super::Role, kind: &dyn Fn(&Step) -> bool| count_steps(&role.steps, kind);
        let acquires = |step: &Step| matches!(step, Step::Acquire(at) if at.0 == id);
        let gets = |step: &Step| matches!(step, Step::Get(at) if at.0 == id);
        let total = |kind: &dyn Fn(&Step) -> bool| -> usize {
            schedule.roles.iter().map(|role| count(role, kind)).sum()
        };
        rule(channel.depth > 1, "a channel has two slots or more")?;
        rule(total(&acquires) == 1 && total(&gets) == 1, "a channel is acquired and got at one place each")?;
        let producer = schedule.role_that(acquires);
        rule(producer != schedule.role_that(gets), "a channel leads from one role to another")?;
        for part in 0..channel.parts.len() {
            let puts = |step: &Step| matches!(step, Step::Put { channel, part: put } if (channel.0, *put) == (id, part));
            let once = total(&puts) == 1 && schedule.role_that(puts) == producer;
            rule(once, "a slot's every part is put once, by the role that acquires it")?;
        }
        let released = |step: &Step| matches!(step, Step::Release { channel, behind: 0 } if channel.0 == id);
        rule(total(&released) == 1, "the last slot of a tile is released")?;
        let early = |step: &Step| matches!(step, Step::Release { channel, behind: 2.. } if channel.0 == id);
        rule(total(&early) == 0, "a slot is released at most one get late")?;
    }
    let rows = |product: &super::Product| {
        schedule.channels[product.channel.0].parts[product.left].layout.extents()[0]
    };
    let consumers = schedule.role_that(|step| matches!(step, Step::Multiply(_)));
    let warpgroups = consumers.map_or(1, |role| schedule.roles[role].warpgroups);
    let whole =
        schedule.products.iter().all(|product| rows(product).is_multiple_of(PRODUCT_ROWS * warpgroups));
    rule(whole, "each warpgroup has whole blocks of 64 rows")
}

fn count_steps(steps: &[Step], kind: &dyn Fn(&Step) -> bool) -> usize {
    let of = |step: &Step| match step {
        Step::EachTile(inner) | Step::EachBlock(inner) => count_steps(inner, kind),
        _ => usize::from(kind(step)),
    };
    steps.iter().map(of).sum()
}
