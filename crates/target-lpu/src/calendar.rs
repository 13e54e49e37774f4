//! When resources are busy: a bit a cycle, and the first start from which a pattern of cycles is free.

/// Bits of a word of a calendar.
const BITS: usize = 64;

/// Cycles of one resource that are taken. Cycles count from 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calendar {
    bits: Vec<u64>,
}

/// Cycles that something takes, from its start on: runs in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pattern {
    runs: Vec<Run>,
}

/// `count` cycles from `first` on, `step` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: i64,
    count: i64,
    step: i64,
}

impl Calendar {
    /// Whether a cycle is taken.
    pub(crate) fn is_taken(&self, cycle: i64) -> bool {
        let at = cycle as usize;
        self.bits.get(at / BITS).is_some_and(|word| word >> (at % BITS) & 1 == 1)
    }

    /// The last taken cycle of some.
    fn last_taken(&self, first: i64, end: i64) -> Option<i64> {
        let (first, end) = (first as usize, (end as usize).min(self.bits.len() * BITS));
        let mut at = end;
        while at > first {
            let word = (at - 1) / BITS;
            let low = first.max(word * BITS) - word * BITS;
            let high = at - word * BITS;
            let mask = (u64::MAX >> (BITS - high)) & (u64::MAX << low);
            let taken = self.bits[word] & mask;
            if taken != 0 {
                return Some((word * BITS + BITS - 1 - taken.leading_zeros() as usize) as i64);
            }
            at = word * BITS;
        }
        None
    }

    fn take_cycle(&mut self, cycle: i64) {
        let at = cycle as usize;
        if at / BITS >= self.bits.len() {
            self.bits.resize((at / BITS + 1).next_power_of_two(), 0);
        }
        self.bits[at / BITS] |= 1 << (at % BITS);
    }

    /// Takes the cycles of a pattern that starts in a cycle.
    pub(crate) fn take(&mut self, pattern: &Pattern, start: i64) {
        for run in &pattern.runs {
            (0..run.count).for_each(|i| self.take_cycle(start + run.first + i * run.step));
        }
    }

    /// The first start, from `start` on, at which all cycles of a pattern are free.
    pub(crate) fn next_fit(&self, pattern: &Pattern, start: i64) -> i64 {
        let mut start = start;
        'again: loop {
            for run in &pattern.runs {
                let first = start + run.first;
                if run.step == 1 {
                    if let Some(taken) = self.last_taken(first, first + run.count) {
                        start = taken + 1 - run.first;
                        continue 'again;
                    }
                } else if (0..run.count).any(|i| self.is_taken(first + i * run.step)) {
                    start += 1;
                    continue 'again;
                }
            }
            return start;
        }
    }
}

impl Pattern {
    /// The pattern of some cycles, which are sorted. None: one comes twice.
    pub(crate) fn of(cycles: &[i64]) -> Option<Pattern> {
        let mut runs: Vec<Run> = Vec::new();
        for &cycle in cycles {
            match runs.last_mut() {
                Some(run) if cycle <= run.last() => return None,
                Some(run) if run.count == 1 => {
                    run.step = cycle - run.first;
                    run.count = 2;
                }
                Some(run) if cycle == run.last() + run.step => run.count += 1,
                _ => runs.push(Run { first: cycle, count: 1, step: 1 }),
            }
        }
        // A pair far apart is two cycles.
        let runs = runs.into_iter().flat_map(|run| {
            let pair = run.count == 2 && run.step > 1;
            let alone = |i: i64| Run { first: run.first + i * run.step, count: 1, step: 1 };
            if pair { vec![alone(0), alone(1)] } else { vec![run] }
        });
        Some(Pattern { runs: runs.collect() })
    }

    /// All cycles from one to another.
    pub(crate) fn interval(first: i64, last: i64) -> Pattern {
        Pattern { runs: vec![Run { first, count: last - first + 1, step: 1 }] }
    }

    /// The pattern with so many cycles more behind its last.
    pub(crate) fn with_rest(mut self, cycles: i64) -> Pattern {
        if let (Some(run), true) = (self.runs.last().copied(), cycles > 0) {
            self.runs.push(Run { first: run.last() + 1, count: cycles, step: 1 });
        }
        self
    }
}

impl Run {
    fn last(&self) -> i64 {
        self.first + (self.count - 1) * self.step
    }
}
