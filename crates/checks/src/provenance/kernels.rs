//! The kernels of a compiled model: what each is named, how much real work its ops do, and which come after which.
//!
//! Work is counted from the shapes of ops, names aside: multiply-adds of contractions, elements of windows of pools. Every
//! size that the model leaves open is taken for [`OPEN`].

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Context, Result};
use tegula_base::Dim;
use tegula_driver::Stages;
use tegula_ir::{Def, OpId, Value};
use tegula_tensor::{TensorFunc, TensorOp, TensorProgram};

/// Large enough that windows fit, and that borders count for little.
const OPEN: i64 = 480;

/// What one kernel is.
#[derive(Clone, Debug, Default)]
pub struct Kernel {
    /// Its name in the package.
    pub title: String,
    /// The nodes that it is named by, the first one first.
    pub nodes: Vec<String>,
    pub work: f64,
    /// The op of the body that it is, or stands in.
    pub place: usize,
    /// Kernels whose results it reads, by index, perhaps through views.
    pub reads: Vec<usize>,
    /// Whether it reads what control flow carries, or control flow carries what it gives: its neighbours are in another
    /// iteration, or a branch.
    pub is_carried: bool,
}

/// All kernels of a model, once each.
#[derive(Clone, Debug, Default)]
pub struct Kernels {
    pub list: Vec<Kernel>,
    /// For each op of the body, those that come before it.
    before: Vec<HashSet<usize>>,
}

impl Kernels {
    pub fn of(stages: &Stages) -> Result<Kernels> {
        let host = stages.host.as_ref().context("the compilation stopped early")?;
        let func = stages.tensor.entry();
        let places = places(func);
        let (mut list, mut ops): (Vec<Kernel>, Vec<OpId>) = (vec![], vec![]);
        // A kernel that runs as several launches is one.
        let mut index: HashMap<OpId, usize> = HashMap::new();
        for kernel in &host.kernels {
            let Some(op) = kernel.op.filter(|op| !index.contains_key(op)) else { continue };
            index.insert(op, list.len());
            ops.push(op);
            list.push(Kernel {
                title: kernel.name.clone(),
                nodes: kernel.source.to_vec(),
                work: work_within(func, op) * trips(func, op),
                place: places[&op],
                ..Kernel::default()
            });
        }
        for (kernel, op) in list.iter_mut().zip(&ops) {
            let mut waiting: Vec<Value> = func.operands(*op).to_vec();
            while let Some(value) = waiting.pop() {
                match func.def(value) {
                    Def::Arg(region, _) => kernel.is_carried |= region != func.body(),
                    Def::Result(def, _) => match (index.get(&def), func.kind(def)) {
                        (Some(other), _) => kernel.reads.push(*other),
                        (None, TensorOp::If {} | TensorOp::Loop { .. }) => kernel.is_carried = true,
                        _ => waiting.extend(func.operands(def)),
                    },
                }
            }
            let mut waiting: Vec<Value> = func.results(*op).to_vec();
            while let Some(value) = waiting.pop() {
                for user in func.users(value).iter().filter(|user| !index.contains_key(user)) {
                    match func.kind(*user) {
                        TensorOp::If {} | TensorOp::Loop { .. } | TensorOp::Yield {} => {
                            kernel.is_carried = true
                        }
                        _ => waiting.extend(func.results(*user)),
                    }
                }
            }
        }
        Ok(Kernels { list, before: before(func, &places) })
    }

    /// Whether a kernel comes after another one, or they stand in one op of control flow.
    pub fn follows(&self, later: &Kernel, earlier: &Kernel) -> bool {
        later.place == earlier.place || self.before[later.place].contains(&earlier.place)
    }

    #[cfg(test)]
    pub fn in_a_row(list: Vec<Kernel>) -> Kernels {
        let before = (0..list.len()).map(|place| (0..place).collect()).collect();
        Kernels { list, before }
    }
}

/// The real work of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    pub amount: f64,
    /// Whether its sums are of one product each.
    pub is_one_step: bool,
}

/// The real work of a program's nodes, by name: what importing makes of each.
pub fn work_by_node(program: &TensorProgram) -> BTreeMap<String, Work> {
    let func = program.entry();
    let mut work: BTreeMap<String, Work> = BTreeMap::new();
    for op in func.walk() {
        let amount = work_of(func, op) * trips(func, op);
        if let Some(name) = func.op(op).location.as_deref().filter(|_| amount > 0.0) {
            let results = shape(func, func.results(op)[0]).iter().product::<f64>() * trips(func, op);
            let first = Work { amount: 0.0, is_one_step: true };
            let of_node = work.entry(name.to_string()).or_insert(first);
            of_node.amount += amount;
            of_node.is_one_step &= amount <= results;
        }
    }
    work
}

