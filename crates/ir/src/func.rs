//! A function: arenas of ops, values and single-block regions, with def-use chains kept by every edit.
//!
//! Invariants: an op stands in exactly one region or is detached; every operand's user list names the op once
//! per use; no id is used again before [`Func::compact`]. A region is one block: arguments, ops in order, a terminator last.

mod compact;

use crate::Op;
use crate::op::NameRank;
use crate::rewrite::OpSet;
use smallvec::SmallVec;
use std::sync::Arc;
use tegula_base::{Arena, EntityId, entity_id};

entity_id!(
    /// A function's op.
    pub struct OpId, "op"
);
entity_id!(
    /// A result of an op or an argument of a region.
    pub struct Value, "%"
);
entity_id!(
    /// A block with arguments, owned by an op or being the function's body.
    pub struct RegionId, "region"
);

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Def {
    Result(OpId, u32),
    Arg(RegionId, u32),
}

/// A [`Def`] in eight bytes, since values are many: in the top bit of `place`, whether it is an argument.
#[derive(Clone, Copy, Debug)]
struct PackedDef {
    owner: u32,
    place: u32,
}

impl PackedDef {
    const ARG: u32 = 1 << 31;

    #[inline]
    fn pack(def: Def) -> PackedDef {
        match def {
            Def::Result(op, i) => PackedDef { owner: op.index() as u32, place: i },
            Def::Arg(region, i) => PackedDef { owner: region.index() as u32, place: i | PackedDef::ARG },
        }
    }

    #[inline]
    fn unpack(self) -> Def {
        let owner = self.owner as usize;
        match self.place & PackedDef::ARG {
            0 => Def::Result(OpId::new(owner), self.place),
            _ => Def::Arg(RegionId::new(owner), self.place & !PackedDef::ARG),
        }
    }
}

#[derive(Clone, Debug)]
struct ValueData<T> {
    ty: T,
    def: PackedDef,
    /// One entry per use.
    users: SmallVec<[OpId; 4]>,
}

impl<T> ValueData<T> {
    fn new(ty: T, def: Def) -> ValueData<T> {
        ValueData { ty, def: PackedDef::pack(def), users: SmallVec::new() }
    }
}

/// An op in its place.
#[derive(Clone, Debug)]
pub struct OpData<O> {
    pub kind: O,
    operands: SmallVec<[Value; 4]>,
    results: SmallVec<[Value; 4]>,
    /// Most ops have none, and are the smaller for it.
    regions: Option<Box<SmallVec<[RegionId; 2]>>>,
    /// Name in the source model, e.g. an ONNX node's; outermost meaning kept through every pass.
    pub location: Option<Arc<str>>,
    /// What `location` alone does not say of the op's names.
    behind: Option<Arc<Behind>>,
    parent: Option<RegionId>,
}

/// The names of an op that computes several nodes since it was rewritten, or a root's node without being a root.
#[derive(Debug)]
struct Behind {
    /// Behind that of the location.
    names: Vec<Arc<str>>,
    /// How many are those of roots, the location's among them.
    n_roots: usize,
}

impl<O> OpData<O> {
    fn regions(&self) -> &[RegionId] {
        self.regions.as_deref().map_or(&[], SmallVec::as_slice)
    }
}

#[derive(Clone, Debug)]
struct RegionData {
    args: Vec<Value>,
    ops: Vec<OpId>,
    /// The op that owns the region; `None` for the body.
    owner: Option<OpId>,
}

#[derive(Clone, Debug)]
pub struct Func<O: Op> {
    pub name: String,
    ops: Arena<OpId, OpData<O>>,
    values: Arena<Value, ValueData<O::Type>>,
    regions: Arena<RegionId, RegionData>,
    /// Names of arguments and results as the user knows them.
    pub arg_names: Vec<String>,
    pub result_names: Vec<String>,
    /// How often rules may still rewrite ops; `None`: as often as they want.
    pub fuel: Option<Fuel>,
}

/// A number of rewrites, so that the one that goes wrong can be found by halves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fuel {
    pub left: u64,
    /// The op that was rewritten last: what it was, and its name in the source model.
    pub last: Option<(&'static str, Option<Arc<str>>)>,
}

impl<O: Op> Func<O> {
    /// An empty function with its body region, which has no arguments yet.
    pub fn new(name: impl Into<String>) -> Func<O> {
        let mut regions = Arena::new();
        regions.push(RegionData { args: vec![], ops: vec![], owner: None });
        Func {
            name: name.into(),
            ops: Arena::new(),
            values: Arena::new(),
            regions,
            arg_names: vec![],
            result_names: vec![],
            fuel: None,
        }
    }

