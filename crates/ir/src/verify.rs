//! Whether a function keeps the invariants that passes rely on. Collects every violation.
//!
//! Checked: ops and values know their places; operands are defined before their uses and in sight; user lists are
//! right; each region ends with its only terminator; every op passes its own rule ([`OpRules::check`](crate::op::OpRules))
//! and has exactly the result types the rule gives (equal dims, not only equal ranks); names count as arguments do.

use crate::{Def, Func, Op, OpId, Program, RegionId, Value};
use std::ops::Deref;
use tegula_base::{Diagnostic, Diagnostics, EntityId};

/// Proof that a function was verified and not edited since; what later stages take.
#[derive(Debug)]
pub struct Verified<'a, O: Op>(&'a Func<O>);

impl<O: Op> Clone for Verified<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<O: Op> Copy for Verified<'_, O> {}

impl<O: Op> Deref for Verified<'_, O> {
    type Target = Func<O>;
    fn deref(&self) -> &Func<O> {
        self.0
    }
}

/// Errors: `invalid-ir`, one per violation, with the op's location in the source model.
pub fn verify<O: Op>(func: &Func<O>) -> Result<Verified<'_, O>, Diagnostics> {
    let mut verifier = Verifier {
        func,
        errors: Diagnostics::default(),
        defined_at: vec![HIDDEN; func.value_count()],
        uses: vec![0; func.value_count()],
    };
    verifier.region(func.body(), 1, 1);
    verifier.user_lists();
    verifier.names();
    verifier.errors.into_result(Verified(func))
}

/// All functions of a program; also that their names differ.
pub fn verify_program<O: Op>(program: &Program<O>) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for (i, func) in program.funcs.iter().enumerate() {
        if let Err(found) = verify(func) {
            errors.0.extend(found.0);
        }
        if program.funcs[..i].iter().any(|other| other.name == func.name) {
            errors
                .push(Diagnostic::error("invalid-ir", format!("function `{}` is defined twice", func.name)));
        }
    }
    errors.into_result(())
}

/// The nesting depth of a value that is not in sight.
const HIDDEN: u32 = 0;

struct Verifier<'a, O: Op> {
    func: &'a Func<O>,
    errors: Diagnostics,
    /// By value: depth of the region that defines it, while in sight.
    defined_at: Vec<u32>,
    /// By value: uses counted while walking.
    uses: Vec<u32>,
}

