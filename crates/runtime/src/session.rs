//! A loaded package that any number of threads may run at once.
//!
//! A run checks its inputs, takes a [`Bound`] program for their shapes (made once per shapes, the last few are
//! kept) and a context (memory, kept between runs), interprets the steps, and hands out the outputs.

mod stream;
mod timing;

pub use stream::Stream;
pub use timing::CardTimer;

use crate::bind::{self, Bound};
use crate::constants::Constants;
use crate::context::Context;
use crate::device::Prepared;
use crate::interpret::Run;
use crate::kernels::{CodePlace, Kernels};
use crate::options::{LIMIT_GROWTH, SessionOptions};
use crate::pool::Pool;
use crate::profile::{Counters, GraphCounters, RunProfile};
use crate::staging::{
    collect_outputs, place_outputs, receive_outputs, send_inputs, stage_inputs, stage_outputs,
};
use crate::stop::{Running, Stops};
use crate::tensors::{self, TensorView};
use bytes::Bytes;
use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;
use tegula_base::{Diagnostic, Diagnostics, Dim, HostTensor, SymbolInfo};
use tegula_package::{CodeKind, Package, Port};

/// Programs kept for recent input shapes.
const BOUND_KEPT: usize = 8;

/// Threads of one session at most; more than any machine of one memory has processors.
const MAX_THREADS: usize = 4096;

pub struct Session {
    package: Package,
    kernels: Kernels,
    poison: bool,
    /// By device.
    constants: Vec<Constants>,
    pool: Pool,
    /// Most recently used last.
    bound: Mutex<Vec<Arc<Bound>>>,
    contexts: Mutex<Vec<Context>>,
    stops: Stops,
    /// How much what loops carry may grow, in elements of an axis, and the most bytes of memory for that.
    growth: AtomicI64,
    limit_growth: u64,
    /// Launches per kernel.
    launches: Vec<AtomicU64>,
    graphs: Mutex<GraphCounters>,
}

impl Session {
    /// Maps a package file. The file must not change while the session lives.
    /// Errors: the file cannot be read, and all of [`Session::from_bytes`].
    pub fn load(path: &Path, options: SessionOptions) -> Result<Session, Diagnostics> {
        let bytes = map_file(path)?;
        Session::from_bytes(bytes, options).map_err(|mut diagnostics| {
            for diagnostic in &mut diagnostics.0 {
                diagnostic.spans.insert(0, path.display().to_string());
            }
            diagnostics
        })
    }

    /// Errors: those of [`Package::parse`] and [`Session::from_package`].
    pub fn from_bytes(bytes: Bytes, options: SessionOptions) -> Result<Session, Diagnostics> {
        Session::from_package(Package::parse(bytes)?, options)
    }

    /// Errors: the package is for another machine, needs a device, an executor or a runtime kernel that is not here, or the
    /// system gives no threads or executable memory.
    pub fn from_package(package: Package, options: SessionOptions) -> Result<Session, Diagnostics> {
        let kernels = Kernels::new(&package, &options)?;
        let refused =
            || Diagnostic::error("no-threads", format!("the system gives no {} threads", options.threads));
        if options.threads > MAX_THREADS {
            return Err(refused().note(format!("a session has at most {MAX_THREADS}")).into());
        }
        let pool = Pool::new(if kernels.home_is_local() { options.threads } else { 1 })
            .map_err(|error| refused().note(error.to_string()))?;
        Ok(Session {
            poison: options.poison,
            constants: Constants::of_devices(&package, &kernels.queues)?,
            launches: package.program.kernels.iter().map(|_| AtomicU64::new(0)).collect(),
            graphs: Mutex::default(),
            bound: Mutex::default(),
            contexts: Mutex::default(),
            stops: Stops::default(),
            growth: AtomicI64::new(SymbolInfo::FIRST_GROWTH),
            limit_growth: options.limit_growth.unwrap_or(LIMIT_GROWTH),
            package,
            kernels,
            pool,
        })
    }

    pub fn package(&self) -> &Package {
        &self.package
    }

    pub fn inputs(&self) -> &[Port] {
        &self.package.program.inputs
    }

    pub fn outputs(&self) -> &[Port] {
        &self.package.program.outputs
    }

    pub fn threads(&self) -> usize {
        self.pool.threads()
    }

