//! The verifier against the simulator: a schedule with one field changed is refused, or gives the same bytes.
//!
//! Fields of time and place are changed: cycles, streams, addresses, rows, masks, repeats, queues. What a word computes, and
//! what its tags mean, is the compiler's to say.

use crate::example::{EXAMPLE, run};
use tegula_base::random::SplitMix64;
use tegula_isa_lpu::word::{Operand, Word};
use tegula_isa_lpu::{Direction, Image, QueueId, Stream, parse, verify};
use tegula_machine::Machine;

const MUTATIONS: u64 = 1500;

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

    /// Changes one field of a word; words without a field to change stay.
    fn word(&mut self, word: &mut Word) {
        match word {
            Word::Nop { cycles } => self.nudge(cycles),
            Word::Repeat { count, gap, strides } => match self.below(3) {
                0 => self.nudge(count),
                1 => self.nudge(gap),
                _ => strides[self.below(3) as usize] = self.below(20) as i16 - 10,
            },
            Word::Mem { read, write } => {
                let which = self.below(3);
                if let Some(read) = read {
                    match which {
                        0 => read.bank ^= 1,
                        1 => self.nudge(&mut read.word),
                        _ => self.stream(&mut read.to),
                    }
                }
                if let Some(write) = write {
                    match which {
                        0 => write.bank ^= 1,
                        1 => self.nudge(&mut write.word),
                        _ => self.stream(&mut write.from),
                    }
                }
            }
            Word::LoadWeights { row, from } => match self.below(2) {
                0 => self.nudge(row),
                _ => self.stream(from),
            },
            Word::Multiply { from, .. } => self.stream(from),
            Word::Accumulate { row, emit, .. } => match (self.below(3), emit) {
                (0, _) => self.nudge(row),
                (1, Some(to)) => self.stream(to),
                (_, emit) => *emit = emit.xor(Some(Stream::west(0))),
            },
            Word::Alu(alu) => match (self.below(2), &mut alu.to) {
                (0, Some(to)) => self.stream(to),
                _ => {
                    for operand in &mut alu.operands {
                        match operand {
                            Operand::Stream(stream) => self.stream(stream),
                            Operand::Alu(other) => *other = self.below(4) as u8,
                            Operand::None | Operand::Immediate | Operand::Held => {}
                        }
                    }
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
            | Word::Receive { .. } => {}
        }
    }

    fn mutation(&mut self, image: &mut Image) {
        let queues = &mut image.programs[0].phases[0].queues;
        let at = self.below(queues.len() as u64) as usize;
        let queue = &mut queues[at];
        let word = self.below(queue.words.len() as u64) as usize;
        match self.below(8) {
            0 => {
                queue.words.remove(word);
                queue.tags.remove(word);
            }
            1 => {
                queue.words.insert(word, queue.words[word]);
                queue.tags.insert(word, queue.tags[word].clone());
            }
            2 => match &mut queue.id {
                QueueId::Mem { slice: number, .. }
                | QueueId::Weights { plane: number, .. }
                | QueueId::Rows { plane: number, .. }
                | QueueId::Sums { plane: number, .. }
                | QueueId::Alu(number)
                | QueueId::Sxm { queue: number, .. } => *number = self.below(9) as u8,
            },
            _ => self.word(&mut queue.words[word]),
        }
    }
}

#[test]
fn what_the_verifier_accepts_gives_the_same_bytes() {
    let machine = Machine::class("lpu-mini").unwrap();
    let sound = parse(EXAMPLE).unwrap();
    let expected = run(sound.clone()).unwrap().outputs;
    let mut draw = Draw(SplitMix64::new(3));
    let (mut accepted, mut harmless) = (0, 0);
    for number in 0..MUTATIONS {
        let mut image = sound.clone();
        draw.mutation(&mut image);
        if image == sound {
            continue;
        }
        let proof = verify(&image, &machine);
        let outcome = run(image);
        match (proof, outcome) {
            (Ok(_), Ok(outcome)) => {
                accepted += 1;
                assert_eq!(outcome.outputs, expected, "mutation {number} is accepted and changes the result");
            }
            (Ok(_), Err(trap)) => panic!("mutation {number} is accepted and traps: {trap}"),
            // Refused without need: a proof that asks for more than the bytes.
            (Err(_), Ok(outcome)) if outcome.outputs == expected => harmless += 1,
            (Err(_), _) => {}
        }
    }
    println!("{accepted} accepted, {harmless} refused though they change nothing");
    assert!(accepted > 0 && accepted < MUTATIONS / 4);
    assert!(harmless <= MUTATIONS / 20, "{harmless} of {MUTATIONS} are refused without need");
}
