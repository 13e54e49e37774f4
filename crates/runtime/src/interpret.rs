//! Walks the steps of a bound program: launches kernels, copies, binds data symbols, follows control flow.
//!
//! Before: inputs are checked, the context is prepared and patched for this run.  After: every output's buffer
//! holds its result. A program without data symbols evaluates no expression and allocates nothing here,
//! runtime and portable kernels aside.

mod fork;
mod queued;

use crate::bind::{Base, Bound, LateWord, Launch, Op, Size, symbol_bounds};
use crate::context::Context;
use crate::cpu;
use crate::device::Prepared;
use crate::kernels::Kernels;
use crate::memory::{LaunchMemory, Range};
use crate::native::{self, Native, RuntimeKernelArgs, View, ViewMut};
use crate::pool::{Pool, mirrored, share};
use crate::profile::{LaunchTime, RunProfile};
use crate::stop::Running;
use std::sync::Mutex;
use std::time::Instant;
use tegula_base::{Diagnostic, Dim, SymbolInfo};
use tegula_package::{BufferId, HostProgram, Origin};

pub(crate) use queued::Timed;

/// A launch that is predicted to be shorter stays on one thread, nanoseconds. Handing out a job and collecting it
/// costs 1 to 2 us on the machines we have measured.
const PARALLEL_MIN_NS: i64 = 4000;

/// Whether a launch is not worth a second thread.
fn is_short(launch: &Launch) -> bool {
    launch.predicted_ns > 0 && launch.predicted_ns < PARALLEL_MIN_NS
}

/// Parts that the units of a launch are run in from the last to the first: as many, so that what the cache still holds
/// of the turn before is met first, and as few, so that a part is worth its call.
const FALLING_PARTS: u64 = 16;

/// Parts of a thread's range of work units at most: one that is done helps the others with parts of an eighth of the
/// work, for two threads, and to claim a part costs some tens of nanoseconds.
const PARTS: u64 = 4;

/// A launch of a loop that is predicted to be shorter keeps its ranges whole, nanoseconds: its weights are few enough that
/// a core's own cache holds what it read of them a turn ago, which a part that goes to another thread takes from it.
/// Measured on Zen 5, two threads, three LSTMs of 768 units over bytes (18 us a launch): 0.99 of the time with parts, 0.94
/// where another guest disturbs the cores. Longer launches are better balanced than kept.
const KEPT_BELOW_NS: i64 = 100_000;

/// One run in progress.
pub(crate) struct Run<'a> {
    pub(crate) program: &'a HostProgram,
    pub(crate) bound: &'a Bound,
    pub(crate) kernels: &'a Kernels,
    pub(crate) pool: &'a Pool,
    pub(crate) running: Running<'a>,
    pub(crate) cx: &'a mut Context,
    pub(crate) profile: Option<(&'a mut RunProfile, Instant)>,
    /// Every other turn of a loop runs a launch's last units first: weights that are larger than a cache are then met
    /// where the turn before left them, instead of each just after it went.
    pub(crate) falling: bool,
    /// Whether the steps are those of a loop.
    pub(crate) in_loop: bool,
    /// Launches whose device takes their times, not asked for yet.
    pub(crate) timed: Vec<Timed>,
}