impl<O: Op> Verifier<'_, O> {
    fn fail(&mut self, op: Option<OpId>, message: impl Into<String>) {
        let mut diagnostic = Diagnostic::error("invalid-ir", message);
        diagnostic = match op {
            Some(op) => diagnostic.at(self.place(op)),
            None => diagnostic.at(format!("function \"{}\"", self.func.name)),
        };
        self.errors.push(diagnostic);
    }

    /// `function "main": %4 = tgn.dot from node "layer.0/matmul"`.
    fn place(&self, op: OpId) -> String {
        let func = self.func;
        let results: Vec<String> = func.results(op).iter().map(Value::to_string).collect();
        let equals = if results.is_empty() { "" } else { " = " };
        let name = format!("{}{equals}{}.{}", results.join(", "), O::DIALECT, func.kind(op).name());
        let from =
            func.op(op).location.as_ref().map_or(String::new(), |node| format!(" from node \"{node}\""));
        format!("function \"{}\": {name}{from}", func.name)
    }

    /// `depth` is that of the region's values; values of a depth below `barrier` must not be used.
    fn region(&mut self, region: RegionId, depth: u32, barrier: u32) {
        let func = self.func;
        for (i, &arg) in func.args(region).iter().enumerate() {
            if func.def(arg) != Def::Arg(region, i as u32) {
                self.fail(func.owner(region), format!("region argument {arg} does not know its place"));
            }
            self.defined_at[arg.index()] = depth;
        }
        for &op in func.ops_in(region) {
            self.op(op, region, depth, barrier);
        }
        self.terminator(region);
        let results = func.ops_in(region).iter().flat_map(|op| func.results(*op));
        for value in func.args(region).iter().chain(results) {
            self.defined_at[value.index()] = HIDDEN;
        }
    }

    fn op(&mut self, op: OpId, region: RegionId, depth: u32, barrier: u32) {
        let func = self.func;
        if func.parent(op) != Some(region) {
            self.fail(Some(op), "the op does not know its region, or stands in two");
        }
        let mut sound = true;
        for &operand in func.operands(op) {
            self.uses[operand.index()] += 1;
            let at = self.defined_at[operand.index()];
            if at == HIDDEN {
                self.fail(Some(op), format!("{operand} is used where it is not defined"));
                sound = false;
            } else if at < barrier {
                self.fail(
                    Some(op),
                    format!("{operand} is from outside of a region that may not capture values"),
                );
                sound = false;
            }
        }
        let kind = func.kind(op);
        if func.regions_of(op).len() != kind.region_count() {
            self.fail(
                Some(op),
                format!("{} regions expected, found {}", kind.region_count(), func.regions_of(op).len()),
            );
            sound = false;
        }
        // Results stand in sight only after the regions, which must not use them.
        let inner_barrier = if kind.regions_capture() { barrier } else { depth + 1 };
        for &inner in func.regions_of(op) {
            if func.owner(inner) != Some(op) {
                self.fail(Some(op), "a region does not know its op");
            }
            self.region(inner, depth + 1, inner_barrier);
        }
        for (i, &result) in func.results(op).iter().enumerate() {
            if func.def(result) != Def::Result(op, i as u32) {
                self.fail(Some(op), format!("result {result} does not know its op"));
            }
            if self.defined_at[result.index()] != HIDDEN {
                self.fail(Some(op), format!("{result} is defined twice"));
            }
            self.defined_at[result.index()] = depth;
        }
        if sound {
            self.rule(op);
        }
    }

    fn rule(&mut self, op: OpId) {
        let func = self.func;
        let results = func.results(op);
        match O::check(func, op) {
            Err(error) => self.fail(Some(op), error),
            Ok(expected) if expected.len() != results.len() => {
                self.fail(Some(op), format!("{} results expected, found {}", expected.len(), results.len()));
            }
            Ok(expected) => {
                for (i, (expected, result)) in expected.iter().zip(results).enumerate() {
                    let found = func.ty(*result);
                    if expected != found {
                        self.fail(
                            Some(op),
                            format!("result {i} is {}, expected {}", text(found), text(expected)),
                        );
                    }
                }
            }
        }
    }

    fn terminator(&mut self, region: RegionId) {
        let func = self.func;
        let ops = func.ops_in(region);
        if func.terminator(region).is_none() {
            self.fail(ops.last().copied().or(func.owner(region)), "a region ends without a terminator");
        }
        for &op in ops.iter().rev().skip(1).filter(|op| func.kind(**op).is_terminator()) {
            self.fail(Some(op), "a terminator stands before the region's end");
        }
    }

    fn user_lists(&mut self) {
        for i in 0..self.uses.len() {
            let value = Value::new(i);
            let users = self.func.users(value);
            let missing = users.iter().any(|user| !self.func.operands(*user).contains(&value));
            if missing || users.len() != self.uses[i] as usize {
                self.fail(
                    None,
                    format!(
                        "{value} has {} uses in the function, its list names {}",
                        self.uses[i],
                        users.len()
                    ),
                );
            }
        }
    }

    fn names(&mut self) {
        let func = self.func;
        let args = func.args(func.body()).len();
        let results = func.terminator(func.body()).map_or(0, |op| func.operands(op).len());
        for (what, names, count) in
            [("argument", &func.arg_names, args), ("result", &func.result_names, results)]
        {
            if !names.is_empty() && names.len() != count {
                self.fail(None, format!("{count} {what}s have {} names", names.len()));
            }
        }
    }
}

fn text(ty: &impl crate::TypeText) -> String {
    tegula_mlir::print_type(&ty.to_mlir())
}
