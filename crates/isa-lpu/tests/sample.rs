//! Images of random words, every field drawn; they mean nothing.

use tegula_base::DType;
use tegula_base::random::SplitMix64;
use tegula_isa_lpu::word::{
    Alu, AluOp, Element, Factors, NUMERIC, Number, Operand, PLAIN, Read, WHOLE, Write,
};
use tegula_isa_lpu::{
    Address, Binding, BindingKind, Cell, Chip, Direction, Half, Image, Phase, Program, Queue, QueueId,
    Stream, Tag, ValueName, Word,
};

/// Draws of a seed.
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }
}

pub fn random_image(random: &mut Random) -> Image {
    let mut draw = Draw(random);
    let values =
        (0..draw.below(4)).map(|i| ValueName { name: format!("v \"{i}\"\n"), node: "über\t'\\".into() });
    let values = values.collect();
    let chips = (0..draw.below(3)).map(|_| draw.chip()).collect();
    let programs =
        (0..draw.below(3)).map(|i| Program { name: i.to_string(), phases: vec![draw.phase()] }).collect();
    Image { machine: "ab12".repeat(16), values, chips, programs }
}

struct Draw<'a>(&'a mut Random);

impl Draw<'_> {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    fn short(&mut self) -> u16 {
        self.below(1 << 16) as u16
    }

    fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }

    fn flag(&mut self) -> bool {
        self.below(2) == 1
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    fn stream(&mut self) -> Stream {
        Stream { direction: self.one(&[Direction::East, Direction::West]), id: self.below(128) as u8 }
    }

    fn tag(&mut self) -> Tag {
        let part = if self.flag() { 0 } else { self.byte() };
        Tag::new(self.below(1 << 32) as u32, self.below(1 << 32) as u32).part(part)
    }

    fn address(&mut self) -> Address {
        Address { half: self.one(&Half::BOTH), slice: self.byte(), bank: self.byte(), word: self.short() }
    }

    fn chip(&mut self) -> Chip {
        let cells = (0..self.below(3)).map(|_| {
            let (at, tag) = (self.address(), self.tag());
            let n = 1 + self.below(9);
            Cell { at, tag, bytes: (0..n).map(|_| self.byte()).collect() }
        });
        let cells = cells.collect();
        let bindings = (0..self.below(3)).map(|i| Binding {
            name: format!("b{i}"),
            kind: self.one(&[BindingKind::Input, BindingKind::Output, BindingKind::State]),
            dtype: self.one(&[DType::I8, DType::F16, DType::F32]),
            row: self.below(1 << 32) as u32,
            lanes: self.below(1 << 32) as u32,
            value: self.below(1 << 32) as u32,
            places: (0..self.below(4)).map(|_| self.address()).collect(),
        });
        Chip { cells, bindings: bindings.collect() }
    }

    fn phase(&mut self) -> Phase {
        let queues = (0..self.below(5)).map(|_| {
            let half = self.one(&Half::BOTH);
            let number = self.byte();
            let id = self.one(&[
                QueueId::Mem { half, slice: number },
                QueueId::Weights { half, plane: number },
                QueueId::Rows { half, plane: number },
                QueueId::Sums { half, plane: number },
                QueueId::Alu(number),
                QueueId::Sxm { half, queue: number },
            ]);
            let mut queue = Queue::new(self.below(9) as u16, id);
            for _ in 0..self.below(12) {
                let tags: Vec<Tag> = (0..self.below(5)).map(|_| self.tag()).collect();
                queue.push(self.word(), &tags);
            }
            queue
        });
        Phase { trips: 1, queues: queues.collect() }
    }

    fn word(&mut self) -> Word {
        let (bank, word, count, streams) = (self.byte(), self.short(), self.short(), self.byte());
        let (from, to, by) = (self.stream(), self.stream(), self.stream());
        match self.below(21) {
            0 => Word::Nop { cycles: word },
            1 => Word::Repeat { count, gap: word, strides: [(); 3].map(|()| self.short().cast_signed()) },
            2 => Word::Sync,
            3 => Word::Notify,
            4 => Word::Fetch { slice: streams, bank, word },
            5 => Word::Halt,
            6 => {
                let mask = if self.flag() { WHOLE } else { self.below(1 << 20) as u32 };
                Word::Mem {
                    read: self.flag().then_some(Read { bank, word, to }),
                    write: self.flag().then_some(Write { bank: streams, word: count, from, mask }),
                }
            }
            7 => Word::Gather { bank, word, count, by, to },
            8 => Word::Scatter { bank, word, count, by, from },
            9 => Word::LoadWeights { row: word, from },
            10 => Word::InstallWeights,
            11 => Word::Multiply { factors: self.one(&[Factors::I8, Factors::F16, Factors::F8]), from },
            12 => Word::Accumulate { row: word, add: self.flag(), emit: self.flag().then_some(to) },
            13 => Word::Alu(self.alu()),
            14 => Word::Shift { by: word.cast_signed(), rotate: self.flag(), streams, from, to },
            15 => Word::Permute { table: by, streams, from, to },
            16 => Word::Broadcast { lane: word, streams, from, to },
            17 => Word::Transpose { from, to },
            18 => Word::Blend { mask: by, streams, a: from, b: self.stream(), to },
            19 => Word::Send { link: bank, from },
            _ => Word::Receive { link: bank, to },
        }
    }

    fn alu(&mut self) -> Alu {
        let op = match self.below(3) {
            0 => self.one(&PLAIN).1,
            1 => self.one(&NUMERIC).1(self.one(&Number::BOTH)),
            _ => AluOp::Cast {
                from: self.one(&Element::ALL),
                to: self.one(&Element::ALL),
                saturate: self.flag(),
                shift: self.below(32) as u8,
            },
        };
        let mut alu = Alu { op, operands: [Operand::None; 3], immediate: 0, hold: self.flag(), to: None };
        for slot in 0..op.operands() {
            let (stream, other) = (self.stream(), self.byte());
            alu.operands[slot] =
                self.one(&[Operand::Stream(stream), Operand::Alu(other), Operand::Immediate, Operand::Held]);
        }
        if alu.operands.contains(&Operand::Immediate) {
            alu.immediate = self.below(1 << 32) as u32;
        }
        alu.to = self.flag().then(|| self.stream());
        alu
    }
}