impl Run<'_> {
    pub(crate) fn steps(&mut self, ops: &[Op]) -> Result<(), Diagnostic> {
        ops.iter().try_for_each(|op| self.step(op))
    }

    fn step(&mut self, op: &Op) -> Result<(), Diagnostic> {
        self.running.check()?;
        match op {
            Op::Launch(launch) => self.launch(launch),
            Op::Copy { src, src_offset, dst, dst_offset, bytes } => {
                let bytes = self.size(*bytes)?;
                let device = self.device(*dst);
                let src = self.part(*src, *src_offset, bytes)?;
                let dst = self.part(*dst, *dst_offset, bytes)?;
                self.copy(device, src, dst)
            }
            Op::Transfer { src, src_offset, dst, dst_offset, bytes } => {
                let bytes = self.size(*bytes)?;
                let (from, to) = (self.device(*src), self.device(*dst));
                let src = self.part(*src, *src_offset, bytes)?;
                let dst = self.part(*dst, *dst_offset, bytes)?;
                self.transfer(from, src, to, dst)
            }
            Op::Fill { dst, value, bytes } => {
                let bytes = self.size(*bytes)?;
                let device = self.device(*dst);
                let dst = self.part(*dst, Size::Known(0), bytes)?;
                // SAFETY: memory of this run, writable, and of no branch beside this (`check_program`); this branch's kernels on the
                // host have returned.
                unsafe { self.cx.queues[device].fill(dst, *value) }
            }
            Op::Bind { symbol, from } => self.bind(*symbol as usize, *from),
            Op::Assert { lhs, op, rhs, texts } => {
                let (lhs, rhs) = (self.size(*lhs)?, self.size(*rhs)?);
                if op.holds(lhs, rhs) {
                    return Ok(());
                }
                let grows = [&texts.lhs, &texts.rhs].into_iter().any(|dim| self.grows(dim));
                let code = if grows { SymbolInfo::GROWTH } else { "assertion" };
                let mut diagnostic = Diagnostic::error(code, texts.message.clone());
                for (dim, value) in [(&texts.lhs, lhs), (&texts.rhs, rhs)] {
                    if dim.as_const().is_none() {
                        diagnostic = diagnostic.note(format!("`{dim}` is {value}"));
                    }
                }
                Err(diagnostic)
            }
            Op::If { cond, then, otherwise } => {
                let branch = if self.read_bool(*cond)? { then } else { otherwise };
                self.steps(branch)
            }
            Op::Loop { trip, cond, counter, body } => self.repeat(*trip, *cond, *counter, body),
            Op::Fork(branches) => self.fork(branches),
            Op::Release(slots) => {
                slots.iter().for_each(|slot| self.cx.release_late(*slot));
                Ok(())
            }
        }
    }

    fn repeat(
        &mut self,
        trip: Option<BufferId>,
        cond: Option<BufferId>,
        counter: Option<BufferId>,
        body: &[Op],
    ) -> Result<(), Diagnostic> {
        let trip = trip.map(|trip| self.read_i64(trip)).transpose()?.unwrap_or(i64::MAX);
        let outer = std::mem::replace(&mut self.in_loop, true);
        for iteration in 0..trip.max(0) {
            self.running.check()?;
            if let Some(cond) = cond
                && !self.read_bool(cond)?
            {
                break;
            }
            if let Some(counter) = counter {
                let device = self.device(counter);
                let counter = self.part(counter, Size::Known(0), 8)?;
                // SAFETY: eight bytes of writable memory of this run, of no branch beside this (`check_program`); no kernel
                // of this branch runs.
                unsafe { self.cx.queues[device].write(counter, &iteration.to_le_bytes())? };
            }
            self.falling = iteration % 2 == 1;
            self.steps(body)?;
        }
        self.falling = false;
        self.in_loop = outer;
        Ok(())
    }

    /// Whether a size hangs on how much loops may grow.
    fn grows(&self, dim: &Dim) -> bool {
        let mut grows = false;
        dim.for_each_symbol(&mut |name| {
            let is_it = |at: &usize| self.program.symbols[*at].origin == Origin::Growth;
            grows |= self.bound.names.get(&**name).is_some_and(is_it);
        });
        grows
    }

    fn bind(&mut self, symbol: usize, from: BufferId) -> Result<(), Diagnostic> {
        let value = self.read_i64(from)?;
        let facts = &self.program.symbols[symbol];
        let upper = facts.upper.as_ref().and_then(|upper| upper.eval(&|name| self.symbol(name)));
        let is = format_args!("the computed size `{}` is {value}", facts.name).to_string();
        let message = if value < facts.min || value > facts.max {
            format!("{is}, outside of {} to {}", facts.min, facts.max)
        } else if let Some(upper) = upper.filter(|upper| value > *upper) {
            format!("{is}, above its bound {upper}")
        } else if value % facts.divisor != 0 {
            format!("{is}, no multiple of {}", facts.divisor)
        } else {
            self.cx.symbols[symbol] = Some(value);
            self.cx.bounds = None;
            return Ok(());
        };
        let source = &self.program.buffers[from.index()].name;
        Err(Diagnostic::error("computed-size", message).at(format!("value `{source}`")))
    }

    fn launch(&mut self, launch: &Launch) -> Result<(), Diagnostic> {
        let grid = self.extent(launch.grid)?;
        if grid == 0 {
            return Ok(());
        }
        for (word, late) in &launch.late {
            self.cx.words[*word as usize] = match late {
                LateWord::Size(size) => self.size(*size)? as u64,
                LateWord::Address(buffer) => self.resolve(*buffer)?.address,
            };
        }
        self.cx.launches[launch.kernel as usize] += 1;
        let start = self.profile.as_ref().map(|_| Instant::now());
        let threads = self.dispatch(launch, grid)?;
        let end = self.profile.as_ref().map(|_| Instant::now());
        let is_falling = self.is_falling(launch) && grid >= FALLING_PARTS;
        if let (Some((profile, origin)), Some(start), Some(end)) = (&mut self.profile, start, end) {
            profile.launches.push(LaunchTime {
                kernel: launch.kernel,
                start_ns: start.duration_since(*origin).as_nanos() as u64,
                ns: end.duration_since(start).as_nanos() as u64,
                grid,
                threads,
                words: self.cx.words[launch.words.clone()].to_vec(),
                falling_parts: if is_falling { FALLING_PARTS } else { 0 },
            });
        }
        Ok(())
    }

    /// Runs the kernel; returns how many threads took part.
    fn dispatch(&mut self, launch: &Launch, grid: u64) -> Result<u32, Diagnostic> {
        let kernels = self.kernels;
        let kernel = &kernels.list[launch.kernel as usize];
        if let Prepared::Native(native) = kernel {
            self.run_native(launch, native)?;
            return Ok(1);
        }
        if let Prepared::Queued(number) = kernel {
            self.launch_queued(*number, launch, grid, &[])?;
            return Ok(1);
        }
        if let Prepared::Whole(number) = kernel {
            let buffers = self.ranges(launch)?;
            self.launch_queued(*number, launch, grid, &buffers)?;
            return Ok(1);
        }
        let scratch_bytes = self.extent(launch.scratch)? as usize;
        let (scratch, stride) = self.cx.scratch(scratch_bytes, self.pool.threads())?;
        let scratch_of = |thread: usize| scratch + (thread * stride) as u64;
        match kernel {
            Prepared::Machine(entry) => {
                let words = self.cx.words[launch.words.clone()].as_ptr() as usize;
                let falling = self.is_falling(launch);
                Ok(self.split(launch, grid, &|thread, begin, end| {
                    // SAFETY: the package's code obeys the ABI for these arguments (the compiler's promise, kept
                    // from damage by the checksum); the words and all buffers outlive this launch.
                    let run = |begin, end| unsafe {
                        cpu::call(*entry, words as *const u64, scratch_of(thread), begin, end)
                    };
                    match falling && end - begin >= FALLING_PARTS {
                        true => (0..FALLING_PARTS).rev().for_each(|part| {
                            let units = share(end - begin, part as usize, FALLING_PARTS as usize);
                            run(begin + units.start, begin + units.end);
                        }),
                        false => run(begin, end),
                    }
                }))
            }
            Prepared::Interpreted(kernel) => {
                let buffers = self.ranges(launch)?;
                let words = &self.cx.words[launch.words.clone()];
                let fault: Mutex<Option<String>> = Mutex::new(None);
                let threads = self.split(launch, grid, &|thread, begin, end| {
                    let scratch = Range { address: scratch_of(thread), bytes: scratch_bytes, writable: true };
                    // SAFETY: the ranges are memory of this run, and only this launch runs that may write them
                    // (`check_program`).
                    let memory = unsafe { LaunchMemory::new(&buffers, scratch, self.running) };
                    if let Err(error) = kernel.run(words, scratch.address, &memory, begin, end)
                        && let Ok(mut fault) = fault.lock()
                    {
                        *fault = Some(error);
                    }
                });
                match fault.into_inner().ok().flatten() {
                    None => Ok(threads),
                    Some(error) => Err(self.kernel_failed(launch, &error)),
                }
            }
            Prepared::Native(_) | Prepared::Queued(_) | Prepared::Whole(_) => {
                Err(Diagnostic::internal("a kernel was not run"))
            }
        }
    }

    /// Whether the launch's units run from the last to the first.
    fn is_falling(&self, launch: &Launch) -> bool {
        self.falling && !is_short(launch)
    }

    /// Calls `job(thread, begin, end)` for each part of the grid.
    fn split(&self, launch: &Launch, grid: u64, job: &(dyn Fn(usize, u64, u64) + Sync)) -> u32 {
        let turn = if grid == 1 || is_short(launch) { None } else { self.pool.try_turn() };
        let Some(mut turn) = turn else {
            // Also when another run has the pool: the result is the same.
            job(0, 0, grid);
            return 1;
        };
        let threads = turn.threads();
        let is_kept = self.in_loop && launch.predicted_ns < KEPT_BELOW_NS;
        let most = if is_kept { 1 } else { PARTS };
        let parts = grid.div_ceil(threads as u64).min(most) as usize;
        let falling = self.is_falling(launch);
        turn.run(parts as u32, &|thread, part| {
            let part = if falling { mirrored(part, parts) } else { part };
            let units = share(grid, part, threads * parts);
            if !units.is_empty() {
                job(thread, units.start, units.end);
            }
        });
        threads as u32
    }

    fn run_native(&mut self, launch: &Launch, native: &Native) -> Result<(), Diagnostic> {
        let ranges = self.ranges(launch)?;
        let sizes: Vec<i64> =
            self.cx.words[launch.words.clone()][1 + ranges.len()..].iter().map(|word| *word as i64).collect();
        if !self.kernels.home_is_local() {
            return self.run_native_away(launch, native, &ranges, &sizes);
        }
        let args = native_args(native, &ranges, &sizes, self.running);
        let result = args.and_then(|args| native.kernel.run(args));
        self.running.check()?;
        result.map_err(|reason| self.kernel_failed(launch, &reason))
    }

    fn kernel_failed(&self, launch: &Launch, reason: &str) -> Diagnostic {
        let kernel = &self.program.kernels[launch.kernel as usize];
        let mut diagnostic =
            Diagnostic::error("kernel-failed", format!("kernel `{}`: {reason}", kernel.name));
        for node in kernel.source.iter() {
            diagnostic = diagnostic.at(format!("node \"{node}\""));
        }
        diagnostic
    }

    fn ranges(&mut self, launch: &Launch) -> Result<Vec<Range>, Diagnostic> {
        launch.buffers.iter().map(|buffer| self.resolve(*buffer)).collect()
    }

    /// The memory of a buffer, late blocks made as large as their sizes say by now.
    pub(crate) fn resolve(&mut self, buffer: BufferId) -> Result<Range, Diagnostic> {
        let bound = self.bound;
        let loc = &bound.buffers[buffer.index()];
        if let Base::Late(slot) = loc.base {
            let bytes = self.capacity(bound.late_blocks[slot as usize], buffer)?;
            self.cx.grow_late(slot, loc.device, bytes)?;
        }
        let root = self.cx.range(loc.base);
        let offset = self.extent(loc.offset)? as usize;
        let bytes = self.capacity(loc.bytes, buffer)?;
        let most = loc.end.map_or(root.bytes, |end| end.min(root.bytes));
        if offset.checked_add(bytes).is_none_or(|end| end > most) {
            let name = &self.program.buffers[buffer.index()].name;
            return Err(crate::bind::invalid(format!("buffer `{name}` lies outside of its memory")));
        }
        Ok(Range { address: root.address + offset as u64, bytes, writable: root.writable })
    }

    /// `bytes` bytes of a buffer from `offset`.
    fn part(&mut self, buffer: BufferId, offset: Size, bytes: i64) -> Result<Range, Diagnostic> {
        let offset = self.extent(offset)?;
        let range = self.resolve(buffer)?;
        match u64::try_from(bytes).ok().and_then(|bytes| offset.checked_add(bytes)) {
            Some(end) if end <= range.bytes as u64 => {
                Ok(Range { address: range.address + offset, bytes: bytes as usize, ..range })
            }
            _ => {
                let name = &self.program.buffers[buffer.index()].name;
                Err(crate::bind::invalid(format!(
                    "a step touches {bytes} bytes at {offset} of buffer `{name}`, which has {}",
                    range.bytes
                )))
            }
        }
    }

    fn read_i64(&mut self, buffer: BufferId) -> Result<i64, Diagnostic> {
        let device = self.device(buffer);
        let range = self.part(buffer, Size::Known(0), 8)?;
        let mut bytes = [0; 8];
        // SAFETY: eight bytes of memory of this run; no kernel that may write them runs (`check_program`).
        unsafe { self.cx.queues[device].read(range, &mut bytes)? };
        Ok(i64::from_le_bytes(bytes))
    }

    fn read_bool(&mut self, buffer: BufferId) -> Result<bool, Diagnostic> {
        let device = self.device(buffer);
        let range = self.part(buffer, Size::Known(0), 1)?;
        let mut byte = [0];
        // SAFETY: one byte of memory of this run; no kernel that may write it runs (`check_program`).
        unsafe { self.cx.queues[device].read(range, &mut byte)? };
        Ok(byte != [0])
    }

    /// The place of a buffer's device in the package.
    fn device(&self, buffer: BufferId) -> usize {
        self.bound.buffers[buffer.index()].device
    }

    fn symbol(&self, name: &str) -> Option<i64> {
        self.cx.symbols[*self.bound.names.get(name)?]
    }

    pub(crate) fn size(&self, size: Size) -> Result<i64, Diagnostic> {
        match size {
            Size::Known(n) => Ok(n),
            Size::Late(index) => {
                let dim = &self.bound.late_sizes[index as usize];
                dim.eval(&|name| self.symbol(name)).ok_or_else(|| {
                    Diagnostic::error("computed-size", format!("the size `{dim}` is not defined here"))
                        .note("it overflows, divides by zero, or needs a value that is not yet computed")
                })
            }
        }
    }

    /// A size that must not be negative.
    fn extent(&self, size: Size) -> Result<u64, Diagnostic> {
        let n = self.size(size)?;
        u64::try_from(n).map_err(|_| {
            let dim = match size {
                Size::Known(n) => Dim::from(n),
                Size::Late(index) => self.bound.late_sizes[index as usize].clone(),
            };
            Diagnostic::error("computed-size", format!("the size `{dim}` would be {n}"))
        })
    }

    /// Bytes to reserve: exact when all symbols are bound, else the largest the bounds of the symbols allow.
    fn capacity(&mut self, size: Size, buffer: BufferId) -> Result<usize, Diagnostic> {
        let Size::Late(index) = size else { return Ok(self.extent(size)? as usize) };
        let (program, names) = (self.program, &self.bound.names);
        let dim = &self.bound.late_sizes[index as usize];
        let mut bound = true;
        dim.for_each_symbol(&mut |name| bound &= self.symbol(name).is_some());
        if bound {
            return Ok(self.extent(size)? as usize);
        }
        let symbols = &self.cx.symbols;
        let bounds = self.cx.bounds.get_or_insert_with(|| symbol_bounds(program, names, symbols));
        let (_, upper) = dim.bounds(&|name| names.get(name).map_or((0, i64::MAX), |at| bounds[*at]));
        usize::try_from(upper).ok().filter(|bytes| *bytes <= 1 << 46).ok_or_else(|| {
            let name = &self.program.buffers[buffer.index()].name;
            Diagnostic::error("computed-size", format!("the size of `{name}` is not known when it is needed"))
                .note(format!("it is `{dim}` bytes"))
        })
    }
}

