//! One word: it senses in its cycle and drives so many cycles later, at its unit's position.

use crate::alus::{AluState, Words};
use crate::memory::Memory;
use crate::plane::Plane;
use crate::shifter;
use crate::streams::Streams;
use crate::trap::Fault;
use crate::vector::{Vector, joined, split};
use std::collections::BTreeMap;
use tegula_isa_lpu::arith;
use tegula_isa_lpu::word::{Alu, End, EndKind, Factors, Operand, Read, Word, Write};
use tegula_isa_lpu::{Address, Half, Issue, QueueId, Tag};
use tegula_machine::Lpu;

/// The state of a chip.
pub(crate) struct Chip {
    pub(crate) memory: Memory,
    pub(crate) streams: Streams,
    pub(crate) planes: BTreeMap<(Half, u8), Plane>,
    pub(crate) alus: Vec<AluState>,
    /// Words that `fetch` added to each queue.
    pub(crate) fetched: BTreeMap<QueueId, u32>,
}

/// Words of text that one `fetch` takes.
const FETCHED: u32 = 40;

/// A word at its place and time, and its tags as they are used up.
struct At<'a> {
    lpu: &'a Lpu,
    cycle: i64,
    position: i32,
    ends: std::vec::IntoIter<(End, Tag)>,
}

impl Chip {
    pub(crate) fn new(lpu: &Lpu) -> Chip {
        let planes = (0..lpu.mxm.planes as u8).flat_map(|plane| Half::BOTH.map(|half| (half, plane)));
        Chip {
            memory: Memory::new(lpu),
            streams: Streams::new(lpu),
            planes: planes.map(|at| (at, Plane::new(&lpu.mxm))).collect(),
            alus: (0..lpu.vxm.alus).map(|_| AluState::default()).collect(),
            fetched: BTreeMap::new(),
        }
    }

    /// Does what an issue says. Errors: the fault that stops the run.
    pub(crate) fn step(&mut self, issue: &Issue, lpu: &Lpu) -> Result<(), Fault> {
        if !issue.queue.exists(lpu) {
            return Err(Fault::OutOfRange("queue"));
        }
        let fetched = self.fetched.get(&issue.queue).copied().unwrap_or(0);
        if issue.place >= lpu.queue_words.saturating_add(fetched) {
            return Err(Fault::Dry);
        }
        let ends = issue.word.ends(lpu);
        if ends.len() != issue.tags.len() {
            return Err(Fault::Tags);
        }
        let ends: Vec<(End, Tag)> = ends.into_iter().zip(issue.tags.iter().copied()).collect();
        let position = issue.queue.position(lpu);
        let mut at = At { lpu, cycle: issue.cycle, position, ends: ends.into_iter() };
        match (issue.queue, issue.word) {
            (_, Word::Fetch { .. }) => *self.fetched.entry(issue.queue).or_default() += FETCHED,
            (QueueId::Mem { half, slice }, word) => self.mem(&mut at, (half, slice), word)?,
            (QueueId::Weights { half, plane }, word) => self.weights(&mut at, (half, plane), word)?,
            (QueueId::Rows { half, plane }, Word::Multiply { factors, .. }) => {
                self.multiply(&mut at, (half, plane), factors, issue.place)?;
            }
            (QueueId::Sums { half, plane }, Word::Accumulate { row, add, emit }) => {
                let plane = self.planes.get_mut(&(half, plane)).ok_or(Fault::OutOfRange("plane"))?;
                if let Some(sums) = plane.accumulate(row, add, emit.is_some(), at.cycle)? {
                    at.drive(&mut self.streams, &split(&sums.words, 4))?;
                }
            }
            (QueueId::Alu(number), Word::Alu(alu)) => self.alu(&mut at, number, &alu)?,
            (QueueId::Sxm { .. }, word) => self.sxm(&mut at, word)?,
            (QueueId::Rows { .. } | QueueId::Sums { .. } | QueueId::Alu(_), _) => return Err(WRONG_UNIT),
        }
        Ok(())
    }

