//! Which value each word of a phase works for: the one that is stored in the end.
//!
//! Before: the issues of a phase, in the order of their cycles.  After: a value for each issue that has one.
//! Method: a flow starts in memory and ends in memory, and nothing waits on a stream. So words that pass vectors on by streams,
//! ALUs and sums are one flow, and what it stores last names it. Weights that a plane keeps belong to the first row that they
//! multiply.

use crate::floor::{Half, QueueId, Stream};
use crate::issue::Issue;
use crate::tag::Tag;
use crate::word::{Alu, EndKind, Factors, Operand, Word};
use smallvec::SmallVec;
use tegula_base::HashMap;
use tegula_machine::Lpu;

/// The value of each issue; none where a word has no tags.
pub(crate) fn owners(issues: &[Issue], lpu: &Lpu) -> Vec<Option<u32>> {
    let mut walk = Walk::new(lpu, issues.len());
    for (number, issue) in issues.iter().enumerate() {
        walk.pass(number as u32, issue);
    }
    walk.owners(issues)
}

/// Issues that are one flow: each has the number of another one of its set, the first of a set its own.
struct Sets(Vec<u32>);

impl Sets {
    fn of(count: usize) -> Sets {
        Sets((0..count as u32).collect())
    }

    fn first(&mut self, mut issue: u32) -> u32 {
        while self.0[issue as usize] != issue {
            let next = self.0[issue as usize];
            self.0[issue as usize] = self.0[next as usize];
            issue = next;
        }
        issue
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}

type Plane = (u16, Half, u8);

/// A phase on its way. Numbers are of issues.
struct Walk<'a> {
    lpu: &'a Lpu,
    sets: Sets,
    /// Who drove onto a diagonal, and where.
    driven: HashMap<(u16, Stream, i64), SmallVec<[(i32, u32); 1]>>,
    /// Who gives the result of an ALU in a cycle, and who holds.
    results: HashMap<(u16, u8, i64), u32>,
    held: HashMap<(u16, u8), u32>,
    /// Who loads into a plane, and who loaded what is installed.
    loading: HashMap<Plane, Vec<u32>>,
    installed: HashMap<Plane, Vec<u32>>,
    /// The first row that loaded weights multiply.
    multiplies: Vec<Option<u32>>,
    /// Who multiplied in a cycle, and who set a row of sums last.
    passing: HashMap<(Plane, i64), u32>,
    sums: HashMap<(Plane, u16), u32>,
}

