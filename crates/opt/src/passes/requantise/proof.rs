//! Proves of an affine function between bytes that one fused multiply-add rounds to the same bytes.
//!
//! Method: what a chain of floats computes lies within a bound of the real function `A q + B`: an op adds half of a unit in the
//! last place, or of the least denormal. Where the function is further than the bound from the middle between two integers,
//! the chain rounds as it does, and so does `fma(q, a, b)`, which is near it too. The few bytes for which that is not so are
//! computed both ways. Where the two differ, `b` is moved by as little as decides the byte.

/// Half of a unit in the last place, relative; with room for errors of errors.
const HALF_ULP: f64 = 1.001 / (1u64 << 24) as f64;
/// Half of the least denormal: what an op may add where its result is too small for a relative error.
const HALF_LEAST: f64 = 1.0 / (1u128 << 75) as f64 / (1u128 << 75) as f64;
/// Room for what this file itself rounds.
const ROOM: f64 = 1e-9;
/// Whole numbers of `f32` up to this one are exact.
const EXACT: f64 = (1u64 << 24) as f64;
/// What results beyond these are is of no interest.
const LARGEST: f64 = 1e9;
/// By how much `b` is moved: units in the last place of what rounds to bytes.
const MOVES: [i8; 11] = [0, 1, -1, 2, -2, 4, -4, 8, -8, 16, -16];
const MOVE: f64 = 1.0 / (1u64 << 17) as f64;
/// Added and taken away again, it leaves an `f64` rounded to nearest, ties to even.
const ROUNDS: f64 = 1.5 * (1u64 << 52) as f64;

/// A constant operand: a number for all channels, or one for each.
pub type Numbers = Vec<f64>;

/// One op of the chain, on the value so far and constants, which are exact in their type.
#[derive(Clone, Debug)]
pub enum Step {
    /// To `i32`, of a byte.
    ToInt,
    /// To `f32`, of a byte or an `i32`.
    ToFloat,
    Add(Numbers),
    Sub(Numbers),
    /// From the constant.
    SubFrom(Numbers),
    Mul(Numbers),
    /// Of floats.
    Div(Numbers),
    /// By the first, plus the second; of floats.
    Fma(Numbers, Numbers),
}

/// What rounds to a byte: a chain that begins with one.
pub struct Chain {
    pub steps: Vec<Step>,
    /// The bytes that it begins with.
    pub from: std::ops::RangeInclusive<i32>,
    /// What its rounded results saturate at, by channel.
    pub least: Numbers,
    pub most: Numbers,
}

/// Of one channel, the factor and the summand that round alike; none: there are none, or they were not found.
pub fn fused(chain: &Chain, channel: usize) -> Option<(f32, f32)> {
    let real = Real::of(chain, channel)?;
    let moved = |by: &i8| {
        let summand = (real.summand + f64::from(*by) * MOVE) as f32;
        Fused { factor: real.factor as f32, summand }
    };
    let plain = moved(&0);
    if real.farthest(&chain.from) < real.clear(&plain, chain) {
        return Some((plain.factor, plain.summand));
    }
    let (least, most) = (at(&chain.least, channel), at(&chain.most, channel));
    let byte = |value: f32| f64::from(value.round_ties_even()).clamp(least, most);
    let clear = MOVES.iter().map(|by| real.clear(&moved(by), chain)).fold(0.5, f64::min);
    let undecided = chain.from.clone().filter(|q| real.distance(*q) >= clear);
    let undecided: Vec<(i32, f64)> = undecided.map(|q| (q, byte(computed(chain, channel, q)))).collect();
    let agrees = |fused: &Fused| undecided.iter().all(|(q, was)| byte(fused.of(*q)) == *was);
    MOVES.iter().map(moved).find(agrees).map(|fused| (fused.factor, fused.summand))
}

struct Fused {
    factor: f32,
    summand: f32,
}

impl Fused {
    fn of(&self, q: i32) -> f32 {
        (q as f32).mul_add(self.factor, self.summand)
    }
}

/// `factor q + summand`, and how far the floats of the chain may be from it.
struct Real {
    factor: f64,
    summand: f64,
    error: f64,
}