    fn mem(&mut self, at: &mut At, (half, slice): (Half, u8), word: Word) -> Result<(), Fault> {
        let mem = &at.lpu.mem;
        let address = |bank: u8, word: u16| {
            let exists = u32::from(bank) < mem.banks && u32::from(word) < mem.words;
            if exists {
                Ok(Address { half, slice, bank, word })
            } else {
                Err(Fault::OutOfRange("word of SRAM"))
            }
        };
        match word {
            Word::Mem { read, write } => {
                if let Some(Read { bank, word, .. }) = read {
                    let place = address(bank, word)?;
                    self.memory.port(place, at.cycle)?;
                    let vector = self.memory.read(place, at.tag())?;
                    at.drive(&mut self.streams, &[vector])?;
                }
                if let Some(Write { bank, word, mask, .. }) = write {
                    let place = address(bank, word)?;
                    self.memory.port(place, at.cycle)?;
                    let vector = at.sense_one(&mut self.streams)?;
                    self.memory.write(place, vector, at.own_tag(), mask);
                }
            }
            Word::Gather { bank, word, count, .. } => {
                let place = at.chosen(&mut self.streams, word, count).and_then(|word| address(bank, word))?;
                self.memory.port(place, at.cycle)?;
                let vector = self.memory.read_any(place, at.tag())?;
                at.drive(&mut self.streams, &[vector])?;
            }
            Word::Scatter { bank, word, count, .. } => {
                let place = at.chosen(&mut self.streams, word, count).and_then(|word| address(bank, word))?;
                self.memory.port(place, at.cycle)?;
                let vector = at.sense_one(&mut self.streams)?;
                self.memory.replace(place, vector, at.own_tag())?;
            }
            _ => return Err(WRONG_UNIT),
        }
        Ok(())
    }

    fn weights(&mut self, at: &mut At, plane: (Half, u8), word: Word) -> Result<(), Fault> {
        let mxm = &at.lpu.mxm;
        let plane = self.planes.get_mut(&plane).ok_or(Fault::OutOfRange("plane"))?;
        match word {
            Word::LoadWeights { row, .. } => {
                let rows = at.sense(&mut self.streams)?;
                rows.into_iter()
                    .zip(u32::from(row)..)
                    .try_for_each(|(vector, row)| plane.load(row, vector, mxm))
            }
            Word::InstallWeights => {
                plane.install(at.cycle, at.own_tag(), mxm);
                Ok(())
            }
            _ => Err(WRONG_UNIT),
        }
    }

    fn multiply(
        &mut self,
        at: &mut At,
        (half, number): (Half, u8),
        factors: Factors,
        place: u32,
    ) -> Result<(), Fault> {
        let mxm = &at.lpu.mxm;
        let k = factors.k(at.lpu).ok_or(Fault::OutOfRange("type of factors"))?;
        let row = joined(&at.sense(&mut self.streams)?, at.lpu.vector() as usize);
        let weights = at.own_tag();
        // Taken out of the table: a tandem looks at both.
        let mut plane = self.planes.remove(&(half, number)).ok_or(Fault::OutOfRange("plane"))?;
        let other = self.planes.get(&(half, number + 1)).filter(|_| factors == Factors::F16);
        let is_tandem = number % 2 == 0 && other.is_some_and(|other| !other.is_busy(at.cycle, mxm));
        let result = match factors {
            Factors::F16 if !is_tandem => Err(Fault::Tandem),
            Factors::I8 | Factors::F16 | Factors::F8 => {
                plane.multiply(&row, (weights, other), (factors, k), (at.cycle, place), mxm)
            }
        };
        self.planes.insert((half, number), plane);
        result
    }

    fn alu(&mut self, at: &mut At, number: u8, alu: &Alu) -> Result<(), Fault> {
        let lanes = at.lpu.vector() as usize;
        if alu.op.is_large() && u32::from(number) >= at.lpu.vxm.large {
            return Err(Fault::OutOfRange("large ALU"));
        }
        let mut operands: [Words; 3] = [(); 3].map(|()| Words::from([]));
        for (slot, operand) in operands.iter_mut().zip(alu.operands).take(alu.op.operands()) {
            *slot = match operand {
                Operand::None => return Err(Fault::OutOfRange("operand")),
                Operand::Stream(_) => joined(&at.sense(&mut self.streams)?, lanes).into(),
                Operand::Alu(other) => {
                    let state = self.alus.get_mut(usize::from(other)).ok_or(Fault::OutOfRange("ALU"))?;
                    state.result(at.cycle, at.own_tag())?
                }
                Operand::Immediate => vec![alu.immediate; lanes].into(),
                Operand::Held => self.alus[usize::from(number)].held(at.cycle)?,
            };
        }
        let word = |operand: &Words, lane: usize| operand.get(lane).copied().unwrap_or(0);
        let words: Words =
            (0..lanes).map(|lane| arith::alu(alu.op, [0, 1, 2].map(|n| word(&operands[n], lane)))).collect();
        let (cycle, tag) = (at.cycle + i64::from(alu.op.delay(at.lpu)), at.tag_of_last());
        self.alus[usize::from(number)].give(cycle, tag, words.clone(), alu.hold)?;
        if alu.to.is_some() {
            at.drive(&mut self.streams, &split(&words, alu.op.widths()[1]))?;
        }
        Ok(())
    }

