//! Writes a planned schedule as a PTX entry: prologue, a branch for each role, epilogue.
//! The kernel must be launched with threads, cluster and shared memory as `Kernel` says.

mod flow;
mod product;
mod store;

use tegula_base::Bytes;
use tegula_isa_ptx::modifiers::MapaSpace;
use tegula_isa_ptx::modifiers::{Compare, LocalShared, ShuffleMode, StateSpace, WindowSpace};
use tegula_isa_ptx::op::{
    BarrierSync, ClusterArrive, ClusterWait, CvtaSymbol, Elect, FenceMbarrierInit, Ld, Mapa, MbarrierInit,
    MovAddress, Ret, SetmaxnregDec, SetmaxnregInc, Shfl,
};
use tegula_isa_ptx::types::{AddressType, MemoryType};
use tegula_isa_ptx::{Address, Entry, EntryBuilder, ParamId, ParamType, Reg, Special};

use super::asm::{Asm, imm};
use super::plan::{Plan, Unplanned};
use super::{Schedule, Step, WARPGROUP};
use crate::encoding::MapTemplate;

/// A kernel with what its launch needs.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub entry: Entry,
    /// Tensor maps, in the order of the parameters behind the argument block.
    pub maps: Vec<MapTemplate>,
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    pub threads: u32,
    pub cluster: u32,
}

/// Registers are given to threads by so many.
const REGISTER_STEP: u32 = 8;
const ALL_LANES: u32 = u32::MAX;

/// Registers that hold for the whole kernel.
struct Emitter<'a> {
    asm: Asm,
    schedule: &'a Schedule,
    plan: &'a Plan,
    /// The thread in its CTA, and in its warpgroup.
    thread: Reg,
    lane: Reg,
    warpgroup: Reg,
    /// The first byte of shared memory.
    memory: Reg,
    /// That of the CTA of the cluster with this lane's number.
    peer_memory: Option<Reg>,
    /// The CTA's place in its cluster.
    rank: Option<Reg>,
    maps: Vec<Reg>,
    args: ParamId,
}

/// The schedule as PTX. `registers` and `shared_memory`: what an SM and a CTA have.
/// Errors: a layout that the machine cannot read, or too much shared memory.
/// Panics where the schedule breaks a rule of `verify`.
pub fn emit(schedule: &Schedule, registers: u32, shared_memory: Bytes) -> Result<Kernel, Unplanned> {
    super::verify(schedule, registers).expect("invariant: a schedule keeps its rules");
    let plan = Plan::new(schedule, shared_memory)?;
    let mut builder = EntryBuilder::new(schedule.name.clone());
    let directives = builder.directives();
    directives.reqntid = Some([schedule.threads(), 1, 1]);
    directives.cluster = (schedule.cluster > 1).then_some([schedule.cluster, 1, 1]);
    let args = builder.param("args", ParamType::Bytes { align: 8, size: 8 * schedule.arg_words });
    let params: Vec<ParamId> = (0..schedule.tensors.len())
        .map(|map| builder.param(format!("map{map}"), ParamType::Bytes { align: 64, size: 128 }))
        .collect();
    let mut asm = Asm(builder);
    let memory = asm.b32();
    let shared = asm.shared("memory", plan.alignment, None);
    asm.emit(MovAddress { ty: AddressType::U32, d: memory, symbol: shared.into() });
    let thread = asm.special(Special::TidX);
    let lane = asm.and(thread, imm(31));
    let own = asm.field(thread, WARPGROUP.trailing_zeros(), 25);
    let warpgroup = uniform(&mut asm, own);
    let clustered = schedule.cluster > 1;
    let rank = clustered.then(|| asm.special(Special::ClusterCtarank));
    let maps = params.iter().map(|param| map_address(&mut asm, *param)).collect();
    let mut emitter = Emitter {
        asm,
        schedule,
        plan: &plan,
        thread,
        lane,
        warpgroup,
        memory,
        peer_memory: None,
        rank,
        maps,
        args,
    };
    emitter.prologue();
    emitter.roles(registers);
    emitter.epilogue();
    let Plan { maps, shared, .. } = &plan;
    let entry = emitter.asm.0.finish();
    Ok(Kernel {
        entry,
        maps: maps.clone(),
        shared: *shared,
        threads: schedule.threads(),
        cluster: schedule.cluster,
    })
}

