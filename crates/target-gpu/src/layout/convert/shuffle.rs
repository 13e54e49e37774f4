//! Conversions within warps: exclusive-or permutations of each thread's registers before and after one shuffle a register.
//!
//! Let a place of the result (register r, lane l) want what the source has at register s(r, l) and lane q(r, l), both
//! linear. One shuffle gives each lane one element, so a round pairs with each lane l the register v(l) + t, with v linear
//! and chosen so that the lanes asked are different ones, or the same one for the same element. Then round t needs from
//! lane m the register a(m) + s(t) + c(t): the source exchanges its registers by a(m) before all rounds, the result by v(l)
//! after them. Exchanges by a linear function of the lane are conditional swaps, one for each bit of the lane.
//! Source: section 5.4 of the paper in `layout.rs`; the choice of v by growing a basis is ours.

use super::super::atom::{Atom, Part};
use super::super::matrix::BitMatrix;
use super::super::register::{LANES, RegisterLayout, Repeat};

/// In threads whose lane has the bit, registers `i` and `i ^ mask` of each repetition change places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ConditionalSwap {
    pub lane_bit: u32,
    pub mask: u32,
}

/// Register `to` of the result, before the last swaps, from register `from` after the first ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Round {
    pub from: u32,
    pub to: u32,
    /// Added to the asked lane.
    pub lane_xor: u32,
}

/// Swaps, a shuffle a round, swaps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShufflePlan {
    pub before: Vec<ConditionalSwap>,
    pub rounds: Vec<Round>,
    pub after: Vec<ConditionalSwap>,
    /// For each bit of a lane what it adds to the asked lane; those of `1, 2, 4, 8, 16` make the rounds butterflies.
    pub lanes: [u32; 5],
    /// Registers that one repetition of the source and of the result has.
    pub block: (u32, u32),
}

impl ShufflePlan {
    /// Whether a shuffle is `shfl.bfly`, or a move where `lane_xor` is 0.
    pub fn is_butterfly(&self) -> bool {
        self.lanes == [1, 2, 4, 8, 16]
    }

    /// The registers' names, where no element leaves its thread and none depends on the lane.
    pub fn as_registers(&self) -> Option<Vec<u32>> {
        let stays = self.is_butterfly() && self.rounds.iter().all(|round| round.lane_xor == 0);
        (stays && self.before.is_empty() && self.after.is_empty()).then_some(())?;
        let mut from = vec![0; self.rounds.len()];
        self.rounds.iter().for_each(|round| from[round.to as usize] = round.from);
        Some(from)
    }

    /// The lane that a lane asks in a round.
    pub fn asked(&self, round: &Round, lane: u32) -> u32 {
        let bits = (0..5).filter(|bit| lane >> bit & 1 == 1);
        bits.fold(round.lane_xor, |asked, bit| asked ^ self.lanes[bit])
    }

    /// How many selections each thread makes for the swaps.
    pub fn selections(&self) -> u32 {
        let repetitions = self.rounds.len() as u32 / self.block.1;
        (self.before.len() as u32 * self.block.0 + self.after.len() as u32 * self.block.1) * repetitions
    }
}

/// None where elements change their warp, where the repetitions differ, or where a lane would need two elements at once.
pub fn plan(from: &RegisterLayout, to: &RegisterLayout) -> Option<ShufflePlan> {
    let (source, result) = (from.atom(), to.atom());
    let dims = (0..from.rank()).all(|dim| source.dim_bits(dim) == result.dim_bits(dim));
    (dims && same_repeats(from.repeats(), to.repeats())).then_some(())?;
    let wanted = wanted_places(source, result)?;
    let (registers, lanes) = wanted.split_at(result.part_bits(Part::Register) as usize);
    let mut lanes = lanes.to_vec();
    let chosen = choose_registers(source, registers, &mut lanes)?;
    let pair = |lane: usize| {
        (0..registers.len())
            .filter(|bit| chosen[lane] >> bit & 1 == 1)
            .fold(lanes[lane], |sum, bit| sum ^ registers[bit])
    };
    let paired: Vec<u64> = (0..5).map(pair).collect();
    let asked = BitMatrix::new(paired.iter().map(|place| lane_of(source, *place)).collect());
    let first = source_registers(source, &paired)?;
    let block = (1 << source.part_bits(Part::Register), 1 << registers.len());
    let moves = BitMatrix::new(registers.to_vec());
    let mut rounds = Vec::new();
    for repetition in 0..to.registers() / block.1 {
        for t in 0..block.1 {
            let place = moves.apply(u64::from(t));
            let lane_xor = lane_of(source, place) as u32;
            let register = register_of(source, place) ^ first.apply(u64::from(lane_xor)) as u32;
            rounds.push(Round {
                from: repetition * block.0 + register,
                to: repetition * block.1 + t,
                lane_xor,
            });
        }
    }
    let swaps = |masks: &mut dyn Iterator<Item = u32>| -> Vec<ConditionalSwap> {
        let all = masks.enumerate().map(|(bit, mask)| ConditionalSwap { lane_bit: bit as u32, mask });
        all.filter(|swap| swap.mask != 0).collect()
    };
    Some(ShufflePlan {
        before: swaps(&mut first.columns().iter().map(|mask| *mask as u32)),
        rounds,
        after: swaps(&mut chosen.iter().copied()),
        lanes: std::array::from_fn(|bit| asked.columns()[bit] as u32),
        block,
    })
}