impl<'a> Walk<'a> {
    fn new(lpu: &'a Lpu, count: usize) -> Walk<'a> {
        Walk {
            lpu,
            sets: Sets::of(count),
            driven: HashMap::default(),
            results: HashMap::default(),
            held: HashMap::default(),
            loading: HashMap::default(),
            installed: HashMap::default(),
            multiplies: vec![None; count],
            passing: HashMap::default(),
            sums: HashMap::default(),
        }
    }

    fn pass(&mut self, own: u32, issue: &Issue) {
        self.pass_streams(own, issue);
        let Issue { chip, cycle, .. } = *issue;
        match (issue.queue, issue.word) {
            (QueueId::Alu(alu), Word::Alu(word)) => self.pass_alu(own, (chip, alu), cycle, &word),
            (QueueId::Weights { half, plane }, Word::LoadWeights { .. }) => {
                self.loading.entry((chip, half, plane)).or_default().push(own);
            }
            (QueueId::Weights { half, plane }, Word::InstallWeights) => {
                let mut loaded = self.loading.remove(&(chip, half, plane)).unwrap_or_default();
                loaded.push(own);
                self.installed.insert((chip, half, plane), loaded);
            }
            (QueueId::Rows { half, plane }, Word::Multiply { factors, .. }) => {
                let planes = plane..=plane.saturating_add(u8::from(factors == Factors::F16));
                for plane in planes {
                    let loaded = self.installed.remove(&(chip, half, plane)).unwrap_or_default();
                    loaded.into_iter().for_each(|issue| self.multiplies[issue as usize] = Some(own));
                }
                self.passing.insert(((chip, half, plane), cycle + i64::from(self.lpu.mxm.latency) - 1), own);
            }
            (QueueId::Sums { half, plane }, Word::Accumulate { row, add, .. }) => {
                let plane = (chip, half, plane);
                if let Some(multiplied) = self.passing.remove(&(plane, cycle)) {
                    self.sets.join(own, multiplied);
                }
                if let Some(before) = self.sums.insert((plane, row), own).filter(|_| add) {
                    self.sets.join(own, before);
                }
            }
            _ => {}
        }
    }

    fn pass_streams(&mut self, own: u32, issue: &Issue) {
        let position = issue.queue.position(self.lpu);
        for end in issue.word.ends(self.lpu) {
            let (first, delay) = match end.kind {
                EndKind::Sense(first) => (first, None),
                EndKind::Drive(first, delay) => (first, Some(delay)),
                EndKind::Result(_)
                | EndKind::Give(_)
                | EndKind::Store
                | EndKind::Install
                | EndKind::Weights
                | EndKind::Sums => continue,
            };
            let cycle = issue.cycle + i64::from(delay.unwrap_or(0));
            for stream in (0..end.count).map(|n| first.plus(n)) {
                let cell = (issue.chip, stream, stream.diagonal(position, cycle, self.lpu.hop));
                if delay.is_some() {
                    self.driven.entry(cell).or_default().push((position, own));
                    continue;
                }
                let drivers = self.driven.get(&cell).into_iter().flatten();
                let passed = drivers.filter(|(from, _)| stream.reaches(*from, position));
                if let Some((_, driver)) = passed.min_by_key(|(from, _)| (from - position).abs()) {
                    self.sets.join(own, *driver);
                }
            }
        }
    }

    fn pass_alu(&mut self, own: u32, (chip, alu): (u16, u8), cycle: i64, word: &Alu) {
        for operand in word.operands {
            let from = match operand {
                Operand::Alu(other) => self.results.get(&(chip, other, cycle)),
                Operand::Held => self.held.get(&(chip, alu)),
                Operand::None | Operand::Stream(_) | Operand::Immediate => None,
            };
            if let Some(from) = from {
                self.sets.join(own, *from);
            }
        }
        self.results.insert((chip, alu, cycle + i64::from(word.op.delay(self.lpu))), own);
        if word.hold {
            self.held.insert((chip, alu), own);
        }
    }

    fn owners(mut self, issues: &[Issue]) -> Vec<Option<u32>> {
        let mut stored: Vec<Option<u32>> = vec![None; issues.len()];
        let mut used: Vec<Option<u32>> = vec![None; issues.len()];
        for (number, issue) in issues.iter().enumerate() {
            let first = self.sets.first(number as u32) as usize;
            if let Some(tag) = stored_tag(issue, self.lpu) {
                stored[first] = Some(tag.value);
            }
            used[first] = used[first].or(self.multiplies[number]);
        }
        let mut owner = |number: usize| {
            let first = self.sets.first(number as u32) as usize;
            let row = used[first].map(|row| self.sets.first(row) as usize);
            stored[first].or_else(|| stored[row?])
        };
        let named = |issue: &Issue| issue.tags.last().map(|tag| tag.value);
        issues.iter().enumerate().map(|(number, issue)| owner(number).or_else(|| named(issue))).collect()
    }
}

/// What a word leaves in memory.
pub(crate) fn stored_tag(issue: &Issue, lpu: &Lpu) -> Option<Tag> {
    tag_of(issue, lpu, |kind| matches!(kind, EndKind::Store))
}

/// The tag of the first end of a kind.
pub(crate) fn tag_of(issue: &Issue, lpu: &Lpu, is_wanted: impl Fn(&EndKind) -> bool) -> Option<Tag> {
    let ends = issue.word.ends(lpu);
    ends.iter().zip(&issue.tags).find(|(end, _)| is_wanted(&end.kind)).map(|(_, tag)| *tag)
}
