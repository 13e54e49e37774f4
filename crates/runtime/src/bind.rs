//! Resolves a host program for one set of input shapes: sizes become integers, arena buffers get offsets, and
//! each launch its argument block, so that a steady run evaluates and allocates nothing.
//!
//! In: a checked program and the values of its input symbols.  Out: [`Bound`]; what depends on data symbols
//! stays an expression (`Size::Late`) and is resolved when it is used.

mod sizes;
mod steps;

use crate::constants::ConstantParts;
use crate::tensors::TensorView;
pub(crate) use sizes::Size;
use sizes::Sizes;
pub(crate) use sizes::symbol_bounds;
use std::collections::HashMap;
pub(crate) use steps::{LateWord, Launch, Op};
use tegula_base::{Diagnostic, Diagnostics, Dim};
use tegula_package::lifetime::{Lifetime, lifetimes, roots};
use tegula_package::plan::{self, Item};
use tegula_package::{BufferId, HostProgram, Place};

/// A program for given input shapes.
pub(crate) struct Bound {
    /// All input dims, one after the other: what this is bound to.
    pub(crate) key: Vec<usize>,
    /// How much loops may grow.
    pub(crate) growth: i64,
    /// Values of the program's symbols before the first step.
    pub(crate) symbols: Vec<Option<i64>>,
    /// The symbols' places in `symbols`.
    pub(crate) names: HashMap<String, usize>,
    /// Expressions over data symbols; [`Size::Late`] indexes them.
    pub(crate) late_sizes: Vec<Dim>,
    pub(crate) buffers: Vec<Loc>,
    /// By device.
    pub(crate) arena_bytes: Vec<usize>,
    /// Bytes of each state, and its device.
    pub(crate) states: Vec<(Size, usize)>,
    /// The size of each late block; `Base::Late` indexes them.
    pub(crate) late_blocks: Vec<Size>,
    pub(crate) ops: Vec<Op>,
    /// The steps are the same in every run, and none needs the host.
    pub(crate) is_straight: bool,
    /// The argument blocks of all launches, with sizes filled in.
    pub(crate) words: Vec<u64>,
    /// Words that hold an address with a known offset into a base.
    pub(crate) addresses: Vec<AddressWord>,
    pub(crate) outputs: Vec<OutputPlan>,
}

/// Where a buffer is.
#[derive(Clone, Debug)]
pub(crate) struct Loc {
    pub(crate) device: usize,
    pub(crate) base: Base,
    pub(crate) offset: Size,
    pub(crate) bytes: Size,
    /// Of an alias: the end of the memory that it shares, from the base's start on, where that is known.
    pub(crate) end: Option<usize>,
}

