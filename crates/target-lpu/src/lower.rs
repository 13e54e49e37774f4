//! A region becomes flows, one op at a time, from memory to memory: the rung of the ladder that always stands.
//!
//! Before: a region's program of static sizes.  After: a flow program with its inputs and outputs.
//! A tensor lies in memory in some *layout*, a shape of the same elements in the same order: rows of its last axis, each cut
//! into vectors. All its elements are 32 bits wide: integers and truth values as `i32`, floats as `f32`. A layout whose last axis
//! is 1 has each element in *all* lanes, so that it meets any row. What lies in lanes behind a row's elements is not looked at.
//! A reshape changes nothing; who needs a tensor in another layout asks for it.

mod alu;
mod band;
mod casts;
mod channels;
mod constants;
mod conv;
mod counted;
mod dot;
mod elementwise;
mod functions;
mod halves;
mod images;
mod integers;
mod moves;
mod norm;
mod pool;
mod quantised;
mod quantize;
mod reduce;
mod repeat;
mod scatter;
mod transpose;

use crate::flow::{Access, Flow, FlowProgram, FlowValue, Kind, Loops, Port, ValueId};
use crate::target::FloatFactors;
use constants::Constants;
use repeat::Trips;
use std::collections::BTreeMap;
use std::sync::Arc;
use tegula_base::{DType, EntityId, HostTensor};
use tegula_ir::{Op, OpId, RegionId, Value};
use tegula_isa_lpu::word::Element;
use tegula_machine::Lpu;
use tegula_tensor::facts::{integer_factor, one_place};
use tegula_tensor::{TensorFunc, TensorOp, TensorProgram};

pub(crate) use casts::stored;
pub(crate) use counted::Counted;
pub(crate) use elementwise::claims as elementwise_claims;
pub(crate) use images::{channel_axes, grouped, ordered};
pub(crate) use moves::claims as movement_claims;
pub(crate) use norm::normal_form;
pub(crate) use quantised::{DEEPEST, conversions, is_known, is_of_bytes};
pub(crate) use reduce::claims as reduce_claims;
pub(crate) use scatter::row_axis;

/// A tensor on the chip.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) value: ValueId,
    /// Its layout.
    pub(crate) shape: Vec<usize>,
    /// What its elements mean; they are 32 bits wide, whatever this is.
    pub(crate) dtype: DType,
}

/// What a value of the region became.
#[derive(Clone)]
enum Lowered {
    Known(Arc<HostTensor>),
    Computed(Tensor),
    /// An image, whose axis of channels lies last.
    Image {
        tensor: Tensor,
        axis: usize,
    },
    /// A number that the trips of a loop count.
    Counted(Counted),
}

pub(crate) struct Lower<'a> {
    lpu: &'a Lpu,
    func: &'a TensorFunc,
    factors: FloatFactors,
    program: FlowProgram,
    values: BTreeMap<Value, Lowered>,
    constants: Constants,
    /// The loop at hand.
    trips: Option<Trips>,
    /// Tensors in other layouts than they were computed in.
    laid: BTreeMap<(ValueId, Vec<usize>), Tensor>,
    /// The axis of channels of each value that is an image.
    axes: Vec<Option<usize>>,
    /// Images in the plain order.
    plain: BTreeMap<Value, Tensor>,
    node: Arc<str>,
    /// How the op at hand is called in names of values.
    op_name: &'static str,
}

/// Lanes of a vector that hold elements: a whole number of steps of k of each product of the program.
fn lanes(program: &TensorProgram, lpu: &Lpu, factors: FloatFactors) -> u32 {
    let func = program.entry();
    let has_floats = func.walk().into_iter().any(|op| {
        matches!(func.kind(op), TensorOp::Dot { .. } | TensorOp::Conv { .. }) && !is_of_bytes(func, op)
    });
    let lanes = lpu.mxm.k.min(lpu.vector());
    let f16 = lpu.mxm.f16_k.min(lanes).max(1);
    let has_f16 = has_floats && factors != FloatFactors::Refuse;
    if has_f16 && !lanes.is_multiple_of(f16) { f16 } else { lanes }
}

