//! The [`Target`] of a machine that computes on tiles: what its recipes can do, as answers to passes.

use crate::attention::{block_of_paged_keys, can_lower_attention, pages, reads_moved_rows};
use crate::contract::{can_multiply, prologue};
use crate::{TileMachine, layouts, lower_kernel};
use tegula_backend::{
    Claim, Codegen, Fused, KernelCodegen, Launch, Launches, Layouts, Place, Preferences, Target, View, cost,
};
use tegula_base::{DType, Diagnostic, Symbols};
use tegula_ir::OpId;
use tegula_machine::Machine;
use tegula_package::CostRecord;
use tegula_tensor::decompose::is_composite;
use tegula_tensor::{PadMode, TensorFunc, TensorOp};

/// Passes see `M` through this.
#[derive(Clone, Debug)]
pub struct Tiled<M> {
    machine: M,
    preferences: Preferences,
}

impl<M: TileMachine> Tiled<M> {
    pub fn new(machine: M) -> Tiled<M> {
        let preferences = preferences(&machine);
        Tiled { machine, preferences }
    }

    /// The machine, as recipes ask it.
    pub fn tiles(&self) -> &M {
        &self.machine
    }
}

fn preferences(machine: &dyn TileMachine) -> Preferences {
    let facts = machine.facts().clone();
    let (contractions, bytes, rows) = (facts.contractions, facts.byte_products, facts.rows);
    let slow = |dtype: &DType| machine.lanes(*dtype) < machine.lanes(DType::F32);
    Preferences {
        lookup_tables: rows.lookup_tables,
        transposed_factors: contractions.reads_transposed,
        unpacked_nibbles: contractions.unpacks_to.contains(&DType::BF16),
        signed_weights: bytes.signed_weights,
        byte_products: bytes.rate,
        byte_pairs: bytes.pairs,
        fewest_i16_products: bytes.fewest_i16_products,
        f8_products: contractions.f8_products,
        widened: contractions.widened,
        slow_types: DType::ALL.into_iter().filter(slow).collect(),
        two_step_extremes: rows.two_step_extremes,
        fewest_summed_channels: contractions.fewest_summed_channels,
        resident_row: machine.resident_row(DType::F32),
    }
}

impl<M: TileMachine> Target for Tiled<M> {
    fn machine(&self) -> &Machine {
        self.machine.machine()
    }

    fn isa(&self) -> &str {
        self.machine.isa()
    }

    fn claims(&self, func: &TensorFunc, op: OpId) -> Claim {
        let can = |can: bool, why: &'static str| if can { Claim::Yes } else { Claim::No(why.into()) };
        match func.kind(op) {
            TensorOp::Attention { .. } => can(
                can_lower_attention(func, op, &self.machine),
                "no block of it suits the recipe of attention",
            ),
            TensorOp::Dot { .. } | TensorOp::Conv { .. } => {
                can(can_multiply(func, op, &self.machine), "its types are multiplied as wider ones")
            }
            TensorOp::ArgReduce { .. } | TensorOp::ConvTranspose { .. } => {
                Claim::No("it has no recipe".into())
            }
            TensorOp::Pad { mode, .. } => {
                can(*mode == PadMode::Constant, "padding by the tensor's own elements has no recipe")
            }
            TensorOp::TopK { .. }
            | TensorOp::NonZero {}
            | TensorOp::Unique { .. }
            | TensorOp::NonMaxSuppression { .. } => Claim::No("it is a kernel of the runtime".into()),
            kind => can(!is_composite(kind), "no recipe computes it whole"),
        }
    }

    fn preferences(&self) -> &Preferences {
        &self.preferences
    }

    fn fuses(&self, func: &TensorFunc, root: OpId, place: Place, symbols: &Symbols) -> Option<Fused> {
        match place {
            Place::Factors => {
                let found = prologue::of_dot(func, root, symbols, &self.machine)?;
                Some(Fused { ops: found.ops, buffers: found.stored.to_vec() })
            }
            Place::Pages(operand) => {
                let block = block_of_paged_keys(func, root, &self.machine)?;
                let pages = pages::behind(func, func.operand(root, operand), block)?;
                Some(Fused { ops: pages.ops, buffers: Vec::new() })
            }
            Place::MovedRows => reads_moved_rows(func, root, &self.machine).then(Fused::default),
        }
    }

    fn layouts(&self, func: &TensorFunc, op: OpId, symbols: &Symbols) -> Layouts {
        layouts::layouts(func, op, &self.machine, symbols)
    }

    fn cost(&self, func: &TensorFunc, kernel: OpId, launches: &Launches) -> Vec<CostRecord> {
        cost::of_launches(func, kernel, launches, self.machine())
    }

    fn codegen(&self) -> Codegen<'_> {
        Codegen::Kernels(self)
    }
}

impl<M: TileMachine> KernelCodegen for Tiled<M> {
    fn compile(
        &self,
        name: &str,
        func: &TensorFunc,
        kernel: OpId,
        symbols: &Symbols,
    ) -> Result<Launches, Diagnostic> {
        let lowered = lower_kernel(func, kernel, &self.machine, symbols)?;
        let names = lowered.names(name);
        let launches = names.iter().zip(lowered.list).map(|(name, (_, launch))| {
            let compiled =
                self.machine.compile(name, &launch.kernel, symbols).map_err(|error| {
                    match &func.op(kernel).location {
                        Some(node) => error.at(format!("node \"{node}\"")),
                        None => error,
                    }
                })?;
            let views = launch.buffers.iter().zip(&launch.kernel.views);
            let views = views.map(|(buffer, view)| View { buffer: *buffer, written: view.written }).collect();
            Ok(Launch { compiled, views })
        });
        let list = launches.collect::<Result<_, Diagnostic>>()?;
        Ok(Launches { list, temporaries: lowered.temporaries, reasons: lowered.reasons })
    }
}