    fn sxm(&mut self, at: &mut At, word: Word) -> Result<(), Fault> {
        let lanes = at.lpu.vector() as usize;
        let results: Vec<Vector> = match word {
            Word::Shift { by, rotate, .. } => at
                .sense(&mut self.streams)?
                .iter()
                .map(|vector| shifter::shifted(vector, by, rotate))
                .collect(),
            Word::Permute { .. } => {
                let table = joined(&at.sense(&mut self.streams)?, lanes);
                at.sense(&mut self.streams)?.iter().map(|vector| shifter::permuted(vector, &table)).collect()
            }
            Word::Broadcast { lane, .. } => {
                let vectors = at.sense(&mut self.streams)?;
                let all: Option<Vec<Vector>> =
                    vectors.iter().map(|vector| shifter::broadcast(vector, lane)).collect();
                all.ok_or(Fault::OutOfRange("lane"))?
            }
            Word::Transpose { .. } => {
                shifter::transposed(&at.sense(&mut self.streams)?, at.lpu.lanes as usize)
            }
            Word::Blend { .. } => {
                let mask = at.sense_one(&mut self.streams)?;
                let (a, b) = (at.sense(&mut self.streams)?, at.sense(&mut self.streams)?);
                a.iter().zip(&b).map(|(a, b)| shifter::blended(&mask, a, b)).collect()
            }
            Word::Send { .. } | Word::Receive { .. } => return Err(Fault::NoChip),
            _ => return Err(WRONG_UNIT),
        };
        at.drive(&mut self.streams, &results)
    }
}

const WRONG_UNIT: Fault = Fault::OutOfRange("word of this unit");

impl At<'_> {
    fn next(&mut self) -> (End, Tag) {
        self.ends.next().expect("invariant: a word has the ends that it names")
    }

    /// The tag of the next end, which stays the next.
    fn tag(&self) -> Tag {
        self.ends
            .as_slice()
            .first()
            .map(|(_, tag)| *tag)
            .expect("invariant: a word has the ends that it names")
    }

    fn tag_of_last(&self) -> Tag {
        self.ends.as_slice().last().map(|(_, tag)| *tag).expect("invariant: an ALU gives a result")
    }

    /// All vectors of the next end, which is one that senses.
    fn sense(&mut self, streams: &mut Streams) -> Result<Vec<Vector>, Fault> {
        let (end, tag) = self.next();
        match end.kind {
            EndKind::Sense(first) => (0..end.count)
                .map(|n| streams.sense(first.plus(n), self.position, self.cycle, tag.member(n, end.shape)))
                .collect(),
            EndKind::Result(_)
            | EndKind::Give(_)
            | EndKind::Drive(..)
            | EndKind::Store
            | EndKind::Install
            | EndKind::Weights
            | EndKind::Sums => {
                unreachable!("invariant: the end senses")
            }
        }
    }

    fn sense_one(&mut self, streams: &mut Streams) -> Result<Vector, Fault> {
        Ok(self.sense(streams)?.remove(0))
    }

    /// Drives vectors at the next end, which is one that drives.
    fn drive(&mut self, streams: &mut Streams, vectors: &[Vector]) -> Result<(), Fault> {
        let (end, tag) = self.next();
        let EndKind::Drive(first, delay) = end.kind else { unreachable!("invariant: the end drives") };
        if end.count as usize != vectors.len() {
            return Err(Fault::OutOfRange("group of streams"));
        }
        let cycle = self.cycle + i64::from(delay);
        for (n, vector) in (0..end.count).zip(vectors) {
            let tag = tag.member(n, end.shape);
            streams.drive(first.plus(n), self.position, cycle, tag, vector.clone())?;
        }
        Ok(())
    }

    /// The tag of the next end, which says what the word leaves or uses.
    fn own_tag(&mut self) -> Tag {
        self.next().1
    }

    /// The word that lane 0 of the next end chooses of `count` from the first on.
    fn chosen(&mut self, streams: &mut Streams, first: u16, count: u16) -> Result<u16, Fault> {
        let by = joined(&self.sense(streams)?, 1)[0];
        let word = u32::from(first) + by;
        if by >= u32::from(count) {
            return Err(Fault::OutOfRange("word of those to choose from"));
        }
        u16::try_from(word).map_err(|_| Fault::OutOfRange("word of SRAM"))
    }
}
