//! What is known at compile time: folded, and laid into memory once.

use super::{Lower, Lowered, Tensor, chunks, row, rows, vectors};
use crate::flow::{FlowValue, ValueId};
use std::collections::BTreeMap;
use std::sync::Arc;
use tegula_base::{DType, HostTensor};
use tegula_ir::OpId;
use tegula_isa_lpu::word::Element;
use tegula_tensor::{TensorOp, TensorProgram, evaluate_op};

/// Constants that lie in memory, by what they hold.
#[derive(Default)]
pub(super) struct Constants {
    by_bytes: BTreeMap<(&'static str, bool, Vec<u8>), ValueId>,
    masks: Option<ValueId>,
    /// Rows of the masks by the lanes that they take.
    rows: BTreeMap<Vec<usize>, u32>,
}

/// The result of an op on known operands.
pub(super) fn fold(
    lower: &Lower<'_>,
    op: OpId,
    program: &TensorProgram,
) -> Result<Option<Arc<HostTensor>>, String> {
    let func = lower.func;
    if let TensorOp::Constant { id, .. } = func.kind(op) {
        let data = program.consts.get(*id).ok_or("a constant is not in the store")?;
        return Ok(Some(Arc::new(data.to_host())));
    }
    let mut operands = Vec::new();
    for value in func.operands(op) {
        let Some(Lowered::Known(known)) = lower.values.get(value) else { return Ok(None) };
        operands.push(Arc::clone(known));
    }
    let operands: Vec<&HostTensor> = operands.iter().map(|tensor| &**tensor).collect();
    let results = evaluate_op(func.kind(op), &operands)?;
    Ok(results.into_iter().next().map(Arc::new))
}

/// The bits of each element, as a chip computes with it.
pub(super) fn wide_bits(tensor: &HostTensor) -> Result<Vec<u32>, String> {
    let numbers = tensor.to_f64();
    if tensor.dtype.is_float() {
        return Ok(numbers.into_iter().map(|x| (x as f32).to_bits()).collect());
    }
    let whole = |x: f64| {
        let fits = (f64::from(i32::MIN)..=f64::from(u32::MAX)).contains(&x);
        fits.then_some(x as i64 as u32).ok_or_else(|| format!("{x} is no number of 32 bits"))
    };
    numbers.into_iter().map(whole).collect()
}

impl Lower<'_> {
    /// A constant of the program, each once.
    pub(super) fn constant(&mut self, element: Element, striped: bool, bytes: Vec<u8>) -> ValueId {
        let key = (element.name(), striped, bytes);
        if let Some(known) = self.constants.by_bytes.get(&key) {
            return *known;
        }
        let vectors = (key.2.len() / (element.width() as usize * self.lanes())) as u32;
        let value = self.program.push(FlowValue {
            name: "constant".to_string(),
            node: Arc::clone(&self.node),
            element,
            vectors,
            striped,
            indexed: false,
            constant: Some(key.2.clone()),
        });
        self.constants.by_bytes.insert(key, value);
        value
    }

    /// A vector of the same bits in each lane.
    pub(super) fn splat(&mut self, bits: u32) -> ValueId {
        let bytes = bits.to_le_bytes().repeat(self.lanes());
        self.constant(Element::I32, false, bytes)
    }

    /// A vector that is -1 in some lanes and 0 in the others: a row of one table.
    pub(super) fn mask(&mut self, takes: &[usize]) -> (ValueId, u32) {
        let table = match self.constants.masks {
            Some(table) => table,
            None => {
                let empty = FlowValue {
                    name: "masks".to_string(),
                    node: Arc::from(""),
                    element: Element::I32,
                    vectors: 0,
                    striped: false,
                    indexed: false,
                    constant: Some(Vec::new()),
                };
                *self.constants.masks.insert(self.program.push(empty))
            }
        };
        if let Some(known) = self.constants.rows.get(takes) {
            return (table, *known);
        }
        let mut words = vec![0u32; self.lanes()];
        takes.iter().for_each(|lane| words[*lane] = u32::MAX);
        let value = &mut self.program.values[table.0 as usize];
        value.constant.get_or_insert_default().extend(words.into_iter().flat_map(u32::to_le_bytes));
        let row = value.vectors;
        value.vectors += 1;
        self.constants.rows.insert(takes.to_vec(), row);
        (table, row)
    }

    /// A known tensor in memory.
    pub(super) fn known(&mut self, tensor: &HostTensor) -> Result<Tensor, String> {
        let bits = wide_bits(tensor)?;
        let value = self.known_bits(&bits, &tensor.shape);
        Ok(Tensor { value, shape: tensor.shape.clone(), dtype: tensor.dtype })
    }

    /// Elements of a shape, as they lie.
    pub(super) fn known_bits(&mut self, bits: &[u32], shape: &[usize]) -> ValueId {
        let (lanes, row, chunks) = (self.lanes(), row(shape), chunks(shape, self.lanes()));
        let mut bytes = Vec::with_capacity(vectors(shape, lanes) as usize * lanes * 4);
        for r in 0..rows(shape) {
            for chunk in 0..chunks {
                for lane in 0..lanes {
                    let column = chunk * lanes + lane;
                    // A row of one element has it in all lanes.
                    let known = if row == 1 { bits.get(r) } else { bits.get(r * row + column) };
                    let known = known.filter(|_| row == 1 || column < row);
                    bytes.extend(known.copied().unwrap_or(0).to_le_bytes());
                }
            }
        }
        self.constant(Element::I32, false, bytes)
    }
}

/// The one number that all elements of a known tensor are.
pub(super) fn uniform(tensor: &HostTensor) -> Option<u32> {
    let bits = wide_bits(tensor).ok()?;
    let first = *bits.first()?;
    bits.iter().all(|own| *own == first).then_some(first)
}

/// A type whose elements are numbers of 32 bits on the chip.
pub(super) fn is_wide(dtype: DType) -> bool {
    super::casts::stored(dtype).is_some()
}