/// Slices for a runtime kernel. Errors: the launch does not fit the kernel's signature.
fn native_args<'a>(
    native: &Native,
    ranges: &[Range],
    sizes: &[i64],
    running: Running<'a>,
) -> Result<RuntimeKernelArgs<'a>, String> {
    let signature = &native.signature;
    let operands = signature.operands.len();
    if ranges.len() != operands + signature.results.len() {
        return Err(format!("{} buffers are given to `{}`", ranges.len(), native.name));
    }
    for (i, result) in ranges.iter().enumerate().skip(operands) {
        let clash = ranges.iter().enumerate().any(|(k, other)| k != i && result.overlaps(other));
        if clash || !result.writable {
            return Err(format!("result {} of `{}` shares memory", i - operands, native.name));
        }
    }
    let mut sizes = sizes.iter().copied();
    let mut slots = signature.operands.iter().chain(&signature.results);
    let mut next = |range: &Range| -> Result<_, String> {
        let slot = slots.next().ok_or("too many buffers")?;
        let shape: Option<Vec<usize>> =
            (0..slot.rank).map(|_| sizes.next().and_then(|n| usize::try_from(n).ok())).collect();
        let shape = shape.filter(|shape| shape.iter().all(|extent| *extent <= i32::MAX as usize));
        let shape = shape.ok_or("a dim is missing, negative or too large")?;
        let bytes = native::checked_bytes(slot.dtype, &shape)
            .filter(|bytes| *bytes <= range.bytes)
            .ok_or_else(|| format!("a buffer of {} bytes is no {}{shape:?}", range.bytes, slot.dtype))?;
        Ok((slot.dtype, shape, Range { bytes, ..*range }))
    };
    let mut args =
        RuntimeKernelArgs { operands: Vec::new(), results: Vec::new(), scalars: Vec::new(), running };
    for range in &ranges[..operands] {
        let (dtype, shape, range) = next(range)?;
        // SAFETY: live memory of this run; results do not overlap it, and nothing else runs that may write it.
        args.operands.push(View { dtype, shape, bytes: unsafe { range.as_slice() } });
    }
    for range in &ranges[operands..] {
        let (dtype, shape, range) = next(range)?;
        // SAFETY: live writable memory of this run that overlaps no other argument.
        args.results.push(ViewMut { dtype, shape, bytes: unsafe { range.as_mut_slice() } });
    }
    args.scalars = sizes.collect();
    Ok(args)
}