    pub fn body(&self) -> RegionId {
        self.regions.keys().next().expect("invariant: the body is region 0")
    }

    // --- reading ---------------------------------------------------------------------------------------

    pub fn op(&self, op: OpId) -> &OpData<O> {
        &self.ops[op]
    }

    pub fn kind(&self, op: OpId) -> &O {
        &self.ops[op].kind
    }

    pub fn kind_mut(&mut self, op: OpId) -> &mut O {
        &mut self.ops[op].kind
    }

    pub fn operands(&self, op: OpId) -> &[Value] {
        &self.ops[op].operands
    }

    pub fn operand(&self, op: OpId, i: usize) -> Value {
        self.ops[op].operands[i]
    }

    pub fn results(&self, op: OpId) -> &[Value] {
        &self.ops[op].results
    }

    /// The only result. Panics on an op that has none (a caller's bug).
    pub fn result(&self, op: OpId) -> Value {
        self.ops[op].results[0]
    }

    pub fn result_types(&self, op: OpId) -> Vec<O::Type> {
        self.ops[op].results.iter().map(|value| self.values[*value].ty.clone()).collect()
    }

    pub fn regions_of(&self, op: OpId) -> &[RegionId] {
        self.ops[op].regions()
    }

    /// The region an op stands in; `None` once erased.
    pub fn parent(&self, op: OpId) -> Option<RegionId> {
        self.ops[op].parent
    }

    pub fn owner(&self, region: RegionId) -> Option<OpId> {
        self.regions[region].owner
    }

    pub fn args(&self, region: RegionId) -> &[Value] {
        &self.regions[region].args
    }

    pub fn ops_in(&self, region: RegionId) -> &[OpId] {
        &self.regions[region].ops
    }

    /// The last op of a region when it is a terminator.
    pub fn terminator(&self, region: RegionId) -> Option<OpId> {
        self.regions[region].ops.last().copied().filter(|op| self.kind(*op).is_terminator())
    }

    pub fn ty(&self, value: Value) -> &O::Type {
        &self.values[value].ty
    }

    pub fn def(&self, value: Value) -> Def {
        self.values[value].def.unpack()
    }

    /// The op that defines a value; `None` for a region argument.
    pub fn def_op(&self, value: Value) -> Option<OpId> {
        match self.def(value) {
            Def::Result(op, _) => Some(op),
            Def::Arg(..) => None,
        }
    }

    /// The ops that use a value, one entry per use, in no promised order.
    pub fn users(&self, value: Value) -> &[OpId] {
        &self.values[value].users
    }

    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    pub fn op_count(&self) -> usize {
        self.ops.len()
    }

    /// Whether any op ever had a region.
    pub fn has_inner_regions(&self) -> bool {
        self.regions.len() > 1
    }

    /// Every op that stands in the function, in program order, an op before the ops of its regions.
    pub fn walk(&self) -> Vec<OpId> {
        let mut order = Vec::with_capacity(self.ops.len());
        self.walk_region(self.body(), &mut order);
        order
    }

    fn walk_region(&self, region: RegionId, order: &mut Vec<OpId>) {
        for &op in &self.regions[region].ops {
            order.push(op);
            for &inner in self.ops[op].regions() {
                self.walk_region(inner, order);
            }
        }
    }

    /// Makes room for ops to be built, of one result each.
    pub fn reserve(&mut self, ops: usize) {
        self.ops.reserve(ops);
        self.values.reserve(ops);
    }

    // --- building --------------------------------------------------------------------------------------

    pub fn add_arg(&mut self, region: RegionId, ty: O::Type) -> Value {
        let index = self.regions[region].args.len() as u32;
        let value = self.values.push(ValueData::new(ty, Def::Arg(region, index)));
        self.regions[region].args.push(value);
        value
    }

    /// Takes away the arguments behind the first `n`, which nothing may use.
    pub fn truncate_args(&mut self, region: RegionId, n: usize) {
        self.regions[region].args.truncate(n);
    }

    /// Appends an op with the result types given; its regions (as many as its kind has) start empty.
    pub fn push_op(
        &mut self,
        region: RegionId,
        kind: O,
        operands: &[Value],
        result_types: impl IntoIterator<Item = O::Type>,
        location: Option<Arc<str>>,
    ) -> OpId {
        let op = self.create_op(kind, operands, result_types, location);
        self.ops[op].parent = Some(region);
        self.regions[region].ops.push(op);
        op
    }

