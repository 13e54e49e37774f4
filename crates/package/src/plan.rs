//! Lays out the arena: gives each buffer an offset so that buffers alive at once never share a byte.
//!
//! In: sizes and lifetimes.  Out: offsets, multiples of [`ALIGN`], and the arena's size.
//! Method: buffers by decreasing size (ties by index), each into the smallest gap that fits among the already
//! placed buffers that overlap it in time, the lowest such gap on ties, else behind them ("greedy by size", Pisarchyk and Lee,
//! "Efficient Memory Management for Deep Neural Net Inference", arXiv:2001.03288). Deterministic: same items, same plan.

/// Alignment of every offset, bytes; a cache line and the widest vector.
pub const ALIGN: u64 = 64;

/// One buffer of the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    pub bytes: u64,
    /// First and last step, inclusive.
    pub first: u32,
    pub last: u32,
}

impl Item {
    fn overlaps(&self, other: &Item) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArenaPlan {
    /// Per item; 0 for an empty one.
    pub offsets: Vec<u64>,
    pub bytes: u64,
}

/// `bytes` rounded up to a multiple of [`ALIGN`]; `None` on overflow.
pub fn align_up(bytes: u64) -> Option<u64> {
    bytes.checked_next_multiple_of(ALIGN)
}

/// Plans the arena. `None` when its size does not fit into 63 bits.
pub fn plan_arena(items: &[Item]) -> Option<ArenaPlan> {
    let total = items.iter().try_fold(0u64, |sum, item| sum.checked_add(align_up(item.bytes)?))?;
    i64::try_from(total).ok()?;
    let mut order: Vec<usize> = (0..items.len()).filter(|&i| items[i].bytes > 0).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse(items[i].bytes), i));
    let mut plan = ArenaPlan { offsets: vec![0; items.len()], bytes: 0 };
    let mut placed = Placed::new(items);
    for index in order {
        let item = &items[index];
        let offset = placed.best_gap(item);
        placed.insert(*item, offset);
        plan.offsets[index] = offset;
        plan.bytes = plan.bytes.max(offset + item.bytes);
    }
    plan.bytes = align_up(plan.bytes)?;
    Some(plan)
}

/// Items of one [`Run`], about: a plan of 2,000 steps has few longer lives, and looks into two or three of its 70 runs.
const RUN: usize = 32;

/// Placed items, by their first steps.
struct Placed(Vec<Run>);

/// The items that begin at one step or later, and before the next run does.
struct Run {
    first: u32,
    /// The last step of all items that are placed.
    last: u32,
    /// With their offsets.
    placed: Vec<(u64, Item)>,
}

impl Placed {
    fn new(items: &[Item]) -> Placed {
        let mut firsts: Vec<u32> = items.iter().map(|item| item.first).collect();
        firsts.sort_unstable();
        let firsts = firsts.into_iter().step_by(RUN);
        Placed(firsts.map(|first| Run { first, last: 0, placed: Vec::new() }).collect())
    }

    fn best_gap(&self, item: &Item) -> u64 {
        let begun = self.0.iter().take_while(|run| run.first <= item.last);
        let others = begun.filter(|run| run.last >= item.first).flat_map(|run| &run.placed);
        let alive = others.filter(|(_, other)| other.overlaps(item));
        let mut taken: Vec<(u64, u64)> =
            alive.map(|(offset, other)| (*offset, (offset + other.bytes).next_multiple_of(ALIGN))).collect();
        taken.sort_unstable();
        let mut end = 0;
        let mut best: Option<(u64, u64)> = None;
        for (offset, other_end) in taken {
            if offset >= end + item.bytes {
                let gap = offset - end;
                if best.is_none_or(|(smallest, _)| gap < smallest) {
                    best = Some((gap, end));
                }
            }
            end = end.max(other_end);
        }
        best.map_or(end, |(_, offset)| offset)
    }

    fn insert(&mut self, item: Item, offset: u64) {
        let run = self.0.partition_point(|run| run.first <= item.first) - 1;
        let run = &mut self.0[run];
        run.last = run.last.max(item.last);
        run.placed.push((offset, item));
    }
}

/// The most bytes alive at any one step, each rounded up: no plan is smaller.
pub fn lower_bound(items: &[Item]) -> u64 {
    let mut events: Vec<(u64, i64)> = Vec::with_capacity(2 * items.len());
    for item in items {
        let bytes = align_up(item.bytes).and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(i64::MAX);
        events.push((u64::from(item.first), bytes));
        events.push((u64::from(item.last) + 1, -bytes));
    }
    // At equal times the negative entries come first: a buffer that ended before this step is gone.
    events.sort_unstable();
    let (mut live, mut peak) = (0i64, 0i64);
    for (_, change) in events {
        live = live.saturating_add(change);
        peak = peak.max(live);
    }
    peak.unsigned_abs()
}

/// What is wrong with a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanFault {
    Misaligned { item: usize },
    OutOfArena { item: usize },
    Clash { a: usize, b: usize },
}

/// Checks a plan by walking time: at each step the live items, sorted by offset, must not touch.
pub fn verify_plan(items: &[Item], plan: &ArenaPlan) -> Result<(), PlanFault> {
    let spans: Vec<(usize, u64, u64)> = items
        .iter()
        .zip(&plan.offsets)
        .enumerate()
        .filter(|(_, (item, _))| item.bytes > 0)
        .map(|(i, (item, offset))| (i, *offset, offset.saturating_add(item.bytes)))
        .collect();
    for (item, start, end) in &spans {
        if start % ALIGN != 0 {
            return Err(PlanFault::Misaligned { item: *item });
        }
        if *end > plan.bytes {
            return Err(PlanFault::OutOfArena { item: *item });
        }
    }
    // Sets of live items only grow at a first step, so those steps suffice.
    let mut starts: Vec<u32> = items.iter().map(|item| item.first).collect();
    starts.sort_unstable();
    starts.dedup();
    for step in starts {
        let mut live: Vec<(u64, u64, usize)> = spans
            .iter()
            .filter(|(i, ..)| items[*i].first <= step && step <= items[*i].last)
            .map(|(i, start, end)| (*start, *end, *i))
            .collect();
        live.sort_unstable();
        for pair in live.windows(2) {
            if pair[1].0 < pair[0].1 {
                return Err(PlanFault::Clash { a: pair[0].2, b: pair[1].2 });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