impl Real {
    /// None: a value is too large for its type, or not finite.
    fn of(chain: &Chain, channel: usize) -> Option<Real> {
        let mut real = Real { factor: 1.0, summand: 0.0, error: 0.0 };
        let mut is_float = false;
        for step in &chain.steps {
            let mut scaled = |by: f64| {
                real = Real {
                    factor: real.factor * by,
                    summand: real.summand * by,
                    error: real.error * by.abs(),
                };
            };
            match step {
                Step::ToInt => {}
                Step::ToFloat => is_float = true,
                Step::Mul(c) => scaled(at(c, channel)),
                Step::Div(c) => scaled(1.0 / at(c, channel)),
                Step::Fma(c, _) => scaled(at(c, channel)),
                Step::SubFrom(_) => scaled(-1.0),
                Step::Add(_) | Step::Sub(_) => {}
            }
            match step {
                Step::Add(c) | Step::SubFrom(c) | Step::Fma(_, c) => real.summand += at(c, channel),
                Step::Sub(c) => real.summand -= at(c, channel),
                _ => {}
            }
            let largest = largest(&chain.from, real.factor, real.summand);
            let is_exact = !is_float || (matches!(step, Step::ToFloat) && largest <= EXACT);
            if !is_exact {
                real.error += HALF_ULP * largest + HALF_LEAST;
            }
            // Not so of NaN.
            let fits = largest + real.error < f64::from(if is_float { f32::MAX } else { i32::MAX as f32 });
            if !fits {
                return None;
            }
        }
        let fits = largest(&chain.from, real.factor, real.summand) + real.error < LARGEST;
        fits.then_some(Real { error: real.error * 1.001 + ROOM, ..real })
    }

    /// How far from an integer the function is at most. Lanes of their own let a compiler take several at once.
    fn farthest(&self, from: &std::ops::RangeInclusive<i32>) -> f64 {
        let first = self.factor * f64::from(*from.start()) + self.summand;
        let mut farthest = [0.0f64; LANES];
        for bytes in BYTES.chunks_exact(LANES) {
            for (farthest, q) in farthest.iter_mut().zip(bytes) {
                let away = distance(self.factor * q + first);
                *farthest = if away > *farthest { away } else { *farthest };
            }
        }
        farthest.into_iter().fold(0.0, f64::max)
    }

    fn distance(&self, q: i32) -> f64 {
        distance(self.factor * f64::from(q) + self.summand)
    }

    /// How close to an integer the function has to be for both to round to it.
    fn clear(&self, fused: &Fused, chain: &Chain) -> f64 {
        let (factor, summand) = (f64::from(fused.factor), f64::from(fused.summand));
        let apart = largest(&chain.from, factor - self.factor, summand - self.summand);
        0.5 - self.error - apart - HALF_ULP * largest(&chain.from, factor, summand)
    }
}

const LANES: usize = 8;
/// All bytes, from the least on.
const BYTES: [f64; 256] = {
    let mut bytes = [0.0; 256];
    let mut i = 0;
    while i < bytes.len() {
        bytes[i] = i as f64;
        i += 1;
    }
    bytes
};

/// From the nearest integer.
fn distance(value: f64) -> f64 {
    (value - ((value + ROUNDS) - ROUNDS)).abs()
}

fn at(numbers: &Numbers, channel: usize) -> f64 {
    numbers[if numbers.len() == 1 { 0 } else { channel }]
}

fn largest(from: &std::ops::RangeInclusive<i32>, factor: f64, summand: f64) -> f64 {
    let [first, last] = [*from.start(), *from.end()].map(|q| (factor * f64::from(q) + summand).abs());
    // NaN stays.
    if first > last { first } else { last }
}

