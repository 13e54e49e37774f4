//! Attributes as text.

use super::Printer;
use crate::ast::{Attr, Dense, Type};
use crate::spell::{write_hex_string, write_name, write_number, write_quoted};

impl Printer<'_> {
    pub(super) fn attr(&mut self, attr: &Attr) {
        match attr {
            Attr::Unit => self.out.push_str("unit"),
            Attr::Bool(value) => self.out.push_str(if *value { "true" } else { "false" }),
            Attr::Integer(value, ty) => {
                write_number(&mut self.out, value);
                self.literal_type(ty.as_ref());
            }
            Attr::Float(text, ty) => {
                self.out.push_str(text);
                self.literal_type(ty.as_ref());
            }
            Attr::String(bytes, ty) => {
                write_quoted(&mut self.out, bytes);
                self.literal_type(ty.as_ref());
            }
            Attr::Array(items) => {
                self.out.push('[');
                self.list(items, Self::attr);
                self.out.push(']');
            }
            Attr::Dictionary(entries) => self.named_attrs(entries),
            Attr::Type(ty) => self.ty(ty),
            Attr::Symbol(path) => self.symbol(path),
            Attr::Dense(elements, ty) => {
                self.out.push_str("dense<");
                self.elements(elements);
                self.container_type(ty);
            }
            Attr::Sparse(Dense::Empty, Dense::Empty, ty) => {
                self.out.push_str("sparse<");
                self.container_type(ty);
            }
            Attr::Sparse(indices, values, ty) => {
                self.out.push_str("sparse<");
                self.elements(indices);
                self.out.push_str(", ");
                self.elements(values);
                self.container_type(ty);
            }
            Attr::DenseResource(key, ty) => {
                self.out.push_str("dense_resource<");
                write_name(&mut self.out, key);
                self.container_type(ty);
            }
            Attr::DenseArray(element, literals) => self.dense_array(element, literals),
            Attr::Affine(keyword, body) => {
                self.out.push_str(keyword);
                self.out.push('<');
                self.out.push_str(body);
                self.out.push('>');
            }
            Attr::Verbatim(text) => self.out.push_str(text),
            Attr::Dialect(text) | Attr::Alias(text) => {
                self.out.push('#');
                self.out.push_str(text);
                // With a `}` behind it, the alias `#-` would be the end of the file's metadata.
                if text == "-" {
                    self.out.push(' ');
                }
            }
            Attr::Location(location) => self.location(location),
        }
    }

    fn literal_type(&mut self, ty: Option<&Type>) {
        if let Some(ty) = ty {
            self.out.push_str(" : ");
            self.ty(ty);
        }
    }

    /// `> : type`.
    fn container_type(&mut self, ty: &Type) {
        self.out.push_str("> : ");
        self.ty(ty);
    }

    fn elements(&mut self, elements: &Dense) {
        match elements {
            Dense::Empty => {}
            Dense::Splat(literal) => self.out.push_str(literal),
            Dense::List(items) => {
                self.out.push('[');
                self.list(items, Self::elements);
                self.out.push(']');
            }
            Dense::Hex(bytes) => write_hex_string(&mut self.out, bytes),
        }
    }

    fn dense_array(&mut self, element: &Type, literals: &[String]) {
        self.out.push_str("array<");
        self.ty(element);
        if !literals.is_empty() {
            self.out.push_str(": ");
            self.list(literals, |p, literal| p.out.push_str(literal));
        }
        self.out.push('>');
    }

    fn symbol(&mut self, path: &[String]) {
        for (index, name) in path.iter().enumerate() {
            self.out.push_str(if index == 0 { "@" } else { "::@" });
            write_name(&mut self.out, name);
        }
    }
}
