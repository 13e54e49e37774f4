//! The rules of a host program. Writer and reader both apply them, so the runtime may index without fear.
//!
//! After [`check_program`]: every id is in range; every symbol used is declared; an alias is of a buffer that is none;
//! images and constants lie inside their sections, kernels inside their images, entered as their instruction set wants
//! it (`check/images.rs`); launches, copies and transfers keep to the devices of their buffers (`check/devices.rs`); each
//! `Input`, `Output` and `State` place has at most one buffer; copies, fills and counters never write to inputs or
//! constants; steps nest at most [`MAX_DEPTH`] deep; branches that may run at once do not depend on each other
//! (`check/fork.rs`). Each rule has a name (`check/rule.rs`). The time is in proportion to the program.
//! Not promised: that sizes fit their buffers (they are symbolic; the runtime checks them once bound).

mod devices;
mod fork;
mod images;
mod rule;

pub use rule::Rule;

use crate::format::ALIGN;
use crate::host::{Arg, Buffer, BufferId, HostProgram, Kernel, Origin, Place, Port, SizeExpr, Step};
use crate::image::{Entry, KernelCode};
use crate::manifest::About;
use crate::tensor_map::MapTemplate;
use std::collections::{BTreeMap, BTreeSet};
use tegula_base::hash::SeededSet;
use tegula_base::{Diagnostic, Diagnostics, Dim};

/// Deepest nesting of `If`, `Loop` and `Fork`.
pub const MAX_DEPTH: u32 = 32;

/// Findings beyond this number are not collected.
const MAX_FINDINGS: usize = 20;

/// Bytes of the sections that a program points into.
#[derive(Clone, Copy, Debug)]
pub struct Extents {
    pub images: u64,
    pub constants: u64,
}

/// Errors: `package-invalid`, one for each broken rule.
pub fn check_program(program: &HostProgram, about: &About, extents: Extents) -> Result<(), Diagnostics> {
    let mut found = Diagnostics::default();
    for (_, message) in findings(program, about, extents) {
        found.push(Diagnostic::error("package-invalid", message));
    }
    found.into_result(())
}

/// The rules that a program breaks, each with what there is to say; so many at most.
pub fn findings(program: &HostProgram, about: &About, extents: Extents) -> Vec<(Rule, String)> {
    let (symbols, sizes) = (BTreeMap::new(), SeededSet::default());
    let mut checker = Checker { program, extents, symbols, sizes, found: vec![] };
    checker.check_symbols();
    checker.check_ports();
    checker.check_buffers();
    checker.extend(images::faults(program, extents.images));
    checker.check_kernels();
    checker.check_steps(&program.steps, 0);
    // Only where all ids are known to be in range.
    if checker.found.is_empty() {
        checker.extend(devices::faults(program, about));
        checker.extend(fork::faults(program));
    }
    checker.found
}

struct Checker<'a> {
    program: &'a HostProgram,
    extents: Extents,
    symbols: BTreeMap<&'a str, usize>,
    /// Sizes that use declared symbols only: a program names few, in many places.
    sizes: SeededSet<&'a SizeExpr>,
    found: Vec<(Rule, String)>,
}

impl<'a> Checker<'a> {
    fn fault(&mut self, rule: Rule, message: String) {
        self.extend([(rule, message)]);
    }

    fn extend(&mut self, found: impl IntoIterator<Item = (Rule, String)>) {
        let left = MAX_FINDINGS - self.found.len();
        self.found.extend(found.into_iter().take(left));
    }

    fn require(&mut self, rule: Rule, holds: bool, message: impl FnOnce() -> String) {
        if !holds {
            self.fault(rule, message());
        }
    }

