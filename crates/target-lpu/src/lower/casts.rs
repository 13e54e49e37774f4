//! From how elements are stored to 32 bits, and back.

use super::{Lower, Tensor, row, vectors};
use crate::flow::{Access, How, Kind, Source, ValueId};
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