/// What the chain computes of a byte.
fn computed(chain: &Chain, channel: usize, q: i32) -> f32 {
    let mut whole = i64::from(q);
    let mut float = None::<f32>;
    for step in &chain.steps {
        let c = |numbers: &Numbers| at(numbers, channel);
        let f = |numbers: &Numbers| at(numbers, channel) as f32;
        match (&mut float, step) {
            (_, Step::ToInt) => {}
            (_, Step::ToFloat) => float = Some(whole as f32),
            (Some(x), Step::Add(n)) => *x += f(n),
            (Some(x), Step::Sub(n)) => *x -= f(n),
            (Some(x), Step::SubFrom(n)) => *x = f(n) - *x,
            (Some(x), Step::Mul(n)) => *x *= f(n),
            (Some(x), Step::Div(n)) => *x /= f(n),
            (Some(x), Step::Fma(n, m)) => *x = x.mul_add(f(n), f(m)),
            (None, Step::Add(n)) => whole += c(n) as i64,
            (None, Step::Sub(n)) => whole -= c(n) as i64,
            (None, Step::SubFrom(n)) => whole = c(n) as i64 - whole,
            (None, Step::Mul(n)) => whole *= c(n) as i64,
            (None, Step::Div(_) | Step::Fma(..)) => return f32::NAN,
        }
    }
    float.unwrap_or(f32::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Knuth's MMIX.
    struct Rng(u64);

    impl Rng {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % n
        }
    }

    /// From unsigned bytes to unsigned bytes.
    fn chain(steps: &[Step]) -> Chain {
        Chain { steps: steps.to_vec(), from: 0..=255, least: vec![0.0], most: vec![255.0] }
    }

    fn drawn(rng: &mut Rng) -> Chain {
        // Now and then near the ends of `f32`.
        let scale = |rng: &mut Rng| {
            let end = [1.0, 1.0, 1.0, 1.0, 1e-36, 1e35][rng.below(6) as usize];
            vec![f64::from(0.001f32 * 1.013f32.powi(rng.below(600) as i32) * end)]
        };
        let shift = |rng: &mut Rng| vec![f64::from((rng.below(2000) as f32 - 1000.0) * 0.013)];
        let (zero, times) = (vec![rng.below(256) as f64], vec![rng.below(255) as f64 - 127.0]);
        let mut steps = match rng.below(2) {
            0 => vec![Step::ToFloat, Step::Sub(zero), Step::Mul(scale(rng))],
            _ => vec![Step::ToInt, Step::Sub(zero), Step::Mul(times), Step::ToFloat, Step::Mul(scale(rng))],
        };
        match rng.below(4) {
            0 => steps.extend([Step::Add(shift(rng)), Step::Div(scale(rng))]),
            1 => steps.extend([Step::SubFrom(shift(rng)), Step::Div(scale(rng))]),
            2 => steps.push(Step::Fma(scale(rng), shift(rng))),
            _ => steps.push(Step::Mul(vec![0.5])),
        }
        let lowest = rng.below(200) as f64 - 250.0;
        Chain { least: vec![lowest], most: vec![lowest + 255.0], ..chain(&steps) }
    }

    /// Whether it is one multiply-add. Panics where that rounds otherwise.
    fn is_fused(chain: &Chain) -> bool {
        let Some((factor, summand)) = fused(chain, 0) else { return false };
        let byte = |value: f32| f64::from(value.round_ties_even()).clamp(chain.least[0], chain.most[0]);
        for q in 0..=255 {
            let (was, is) = (computed(chain, 0, q), (q as f32).mul_add(factor, summand));
            assert_eq!(byte(was), byte(is), "{q} by {:?}, {factor} q + {summand}", chain.steps);
        }
        true
    }

    #[test]
    fn what_is_proved_is_so_for_every_byte() {
        let mut rng = Rng(20261127);
        let fused_chains = (0..20_000).filter(|_| is_fused(&drawn(&mut rng))).count();
        assert!(fused_chains > 8_000, "{fused_chains} of 20000 are one multiply-add");
    }

    /// Every second byte is a tie or close to one, and on the way to it a larger sum is rounded.
    #[test]
    fn ties_fall_as_the_chain_lets_them() {
        let (mut rng, mut fused_chains) = (Rng(20261130), 0);
        for _ in 0..4_000 {
            let near_half = 0.5 * (1.0 + (rng.below(7) as f64 - 3.0) / 16384.0);
            let up = f64::from(1u32 << rng.below(23));
            let shift = [0.0, 0.5, 0.25, 1.0][rng.below(4) as usize];
            let scaled = [Step::ToFloat, Step::Sub(vec![rng.below(256) as f64]), Step::Mul(vec![near_half])];
            let moved = [Step::Add(vec![up]), Step::Sub(vec![up - shift])];
            fused_chains += usize::from(is_fused(&chain(&[&scaled[..], &moved].concat())));
        }
        assert!((1_000..3_900).contains(&fused_chains), "{fused_chains} of 4000 are one multiply-add");
    }

    #[test]
    fn overflow_and_underflow_are_no_part_of_the_real_function() {
        let number = |x: f32| vec![f64::from(x)];
        let over = [Step::ToFloat, Step::Mul(number(1e38)), Step::Div(number(1e38))];
        assert_eq!(fused(&chain(&over), 0), None);
        let steps = [1e-30, 1e-30, 1e30].map(|x| Step::Mul(number(x)));
        let under = [&[Step::ToFloat], &steps[..], &[Step::Div(number(1e-30))]].concat();
        assert_eq!(fused(&chain(&under), 0), None);
    }

    #[test]
    fn what_is_not_finite_is_not_fused() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for step in [
                Step::Add(vec![odd]),
                Step::SubFrom(vec![odd]),
                Step::Mul(vec![odd]),
                Step::Fma(vec![1.0], vec![odd]),
            ] {
                assert_eq!(fused(&chain(&[Step::ToFloat, step, Step::Mul(vec![0.5])]), 0), None);
            }
        }
        assert_eq!(fused(&chain(&[Step::ToFloat, Step::Div(vec![0.0])]), 0), None);
    }

    #[test]
    fn ties_that_fall_otherwise_are_not_fused() {
        // Halves are numbers up to 2^22, whole ones alone beyond 2^23.
        let by_way_of = |up: f64, down: f64| {
            chain(&[Step::ToFloat, Step::Mul(vec![0.5]), Step::Add(vec![up]), Step::Sub(vec![down])])
        };
        assert!(fused(&by_way_of(4194304.0, 4194304.0), 0).is_some(), "both keep ties");
        let moved = by_way_of(8388608.0, 8388607.0);
        assert_eq!(fused(&moved, 0), None, "rounded before one is added, ties go the other way");
    }
}
