//! The groups of ops that are to become kernels, while they grow.

use super::order::Listing;
use super::rules::{self, Role};
use smallvec::{SmallVec, smallvec};
use tegula_base::{Shape, Symbols};
use tegula_ir::{OpId, Value};
use tegula_tensor::{KernelClass, TensorFunc, TensorOp};

/// Index of a group.
pub(super) type GroupId = usize;

/// Positions of a group's ops.
pub(super) type Positions = SmallVec<[usize; 16]>;

/// What a group reads.
pub(super) type Operands = SmallVec<[Value; rules::MAX_OPERANDS]>;

#[derive(Clone, Debug)]
pub(super) struct Group<'a> {
    pub form: Form,
    /// Positions of the ops that this group computes for all.
    pub members: SmallVec<[usize; 4]>,
    /// Positions of ops computed here once more, for this group only.
    pub copies: Vec<usize>,
    /// The shape that results have (of rows: before reduction).
    pub space: &'a Shape,
    /// How many operands its ops have or had together: it reads no more values.
    pub reads: usize,
    pub alive: bool,
    /// An earlier group reads it: nothing joins any more.
    pub sealed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A splat, iota or list of sizes.
    Source,
    /// Elementwise ops of one shape.
    Elementwise,
    /// Movement, and what was pulled into it.
    Move,
    /// Reductions over these axes with elementwise ops around them.
    Rows {
        axes: Vec<usize>,
        passes: usize,
    },
    Root(KernelClass),
}

pub(super) struct Groups<'a> {
    pub func: &'a TensorFunc,
    pub symbols: &'a Symbols,
    pub listing: Listing,
    pub groups: Vec<Group<'a>>,
    /// The group that an op is a member of.
    home: Vec<Option<GroupId>>,
    /// The groups that hold a copy of an op.
    copied: Vec<SmallVec<[GroupId; 2]>>,
    /// Ops of which only copies are left.
    dissolved: Vec<bool>,
}

/// Where an op ends up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Outside of kernels, as it is.
    Host,
    /// Computed by this kernel.
    Kernel(usize),
    /// In kernels that have copies, or nowhere.
    Gone,
}

/// What `emit` builds: groups in any order, ops by id.
pub(super) struct Plan {
    pub listing: Listing,
    pub kernels: Vec<PlannedKernel>,
    pub places: Vec<Place>,
    /// Whether kernels other than the one where it has its place compute an op too.
    pub copied: Vec<bool>,
}

pub(super) struct PlannedKernel {
    pub class: KernelClass,
    /// Positions, in order.
    pub ops: Vec<usize>,
    /// The op that gives the kernel its name.
    pub root: usize,
    pub operands: Vec<Value>,
    pub results: Vec<Value>,
}