/// The position in the body of each op, or of the op that it stands in.
fn places(func: &TensorFunc) -> HashMap<OpId, usize> {
    let mut places = HashMap::new();
    for (place, &op) in func.ops_in(func.body()).iter().enumerate() {
        let mut waiting = vec![op];
        while let Some(op) = waiting.pop() {
            places.insert(op, place);
            waiting.extend(func.regions_of(op).iter().flat_map(|region| func.ops_in(*region)));
        }
    }
    places
}

fn before(func: &TensorFunc, places: &HashMap<OpId, usize>) -> Vec<HashSet<usize>> {
    let mut before: Vec<HashSet<usize>> = Vec::new();
    for (place, &op) in func.ops_in(func.body()).iter().enumerate() {
        let mut own: HashSet<usize> = HashSet::new();
        let mut waiting = vec![op];
        while let Some(op) = waiting.pop() {
            let defs = func.operands(op).iter().filter_map(|value| func.def_op(*value));
            own.extend(defs.map(|def| places[&def]).filter(|earlier| *earlier != place));
            waiting.extend(func.regions_of(op).iter().flat_map(|region| func.ops_in(*region)));
        }
        for earlier in own.clone() {
            own.extend(&before[earlier]);
        }
        before.push(own);
    }
    before
}

/// How often an op runs: the product of the trips of the loops around it.
fn trips(func: &TensorFunc, op: OpId) -> f64 {
    let owners = std::iter::successors(Some(op), |op| func.parent(*op).and_then(|region| func.owner(region)));
    let trip = owners.skip(1).filter_map(|owner| match func.kind(owner) {
        TensorOp::Loop { trip, .. } => Some(size(trip)),
        _ => None,
    });
    trip.product()
}

/// The work of an op and of all in its regions.
fn work_within(func: &TensorFunc, op: OpId) -> f64 {
    let inner = func.regions_of(op).iter().flat_map(|region| func.ops_in(*region));
    work_of(func, op) + inner.map(|op| work_within(func, *op)).sum::<f64>()
}

fn work_of(func: &TensorFunc, op: OpId) -> f64 {
    let of = |i: usize| shape(func, func.operand(op, i));
    let count = |shape: &[f64]| shape.iter().product::<f64>();
    let result = || count(&shape(func, func.results(op)[0]));
    let window = |sizes: &[i64]| sizes.iter().map(|n| *n as f64).product::<f64>();
    let inner = |axes: &[usize]| axes.iter().map(|axis| of(0)[*axis]).product::<f64>();
    // Bytes are multiplied four at a time.
    let channels = |weights: usize| match func.ty(func.operand(op, weights)).dtype.size() {
        1 => (of(weights)[1] / 4.0).ceil() * 4.0,
        _ => of(weights)[1],
    };
    match func.kind(op) {
        TensorOp::Dot { dims, .. } | TensorOp::QDot { dims } => result() * inner(&dims.lhs_contract),
        TensorOp::Conv { window: w, .. } | TensorOp::WinogradConv { window: w } => {
            result() * channels(1) * window(&w.size)
        }
        TensorOp::QConv { window: w, .. } => result() * channels(3) * window(&w.size),
        TensorOp::ConvTranspose { window: w, .. } => count(&of(0)) * of(1)[1] * window(&w.size),
        TensorOp::Pool { window: w, .. } | TensorOp::MaxPoolIndices { window: w, .. } => {
            result() * window(&w.size)
        }
        TensorOp::Attention { .. } => {
            let (q, v) = (of(0), of(2));
            q[0] * q[1] * q[2] * v[2] * (q[3] + v[3])
        }
        // States of 16 bits are multiplied as two bytes.
        TensorOp::Lstm { rounded, .. } => {
            of(0)[0] * of(0)[1] * (count(&of(1)) + count(&of(2)) * if *rounded { 2.0 } else { 1.0 })
        }
        TensorOp::Gru { .. } => of(0)[0] * of(0)[1] * (count(&of(1)) + count(&of(2))),
        _ => 0.0,
    }
}

fn shape(func: &TensorFunc, value: Value) -> Vec<f64> {
    func.ty(value).shape.iter().map(size).collect()
}

/// A size that the model leaves open is [`OPEN`]; no size counts for less than 1.
fn size(dim: &Dim) -> f64 {
    dim.eval(&|_| Some(OPEN)).unwrap_or(OPEN).max(1) as f64
}