/// Errors: what the chip does not compute, which no claim lets through.
pub(crate) fn lower(
    program: &TensorProgram,
    lpu: &Lpu,
    factors: FloatFactors,
) -> Result<FlowProgram, String> {
    let func = program.entry();
    let mut lower = Lower {
        lpu,
        func,
        factors,
        program: FlowProgram { lanes: lanes(program, lpu, factors), ..FlowProgram::default() },
        values: BTreeMap::new(),
        constants: Constants::default(),
        trips: None,
        laid: BTreeMap::new(),
        axes: images::channel_axes(func),
        plain: BTreeMap::new(),
        node: Arc::from(""),
        op_name: "",
    };
    lower.inputs()?;
    let wanted = wanted(func);
    lower.ops(func.body(), program, &wanted)?;
    Ok(lower.program)
}

fn lower_node(func: &TensorFunc, op: OpId) -> String {
    func.op(op).location.as_deref().unwrap_or_default().to_string()
}

/// Whether each value is needed as a tensor of its own. A contraction of bytes needs the bytes, not their floats.
fn wanted(func: &TensorFunc) -> Vec<bool> {
    let mut wanted = vec![false; func.value_count()];
    wanted_in(func, func.body(), &mut wanted);
    wanted
}

fn wanted_in(func: &TensorFunc, region: RegionId, wanted: &mut [bool]) {
    for &op in func.ops_in(region).iter().rev() {
        let is_wanted = matches!(func.kind(op), TensorOp::Return {} | TensorOp::Yield {})
            || func.results(op).iter().any(|value| wanted[value.index()]);
        if !is_wanted {
            continue;
        }
        let mut read: Vec<Value> = match dot::bytes_of(func, op) {
            Some(sides) => sides.iter().flat_map(|side| side.values()).collect(),
            None => func.operands(op).to_vec(),
        };
        // A convolution pads by itself.
        if let TensorOp::Conv { window, .. } = func.kind(op) {
            read[0] = conv::unpadded(func, read[0], window).value;
        }
        read.extend(integer_factor(func, op));
        // Of places that are all the same, one.
        if row_axis(func, op).is_some() {
            read[1] = one_place(func, read[1]).unwrap_or(read[1]);
        }
        read.into_iter().for_each(|value| wanted[value.index()] = true);
        func.regions_of(op).iter().for_each(|inner| wanted_in(func, *inner, wanted));
    }
}

