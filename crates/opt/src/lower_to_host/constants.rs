//! Constants of the tensor level as buffers: a layout becomes a packing, equal content becomes one buffer.

use tegula_base::HashMap;
use tegula_host::{PackedDim, Packing};
use tegula_ir::{ConstId, ConstStore, Value};
use tegula_tensor::TensorType;
use tegula_tensor::layout::Physical;

/// How the bytes of a row-major tensor become those of `ty`'s layout; `None` when they already are.
/// Errors: a symbolic extent.
pub fn packing(ty: &TensorType) -> Result<Option<Box<Packing>>, String> {
    let Some(layout) = ty.layout.as_deref().filter(|layout| !layout.is_row_major()) else { return Ok(None) };
    let shape = ty.shape.as_static().ok_or_else(|| format!("a constant {ty} has no fixed shape"))?;
    let dims = layout.0.iter().map(|dim| match *dim {
        Physical::Axis(axis) => PackedDim { axis, step: 1, extent: shape[axis] },
        Physical::Outer { axis, tile } => {
            PackedDim { axis, step: tile as usize, extent: shape[axis].div_ceil(tile as usize) }
        }
        Physical::Inner { axis, tile } => PackedDim { axis, step: 1, extent: tile as usize },
    });
    let packing = Packing { element: ty.dtype.size(), dims: dims.collect(), shape };
    packing.check()?;
    Ok(Some(Box::new(packing)))
}

/// Finds constants of equal content. Bytes are compared only where length, packing and a few samples agree, and a
/// comparison ends at the first difference, so distinct weights cost next to nothing.
#[derive(Default)]
pub(super) struct Pool {
    seen: HashMap<Likeness, Vec<(ConstId, Value)>>,
}

type Likeness = (usize, u64, Option<Box<Packing>>);

/// Eight-byte samples that tell constants apart.
const SAMPLES: usize = 16;

impl Pool {
    /// The buffer made for an equal constant before, or `make`'s.
    pub fn get(
        &mut self,
        consts: &ConstStore,
        id: ConstId,
        packing: Option<Box<Packing>>,
        make: impl FnOnce(Option<Box<Packing>>) -> Value,
    ) -> Value {
        let data = &consts[id].data;
        let candidates = self.seen.entry((data.len(), samples(data), packing.clone())).or_default();
        let equal = |other: ConstId| {
            let other = &consts[other].data;
            other.as_ptr() == data.as_ptr() || other == data
        };
        if let Some((_, made)) = candidates.iter().find(|(other, _)| *other == id || equal(*other)) {
            return *made;
        }
        let made = make(packing);
        candidates.push((id, made));
        made
    }
}

/// A number made of samples spread over the bytes.
fn samples(bytes: &[u8]) -> u64 {
    let words = bytes.as_chunks::<8>().0;
    let step = words.len().div_ceil(SAMPLES).max(1);
    words.iter().step_by(step).fold(0, |mixed: u64, word| {
        (mixed.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}
