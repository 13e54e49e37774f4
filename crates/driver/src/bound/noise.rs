//! Values as another executor might have rounded them.

use super::Bounded;
use tegula_base::random::SplitMix64;
use tegula_ir::scalar::eval::from_reals;

/// Each float with a finite bound somewhere within it; no bounds any more.
pub(super) fn moved(result: Bounded, noise: &mut SplitMix64) -> Bounded {
    let dtype = result.value.dtype;
    let Some(bounds) = result.error.as_ref().filter(|_| dtype.is_float()) else {
        return Bounded { error: None, ..result };
    };
    let mut reals = result.value.to_f64();
    for (real, bound) in reals.iter_mut().zip(bounds.iter()).filter(|(_, bound)| bound.is_finite()) {
        *real += bound * between_ends(noise);
    }
    Bounded { error: None, value: from_reals(dtype, &result.value.shape, &reals).into(), ..result }
}

/// From -1 to 1.
fn between_ends(noise: &mut SplitMix64) -> f64 {
    (noise.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}