    fn check_symbols(&mut self) {
        for (index, symbol) in self.program.symbols.iter().enumerate() {
            let name = symbol.name.as_str();
            if Dim::symbol_name(name) != name || self.symbols.insert(name, index).is_some() {
                self.fault(Rule::SymbolName, format!("size symbol `{name}` has no legal name of its own"));
            }
            self.require(
                Rule::SymbolRange,
                0 <= symbol.min && symbol.min <= symbol.max && symbol.divisor >= 1,
                || format!("size symbol `{name}` has no legal range"),
            );
            if let Some(upper) = &symbol.upper {
                // Names so far are those of earlier symbols, and this one.
                let mut earlier = true;
                upper.for_each_symbol(&mut |used| {
                    earlier &= self.symbols.get(used.as_ref()).is_some_and(|at| *at < index);
                });
                self.require(Rule::SymbolBound, earlier, || {
                    format!("the bound of size symbol `{name}` uses symbols that come later")
                });
            }
            if let Origin::Input { input, axis } = symbol.origin {
                let dim =
                    self.program.inputs.get(input as usize).and_then(|port| port.shape.get(axis as usize));
                self.require(Rule::SymbolOrigin, dim.and_then(Dim::as_symbol) == Some(name), || {
                    format!("size symbol `{name}` is not dim {axis} of input {input}")
                });
            }
        }
    }

    fn check_ports(&mut self) {
        let mut names = BTreeSet::new();
        for (index, port) in self.program.inputs.iter().enumerate() {
            self.require(Rule::InputName, names.insert(&port.name), || {
                format!("two inputs are called `{}`", port.name)
            });
            let place = self.program.buffers.get(port.buffer.index()).map(|buffer| &buffer.place);
            self.require(Rule::InputBuffer, place == Some(&Place::Input(index as u32)), || {
                format!("input `{}` has no buffer of its own", port.name)
            });
        }
        for port in &self.program.outputs {
            self.check_buffer_id(port.buffer);
        }
        self.check_aliases();
        for (index, buffer) in self.program.buffers.iter().enumerate() {
            if let Place::Output(i) = buffer.place {
                let port = self.program.outputs.get(i as usize);
                self.require(
                    Rule::OutputBuffer,
                    port.is_some_and(|port| port.buffer.index() == index),
                    || format!("buffer `{}` is not the buffer of output {i}", buffer.name),
                );
            }
        }
        for port in self.program.inputs.iter().chain(&self.program.outputs) {
            for dim in &port.shape {
                self.check_size(dim, || format!("the shape of `{}`", port.name));
            }
        }
    }

    /// A default is a tensor of the port's type among the constants.
    fn check_default(&mut self, port: &Port) {
        let Some(default) = &port.default else { return };
        let count = default.shape.iter().try_fold(1u64, |count, n| count.checked_mul(*n as u64));
        let bytes = count.and_then(|count| count.checked_mul(port.dtype.size() as u64));
        let fits = bytes == Some(default.bytes)
            && default.shape.len() == port.shape.len()
            && end_inside(default.offset, default.bytes, self.extents.constants).is_some();
        self.require(Rule::InputDefault, fits, || {
            format!("the default of input `{}` is none of its tensors", port.name)
        });
    }

    fn check_aliases(&mut self) {
        let mut taken = BTreeSet::new();
        for port in &self.program.outputs {
            let Some(alias) = port.alias else { continue };
            let input = self.program.inputs.get(alias as usize);
            let fits = input.is_some_and(|input| {
                (input.buffer, input.dtype, &input.shape) == (port.buffer, port.dtype, &port.shape)
            });
            self.require(Rule::OutputAlias, fits && taken.insert(alias), || {
                format!("output `{}` is not in the memory of an input of its own that is like it", port.name)
            });
        }
        for port in &self.program.inputs {
            self.require(Rule::InputAlias, port.alias.is_none(), || {
                format!("input `{}` takes no other's memory", port.name)
            });
            self.check_default(port);
        }
    }

    /// Whether an output is in the memory of input `0`.
    fn is_updated(&self, input: u32) -> bool {
        self.program.outputs.iter().any(|port| port.alias == Some(input))
    }