    /// Makes a detached op, to be placed by [`Func::append`] or [`Func::set_ops`].
    pub fn create_op(
        &mut self,
        kind: O,
        operands: &[Value],
        result_types: impl IntoIterator<Item = O::Type>,
        location: Option<Arc<str>>,
    ) -> OpId {
        let n_regions = kind.region_count();
        let op = self.ops.push(OpData {
            kind,
            operands: SmallVec::from_slice(operands),
            results: SmallVec::new(),
            regions: None,
            location,
            behind: None,
            parent: None,
        });
        for &operand in operands {
            self.values[operand].users.push(op);
        }
        for (i, ty) in result_types.into_iter().enumerate() {
            let value = self.values.push(ValueData::new(ty, Def::Result(op, i as u32)));
            self.ops[op].results.push(value);
        }
        for _ in 0..n_regions {
            let region = self.regions.push(RegionData { args: vec![], ops: vec![], owner: Some(op) });
            self.ops[op].regions.get_or_insert_default().push(region);
        }
        op
    }

    /// Appends an op whose result types its own rule gives.
    /// Errors: the constraint that the op breaks; the op is then not in the function.
    pub fn build(
        &mut self,
        region: RegionId,
        kind: O,
        operands: &[Value],
        location: Option<Arc<str>>,
    ) -> Result<OpId, String> {
        let op = self.push_op(region, kind, operands, [], location);
        match O::check(self, op) {
            Ok(types) => {
                for ty in types {
                    self.add_result(op, ty);
                }
                Ok(op)
            }
            Err(error) => {
                self.erase(op);
                Err(error)
            }
        }
    }

    /// Adds a result to an op: for ops whose result types are known only once their regions are filled.
    pub fn add_result(&mut self, op: OpId, ty: O::Type) -> Value {
        let def = Def::Result(op, self.ops[op].results.len() as u32);
        let value = self.values.push(ValueData::new(ty, def));
        self.ops[op].results.push(value);
        value
    }

    // --- editing ---------------------------------------------------------------------------------------

    /// Puts a detached op at the end of a region.
    pub fn append(&mut self, op: OpId, region: RegionId) {
        debug_assert!(self.ops[op].parent.is_none(), "{op} stands somewhere already");
        self.ops[op].parent = Some(region);
        self.regions[region].ops.push(op);
    }

    /// Makes room in a region, so that its lists need not be moved as they grow.
    pub fn reserve_in(&mut self, region: RegionId, args: usize, ops: usize) {
        self.regions[region].args.reserve_exact(args);
        self.regions[region].ops.reserve_exact(ops);
    }

    /// Replaces a region's op list whole: the way for passes to insert and move many ops in linear time.
    /// Ops no longer listed become detached (not erased).
    pub fn set_ops(&mut self, region: RegionId, ops: Vec<OpId>) {
        for op in std::mem::take(&mut self.regions[region].ops) {
            self.ops[op].parent = None;
        }
        for &op in &ops {
            self.ops[op].parent = Some(region);
        }
        self.regions[region].ops = ops;
    }

    /// Takes a region's list, for [`relist`](Func::relist): the ops believe that they still stand there.
    pub(crate) fn unlist(&mut self, region: RegionId) -> Vec<OpId> {
        std::mem::take(&mut self.regions[region].ops)
    }

    /// Moves what was put into a region since its list was taken to the end of `list`.
    pub(crate) fn move_new(&mut self, region: RegionId, list: &mut Vec<OpId>) {
        list.append(&mut self.regions[region].ops);
    }

    /// Gives a region its list back: ops that stood there or were put there since, each once.
    pub(crate) fn relist(&mut self, region: RegionId, list: Vec<OpId>) {
        debug_assert!(list.iter().all(|op| self.ops[*op].parent == Some(region)), "a rule moved an op");
        self.regions[region].ops = list;
    }

    /// An op that was taken off its region's list stands nowhere.
    pub(crate) fn detach(&mut self, op: OpId) {
        self.ops[op].parent = None;
    }

    pub fn set_operand(&mut self, op: OpId, i: usize, value: Value) {
        let old = std::mem::replace(&mut self.ops[op].operands[i], value);
        self.remove_user(old, op);
        self.values[value].users.push(op);
    }

    pub fn set_operands(&mut self, op: OpId, operands: &[Value]) {
        for old in std::mem::replace(&mut self.ops[op].operands, operands.into()) {
            self.remove_user(old, op);
        }
        for &value in operands {
            self.values[value].users.push(op);
        }
    }

    /// Redirects every use of `from` to `to`.
    pub fn replace_uses(&mut self, from: Value, to: Value) {
        for user in std::mem::take(&mut self.values[from].users) {
            let operands = &mut self.ops[user].operands;
            let place = operands.iter().position(|v| *v == from).expect("invariant: users use");
            operands[place] = to;
            self.values[to].users.push(user);
        }
    }

