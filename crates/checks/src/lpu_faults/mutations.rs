//! Random changes of one word of a program: cycles, streams, addresses, rows, masks, repeats, queues, words left out or
//! doubled. What a word computes, and what its tags mean, is the compiler's to say.

use tegula_base::random::SplitMix64;
use tegula_isa_lpu::word::{Operand, Word};
use tegula_isa_lpu::{Direction, Image, QueueId, Stream};

/// Changes a word of the first phase, by the seed alone; says what was changed. The image is another one behind it.
pub fn mutate(image: &mut Image, seed: u64) -> &'static str {
    let sound = image.clone();
    let mut draw = Draw(SplitMix64::new(seed));
    loop {
        let kind = draw.mutation(image);
        if *image != sound {
            return kind;
        }
    }
}

struct Draw(SplitMix64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0.next_u64() % n
    }

    /// Moves a number by up to 2, or to anywhere up to 20.
    fn nudge(&mut self, number: &mut u16) {
        *number = match self.below(5) {
            4 => self.below(20) as u16,
            step => number.wrapping_add_signed([-2, -1, 1, 2][step as usize]),
        };
    }

    fn stream(&mut self, stream: &mut Stream) {
        match self.below(3) {
            0 => {
                stream.direction = match stream.direction {
                    Direction::East => Direction::West,
                    Direction::West => Direction::East,
                }
            }
            _ => stream.id = self.below(9) as u8,
        }
    }

    /// Changes one field of a word, and says which; words without a field to change stay.
    fn word(&mut self, word: &mut Word) -> &'static str {
        match word {
            Word::Nop { cycles } => {
                self.nudge(cycles);
                "a pause"
            }
            Word::Repeat { count, gap, strides } => match self.below(3) {
                0 => {
                    self.nudge(count);
                    "the count of repeats"
                }
                1 => {
                    self.nudge(gap);
                    "the gap of repeats"
                }
                _ => {
                    strides[self.below(3) as usize] = self.below(20) as i16 - 10;
                    "a stride"
                }
            },
            Word::Mem { read, write } => {
                let which = self.below(3);
                if let Some(read) = read {
                    self.place(which, &mut read.bank, &mut read.word, &mut read.to);
                }
                if let Some(write) = write {
                    self.place(which, &mut write.bank, &mut write.word, &mut write.from);
                }
                ["a bank", "an address", "a stream"][which as usize]
            }
            Word::LoadWeights { row, from } => self.row_or_stream(row, from),
            Word::Multiply { from, .. } => {
                self.stream(from);
                "a stream"
            }
            Word::Accumulate { row, add, emit } => match (self.below(4), emit) {
                (0, _) => {
                    self.nudge(row);
                    "a row"
                }
                (1, Some(to)) => {
                    self.stream(to);
                    "a stream"
                }
                (2, _) => {
                    *add = !*add;
                    "set or add"
                }
                (_, emit) => {
                    *emit = emit.xor(Some(Stream::west(0)));
                    "emit"
                }
            },
            Word::Alu(alu) => match (self.below(2), &mut alu.to) {
                (0, Some(to)) => {
                    self.stream(to);
                    "a stream"
                }
                _ => {
                    alu.operands.iter_mut().for_each(|operand| self.operand(operand));
                    "an operand"
                }
            },
            Word::Sync
            | Word::Notify
            | Word::Fetch { .. }
            | Word::Halt
            | Word::Gather { .. }
            | Word::Scatter { .. }
            | Word::InstallWeights
            | Word::Shift { .. }
            | Word::Permute { .. }
            | Word::Broadcast { .. }
            | Word::Transpose { .. }
            | Word::Blend { .. }
            | Word::Send { .. }
            | Word::Receive { .. } => "nothing",
        }
    }

    fn place(&mut self, which: u64, bank: &mut u8, word: &mut u16, stream: &mut Stream) {
        match which {
            0 => *bank ^= 1,
            1 => self.nudge(word),
            _ => self.stream(stream),
        }
    }

    fn row_or_stream(&mut self, row: &mut u16, stream: &mut Stream) -> &'static str {
        if self.below(2) == 0 {
            self.nudge(row);
            "a row"
        } else {
            self.stream(stream);
            "a stream"
        }
    }

    fn operand(&mut self, operand: &mut Operand) {
        match operand {
            Operand::Stream(stream) => self.stream(stream),
            Operand::Alu(other) => *other = self.below(4) as u8,
            Operand::None | Operand::Immediate | Operand::Held => {}
        }
    }

    fn mutation(&mut self, image: &mut Image) -> &'static str {
        let queues = &mut image.programs[0].phases[0].queues;
        let at = self.below(queues.len() as u64) as usize;
        let queue = &mut queues[at];
        let word = self.below(queue.words.len() as u64) as usize;
        match self.below(8) {
            0 => {
                queue.words.remove(word);
                queue.tags.remove(word);
                "a word left out"
            }
            1 => {
                queue.words.insert(word, queue.words[word]);
                queue.tags.insert(word, queue.tags[word].clone());
                "a word twice"
            }
            2 => {
                match &mut queue.id {
                    QueueId::Mem { slice: number, .. }
                    | QueueId::Weights { plane: number, .. }
                    | QueueId::Rows { plane: number, .. }
                    | QueueId::Sums { plane: number, .. }
                    | QueueId::Alu(number)
                    | QueueId::Sxm { queue: number, .. } => *number = self.below(9) as u8,
                }
                "another queue"
            }
            _ => self.word(&mut queue.words[word]),
        }
    }
}