    fn check_buffers(&mut self) {
        let steps = Step::for_each(&self.program.steps, 0, &mut |_, _| {});
        let mut taken = BTreeSet::new();
        for buffer in &self.program.buffers {
            let name = &buffer.name;
            self.check_size(&buffer.bytes, || format!("the size of buffer `{name}`"));
            self.require(
                Rule::BufferLifetime,
                buffer.first <= buffer.last && buffer.last < steps.max(1),
                || format!("buffer `{name}` has no legal lifetime"),
            );
            let unique = match buffer.place {
                Place::Input(i) => (i as usize) < self.program.inputs.len() && taken.insert((0, i)),
                Place::Output(i) => (i as usize) < self.program.outputs.len() && taken.insert((1, i)),
                Place::State(i) => (i as usize) < self.program.buffers.len() && taken.insert((2, i)),
                Place::Constant { .. } | Place::Arena | Place::Alias { .. } => true,
            };
            self.require(Rule::BufferPlace, unique, || format!("buffer `{name}` has no legal place"));
            self.check_place(buffer);
        }
    }

    fn check_place(&mut self, buffer: &'a Buffer) {
        let name = &buffer.name;
        match &buffer.place {
            Place::Constant { offset, bytes } => {
                let inside = end_inside(*offset, *bytes, self.extents.constants).is_some()
                    && buffer.bytes.as_const().is_some_and(|size| size as u64 <= *bytes);
                self.require(Rule::Constant, inside && offset % ALIGN == 0, || {
                    format!("constant `{name}` is outside of the constants")
                });
            }
            Place::Alias { of, offset } => {
                self.check_buffer_id(*of);
                // Chains of aliases would cost time at every use.
                let chained = self.program.buffers.get(of.index()).is_some_and(Buffer::is_alias);
                self.require(Rule::AliasChain, !chained, || {
                    format!("buffer `{name}` is an alias of an alias")
                });
                self.check_size(offset, || format!("the offset of buffer `{name}`"));
            }
            Place::Input(_) | Place::Output(_) | Place::Arena | Place::State(_) => {}
        }
    }

    fn check_kernels(&mut self) {
        for kernel in &self.program.kernels {
            let name = &kernel.name;
            self.check_size(&kernel.scratch, || format!("the scratch of kernel `{name}`"));
            let cost = &kernel.cost;
            for size in [&cost.bytes, &cost.flops, &cost.predicted_ns] {
                self.check_size(size, || format!("the cost of kernel `{name}`"));
            }
        }
    }

    fn check_steps(&mut self, steps: &'a [Step], depth: u32) {
        if depth > MAX_DEPTH && !steps.is_empty() {
            return self.fault(Rule::Nesting, format!("steps nest deeper than {MAX_DEPTH}"));
        }
        for step in steps {
            self.check_step(step, depth);
        }
    }

