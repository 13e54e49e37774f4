//! Branches that do not depend on each other: at once where threads would be idle otherwise, else in order.
//!
//! Threads that share each launch wait for each other after each, and read what another has written. A branch to a thread
//! costs that once, and a core keeps what its branch reads again and again. Launches that are worth a second thread are
//! better shared, since one branch may take longer than the other.

use super::{Run, is_short};
use crate::bind::Op;
use crate::profile::RunProfile;
use std::sync::{Mutex, PoisonError};
use tegula_base::Diagnostic;

/// A branch's run and what came of it, on cache lines of its own: it changes at each step.
#[repr(align(128))]
struct Branch<'a>(Mutex<(Run<'a>, Result<(), Diagnostic>)>);

impl Run<'_> {
    /// Out of the way of the steps that every program has.
    #[inline(never)]
    pub(super) fn fork(&mut self, branches: &[Vec<Op>]) -> Result<(), Diagnostic> {
        let threads = self.pool.threads();
        let is_worth = threads > 1 && branches.iter().all(|ops| are_short(ops));
        let turn = if is_worth { self.pool.try_turn() } else { None };
        let contexts = if turn.is_some() { self.cx.fork(branches.len()) } else { None };
        let (Some(mut turn), Some(mut contexts)) = (turn, contexts) else {
            return branches.iter().try_for_each(|ops| self.steps(ops));
        };
        let origin = self.profile.as_ref().map(|(_, origin)| *origin);
        let mut profiles: Vec<RunProfile> = branches.iter().map(|_| RunProfile::default()).collect();
        let runs: Vec<Branch> = contexts
            .iter_mut()
            .zip(&mut profiles)
            .map(|(cx, profile)| {
                let run = Run {
                    program: self.program,
                    bound: self.bound,
                    kernels: self.kernels,
                    pool: self.pool,
                    running: self.running,
                    cx,
                    profile: origin.map(|origin| (profile, origin)),
                    falling: false,
                    in_loop: self.in_loop,
                    timed: Vec::new(),
                };
                Branch(Mutex::new((run, Ok(()))))
            })
            .collect();
        let parts = branches.len().div_ceil(threads) as u32;
        turn.run(parts, &|_, part| {
            if let (Some(run), Some(ops)) = (runs.get(part), branches.get(part)) {
                // A branch is one part's alone.
                let mut own = run.0.lock().unwrap_or_else(PoisonError::into_inner);
                own.1 = own.0.steps(ops);
            }
        });
        let outcomes: Vec<Result<(), Diagnostic>> = runs
            .into_iter()
            .map(|run| run.0.into_inner().unwrap_or_else(PoisonError::into_inner).1)
            .collect();
        if let Some((profile, _)) = &mut self.profile {
            profiles.into_iter().for_each(|own| profile.launches.extend(own.launches));
        }
        self.cx.join(contexts);
        outcomes.into_iter().collect()
    }
}

/// Whether none of the launches is worth a second thread.
fn are_short(ops: &[Op]) -> bool {
    ops.iter().all(|op| match op {
        Op::Launch(launch) => is_short(launch),
        Op::If { then, otherwise, .. } => are_short(then) && are_short(otherwise),
        Op::Loop { body, .. } => are_short(body),
        Op::Fork(branches) => branches.iter().all(|ops| are_short(ops)),
        Op::Copy { .. } | Op::Transfer { .. } | Op::Fill { .. } => true,
        Op::Bind { .. } | Op::Assert { .. } | Op::Release(_) => true,
    })
}
