//! Alias definitions on top of the file, each before its first use.
//! Before: both lists of the module are in an order of definition.  After: the same two orders, merged: a type stands in
//! front of the first attribute that needs it.  As neither list is reordered, printing what was printed changes nothing.

use std::collections::HashMap;

use super::Printer;
use crate::ast::{Attr, Location, Module, Type};

impl<'a> Printer<'a> {
    pub(super) fn aliases(&mut self, module: &'a Module) {
        let types = &module.type_aliases;
        let index_of: HashMap<&str, usize> =
            types.iter().enumerate().map(|(i, (name, _))| (name.as_str(), i)).collect();
        let mut printed = 0;
        for (name, attr) in &module.attr_aliases {
            let mut needed = printed;
            mention_attr(attr, &mut |name| {
                needed = needed.max(index_of.get(name).map_or(0, |index| index + 1))
            });
            types[printed..needed].iter().for_each(|alias| self.type_alias(alias));
            printed = needed;
            self.alias_head('#', name);
            self.attr(attr);
            self.out.push('\n');
        }
        types[printed..].iter().for_each(|alias| self.type_alias(alias));
    }

    fn type_alias(&mut self, (name, ty): &(String, Type)) {
        self.alias_head('!', name);
        self.ty(ty);
        self.out.push('\n');
    }

    fn alias_head(&mut self, sigil: char, name: &str) {
        self.out.push(sigil);
        self.out.push_str(name);
        self.out.push_str(" = ");
    }
}

/// Calls `found` with the name of each type alias in `attr`.
fn mention_attr(attr: &Attr, found: &mut impl FnMut(&str)) {
    match attr {
        Attr::Unit | Attr::Bool(_) | Attr::Symbol(_) | Attr::Affine(..) | Attr::Alias(_) => {}
        Attr::Integer(_, ty) | Attr::Float(_, ty) | Attr::String(_, ty) => {
            ty.iter().for_each(|ty| mention_type(ty, found));
        }
        Attr::Array(items) => items.iter().for_each(|item| mention_attr(item, found)),
        Attr::Dictionary(entries) => entries.iter().for_each(|(_, attr)| mention_attr(attr, found)),
        Attr::Type(ty)
        | Attr::Dense(_, ty)
        | Attr::Sparse(_, _, ty)
        | Attr::DenseResource(_, ty)
        | Attr::DenseArray(ty, _) => mention_type(ty, found),
        Attr::Verbatim(text) | Attr::Dialect(text) => mention_text(text, found),
        Attr::Location(location) => mention_location(location, found),
    }
}

fn mention_type(ty: &Type, found: &mut impl FnMut(&str)) {
    match ty {
        Type::Integer { .. } | Type::Index | Type::None | Type::Float(_) => {}
        Type::Complex(element) | Type::UnrankedTensor(element) | Type::Vector { element, .. } => {
            mention_type(element, found);
        }
        Type::Tuple(types) => types.iter().for_each(|ty| mention_type(ty, found)),
        Type::Function(inputs, results) => {
            inputs.iter().chain(results).for_each(|ty| mention_type(ty, found))
        }
        Type::RankedTensor { element, encoding, .. } => {
            mention_type(element, found);
            encoding.iter().for_each(|attr| mention_attr(attr, found));
        }
        Type::MemRef { element, trailing, .. } | Type::UnrankedMemRef { element, trailing } => {
            mention_type(element, found);
            trailing.iter().for_each(|attr| mention_attr(attr, found));
        }
        Type::Dialect(text) => mention_text(text, found),
        Type::Alias(name) => found(name),
    }
}

fn mention_location(location: &Location, found: &mut impl FnMut(&str)) {
    match location {
        Location::Unknown | Location::File { .. } | Location::Name(_, None) => {}
        Location::Name(_, Some(child)) => mention_location(child, found),
        Location::CallSite(callee, caller) => {
            mention_location(callee, found);
            mention_location(caller, found);
        }
        Location::Fused(metadata, parts) => {
            metadata.iter().for_each(|attr| mention_attr(attr, found));
            parts.iter().for_each(|part| mention_location(part, found));
        }
        Location::Alias(text) => mention_text(text, found),
    }
}

/// Verbatim text mentions `!name` wherever that stands outside strings.
fn mention_text(text: &str, found: &mut impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut offset = 0;
    while offset < bytes.len() {
        match bytes[offset] {
            b'"' => offset = crate::lexer::string_end(text, offset).unwrap_or(bytes.len()),
            b'!' => {
                let name = &bytes[offset + 1..];
                let length =
                    name.iter().position(|&b| !crate::spell::continues_suffix(b)).unwrap_or(name.len());
                found(&text[offset + 1..offset + 1 + length]);
                offset += 1 + length;
            }
            _ => offset += 1,
        }
    }
}