impl<'a> Groups<'a> {
    pub fn new(func: &'a TensorFunc, symbols: &'a Symbols, listing: Listing) -> Groups<'a> {
        let n = listing.ops.len();
        let copied = std::iter::repeat_with(SmallVec::new).take(n).collect();
        Groups {
            func,
            symbols,
            listing,
            groups: Vec::new(),
            home: vec![None; n],
            copied,
            dissolved: vec![false; n],
        }
    }

    pub fn op(&self, at: usize) -> OpId {
        self.listing.ops[at]
    }

    pub fn kind(&self, at: usize) -> &'a TensorOp {
        self.func.kind(self.listing.ops[at])
    }

    pub fn operands(&self, at: usize) -> &'a [Value] {
        self.func.operands(self.listing.ops[at])
    }

    pub fn result(&self, at: usize) -> Value {
        self.func.result(self.listing.ops[at])
    }

    pub fn shape(&self, value: Value) -> &'a Shape {
        &self.func.ty(value).shape
    }

    pub fn definer(&self, value: Value) -> Option<usize> {
        self.listing.definer(value)
    }

    pub fn is_source(&self, value: Value) -> bool {
        self.definer(value).is_some_and(|def| self.listing.roles[def] == Role::Source)
    }

    pub fn home(&self, at: usize) -> Option<GroupId> {
        self.home[at]
    }

    /// A new group of one op.
    pub fn found(&mut self, at: usize, form: Form, space: &'a Shape) {
        self.home[at] = Some(self.groups.len());
        let reads = self.operands(at).len();
        self.groups.push(Group {
            form,
            members: smallvec![at],
            copies: vec![],
            space,
            reads,
            alive: true,
            sealed: false,
        });
    }

    pub fn join(&mut self, at: usize, group: GroupId) {
        self.home[at] = Some(group);
        self.groups[group].members.push(at);
        self.groups[group].reads += self.operands(at).len();
    }

    /// Moves all of `from` into `into`.
    pub fn merge(&mut self, from: GroupId, into: GroupId) {
        let source = std::mem::replace(&mut self.groups[from].alive, false);
        debug_assert!(source, "a group merges once");
        for at in std::mem::take(&mut self.groups[from].members) {
            self.join(at, into);
        }
        for at in std::mem::take(&mut self.groups[from].copies) {
            self.copied[at].retain(|group| *group != from);
            self.copy(at, into);
        }
    }

    /// Lets `into` compute an op for itself too.
    pub fn copy(&mut self, at: usize, into: GroupId) {
        if !self.holds(into, at) {
            self.copied[at].push(into);
            self.groups[into].copies.push(at);
            self.groups[into].reads += self.operands(at).len();
        }
    }

    /// Dissolves a group whose ops all readers have copies of.
    pub fn dissolve(&mut self, group: GroupId) {
        self.groups[group].alive = false;
        for at in std::mem::take(&mut self.groups[group].members) {
            self.home[at] = None;
            self.dissolved[at] = true;
        }
        for at in std::mem::take(&mut self.groups[group].copies) {
            self.copied[at].retain(|other| *other != group);
        }
    }

    /// Forgets an op, and the group that it is a member of, where all who read them have copies.
    pub fn forget(&mut self, at: usize) {
        match self.home[at] {
            Some(group) if self.results_of(group).is_empty() => self.dissolve(group),
            Some(_) => {}
            None => {
                let reads = |user: &usize| {
                    self.is_host(*user) || self.groups_of(*user).any(|group| !self.holds(group, at))
                };
                self.dissolved[at] = !self.listing.users[at].iter().any(reads);
            }
        }
    }

    /// Takes an op out of its group; it then stands outside of kernels.
    pub fn release(&mut self, at: usize) {
        if let Some(group) = self.home[at].take() {
            self.groups[group].members.retain(|member| *member != at);
            self.groups[group].alive = !self.groups[group].members.is_empty();
        }
    }

    /// Leaves an op to those who have copies, where all its readers have.
    pub fn give_up(&mut self, at: usize) {
        let has_own = |group: GroupId| self.has_copy(group, at);
        let users = &self.listing.users[at];
        if users.iter().all(|user| !self.is_host(*user) && self.groups_of(*user).all(has_own)) {
            self.release(at);
            self.dissolved[at] = true;
        }
    }

    pub fn holds(&self, group: GroupId, at: usize) -> bool {
        self.home[at] == Some(group) || self.has_copy(group, at)
    }

    /// Asked of the group's list, which kernels' size keeps short, not of the op's: a constant is copied into very many groups.
    fn has_copy(&self, group: GroupId, at: usize) -> bool {
        self.groups[group].copies.contains(&at)
    }

    /// All groups that compute an op, its home first.
    pub fn groups_of(&self, at: usize) -> impl Iterator<Item = GroupId> {
        self.home[at].into_iter().chain(self.copied[at].iter().copied())
    }

    /// The ops of a group, members and copies, in order.
    pub fn ops_of(&self, group: GroupId) -> Positions {
        let mut ops = Positions::from_slice(&self.groups[group].members);
        ops.extend_from_slice(&self.groups[group].copies);
        ops.sort_unstable();
        ops
    }

    /// The number of ops that a group computes, sources not counted.
    pub fn size_of(&self, group: GroupId) -> usize {
        let data = &self.groups[group];
        data.members.iter().chain(&data.copies).filter(|at| self.listing.roles[**at] != Role::Source).count()
    }

    /// Whether an op's results are needed outside of a group: by an op that stands outside of kernels, or by a
    /// group that does not compute them itself.
    pub fn leaves(&self, at: usize, group: GroupId) -> bool {
        self.listing.users[at].iter().any(|user| self.needs_from_outside(*user, at, group))
    }

    fn needs_from_outside(&self, user: usize, at: usize, group: GroupId) -> bool {
        self.is_host(user) || self.groups_of(user).any(|reader| reader != group && !self.holds(reader, at))
    }

    /// Whether an op stands outside of kernels.
    pub fn is_host(&self, at: usize) -> bool {
        self.home[at].is_none() && !self.dissolved[at]
    }

    /// The members whose values are needed outside.
    pub fn results_of(&self, group: GroupId) -> Positions {
        self.groups[group].members.iter().copied().filter(|at| self.leaves(*at, group)).collect()
    }

    /// The values that a group reads from outside, once each, in order of first use. Constants count.
    pub fn operands_of(&self, group: GroupId) -> Operands {
        self.operands_of_ops(group, &self.ops_of(group))
    }

    /// As [`operands_of`](Groups::operands_of), of a group whose ops are at hand.
    pub fn operands_of_ops(&self, group: GroupId, ops: &[usize]) -> Operands {
        let mut operands = Operands::new();
        for at in ops {
            for value in self.operands(*at) {
                let own = self.definer(*value).is_some_and(|def| self.holds(group, def));
                if !own && !operands.contains(value) {
                    operands.push(*value);
                }
            }
        }
        operands
    }

    pub fn finish(self) -> Plan {
        let mut number = vec![None; self.groups.len()];
        let mut kernels = Vec::new();
        for (group, data) in self.groups.iter().enumerate() {
            let mut leaving = if data.alive { self.results_of(group) } else { Positions::new() };
            if leaving.is_empty() {
                continue;
            }
            number[group] = Some(kernels.len());
            leaving.sort_unstable();
            let ops = self.ops_of(group);
            kernels.push(PlannedKernel {
                class: self.class_of(group),
                root: self.root_of(group),
                operands: self.operands_of_ops(group, &ops).into_vec(),
                ops: ops.into_vec(),
                results: leaving.iter().flat_map(|at| self.used_results(*at)).collect(),
            });
        }
        let place = |at: usize| match self.home[at] {
            Some(group) => number[group].map_or(Place::Gone, Place::Kernel),
            None if self.dissolved[at] => Place::Gone,
            None => Place::Host,
        };
        let places = (0..self.home.len()).map(place).collect();
        let copied = self.copied.iter().map(|groups| !groups.is_empty()).collect();
        Plan { listing: self.listing, kernels, places, copied }
    }

    /// The results of a member that leaves its kernel, as far as they are used at all.
    fn used_results(&self, at: usize) -> impl Iterator<Item = Value> {
        let results = self.func.results(self.op(at)).iter().copied();
        results.filter(|value| !self.func.users(*value).is_empty())
    }

    fn class_of(&self, group: GroupId) -> KernelClass {
        match &self.groups[group].form {
            Form::Source | Form::Elementwise | Form::Move => KernelClass::Map,
            Form::Rows { passes: 1, .. } => KernelClass::Reduce,
            Form::Rows { .. } => KernelClass::Rows,
            Form::Root(class) => *class,
        }
    }

    /// The root, the first reduction, or the last op.
    fn root_of(&self, group: GroupId) -> usize {
        let members = &self.groups[group].members;
        let mut roots =
            members.iter().filter(|at| matches!(self.listing.roles[**at], Role::Root(_) | Role::Reduce));
        roots.next().or(members.iter().max()).copied().expect("invariant: a live group has members")
    }
}