/// The value of lane 0 in all lanes: the assembler then knows that branches on it do not diverge.
fn uniform(asm: &mut Asm, a: Reg) -> Reg {
    let d = asm.b32();
    let mode = ShuffleMode::Idx;
    asm.emit(Shfl { mode, d, p: None, a: a.into(), b: imm(0), clamp: imm(31), mask: imm(ALL_LANES) });
    d
}

fn map_address(asm: &mut Asm, param: ParamId) -> Reg {
    let d = asm.b64();
    asm.emit(CvtaSymbol { space: WindowSpace::Param, d, symbol: param.into() });
    d
}

impl Emitter<'_> {
    /// The low half of a word of the argument block: a size.
    fn size(&mut self, word: u32) -> Reg {
        let d = self.asm.b32();
        let address = Address::from(self.args).plus(8 * word as i32);
        self.asm.emit(Ld {
            space: StateSpace::Param,
            ty: MemoryType::U32,
            d: [d].into_iter().collect(),
            address,
            ..Ld::default()
        });
        d
    }

    /// One thread makes the barriers; then all of the cluster know them.
    fn prologue(&mut self) {
        if self.schedule.cluster > 1 {
            // Lanes beyond the cluster name no CTA, and never use their address.
            let last = self.asm.min(self.lane, imm(self.schedule.cluster - 1));
            let d = self.asm.b32();
            let (space, ty) = (MapaSpace::SharedCluster, AddressType::U32);
            self.asm.emit(Mapa { space, ty, d, a: self.memory, rank: last.into() });
            self.peer_memory = Some(d);
        }
        let others = self.asm.compare(Compare::Ne, self.thread, imm(0));
        let ready = self.asm.label();
        self.asm.branch_if(others, ready);
        for (plan, channel) in self.plan.channels.iter().zip(&self.schedule.channels) {
            for (first, count) in [(plan.full, plan.full_count), (plan.empty, plan.empty_count)] {
                for slot in 0..channel.depth {
                    let address = Address::from(self.memory).plus((first + 8 * slot) as i32);
                    self.asm.emit(MbarrierInit { space: LocalShared::Cta, address, count: imm(count) });
                }
            }
        }
        self.asm.emit(FenceMbarrierInit {});
        self.asm.place(ready, "ready");
        self.all_threads();
    }

    /// Waits for all threads of the CTA or the cluster.
    fn all_threads(&mut self) {
        if self.schedule.cluster > 1 {
            self.asm.emit(ClusterArrive { aligned: true, ..ClusterArrive::default() });
            self.asm.emit(ClusterWait { aligned: true, ..ClusterWait::default() });
        } else {
            self.asm.emit(BarrierSync { aligned: true, id: imm(0), threads: None });
        }
    }

    fn roles(&mut self, registers: u32) {
        let share = registers / self.schedule.threads() / REGISTER_STEP * REGISTER_STEP;
        let done = self.asm.label();
        for (number, role) in self.schedule.roles.iter().enumerate() {
            let next = self.asm.label();
            let end = self.schedule.first_warpgroup(number) + role.warpgroups;
            let others = self.asm.compare(Compare::Ge, self.warpgroup, imm(end));
            self.asm.branch_if(others, next);
            match role.registers.cmp(&share) {
                std::cmp::Ordering::Less => self.asm.emit(SetmaxnregDec { registers: role.registers }),
                std::cmp::Ordering::Equal => {}
                std::cmp::Ordering::Greater => self.asm.emit(SetmaxnregInc { registers: role.registers }),
            }
            let copies = super::any_step(&role.steps, &|step| matches!(step, Step::Put { .. }));
            if copies {
                self.one_thread(done);
            }
            flow::run(self, number);
            self.asm.branch(done);
            self.asm.place(next, "role");
        }
        self.asm.place(done, "done");
    }

    /// All but one thread of the role's first warp go to the end.
    fn one_thread(&mut self, done: tegula_isa_ptx::Label) {
        let warp = self.asm.field(self.thread, 5, 2);
        let warp = uniform(&mut self.asm, warp);
        let idle = self.asm.compare(Compare::Ne, warp, imm(0));
        self.asm.branch_if(idle, done);
        let elected = self.asm.pred();
        self.asm.emit(Elect { d: None, p: elected, mask: imm(ALL_LANES) });
        self.asm.branch_if(!tegula_isa_ptx::Predicate::from(elected), done);
    }

    /// No CTA ends while a peer may still arrive at its barriers.
    fn epilogue(&mut self) {
        if self.schedule.cluster > 1 {
            self.asm.emit(ClusterArrive::default());
            self.asm.emit(ClusterWait::default());
        }
        self.asm.emit(Ret {});
    }
}
