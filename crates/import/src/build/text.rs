//! Tensors of strings: `u8` with one axis more, the last, which holds each string's bytes in UTF-8, filled up with
//! zeros, as NumPy's type `S` does. A string holds no zero byte. So everything that is done with strings is done by
//! tensor ops, and an input of strings is a tensor like any other.

use super::ProgramBuilder;
use crate::report::{Fault, Outcome};
use tegula_base::{DType, Dim, HostTensor, Shape};
use tegula_ir::{ScalarOp, Value};

impl ProgramBuilder {
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
}
