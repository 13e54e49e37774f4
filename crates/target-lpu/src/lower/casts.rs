//! From how elements are stored to 32 bits, and back.

use super::{Lower, Tensor, row, vectors};
use crate::flow::{Access, How, Kind, Loops, Source, ValueId};
use smallvec::smallvec;
use tegula_base::DType;
use tegula_isa_lpu::word::{AluOp, Element};

/// How the host stores elements of a type; none: the chip does not take them.
pub(crate) fn stored(dtype: DType) -> Option<Element> {
    match dtype {
        DType::F32 => Some(Element::F32),
        DType::F16 => Some(Element::F16),
        DType::I32 => Some(Element::I32),
        DType::I16 => Some(Element::I16),
        DType::I8 => Some(Element::I8),
        DType::U8 | DType::Bool => Some(Element::U8),
        _ => None,
    }
}

fn wide(element: Element) -> Element {
    if element.is_float() { Element::F32 } else { Element::I32 }
}

impl Lower<'_> {
    fn cast(&mut self, from: ValueId, [base, vectors]: [u32; 2], op: AluOp, element: Element) -> ValueId {
        let loops = [vectors];
        let to = self.fresh(element, vectors, false);
        let source = Source::Vector(Access::dense(from, base, &loops));
        self.flow(&loops, Kind::alu(op, smallvec![source]), Access::dense(to, 0, &loops));
        to
    }

    /// Elements as the host stores them, as 32 bits.
    pub(super) fn widened(&mut self, value: ValueId, from: Element, vectors: u32) -> ValueId {
        if from.width() == 4 {
            return value;
        }
        let op = AluOp::Cast { from, to: wide(from), saturate: false, shift: 0 };
        self.cast(value, [0, vectors], op, wide(from))
    }

    /// Elements of 32 bits in a new value, as they are stored. Integers wrap: casts of the model saturate before.
    pub(super) fn narrowed(
        &mut self,
        value: ValueId,
        base: u32,
        vectors: u32,
        dtype: DType,
        to: Element,
    ) -> ValueId {
        let from = if dtype.is_float() { Element::F32 } else { Element::I32 };
        let op = match to.width() {
            4 => AluOp::Move,
            _ => AluOp::Cast { from, to, saturate: false, shift: 0 },
        };
        self.cast(value, [base, vectors], op, to)
    }

    /// A tensor of 32 bits in a new value, as it is stored, with rows of `fill` around it: `padding` of each axis but the last,
    /// before and behind it. `fill`: the bytes of an element.
    pub(super) fn padded_rows(
        &mut self,
        tensor: &Tensor,
        to: Element,
        padding: &[[usize; 2]],
        fill: &[u8],
    ) -> ValueId {
        let lanes = self.lanes();
        let from = if tensor.dtype.is_float() { Element::F32 } else { Element::I32 };
        let [own, mut padded] = [(); 2].map(|()| -> Loops {
            let chunks = super::chunks(&tensor.shape, lanes);
            let rows = tensor.shape[..tensor.shape.len() - 1].iter();
            rows.chain([&chunks]).map(|extent| *extent as u32).collect()
        });
        for (extent, [low, high]) in padded.iter_mut().zip(padding) {
            *extent += (low + high) as u32;
        }
        let value = self.fresh(to, padded.iter().product(), false);
        let strides = Access::dense(value, 0, &padded).strides;
        let base = strides.iter().zip(padding).map(|(stride, [low, _])| stride * *low as u32).sum();
        let source = Source::Vector(Access::dense(tensor.value, 0, &own));
        let op = AluOp::Cast { from, to, saturate: false, shift: 0 };
        self.flow(&own, Kind::alu(op, smallvec![source]), Access { value, base, strides: strides.clone() });
        let splat = self.constant(to, false, fill.repeat(lanes));
        for (axis, [low, high]) in padding.iter().enumerate() {
            // Axes before it without their padding, those behind it with theirs.
            let before: u32 =
                strides.iter().zip(padding).take(axis).map(|(stride, [low, _])| stride * *low as u32).sum();
            for (first, extent) in [(0, *low as u32), (*low as u32 + own[axis], *high as u32)] {
                let mut loops: Loops = own.clone();
                loops[axis] = extent;
                loops[axis + 1..].copy_from_slice(&padded[axis + 1..]);
                if extent > 0 {
                    let from = Access::fixed(splat, 0, loops.len());
                    let base = before + first * strides[axis];
                    let out = Access { value, base, strides: strides.clone() };
                    self.flow(&loops, Kind::Move { how: How::Stay, from }, out);
                }
            }
        }
        value
    }

    /// A tensor whose rows have one element, in lane 0, gets it in all lanes.
    pub(super) fn spread(&mut self, tensor: Tensor) -> Tensor {
        if row(&tensor.shape) != 1 {
            return tensor;
        }
        let vectors = vectors(&tensor.shape, self.lanes());
        let element = self.program.value(tensor.value).element;
        let to = self.fresh(element, vectors, false);
        let from = Access::dense(tensor.value, 0, &[vectors]);
        self.flow(&[vectors], Kind::Move { how: How::Broadcast(0), from }, Access::dense(to, 0, &[vectors]));
        Tensor { value: to, ..tensor }
    }
}
