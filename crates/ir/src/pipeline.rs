//! A named list of passes over one state, run with times, traces and a check after each.
//!
//! ```ignore
//! let pipeline = Pipeline::new("tensor")
//!     .pass("fold_constants", |program, cx| fold_constants(program, cx))
//!     // After folding: folded operands make more ops equal.
//!     .pass("cse", |program, _| Ok(program.for_each_func(cse)));
//! pipeline.run(&mut program, &RunOptions::default(), &mut cx)?;
//! ```

use crate::pass::{Changed, PassCx};
use crate::trace::TraceLevel;
use crate::{Func, Op, PrintOptions, Program, print_program, verify_program};
use tegula_base::{Diagnostic, Diagnostics};

/// What passes transform: prints as valid input and verifies.
pub trait PassState {
    fn print(&self) -> String;
    fn verify(&self) -> Result<(), Diagnostics>;
}

impl<O: Op> PassState for Program<O> {
    fn print(&self) -> String {
        print_program(self, &PrintOptions::default())
    }
    fn verify(&self) -> Result<(), Diagnostics> {
        verify_program(self)
    }
}

impl<O: Op> Program<O> {
    /// Lifts a function pass.
    pub fn for_each_func(&mut self, mut pass: impl FnMut(&mut Func<O>) -> Changed) -> Changed {
        self.funcs.iter_mut().fold(Changed::No, |changed, func| changed | pass(func))
    }
}

#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The last pass to run, by name.
    pub stop_after: Option<String>,
    /// The first pass to run, by name; the state must be what the passes before it leave.
    pub start_from: Option<String>,
    /// Verify before the first pass and after each pass that changed something.
    pub verify: bool,
    /// Also check that a pass that claims no change left the text as it was. For tests: it prints the state twice.
    pub check_claims: bool,
}

impl Default for RunOptions {
    fn default() -> RunOptions {
        RunOptions { stop_after: None, start_from: None, verify: true, check_claims: false }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Completed,
    /// At `stop_after`; later pipelines should not run.
    Stopped,
}

type PassFn<'a, S> = Box<dyn Fn(&mut S, &mut PassCx) -> Result<Changed, Diagnostics> + 'a>;

/// The passes may borrow what they need for `'a`: a machine, options, a target.
pub struct Pipeline<'a, S> {
    name: &'static str,
    passes: Vec<(&'static str, PassFn<'a, S>)>,
}

impl<'a, S: PassState> Pipeline<'a, S> {
    pub fn new(name: &'static str) -> Pipeline<'a, S> {
        Pipeline { name, passes: Vec::new() }
    }

    pub fn pass(
        mut self,
        name: &'static str,
        run: impl Fn(&mut S, &mut PassCx) -> Result<Changed, Diagnostics> + 'a,
    ) -> Pipeline<'a, S> {
        self.passes.push((name, Box::new(run)));
        self
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn pass_names(&self) -> impl Iterator<Item = &'static str> {
        self.passes.iter().map(|(name, _)| *name)
    }

    /// Errors: a pass's own; `internal` when a pass leaves an invalid state; `unknown-pass` for a name in the options
    /// that is not in the list; `bad-option` where the last pass stands before the first.
    pub fn run(&self, state: &mut S, options: &RunOptions, cx: &mut PassCx) -> Result<Outcome, Diagnostics> {
        let first = self.find(options.start_from.as_deref())?.unwrap_or(0);
        let last = self.find(options.stop_after.as_deref())?;
        if let Some(last) = last.filter(|last| *last < first) {
            let [first, last] = [first, last].map(|pass| self.passes[pass].0);
            let message = format!("the passes begin with `{first}`, which stands behind `{last}`, the last");
            return Err(Diagnostic::error("bad-option", message).into());
        }
        if options.verify {
            state.verify()?;
        }
        for (i, (name, pass)) in self.passes.iter().enumerate().skip(first) {
            self.run_one(name, pass, state, options, cx)?;
            if last.is_some_and(|last| i >= last) {
                return Ok(Outcome::Stopped);
            }
        }
        Ok(Outcome::Completed)
    }

    fn run_one(
        &self,
        name: &'static str,
        pass: &PassFn<S>,
        state: &mut S,
        options: &RunOptions,
        cx: &mut PassCx,
    ) -> Result<(), Diagnostics> {
        let before = options.check_claims.then(|| state.print());
        cx.enter(self.name, name);
        let start = cx.now_ns();
        let changed = pass(state, cx)?;
        let time_ns = start.zip(cx.now_ns()).map(|(start, end)| end.saturating_sub(start));
        cx.leave(changed, time_ns);
        if changed.is_yes() && cx.level() >= TraceLevel::Ir {
            cx.print(&format!("// after {}:{name}\n{}", self.name, state.print()));
        }
        if before.is_some_and(|before| !changed.is_yes() && before != state.print()) {
            return Err(Diagnostic::internal(format!(
                "pass `{}:{name}` changed the program and denies it",
                self.name
            ))
            .into());
        }
        if options.verify && changed.is_yes() {
            state.verify().map_err(|found| self.broken(name, found))?;
        }
        Ok(())
    }

    /// An invalid program after a pass is our fault, not the user's.
    fn broken(&self, pass: &str, found: Diagnostics) -> Diagnostics {
        let message = format!("pass `{}:{pass}` left an invalid program", self.name);
        let blame = Diagnostic::internal(message)
            .help(format!("print the program before and after it with trace `{}:{pass}=ir`", self.name));
        let notes = found.0.into_iter().map(|one| [vec![one.message], one.spans].concat().join(" --> "));
        notes.fold(blame, Diagnostic::note).into()
    }

    fn find(&self, name: Option<&str>) -> Result<Option<usize>, Diagnostics> {
        let Some(name) = name else { return Ok(None) };
        let place = self.pass_names().position(|pass| pass == name);
        let unknown = || {
            let names: Vec<&str> = self.pass_names().collect();
            Diagnostic::error("unknown-pass", format!("pipeline `{}` has no pass `{name}`", self.name))
                .help(format!("its passes are {}", names.join(", ")))
        };
        place.map(Some).ok_or_else(|| unknown().into())
    }
}
