//! Types and locations as text.

use super::Printer;
use crate::ast::{Attr, Location, Sign, Type};
use crate::spell::{write_number, write_quoted};

impl Printer<'_> {
    pub(super) fn ty(&mut self, ty: &Type) {
        match ty {
            Type::Integer { width, sign } => {
                self.out.push_str(match sign {
                    Sign::Signless => "i",
                    Sign::Signed => "si",
                    Sign::Unsigned => "ui",
                });
                write_number(&mut self.out, width);
            }
            Type::Index => self.out.push_str("index"),
            Type::None => self.out.push_str("none"),
            Type::Float(spelling) => self.out.push_str(spelling),
            Type::Complex(element) => {
                self.out.push_str("complex<");
                self.ty(element);
                self.out.push('>');
            }
            Type::Tuple(elements) => {
                self.out.push_str("tuple<");
                self.list(elements, Self::ty);
                self.out.push('>');
            }
            Type::Function(inputs, results) => self.function_type(inputs, results),
            Type::RankedTensor { shape, element, encoding } => {
                self.out.push_str("tensor<");
                self.shape(shape);
                self.ty(element);
                self.trailing(encoding.as_deref());
            }
            Type::UnrankedTensor(element) => {
                self.out.push_str("tensor<*x");
                self.ty(element);
                self.out.push('>');
            }
            Type::Vector { shape, element } => {
                self.out.push_str("vector<");
                shape.iter().for_each(|&dim| self.vector_dim(dim));
                self.ty(element);
                self.out.push('>');
            }
            Type::MemRef { shape, element, trailing } => {
                self.out.push_str("memref<");
                self.shape(shape);
                self.ty(element);
                self.trailing(trailing);
            }
            Type::UnrankedMemRef { element, trailing } => {
                self.out.push_str("memref<*x");
                self.ty(element);
                self.trailing(trailing);
            }
            Type::Dialect(text) | Type::Alias(text) => {
                self.out.push('!');
                self.out.push_str(text);
            }
        }
    }

    /// `(a, b) -> c`; one result that is no function stands without parentheses.
    pub(super) fn function_type(&mut self, inputs: &[Type], results: &[Type]) {
        self.out.push('(');
        self.list(inputs, Self::ty);
        self.out.push_str(") -> ");
        match results {
            [result] if !matches!(result, Type::Function(..)) => self.ty(result),
            _ => {
                self.out.push('(');
                self.list(results, Self::ty);
                self.out.push(')');
            }
        }
    }

    fn shape(&mut self, shape: &[Option<u64>]) {
        for dim in shape {
            match dim {
                Some(size) => write_number(&mut self.out, size),
                None => self.out.push('?'),
            }
            self.out.push('x');
        }
    }

    fn vector_dim(&mut self, (size, scalable): (u64, bool)) {
        let (open, close) = if scalable { ("[", "]x") } else { ("", "x") };
        self.out.push_str(open);
        write_number(&mut self.out, size);
        self.out.push_str(close);
    }

    /// `, attr, attr>`.
    fn trailing<'b>(&mut self, attrs: impl IntoIterator<Item = &'b Attr>) {
        for attr in attrs {
            self.out.push_str(", ");
            self.attr(attr);
        }
        self.out.push('>');
    }

    /// `loc(...)`.
    pub(super) fn location(&mut self, location: &Location) {
        self.out.push_str("loc(");
        self.location_body(location);
        self.out.push(')');
    }

    fn location_body(&mut self, location: &Location) {
        match location {
            Location::Unknown => self.out.push_str("unknown"),
            Location::File { file, line, column, to } => {
                write_quoted(&mut self.out, file.as_bytes());
                write_number(&mut self.out, format_args!(":{line}:{column}"));
                if let Some(to) = to {
                    self.out.push_str(" to ");
                    self.out.push_str(to);
                }
            }
            Location::Name(name, child) => {
                write_quoted(&mut self.out, name.as_bytes());
                if let Some(child) = child {
                    self.out.push('(');
                    self.location_body(child);
                    self.out.push(')');
                }
            }
            Location::CallSite(callee, caller) => {
                self.out.push_str("callsite(");
                self.location_body(callee);
                self.out.push_str(" at ");
                self.location_body(caller);
                self.out.push(')');
            }
            Location::Fused(metadata, parts) => {
                self.out.push_str("fused");
                if let Some(metadata) = metadata {
                    self.out.push('<');
                    self.attr(metadata);
                    self.out.push('>');
                }
                self.out.push('[');
                self.list(parts, Self::location_body);
                self.out.push(']');
            }
            Location::Alias(name) => {
                self.out.push('#');
                self.out.push_str(name);
            }
        }
    }
}