/// Repetitions must be the same, and of registers or of whole warps: they then commute with what warps do.
fn same_repeats(from: &[Repeat], to: &[Repeat]) -> bool {
    from == to && from.iter().all(|repeat| repeat.part != Part::Lane)
}

/// For each bit of the result's register and lane where the source has its image, as an index word of the source.
fn wanted_places(source: &Atom, result: &Atom) -> Option<Vec<u64>> {
    let outer = [Part::Warp, Part::Cta];
    (outer.iter().all(|part| source.columns(*part) == result.columns(*part))).then_some(())?;
    // Lanes first among equals, a lane's own bit first of all, so that what can stay in its thread stays.
    let (registers, lanes) = (source.columns(Part::Register), source.columns(Part::Lane));
    let mut span = BitMatrix::default().echelon();
    let shift = source.part_shift(Part::Lane);
    let stays = |bit: usize| result.columns(Part::Lane)[bit] == lanes[bit];
    for bit in (0..lanes.len()).filter(|bit| stays(*bit)) {
        span.insert(lanes[bit], 1 << (shift + bit as u32));
    }
    registers.iter().enumerate().for_each(|(bit, column)| _ = span.insert(*column, 1 << bit));
    for bit in (0..lanes.len()).filter(|bit| !stays(*bit)) {
        span.insert(lanes[bit], 1 << (shift + bit as u32));
    }
    let of_registers = result.columns(Part::Register).iter().map(|image| span.solve(*image));
    let own = |bit: usize| 1_u64 << (shift + bit as u32);
    let of_lanes = (0..lanes.len())
        .map(|bit| if stays(bit) { Some(own(bit)) } else { span.solve(result.columns(Part::Lane)[bit]) });
    of_registers.chain(of_lanes).collect()
}

/// For each lane bit the register that is paired with it, so that pairs with the same lane asked want one element.
/// Where registers do not suffice, another copy of what the lane bit wants is asked for.
fn choose_registers(source: &Atom, registers: &[u64], lanes: &mut [u64]) -> Option<Vec<u32>> {
    let in_warp = [source.columns(Part::Register), source.columns(Part::Lane)].concat();
    let copies = BitMatrix::new(in_warp).echelon();
    let mut asked = BitMatrix::default().echelon();
    let mut chosen = vec![0; lanes.len()];
    let mut late = Vec::new();
    for (bit, place) in lanes.iter().enumerate() {
        if !asked.insert(lane_of(source, *place), 1 << bit) {
            late.push(bit);
        }
    }
    for bit in late {
        // The sum of bits that asks lane 0: harmless if it wants register 0.
        let names = asked.solve(lane_of(source, lanes[bit])).unwrap_or(0) | 1 << bit;
        let sum = (0..lanes.len()).filter(|lane| names >> lane & 1 == 1).fold(0, |sum, lane| {
            let paired = (0..registers.len()).filter(|bit| chosen[lane] >> bit & 1 == 1);
            sum ^ paired.fold(lanes[lane], |sum, bit| sum ^ registers[bit])
        });
        if lane_of(source, sum) == 0 && register_of(source, sum) == 0 {
            continue;
        }
        let mut grows = |place: u64| asked.insert(lane_of(source, place ^ lanes[bit]), 1 << bit);
        match (0..registers.len()).find(|register| grows(registers[*register])) {
            Some(register) => chosen[bit] = 1 << register,
            None => lanes[bit] ^= copies.kernel().iter().find(|copy| grows(**copy))?,
        }
    }
    Some(chosen)
}

/// The register that each lane gives in round 0, as a linear map of the lane asked. None where pairs contradict.
fn source_registers(source: &Atom, paired: &[u64]) -> Option<BitMatrix> {
    let asked = BitMatrix::new(paired.iter().map(|place| lane_of(source, *place)).collect());
    let echelon = asked.echelon();
    let wants = BitMatrix::new(paired.iter().map(|place| u64::from(register_of(source, *place))).collect());
    echelon.kernel().iter().all(|pairs| wants.apply(*pairs) == 0).then_some(())?;
    // Lanes that nobody asks give anything: complete the span by unit vectors that map to register 0.
    let mut span = asked.echelon();
    let bits = LANES.trailing_zeros();
    (0..bits).for_each(|bit| _ = span.insert(1 << bit, 1 << (32 + bit)));
    let column = |bit: u32| span.solve(1 << bit).map(|pairs| wants.apply(pairs & 0xffff_ffff));
    (0..bits).map(column).collect::<Option<Vec<u64>>>().map(BitMatrix::new)
}

fn lane_of(source: &Atom, place: u64) -> u64 {
    u64::from(source.index(place).lane)
}

fn register_of(source: &Atom, place: u64) -> u32 {
    source.index(place).register
}