    /// Where the kernels' machine code lies in this process, by address; what a simulator, an executor or a card runs
    /// lies nowhere.
    pub fn code_places(&self) -> Vec<CodePlace> {
        self.kernels.places(&self.package)
    }

    /// What the compiler of the GPU's driver did that costs time.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.kernels.warnings
    }

    /// Runs the model on its inputs in order.
    /// Errors: wrong number, dtypes or shapes (all of them), an assertion of the model, no memory.
    pub fn run(&self, inputs: &[HostTensor]) -> Result<Vec<HostTensor>, Diagnostics> {
        let views: Vec<TensorView<'_>> = inputs.iter().map(TensorView::from).collect();
        let mut outputs = Vec::new();
        self.run_into(&views, &mut outputs)?;
        Ok(outputs)
    }

    /// As [`Session::run`], with inputs by name in any order.
    pub fn run_named(&self, inputs: &[(&str, &HostTensor)]) -> Result<Vec<HostTensor>, Diagnostics> {
        let named: Vec<(&str, TensorView<'_>)> =
            inputs.iter().map(|(name, tensor)| (*name, TensorView::from(*tensor))).collect();
        self.run_views(&named)
    }

    /// As [`Session::run_named`], on borrowed memory.
    pub fn run_views(&self, inputs: &[(&str, TensorView<'_>)]) -> Result<Vec<HostTensor>, Diagnostics> {
        let mut outputs = Vec::new();
        self.run_into(&self.in_order(inputs)?, &mut outputs)?;
        Ok(outputs)
    }

    /// Named tensors in the order of the inputs; those with a default may be missing.
    /// Errors: unknown, doubled and missing names, all of them.
    pub fn in_order<'a>(
        &'a self,
        inputs: &[(&str, TensorView<'a>)],
    ) -> Result<Vec<TensorView<'a>>, Diagnostics> {
        tensors::order_by_name(&self.package, inputs)
    }

    /// What an input is where the caller does not give it.
    pub fn default_of<'a>(&'a self, port: &'a Port) -> Option<TensorView<'a>> {
        tensors::default_of(&self.package, port)
    }

    /// As [`Session::run`], into tensors whose memory is used again when it is large enough: with the outputs
    /// of an earlier run on the same shapes, nothing is allocated.
    pub fn run_into(
        &self,
        inputs: &[TensorView<'_>],
        outputs: &mut Vec<HostTensor>,
    ) -> Result<(), Diagnostics> {
        self.run_pooled(inputs, outputs, None)
    }

    /// As [`Session::run_into`], with the time of each launch.
    pub fn run_profiled(
        &self,
        inputs: &[TensorView<'_>],
        outputs: &mut Vec<HostTensor>,
    ) -> Result<RunProfile, Diagnostics> {
        let mut profile = RunProfile::default();
        self.run_pooled(inputs, outputs, Some(&mut profile))?;
        Ok(profile)
    }

    /// The shapes of the outputs for inputs of these shapes; `None` where a size depends on the inputs' elements.
    /// Errors: shapes that the model does not take.
    pub fn output_shapes(&self, inputs: &[&[usize]]) -> Result<Vec<Vec<Option<usize>>>, Diagnostics> {
        let program = &self.package.program;
        tensors::check_shapes(program, inputs)?;
        let ports = program.inputs.iter().zip(inputs);
        let views: Vec<TensorView<'_>> =
            ports.map(|(port, shape)| TensorView { dtype: port.dtype, shape, bytes: &[] }).collect();
        tensors::check_dims(program, &views)?;
        let values = bind::known_symbols(program, &views, self.growth.load(Ordering::Relaxed));
        let value = |name: &str| values[program.symbols.iter().position(|symbol| symbol.name == name)?];
        let extent = |dim: &Dim| dim.eval(&value).and_then(|extent| usize::try_from(extent).ok());
        Ok(program.outputs.iter().map(|port| port.shape.iter().map(extent).collect()).collect())
    }

    /// Runs that keep what the model goes on with: see [`Stream`].
    pub fn stream(&self) -> Stream<'_> {
        Stream::new(self)
    }

    /// Ends the runs in progress, streams' included, with error `run-stopped`; later runs are not concerned. A launch of
    /// machine code is finished first, a loop of a portable kernel is not.
    ///
    /// Loading takes time in proportion to the file, but a run takes as long as the package's program says: who runs
    /// packages of unknown origin calls this from another thread when patience ends.
    pub fn stop(&self) {
        self.stops.stop();
    }

    /// Launches so far, by the kind of code.
    pub fn counters(&self) -> Counters {
        let mut counters = Counters { graphs: *lock(&self.graphs), ..Counters::default() };
        let program = &self.package.program;
        let kernels = program.kernels.iter().zip(&self.kernels.list).zip(&self.launches);
        for ((kernel, prepared), launches) in kernels {
            let launches = launches.load(Ordering::Relaxed);
            if launches == 0 {
                continue;
            }
            match program.code_kind(&kernel.code) {
                CodeKind::Machine => counters.machine += launches,
                CodeKind::Ptx => counters.gpu += launches,
                CodeKind::Graph => counters.regions += launches,
                CodeKind::Portable => {
                    counters.portable += launches;
                    *counters.portable_by_name.entry(kernel.name.clone()).or_default() += launches;
                }
                CodeKind::Native => {
                    if let Prepared::Native(native) = prepared {
                        *counters.native.entry(native.name.to_string()).or_default() += launches;
                    }
                }
            }
        }
        counters
    }

    fn run_pooled(
        &self,
        inputs: &[TensorView<'_>],
        outputs: &mut Vec<HostTensor>,
        profile: Option<&mut RunProfile>,
    ) -> Result<(), Diagnostics> {
        let running = self.stops.begin();
        let mut profile = profile;
        loop {
            let bound = self.bind(inputs, false)?;
            let mut context = self.take_context(&bound);
            context.restart();
            let result =
                self.run_bound(running, inputs, outputs, &bound, &mut context, profile.as_deref_mut());
            lock(&self.contexts).push(context);
            match result {
                Err(found) if found.0.iter().any(|found| found.code == SymbolInfo::GROWTH) => {
                    self.grow(bound.growth, &found)?;
                }
                result => return result,
            }
        }
    }

    /// Lets what loops carry grow twice as much as a run had room for.
    /// Errors: the room is past a size's range; that it takes too much memory is seen when it is bound.
    fn grow(&self, from: i64, found: &Diagnostics) -> Result<(), Diagnostics> {
        let more = from * 2;
        if more > SymbolInfo::MAX {
            return Err(found.clone());
        }
        self.growth.fetch_max(more, Ordering::Relaxed);
        Ok(())
    }

    /// A context that last ran the same shapes if there is one.
    fn take_context(&self, bound: &Arc<Bound>) -> Context {
        let mut contexts = lock(&self.contexts);
        let fitting = contexts.iter().rposition(|context| context.fits(bound));
        match fitting {
            Some(index) => contexts.swap_remove(index),
            None => contexts.pop().unwrap_or_default(),
        }
    }

    /// The program for these inputs, which are checked on the way.
    fn bind(&self, inputs: &[TensorView<'_>], keeps_shared: bool) -> Result<Arc<Bound>, Diagnostics> {
        let program = &self.package.program;
        tensors::check_tensors(program, inputs, keeps_shared)?;
        let dims = || inputs.iter().flat_map(|tensor| tensor.shape.iter().copied());
        let growth = self.growth.load(Ordering::Relaxed);
        {
            let mut kept = lock(&self.bound);
            let is_it = |bound: &Arc<Bound>| bound.growth == growth && bound.key.iter().copied().eq(dims());
            if let Some(index) = kept.iter().rposition(is_it) {
                kept[index..].rotate_left(1);
                return Ok(Arc::clone(&kept[kept.len() - 1]));
            }
        }
        tensors::check_dims(program, inputs)?;
        let symbols = bind::known_symbols(program, inputs, growth);
        let devices = self.kernels.queues.len();
        let bound = Bound::new(program, devices, dims().collect(), symbols, growth)?;
        self.check_growth(&bound)?;
        let bound = Arc::new(bound);
        let mut kept = lock(&self.bound);
        if kept.len() == BOUND_KEPT {
            kept.remove(0);
        }
        kept.push(Arc::clone(&bound));
        Ok(bound)
    }

    /// Errors: more memory than loops may have, where how much they need is known in the run alone.
    fn check_growth(&self, bound: &Bound) -> Result<(), Diagnostics> {
        let needed = bound.arena_bytes.iter().map(|bytes| *bytes as u64).sum::<u64>();
        if bound.growth == SymbolInfo::FIRST_GROWTH || needed <= self.limit_growth {
            return Ok(());
        }
        let message =
            format!("a loop's values grow until they need {needed} bytes; {} are allowed", self.limit_growth);
        let help = "raise the limit with `--limit-growth BYTES`, or see why the loop does not end";
        Err(Diagnostic::error("growth-limit", message).help(help).into())
    }

    fn run_bound(
        &self,
        running: Running<'_>,
        inputs: &[TensorView<'_>],
        outputs: &mut Vec<HostTensor>,
        bound: &Arc<Bound>,
        context: &mut Context,
        mut profile: Option<&mut RunProfile>,
    ) -> Result<(), Diagnostics> {
        let program = &self.package.program;
        let align = self.kernels.align;
        context.prepare(bound, program.kernels.len(), &self.kernels.queues)?;
        context.constants.clear();
        context.constants.extend(self.constants.iter().map(|constants| constants.range));
        let (mut _staged_inputs, mut staged_outputs) = (Vec::new(), Vec::new());
        let is_local = self.kernels.home_is_local();
        if is_local {
            _staged_inputs = stage_inputs(program, inputs, bound, align, context)?;
            staged_outputs = stage_outputs(&program.outputs, outputs, bound, align, context)?;
        } else {
            let staged = send_inputs(program, inputs, bound, context).map_err(Diagnostics::from);
            let staged = staged.and_then(|()| place_outputs(&program.outputs, outputs, bound, context));
            if let Err(found) = staged {
                // What was sent is written again by the next run.
                context.finish()?;
                return Err(found);
            }
        }
        context.patch(bound);
        if self.poison {
            context.poison()?;
        }
        let start = Instant::now();
        let going = self.pool.begin_run();
        let mut run = Run {
            program,
            bound,
            kernels: &self.kernels,
            pool: &self.pool,
            running,
            cx: context,
            profile: profile.as_deref_mut().map(|profile| (profile, start)),
            falling: false,
            in_loop: false,
            timed: Vec::new(),
        };
        // A kernel that panics has a fault of ours; the caller's threads live on.
        let result = catch_unwind(AssertUnwindSafe(|| {
            run.all_steps()?;
            running.check()?;
            if is_local {
                return collect_outputs(&mut run, outputs, &mut staged_outputs);
            }
            receive_outputs(&mut run, outputs)?;
            run.take_times()
        }))
        .unwrap_or_else(|_| Err(Diagnostic::internal("a kernel panicked")));
        drop(going);
        // Also after an error: what was given to a device is done before its memory is used again.
        let finished = context.finish();
        let result = result.and(finished);
        if let Some(profile) = profile {
            profile.total_ns = start.elapsed().as_nanos() as u64;
            profile.arena_bytes = bound.arena_bytes.iter().map(|bytes| *bytes as u64).sum();
            profile.late_peak_bytes = context.late_peak as u64;
            profile.scratch_bytes = context.scratch_bytes() as u64;
        }
        context.release_all();
        lock(&self.graphs).add(std::mem::take(&mut context.graphs));
        for (total, launches) in self.launches.iter().zip(&context.launches) {
            if *launches > 0 {
                total.fetch_add(*launches, Ordering::Relaxed);
            }
        }
        result.map_err(Diagnostics::from)
    }
}

/// What is said of a device or a pipe in a file's place.
pub const NO_REGULAR_FILE: &str = "it is no regular file";

/// The bytes of a file, mapped. The file must not change while they live.
/// Errors: it cannot be read; it is no regular file.
pub fn map_file(path: &Path) -> Result<Bytes, Diagnostic> {
    let unreadable = |error: std::io::Error| {
        Diagnostic::error("io", format!("`{}` cannot be read", path.display())).note(error.to_string())
    };
    // Before it is opened: a pipe blocks who opens it.
    let facts = std::fs::metadata(path).map_err(unreadable)?;
    if facts.is_dir() {
        let message = format!("`{}` is a folder, not a file", path.display());
        return Err(Diagnostic::error("io", message));
    }
    if !facts.is_file() {
        return Err(unreadable(std::io::Error::other(NO_REGULAR_FILE)));
    }
    let file = File::open(path).map_err(unreadable)?;
    if facts.len() == 0 {
        return Ok(Bytes::new());
    }
    // SAFETY: the mapping is read only; that nobody changes the file is this function's precondition.
    Ok(Bytes::from_owner(unsafe { memmap2::Mmap::map(&file) }.map_err(unreadable)?))
}

/// A poisoned lock is fine: what it guards is only ever replaced whole.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
