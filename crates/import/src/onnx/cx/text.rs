//! Tensors of strings: `u8` with one axis more, the last, which holds each string's bytes in UTF-8, filled up with
//! zeros, as NumPy's type `S` does. A string holds no zero byte. So everything that is done with strings is done by
//! tensor ops, and an input of strings is a tensor like any other.

use super::Cx;
use crate::onnx::fault::{Fault, Outcome};
use crate::onnx::node::Node;
use crate::onnx::proto::TensorProto;
use crate::onnx::scope::Slot;
use crate::onnx::table::Results;
use crate::onnx::weights::is_text;
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::{ScalarOp, Value};

impl Cx<'_> {
    /// Constant strings, `shape` of them.
    pub fn texts(&mut self, texts: &[Vec<u8>], shape: &[usize]) -> Outcome {
        if texts.iter().any(|text| text.contains(&0)) {
            return Err(Fault::unsupported("strings that hold a zero byte are not supported"));
        }
        if shape.iter().product::<usize>() != texts.len() {
            return Err(Fault::invalid(format!("{} strings do not fill {shape:?}", texts.len())));
        }
        let width = texts.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let mut bytes = vec![0; width * texts.len()];
        for (row, text) in bytes.chunks_exact_mut(width).zip(texts) {
            row[..text.len()].copy_from_slice(text);
        }
        let shape: Vec<usize> = shape.iter().copied().chain([width]).collect();
        self.constant(HostTensor { dtype: DType::U8, shape, bytes })
    }

    /// A stored tensor: numbers, or strings.
    pub fn stored(&mut self, tensor: &TensorProto) -> Outcome<Slot> {
        if is_text(tensor.data_type()) {
            let shape: Option<Vec<usize>> = tensor.dims.iter().map(|n| usize::try_from(*n).ok()).collect();
            let shape =
                shape.ok_or_else(|| Fault::invalid(format!("dims {:?} are negative", tensor.dims)))?;
            let texts: Vec<Vec<u8>> = tensor.string_data.iter().map(|text| text.to_vec()).collect();
            return Ok(Slot::Text(self.texts(&texts, &shape)?));
        }
        let data = self.weights.load(tensor).map_err(Fault::invalid)?;
        Ok(Slot::Value(self.constant(data)?))
    }

    /// Bytes of the longest string there may be.
    pub fn text_width(&self, text: Value) -> Dim {
        self.dim(text, self.rank(text) - 1)
    }

    /// The shape of a tensor of strings, without their bytes.
    pub fn text_shape(&self, text: Value) -> Shape {
        self.shape(text)[..self.rank(text) - 1].iter().cloned().collect()
    }

    /// With room for `width` bytes, at least as many as there are.
    pub fn widened_text(&mut self, text: Value, width: &Dim) -> Outcome {
        let none = vec![Dim::from(0); self.rank(text)];
        let mut high = none.clone();
        let last = high.len() - 1;
        high[last] = width.clone() - self.text_width(text);
        self.pad_with(text, 0.0, none, high)
    }

    /// Several tensors of strings with equal room.
    pub fn alike_texts(&mut self, texts: &[Value]) -> Outcome<Vec<Value>> {
        let widths: Vec<Dim> = texts.iter().map(|text| self.text_width(*text)).collect();
        let width = widths.into_iter().reduce(|a, b| self.most(&a, &b)).unwrap_or(Dim::from(1));
        texts.iter().map(|text| self.widened_text(*text, &width)).collect()
    }

    /// Which strings are equal, by broadcasting.
    pub fn equal_texts(&mut self, a: Value, b: Value) -> Outcome {
        let [a, b] = self.alike_texts(&[a, b])?[..] else { return Err(Fault::reported()) };
        let same = self.binary(ScalarOp::Eq, a, b)?;
        self.reduce(ScalarOp::And, same, &[self.rank(same) - 1], false)
    }

    /// The number of bytes of each string, `i64`.
    pub fn text_lengths(&mut self, text: Value) -> Outcome {
        let none = self.number_like(text, 0.0)?;
        let used = self.binary(ScalarOp::Ne, text, none)?;
        let used = self.cast(used, DType::I64)?;
        self.reduce(ScalarOp::Add, used, &[self.rank(text) - 1], false)
    }

    /// An op that only moves elements, on operands that are strings: it moves their numbers, and the strings are gathered
    /// by those. `results_move`: otherwise the results are numbers about the operands (their shape).
    pub fn move_texts(
        &mut self,
        node: &Node,
        results_move: bool,
        convert: fn(&mut Cx, &Node) -> Outcome<Vec<Value>>,
    ) -> Outcome<Results> {
        let is_text = |slot: &Option<Slot>| matches!(slot, Some(Slot::Text(_)));
        if !node.operands.iter().any(is_text) {
            return Ok(convert(self, node)?.into_iter().map(Slot::Value).collect());
        }
        let (mut rows, mut before) = (vec![], Dim::from(0));
        let mut numbers = node.operands.clone();
        for operand in &mut numbers {
            if let Some(Slot::Text(text)) = operand {
                let (shape, width) = (self.text_shape(*text), self.text_width(*text));
                let count = shape.count();
                rows.push(self.reshape(*text, [count.clone(), width])?);
                let own = self.iota(DType::I64, [count.clone()], 0)?;
                let first = self.size_as(before.clone(), DType::I64, 1)?;
                let own = self.add(own, first)?;
                *operand = Some(Slot::Value(self.reshape(own, shape)?));
                before = before + count;
            }
        }
        let moved = Node::new(node.proto, numbers, node.version);
        let results = convert(self, &moved);
        moved.check_kinds()?;
        let results = results?;
        if !results_move {
            return Ok(results.into_iter().map(Slot::Value).collect());
        }
        let rows = self.alike_texts(&rows)?;
        let rows = self.concat(&rows, 0)?;
        results.into_iter().map(|numbers| Ok(Slot::Text(self.gather(rows, numbers, 0)?))).collect()
    }
}