/// A region of memory that has an address in each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    Input(u32),
    Output(u32),
    /// Of a device.
    Constants(u32),
    /// Of a device.
    Arena(u32),
    State(u32),
    /// Allocated while running.
    Late(u32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct AddressWord {
    pub(crate) word: u32,
    pub(crate) base: Base,
    pub(crate) offset: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct OutputPlan {
    pub(crate) shape: Vec<Size>,
    pub(crate) buffer: BufferId,
    /// Kernels write to the caller's memory; otherwise the result is copied there at the end.
    pub(crate) direct: bool,
}

/// The values of the symbols that are known before the run, by index; data symbols have none. Shapes are already checked.
pub(crate) fn known_symbols(
    program: &HostProgram,
    inputs: &[TensorView<'_>],
    growth: i64,
) -> Vec<Option<i64>> {
    let value = |symbol: &tegula_package::Symbol| match symbol.origin {
        tegula_package::Origin::Input { input, axis } => {
            inputs[input as usize].shape.get(axis as usize).map(|extent| *extent as i64)
        }
        tegula_package::Origin::Data => None,
        tegula_package::Origin::Growth => Some(growth),
    };
    program.symbols.iter().map(value).collect()
}

impl Bound {
    /// For a package of so many devices. Errors: a size is negative, overflows or divides by zero at these shapes, or does not fit its buffer.
    pub(crate) fn new(
        program: &HostProgram,
        devices: usize,
        key: Vec<usize>,
        symbols: Vec<Option<i64>>,
        growth: i64,
    ) -> Result<Bound, Diagnostics> {
        let names: HashMap<String, usize> =
            program.symbols.iter().enumerate().map(|(i, symbol)| (symbol.name.clone(), i)).collect();
        let mut sizes = Sizes::new(&names, &symbols);
        let places = place_buffers(program, devices, &mut sizes)?;
        let mut builder = steps::Builder::new(program, &mut sizes, &places);
        let ops = builder.steps(&program.steps)?;
        let (words, addresses) = builder.finish();
        let outputs = program
            .outputs
            .iter()
            .enumerate()
            .map(|(index, port)| {
                let shape =
                    port.shape.iter().map(|dim| sizes.extent(dim, || format!("output `{}`", port.name)));
                let base = places.buffers[port.buffer.index()].base;
                Ok(OutputPlan {
                    shape: shape.collect::<Result<_, Diagnostic>>()?,
                    buffer: port.buffer,
                    direct: base == Base::Output(index as u32)
                        && matches!(program.buffers[port.buffer.index()].place, Place::Output(_)),
                })
            })
            .collect::<Result<Vec<OutputPlan>, Diagnostic>>()?;
        Ok(Bound {
            key,
            growth,
            late_sizes: sizes.late,
            names,
            buffers: places.buffers,
            arena_bytes: places.arena_bytes,
            states: places.states,
            late_blocks: places.late_blocks,
            is_straight: steps::is_straight(&ops),
            ops,
            words,
            addresses,
            outputs,
            symbols,
        })
    }
}

/// Whether kernels may write output `index` straight to the caller's tensor: its shape is known before the run,
/// and its buffer has exactly that size.
fn is_direct(
    program: &HostProgram,
    index: u32,
    bytes: Size,
    sizes: &mut Sizes<'_>,
) -> Result<bool, Diagnostic> {
    let port = &program.outputs[index as usize];
    let mut product = Some(port.dtype.size() as i64);
    for dim in &port.shape {
        let extent = sizes.extent(dim, || format!("output `{}`", port.name))?.known();
        product = product.zip(extent).and_then(|(product, extent)| product.checked_mul(extent));
    }
    Ok(product.is_some() && product == bytes.known())
}

pub(crate) struct Places {
    pub(crate) buffers: Vec<Loc>,
    arena_bytes: Vec<usize>,
    states: Vec<(Size, usize)>,
    late_blocks: Vec<Size>,
    /// Lifetimes of the late blocks, sorted by their ends.
    pub(crate) late_lives: Vec<LateLife>,
}

/// The lifetime of a late block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LateLife {
    pub(crate) last: u32,
    pub(crate) first: u32,
    pub(crate) slot: u32,
}

fn place_buffers(program: &HostProgram, devices: usize, sizes: &mut Sizes<'_>) -> Result<Places, Diagnostic> {
    let constants = ConstantParts::new(program, devices);
    let roots = roots(program);
    let lives = lifetimes(program, &roots);
    let mut places = Places {
        buffers: Vec::with_capacity(program.buffers.len()),
        arena_bytes: vec![0; devices],
        states: Vec::new(),
        late_blocks: Vec::new(),
        late_lives: Vec::new(),
    };
    for (buffer, life) in program.buffers.iter().zip(&lives) {
        let bytes = sizes.extent(&buffer.bytes, || format!("buffer `{}`", buffer.name))?;
        let device = buffer.device.index();
        let (base, offset) = match &buffer.place {
            Place::Input(input) => (Base::Input(*input), 0),
            Place::Constant { offset, .. } => {
                (Base::Constants(buffer.device.0), constants.offset(device, *offset) as i64)
            }
            Place::State(state) => (places.add_state(*state, bytes, device), 0),
            Place::Output(output) if is_direct(program, *output, bytes, sizes)? => (Base::Output(*output), 0),
            Place::Output(_) => (places.add_late(bytes, *life), 0),
            Place::Arena if bytes.known().is_none() => (places.add_late(bytes, *life), 0),
            // Offsets of arena buffers and all of aliases are set below.
            Place::Arena | Place::Alias { .. } => (Base::Arena(buffer.device.0), 0),
        };
        places.buffers.push(Loc { device, base, offset: Size::Known(offset), bytes, end: None });
    }
    (0..devices).try_for_each(|device| places.plan_arena(program, &lives, device))?;
    places.late_lives.sort_unstable();
    place_aliases(program, sizes, &mut places)?;
    Ok(places)
}

impl Places {
    fn add_state(&mut self, state: u32, bytes: Size, device: usize) -> Base {
        let slot = state as usize;
        if self.states.len() <= slot {
            self.states.resize(slot + 1, (Size::Known(0), 0));
        }
        self.states[slot] = (bytes, device);
        Base::State(state)
    }

    fn add_late(&mut self, bytes: Size, life: Lifetime) -> Base {
        let slot = self.late_blocks.len() as u32;
        self.late_blocks.push(bytes);
        self.late_lives.push(LateLife { last: life.last, first: life.first, slot });
        Base::Late(slot)
    }

    fn plan_arena(
        &mut self,
        program: &HostProgram,
        lives: &[Lifetime],
        device: usize,
    ) -> Result<(), Diagnostic> {
        let is_planned = |index: usize| {
            let buffer = &program.buffers[index];
            buffer.place == Place::Arena && buffer.device.index() == device
        };
        let (mut planned, mut items) = (Vec::new(), Vec::new());
        for (index, (loc, life)) in self.buffers.iter().zip(lives).enumerate() {
            if let (true, Size::Known(bytes)) = (is_planned(index), loc.bytes) {
                planned.push(index);
                items.push(Item { bytes: bytes as u64, first: life.first, last: life.last });
            }
        }
        let plan = plan::plan_arena(&items).ok_or_else(too_large)?;
        self.arena_bytes[device] = usize::try_from(plan.bytes).map_err(|_| too_large())?;
        for (index, offset) in planned.into_iter().zip(plan.offsets) {
            self.buffers[index].offset = Size::Known(offset as i64);
        }
        Ok(())
    }
}

/// Gives each alias its place in the memory of the buffer that it is an alias of.
fn place_aliases(
    program: &HostProgram,
    sizes: &mut Sizes<'_>,
    places: &mut Places,
) -> Result<(), Diagnostic> {
    for (index, buffer) in program.buffers.iter().enumerate() {
        let Place::Alias { of, offset } = &buffer.place else { continue };
        let what = || format!("the place of buffer `{}`", buffer.name);
        let root = places.buffers[of.index()].clone();
        let own = sizes.extent(offset, what)?;
        let end = sizes.extent(&(offset.clone() + buffer.bytes.clone()), what)?;
        if let (Some(end), Some(bytes)) = (end.known().or(own.known()), root.bytes.known())
            && end > bytes
        {
            return Err(invalid(format!(
                "buffer `{}` ends {} bytes behind `{}`, whose memory it shares",
                buffer.name,
                end - bytes,
                program.buffers[of.index()].name
            )));
        }
        let offset = match (root.offset.known(), own.known()) {
            (Some(root), Some(own)) => Size::Known(root.checked_add(own).ok_or_else(too_large)?),
            (Some(root), None) => sizes.extent(&(Dim::from(root) + offset.clone()), what)?,
            (None, _) => return Err(Diagnostic::internal("a root buffer has an offset that is not known")),
        };
        let loc = &mut places.buffers[index];
        loc.base = root.base;
        loc.offset = offset;
        let end = root.offset.known().zip(root.bytes.known()).and_then(|(at, bytes)| at.checked_add(bytes));
        loc.end = end.and_then(|end| usize::try_from(end).ok());
    }
    Ok(())
}

pub(crate) fn invalid(message: String) -> Diagnostic {
    Diagnostic::error("package-invalid", message)
}

fn too_large() -> Diagnostic {
    Diagnostic::error("out-of-memory", "the run needs more memory than can be addressed")
}