impl Lower<'_> {
    fn ops(&mut self, region: RegionId, program: &TensorProgram, wanted: &[bool]) -> Result<(), String> {
        let func = self.func;
        for &op in func.ops_in(region) {
            self.node = func.op(op).location.clone().unwrap_or_default();
            self.op_name = func.kind(op).name();
            let place = || format!("`{}` of {:?}", func.kind(op).name(), lower_node(func, op));
            match func.kind(op) {
                TensorOp::Return {} => self.outputs(op)?,
                TensorOp::Yield {} => {}
                _ if func.results(op).iter().all(|value| !wanted[value.index()]) => {}
                TensorOp::Loop { .. } => {
                    let result = self.repeat(op, program, wanted);
                    result.map_err(|problem| format!("{}: {problem}", place()))?;
                }
                _ => {
                    let result = self.op(op, program).map_err(|problem| format!("{}: {problem}", place()))?;
                    self.values.insert(func.results(op)[0], result);
                }
            }
        }
        Ok(())
    }

    fn op(&mut self, op: OpId, program: &TensorProgram) -> Result<Lowered, String> {
        if let Some(known) = constants::fold(self, op, program)? {
            return Ok(Lowered::Known(known));
        }
        let number = |value: Value| match self.values.get(&value) {
            Some(Lowered::Counted(number)) => Some(*number),
            _ => None,
        };
        if let Some(number) = Counted::of(self.func, op, &number) {
            return Ok(Lowered::Counted(number));
        }
        if let Some(row) = self.chosen_row(op)? {
            return Ok(Lowered::Computed(row));
        }
        if let Some(image) = self.keep_image(op)? {
            return Ok(image);
        }
        let result = self.func.results(op)[0];
        let shape = self.shape(result)?;
        let dtype = self.func.ty(result).dtype;
        let tensor = match self.func.kind(op) {
            TensorOp::Elementwise { f } => self.elementwise(*f, self.func.operands(op), shape, dtype)?,
            TensorOp::Reduce { f, axes } => self.reduce(*f, self.func.operand(op, 0), axes, shape)?,
            TensorOp::Dot { dims, .. } => {
                let sides = [self.func.operand(op, 0), self.func.operand(op, 1)];
                match (dot::bytes_of(self.func, op), integer_factor(self.func, op)) {
                    (Some(sides), _) => {
                        let sums = self.byte_dot(dims, &sides)?;
                        self.wrapped(sums, dtype)
                    }
                    (None, Some(integers)) => self.integer_dot(dims, integers, sides)?,
                    (None, None) => self.float_dot(dims, sides[0], sides[1])?,
                }
            }
            TensorOp::Conv { .. } => return self.conv(op, shape),
            TensorOp::Pool { .. } => return self.pool(op, &shape),
            TensorOp::Quantize { .. } => self.quantize(op, &shape, dtype)?,
            TensorOp::ScatterElements { .. } => {
                let axis = row_axis(self.func, op).ok_or("its places differ")?;
                self.scatter_rows(op, axis)?
            }
            kind => self.movement(op, kind, shape, dtype)?,
        };
        Ok(Lowered::Computed(tensor))
    }

    fn shape(&self, value: Value) -> Result<Vec<usize>, String> {
        self.func.ty(value).shape.as_static().ok_or_else(|| "a size is open".to_string())
    }

    fn lanes(&self) -> usize {
        self.program.lanes as usize
    }

    /// A value that a flow of the op at hand will write.
    fn fresh(&mut self, element: Element, vectors: u32, striped: bool) -> ValueId {
        let (name, node) = (self.op_name.to_string(), Arc::clone(&self.node));
        self.program.push(FlowValue { name, node, element, vectors, striped, indexed: false, constant: None })
    }

    fn flow(&mut self, loops: &[u32], kind: Kind, out: Access) {
        let (node, loops) = (Arc::clone(&self.node), Loops::from_slice(loops));
        self.program.flows.push(Flow { node, loops, kind, out });
    }

    /// A tensor in a layout.
    fn laid_as(&mut self, tensor: Tensor, shape: &[usize]) -> Tensor {
        if self.lies_alike(&tensor.shape, shape) {
            return Tensor { shape: shape.to_vec(), ..tensor };
        }
        let (dtype, key) = (tensor.dtype, (tensor.value, shape.to_vec()));
        if let Some(known) = self.laid.get(&key) {
            // A cast between integers leaves the value as it is.
            return Tensor { dtype, ..known.clone() };
        }
        let laid = self.moved(&[tensor], shape.to_vec(), dtype, 0, &|flat| Some((0, flat)));
        self.laid.insert(key, laid.clone());
        laid
    }

    /// Whether a value lies with each element in all lanes.
    fn is_spread(&self, value: Value) -> bool {
        matches!(self.values.get(&value), Some(Lowered::Computed(tensor)) if row(&tensor.shape) == 1)
    }

    /// The tensor of a value in whatever layout it is, put into memory where it is known.
    fn tensor(&mut self, value: Value) -> Result<Tensor, String> {
        match self.values.get(&value).cloned() {
            Some(Lowered::Computed(tensor)) => Ok(tensor),
            Some(Lowered::Known(known)) => self.known(&known),
            Some(Lowered::Image { tensor, axis }) => self.plain(value, tensor, axis),
            Some(Lowered::Counted(_)) => Err("an operand is the number of a trip".to_string()),
            None => Err("an operand is not computed".to_string()),
        }
    }

    fn inputs(&mut self) -> Result<(), String> {
        let args = self.func.args(self.func.body()).to_vec();
        for (number, arg) in args.into_iter().enumerate() {
            let (shape, dtype) = (self.shape(arg)?, self.func.ty(arg).dtype);
            let element = casts::stored(dtype).ok_or_else(|| format!("an input is of {dtype}"))?;
            // An image whose channels lie last has the rows of an image.
            let is_image = self.axes[arg.index()].is_some_and(|axis| axis + 1 == shape.len());
            let shape = if is_image { grouped(&shape, self.lanes()) } else { squeezed(&shape).to_vec() };
            let vectors = vectors(&shape, self.lanes());
            self.op_name = "input";
            self.node = self.first_reader(arg);
            let value = self.fresh(element, vectors, false);
            let (name, row) = (format!("in{number}"), row(&shape) as u32);
            self.program.values[value.0 as usize].name = name.clone();
            self.program.inputs.push(Port { name, value, dtype, row });
            let wide = self.widened(value, element, vectors);
            let tensor = self.spread(Tensor { value: wide, shape, dtype });
            let axis = self.axes[arg.index()].filter(|_| is_image);
            let lowered = match axis {
                Some(axis) => Lowered::Image { tensor, axis },
                None => Lowered::Computed(tensor),
            };
            self.values.insert(arg, lowered);
        }
        Ok(())
    }

    /// The node of the first op that reads a value.
    fn first_reader(&self, value: Value) -> Arc<str> {
        let mut ops = self.func.ops_in(self.func.body()).iter();
        let reader = ops.find(|op| self.func.operands(**op).contains(&value));
        reader.and_then(|op| self.func.op(*op).location.clone()).unwrap_or_default()
    }

    fn outputs(&mut self, op: OpId) -> Result<(), String> {
        for (number, result) in self.func.operands(op).to_vec().into_iter().enumerate() {
            let tensor = self.tensor(result)?;
            let element =
                casts::stored(tensor.dtype).ok_or_else(|| format!("a result is of {}", tensor.dtype))?;
            self.op_name = "output";
            let maker = self.func.def_op(result);
            self.node = maker.and_then(|op| self.func.op(op).location.clone()).unwrap_or_default();
            let vectors = vectors(&tensor.shape, self.lanes());
            // A copy: the value may be an input or a constant, or a result twice.
            let value = self.narrowed(tensor.value, 0, vectors, tensor.dtype, element);
            let name = format!("out{number}");
            self.program.values[value.0 as usize].name = name.clone();
            let row = row(&tensor.shape) as u32;
            self.program.outputs.push(Port { name, value, dtype: tensor.dtype, row });
        }
        Ok(())
    }
}

/// A shape without the axes of 1 that it ends with.
pub(crate) fn squeezed(shape: &[usize]) -> &[usize] {
    let ones = shape.iter().rev().take_while(|extent| **extent == 1).count();
    &shape[..(shape.len() - ones).max(1).min(shape.len())]
}

/// The layout of a shape in which each place of the first axis has vectors of its own.
pub(crate) fn rows_apart(shape: &[usize]) -> Vec<usize> {
    let squeezed = squeezed(shape);
    if squeezed.len() == 1 { vec![squeezed[0], 1] } else { squeezed.to_vec() }
}

/// Elements of a row.
pub(crate) fn row(shape: &[usize]) -> usize {
    shape.last().copied().unwrap_or(1)
}

/// Rows.
pub(crate) fn rows(shape: &[usize]) -> usize {
    shape.iter().rev().skip(1).product()
}

/// Vectors of a row.
pub(crate) fn chunks(shape: &[usize], lanes: usize) -> usize {
    row(shape).div_ceil(lanes)
}

pub(crate) fn vectors(shape: &[usize], lanes: usize) -> u32 {
    (rows(shape) * chunks(shape, lanes)) as u32
}
