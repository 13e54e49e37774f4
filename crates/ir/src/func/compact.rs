//! Puts what stands in a function side by side in program order, and drops what was erased.
//!
//! Rewriting leaves most of an arena dead and the rest in the order in which it was built. Who walks a function of ten
//! thousand ops waits for memory, and less where ops and values that are read after one another lie so.

use super::{Def, Func, OpId, PackedDef, Value};
use crate::{Changed, Op};
use tegula_base::{Arena, EntityId};

/// What is not kept.
const GONE: u32 = u32::MAX;

impl<O: Op> Func<O> {
    /// Ops and values get new ids, in program order: none from before is valid any more. Regions keep theirs.
    /// Before: every op stands in the function or is erased.
    /// Nothing has changed where all of them have those ids already.
    pub fn compact(&mut self) -> Changed {
        let ops = self.walk();
        let mut values: Vec<Value> = Vec::with_capacity(ops.len());
        values.extend(self.args(self.body()));
        for op in &ops {
            values.extend(self.results(*op));
            self.regions_of(*op).iter().for_each(|region| values.extend(self.args(*region)));
        }
        if is_compact(&ops, &self.ops) && is_compact(&values, &self.values) {
            return Changed::No;
        }
        let (new_ops, new_values) = (renumbered(&ops, &self.ops), renumbered(&values, &self.values));
        let op = |old: OpId| {
            debug_assert_ne!(new_ops[old.index()], GONE, "{old} stands nowhere");
            OpId::new(new_ops[old.index()] as usize)
        };
        let value = |old: Value| {
            debug_assert_ne!(new_values[old.index()], GONE, "{old} stands nowhere");
            Value::new(new_values[old.index()] as usize)
        };
        self.ops.rearrange(&ops);
        self.values.rearrange(&values);
        for data in self.ops.iter_mut() {
            data.operands.iter_mut().chain(&mut data.results).for_each(|it| *it = value(*it));
        }
        for data in self.values.iter_mut() {
            data.users.iter_mut().for_each(|user| *user = op(*user));
            if let Def::Result(owner, place) = data.def.unpack() {
                data.def = PackedDef::pack(Def::Result(op(owner), place));
            }
        }
        for data in self.regions.iter_mut() {
            // Those of erased ops are empty and have no owner.
            data.owner = data.owner.filter(|owner| new_ops[owner.index()] != GONE).map(op);
            data.args.retain(|arg| new_values[arg.index()] != GONE);
            data.args.iter_mut().for_each(|arg| *arg = value(*arg));
            data.ops.iter_mut().for_each(|it| *it = op(*it));
        }
        Changed::Yes
    }
}

fn is_compact<K: EntityId, T>(kept: &[K], arena: &Arena<K, T>) -> bool {
    kept.len() == arena.len() && kept.iter().enumerate().all(|(place, key)| key.index() == place)
}

/// The new number of each item, by the old one.
fn renumbered<K: EntityId, T>(kept: &[K], arena: &Arena<K, T>) -> Vec<u32> {
    let mut numbers = vec![GONE; arena.len()];
    kept.iter().enumerate().for_each(|(new, old)| numbers[old.index()] = new as u32);
    numbers
}
