//! Syntax tree -> canonical text: one operation a line, two spaces a region level, as upstream prints its generic form.
//! Before: any tree.  After: text that parses to the same tree, except that labels which the form needs are added and
//! an entry block without label, arguments and operations vanishes.
//! Order inside a dictionary and among aliases stays as in the tree.

mod alias;
mod attr;
mod resource;
mod types;

use std::collections::HashSet;
use std::fmt;

use crate::ast::{Attr, Block, Module, Operation, Region, ResultPack, Successor, Type, ValueRef};
use crate::spell::{write_name, write_number, write_quoted};

/// The whole file, with a line end after each line.
pub fn print_module(module: &Module) -> String {
    let mut printer = Printer::default();
    printer.module(module);
    printer.out
}

/// One operation with its regions, without a line end.
pub fn print_operation(operation: &Operation) -> String {
    let mut printer = Printer::default();
    printer.note_packs(std::slice::from_ref(operation));
    printer.operation(operation);
    printer.out
}

pub fn print_attr(attr: &Attr) -> String {
    let mut printer = Printer::default();
    printer.attr(attr);
    printer.out
}

pub fn print_type(ty: &Type) -> String {
    let mut printer = Printer::default();
    printer.ty(ty);
    printer.out
}

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_module(self))
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_operation(self))
    }
}

impl fmt::Display for Attr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_attr(self))
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&print_type(self))
    }
}

#[derive(Default)]
struct Printer<'a> {
    out: String,
    /// Spaces in front of the current line.
    indent: usize,
    /// Names that some operation gives to several results: a use names its index even if that is 0.
    packs: HashSet<&'a str>,
}

impl<'a> Printer<'a> {
    fn module(&mut self, module: &'a Module) {
        self.note_packs(&module.ops);
        self.aliases(module);
        for op in &module.ops {
            self.operation(op);
            self.out.push('\n');
        }
        self.metadata(module);
    }

    fn note_packs(&mut self, ops: &'a [Operation]) {
        let mut waiting: Vec<&'a Operation> = ops.iter().collect();
        while let Some(op) = waiting.pop() {
            self.packs.extend(op.results.iter().filter(|pack| pack.count > 1).map(|pack| pack.name.as_str()));
            waiting.extend(op.regions.iter().flat_map(|region| &region.blocks).flat_map(|block| &block.ops));
        }
    }

    fn operation(&mut self, op: &Operation) {
        self.push_indent();
        if !op.results.is_empty() {
            self.list(&op.results, Self::result_pack);
            self.out.push_str(" = ");
        }
        write_quoted(&mut self.out, op.name.as_bytes());
        self.out.push('(');
        self.list(&op.operands, Self::value);
        self.out.push(')');
        if !op.successors.is_empty() {
            self.out.push('[');
            self.list(&op.successors, Self::successor);
            self.out.push(']');
        }
        if !op.properties.is_empty() {
            self.out.push_str(" <");
            self.named_attrs(&op.properties);
            self.out.push('>');
        }
        if !op.regions.is_empty() {
            self.out.push_str(" (");
            self.list(&op.regions, Self::region);
            self.out.push(')');
        }
        if !op.attributes.is_empty() {
            self.out.push(' ');
            self.named_attrs(&op.attributes);
        }
        self.out.push_str(" : ");
        self.function_type(&op.operand_types, &op.result_types);
        if let Some(location) = &op.location {
            self.out.push(' ');
            self.location(location);
        }
    }

    fn result_pack(&mut self, pack: &ResultPack) {
        self.out.push('%');
        self.out.push_str(&pack.name);
        if pack.count != 1 {
            self.out.push(':');
            write_number(&mut self.out, pack.count);
        }
    }

    fn value(&mut self, value: &ValueRef) {
        self.out.push('%');
        self.out.push_str(&value.name);
        if value.index != 0 || self.packs.contains(value.name.as_str()) {
            self.out.push('#');
            write_number(&mut self.out, value.index);
        }
    }

    fn successor(&mut self, successor: &Successor) {
        self.out.push('^');
        self.out.push_str(&successor.block);
        if successor.operands.is_empty() {
            return;
        }
        self.out.push('(');
        self.list(&successor.operands, |p, (value, _)| p.value(value));
        self.out.push_str(" : ");
        self.list(&successor.operands, |p, (_, ty)| p.ty(ty));
        self.out.push(')');
    }

    fn region(&mut self, region: &Region) {
        self.out.push_str("{\n");
        let mut labels = FreshLabels::new(region);
        for (index, block) in region.blocks.iter().enumerate() {
            let followed = region.blocks.len() > 1;
            let needs_label = index > 0 || !block.args.is_empty() || (block.ops.is_empty() && followed);
            match &block.label {
                Some(label) => self.block_head(label, block),
                None if needs_label => self.block_head(&labels.next(), block),
                None => {}
            }
            self.indent += 2;
            for op in &block.ops {
                self.operation(op);
                self.out.push('\n');
            }
            self.indent -= 2;
        }
        self.push_indent();
        self.out.push('}');
    }

    fn block_head(&mut self, label: &str, block: &Block) {
        self.push_indent();
        self.out.push('^');
        self.out.push_str(label);
        if !block.args.is_empty() {
            self.out.push('(');
            self.list(&block.args, |p, (name, ty, location)| {
                p.out.push('%');
                p.out.push_str(name);
                p.out.push_str(": ");
                p.ty(ty);
                if let Some(location) = location {
                    p.out.push(' ');
                    p.location(location);
                }
            });
            self.out.push(')');
        }
        self.out.push_str(":\n");
    }

    /// `{a = 1, b}`; a unit attribute is its name alone.
    fn named_attrs(&mut self, attrs: &[(String, Attr)]) {
        self.out.push('{');
        self.list(attrs, |p, (name, attr)| {
            write_name(&mut p.out, name);
            if *attr != Attr::Unit {
                p.out.push_str(" = ");
                p.attr(attr);
            }
        });
        self.out.push('}');
    }

    /// Items with `, ` between them.
    fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push_str(", ");
            }
            write(self, item);
        }
    }

    fn push_indent(&mut self) {
        self.out.extend(std::iter::repeat_n(' ', self.indent));
    }
}

/// Labels `bb0`, `bb1` ... that no block of the region has.
struct FreshLabels<'a> {
    taken: HashSet<&'a str>,
    next: usize,
}

impl<'a> FreshLabels<'a> {
    fn new(region: &'a Region) -> Self {
        FreshLabels {
            taken: region.blocks.iter().filter_map(|block| block.label.as_deref()).collect(),
            next: 0,
        }
    }

    fn next(&mut self) -> String {
        loop {
            let label = format!("bb{}", self.next);
            self.next += 1;
            if !self.taken.contains(label.as_str()) {
                return label;
            }
        }
    }
}