    pub fn set_type(&mut self, value: Value, ty: O::Type) {
        self.values[value].ty = ty;
    }

    pub fn set_location(&mut self, op: OpId, location: Option<Arc<str>>) {
        self.ops[op].location = location;
    }

    /// The nodes that an op computes, by their names in the source model: those of roots first.
    pub fn names_of(&self, op: OpId) -> impl Iterator<Item = &Arc<str>> {
        let data = &self.ops[op];
        data.location.iter().chain(data.behind.iter().flat_map(|behind| &behind.names))
    }

    /// How many of an op's names are those of roots: of nodes that a kernel is for.
    pub fn root_name_count(&self, op: OpId) -> usize {
        let data = &self.ops[op];
        match &data.behind {
            Some(behind) => behind.n_roots,
            None => usize::from(data.kind.name_rank() == NameRank::Root),
        }
    }

    /// Whether a kernel is named after this op: it is a root, or stands for one.
    pub fn names_kernel(&self, op: OpId) -> bool {
        self.ops[op].kind.name_rank() == NameRank::Root || self.root_name_count(op) > 0
    }

    pub fn has_one_name(&self, op: OpId) -> bool {
        self.ops[op].behind.is_none()
    }

    /// Gives an op names, each once; the first `n_roots` are those of roots.
    pub fn set_names(&mut self, op: OpId, names: &[Arc<str>], n_roots: usize) {
        let data = &mut self.ops[op];
        let usual = usize::from(data.kind.name_rank() == NameRank::Root);
        data.location = names.first().cloned();
        data.behind = (names.len() > 1 || !names.is_empty() && n_roots != usual)
            .then(|| Arc::new(Behind { names: names[1..].to_vec(), n_roots }));
    }

    /// Gives an op the names of another one of this function.
    pub fn copy_names(&mut self, from: OpId, to: OpId) {
        if self.ops[from].kind.name_rank() == self.ops[to].kind.name_rank() {
            self.ops[to].location = self.ops[from].location.clone();
            self.ops[to].behind = self.ops[from].behind.clone();
            return;
        }
        let names: SmallVec<[Arc<str>; 8]> = self.names_of(from).cloned().collect();
        self.set_names(to, &names, self.root_name_count(from));
    }

    /// Takes an op, and all in its regions, out of the function; its results must be unused from outside.
    pub fn erase(&mut self, op: OpId) {
        if let Some(region) = self.ops[op].parent.take() {
            let ops = &mut self.regions[region].ops;
            // Passes erase near the end more often than not.
            let place = ops.iter().rposition(|o| *o == op).expect("invariant: an op stands in its parent");
            ops.remove(place);
        }
        self.forget(op);
    }

    /// Erases many ops of any regions in linear time.
    pub fn erase_all(&mut self, dead: impl IntoIterator<Item = OpId>) {
        let mut dead: Vec<OpId> = dead.into_iter().collect();
        dead.sort();
        let gone = OpSet::new(self.ops.len());
        dead.iter().for_each(|op| _ = gone.insert(*op));
        let mut regions: Vec<RegionId> = Vec::new();
        for &op in &dead {
            regions.extend(self.ops[op].parent.take().filter(|region| regions.last() != Some(region)));
        }
        regions.sort();
        regions.dedup();
        for region in regions {
            self.regions[region].ops.retain(|op| !gone.contains(*op));
        }
        for op in dead {
            self.forget(op);
        }
    }

    /// Drops the uses that a detached op and its regions make.
    fn forget(&mut self, op: OpId) {
        for value in std::mem::take(&mut self.ops[op].operands) {
            self.remove_user(value, op);
        }
        for i in 0..self.ops[op].regions().len() {
            let region = self.ops[op].regions()[i];
            for inner in std::mem::take(&mut self.regions[region].ops) {
                self.ops[inner].parent = None;
                self.forget(inner);
            }
        }
    }

    /// Moves all ops of `from` to the end of `to`; region arguments stay behind.
    pub fn splice(&mut self, from: RegionId, to: RegionId) {
        let ops = std::mem::take(&mut self.regions[from].ops);
        for &op in &ops {
            self.ops[op].parent = Some(to);
        }
        self.regions[to].ops.extend(ops);
    }

    fn remove_user(&mut self, value: Value, op: OpId) {
        let users = &mut self.values[value].users;
        // Passes come to the readers of a constant, which are very many, from one end or the other.
        let n = users.len();
        if let Some(i) = (0..n).find(|i| users[n - 1 - i] == op || users[*i] == op) {
            users.swap_remove(if users[n - 1 - i] == op { n - 1 - i } else { i });
        }
    }
}