    fn check_step(&mut self, step: &'a Step, depth: u32) {
        match step {
            Step::Launch { kernel, args, grid } => {
                let facts = self.program.kernels.get(*kernel as usize);
                self.require(Rule::KernelId, facts.is_some(), || format!("there is no kernel {kernel}"));
                if let Some(Kernel {
                    name,
                    code: KernelCode::Image { entry: Entry::Ptx { launch, .. }, .. },
                    ..
                }) = facts
                {
                    self.require(Rule::MapArguments, maps_fit(&launch.maps, args), || {
                        format!("a tensor map of kernel `{name}` is of an argument that a launch lacks")
                    });
                }
                self.check_size(grid, || "a grid".to_string());
                for arg in args {
                    match arg {
                        Arg::Buffer(buffer) => self.check_buffer_id(*buffer),
                        Arg::Size(size) => self.check_size(size, || "an argument".to_string()),
                    }
                }
            }
            Step::Copy { src, src_offset, dst, dst_offset, bytes }
            | Step::Transfer { src, src_offset, dst, dst_offset, bytes } => {
                self.check_buffer_id(*src);
                self.check_written(*dst);
                for size in [src_offset, dst_offset, bytes] {
                    self.check_size(size, || "a copy".to_string());
                }
            }
            Step::Fill { dst, value: _, bytes } => {
                self.check_written(*dst);
                self.check_size(bytes, || "a fill".to_string());
            }
            Step::Bind { symbol, from } => {
                self.check_buffer_id(*from);
                let origin = self.program.symbols.get(*symbol as usize).map(|symbol| symbol.origin);
                self.require(Rule::BindOrigin, origin == Some(Origin::Data), || {
                    format!("size symbol {symbol} cannot be bound")
                });
            }
            Step::Assert { cond, message: _ } => {
                self.check_size(&cond.lhs, || "an assertion".to_string());
                self.check_size(&cond.rhs, || "an assertion".to_string());
            }
            Step::If { cond, then, otherwise } => {
                self.check_buffer_id(*cond);
                self.check_steps(then, depth + 1);
                self.check_steps(otherwise, depth + 1);
            }
            Step::Loop { trip, cond, counter, body } => {
                self.require(Rule::LoopEnd, trip.is_some() || cond.is_some(), || {
                    "a loop has no end".to_string()
                });
                trip.iter().chain(cond).for_each(|buffer| self.check_buffer_id(*buffer));
                counter.iter().for_each(|buffer| self.check_written(*buffer));
                self.check_steps(body, depth + 1);
            }
            Step::Fork { first, second } => {
                self.check_steps(first, depth + 1);
                self.check_steps(second, depth + 1);
            }
        }
    }

    fn check_buffer_id(&mut self, buffer: BufferId) {
        self.require(Rule::BufferId, buffer.index() < self.program.buffers.len(), || {
            format!("there is no buffer {}", buffer.0)
        });
    }

    fn check_written(&mut self, buffer: BufferId) {
        self.check_buffer_id(buffer);
        let place = |buffer: BufferId| self.program.buffers.get(buffer.index()).map(|buffer| &buffer.place);
        let root = match place(buffer) {
            Some(Place::Alias { of, .. }) => place(*of),
            place => place,
        };
        let read_only = match root {
            Some(Place::Input(input)) => !self.is_updated(*input),
            root => matches!(root, Some(Place::Constant { .. })),
        };
        self.require(Rule::ReadOnly, !read_only, || {
            format!("a step writes to buffer {}, an input or a constant", buffer.0)
        });
    }

    fn check_size(&mut self, size: &'a SizeExpr, what: impl FnOnce() -> String) {
        if size.as_const().is_some() || self.sizes.contains(size) {
            return;
        }
        let mut unknown = None;
        size.for_each_symbol(&mut |name| {
            if !self.symbols.contains_key(name.as_ref()) {
                unknown = Some(name.to_string());
            }
        });
        match unknown {
            Some(name) => {
                let what = what();
                self.fault(
                    Rule::SizeSymbol,
                    format!("{what} uses the size symbol `{name}`, which is not declared"),
                );
            }
            None => _ = self.sizes.insert(size),
        }
    }
}

/// Whether each map's address is a buffer and each of its sizes is a size; word 0 is neither.
fn maps_fit(maps: &[MapTemplate], args: &[Arg]) -> bool {
    let arg = |word: usize| word.checked_sub(1).and_then(|at| args.get(at));
    maps.iter().all(|map| {
        matches!(arg(map.address_word), Some(Arg::Buffer(_)))
            && map.size_words().all(|word| matches!(arg(word), Some(Arg::Size(_))))
    })
}

/// The end of a part of something that is `whole` bytes long.
fn end_inside(offset: u64, len: u64, whole: u64) -> Option<u64> {
    offset.checked_add(len).filter(|end| *end <= whole)
}
