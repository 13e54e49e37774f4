//! What a pass is given and what it says about itself.

use crate::trace::{Trace, TraceLevel};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;
use tegula_base::face::Clock;

/// Whether a pass did anything; the pipeline prints and verifies only after `Yes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    No,
    Yes,
}

impl Changed {
    pub fn if_true(changed: bool) -> Changed {
        if changed { Changed::Yes } else { Changed::No }
    }

    pub fn is_yes(self) -> bool {
        self == Changed::Yes
    }
}

impl std::ops::BitOr for Changed {
    type Output = Changed;
    fn bitor(self, other: Changed) -> Changed {
        Changed::if_true(self.is_yes() || other.is_yes())
    }
}

impl std::ops::BitOrAssign for Changed {
    fn bitor_assign(&mut self, other: Changed) {
        *self = *self | other;
    }
}

/// A pass's word on one op, for `explain` and traces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// `pipeline:pass`.
    pub pass: Arc<str>,
    /// The op's name in the source model.
    pub location: Option<Arc<str>>,
    pub text: Cow<'static, str>,
}

/// One finished pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassRecord {
    pub pipeline: String,
    pub pass: String,
    pub changed: Changed,
    /// Wall time; `None` without a clock.
    pub time_ns: Option<u64>,
    pub counters: BTreeMap<&'static str, u64>,
}

/// What all passes of a compilation share. Time is measured for reports only, never for choices.
#[derive(Default)]
pub struct PassCx<'a> {
    trace: Trace,
    clock: Option<&'a dyn Clock>,
    sink: Option<&'a mut dyn Write>,
    pipeline: String,
    pass: String,
    /// A few, counted often.
    counters: Vec<(&'static str, u64)>,
    /// `pipeline:pass`.
    title: Arc<str>,
    is_quiet: bool,
    /// All remarks so far, traced or not, unless nobody asked for them.
    pub remarks: Vec<Remark>,
    /// All passes so far, in order.
    pub records: Vec<PassRecord>,
}

impl<'a> PassCx<'a> {
    /// Silent, without a clock.
    pub fn new() -> PassCx<'a> {
        PassCx::default()
    }

    pub fn with_clock(mut self, clock: &'a dyn Clock) -> PassCx<'a> {
        self.clock = Some(clock);
        self
    }

    /// Remarks are kept only where they are traced.
    pub fn without_remarks(mut self) -> PassCx<'a> {
        self.is_quiet = true;
        self
    }

    /// Remarks are kept from here on, traced or not.
    pub fn keep_remarks(&mut self) {
        self.is_quiet = false;
    }

    /// Traces go to `sink`, which a face provides; what it cannot take is lost.
    pub fn with_trace(mut self, trace: Trace, sink: &'a mut dyn Write) -> PassCx<'a> {
        self.trace = trace;
        self.sink = Some(sink);
        self
    }

    /// Adds to a counter of the pass that runs: `cx.count("folded", 3)`.
    #[inline]
    pub fn count(&mut self, counter: &'static str, n: u64) {
        match self.counters.iter_mut().find(|(name, _)| *name == counter) {
            Some((_, sum)) => *sum += n,
            None => self.counters.push((counter, n)),
        }
    }

    /// Says why something was done, or not done, to the op from node `location`.
    pub fn remark(&mut self, location: Option<&Arc<str>>, text: impl Into<Cow<'static, str>>) {
        self.remark_with(location, || text.into());
    }

    /// As [`remark`](Self::remark), of a text that is made only for a listener.
    pub fn remark_with<T: Into<Cow<'static, str>>>(
        &mut self,
        location: Option<&Arc<str>>,
        text: impl FnOnce() -> T,
    ) {
        if self.is_quiet && self.level() < TraceLevel::Remark {
            return;
        }
        let remark = Remark { pass: self.title.clone(), location: location.cloned(), text: text().into() };
        if self.level() >= TraceLevel::Remark {
            let node = remark.location.as_ref().map_or(String::new(), |node| format!(" \"{node}\""));
            self.print(&format!("{}{node}: {}\n", remark.pass, remark.text));
        }
        self.remarks.push(remark);
    }

    /// What the running pass should say.
    #[inline]
    pub fn level(&self) -> TraceLevel {
        match self.sink {
            Some(_) => self.trace.level(&self.pipeline, &self.pass),
            None => TraceLevel::Off,
        }
    }

    /// Writes to the trace whatever the level is.
    pub fn print(&mut self, text: &str) {
        if let Some(sink) = &mut self.sink {
            // A trace that cannot be written must not fail a compilation.
            let _ = sink.write_str(text);
        }
    }

    pub(crate) fn enter(&mut self, pipeline: &str, pass: &str) {
        self.pipeline = pipeline.to_owned();
        self.pass = pass.to_owned();
        self.title = format!("{pipeline}:{pass}").into();
        self.counters.clear();
    }

    pub(crate) fn leave(&mut self, changed: Changed, time_ns: Option<u64>) {
        let record = PassRecord {
            pipeline: self.pipeline.clone(),
            pass: self.pass.clone(),
            changed,
            time_ns,
            counters: self.counters.drain(..).collect(),
        };
        if self.level() >= TraceLevel::Pass {
            self.print(&format!("{record}\n"));
        }
        self.records.push(record);
    }

    pub(crate) fn now_ns(&self) -> Option<u64> {
        self.clock.map(Clock::now_ns)
    }

    /// A line for each pass in order, then the sum.
    pub fn timing_table(&self) -> String {
        let mut table = String::new();
        for record in &self.records {
            table.push_str(&format!("{record}\n"));
        }
        let total: u64 = self.records.iter().filter_map(|record| record.time_ns).sum();
        if self.clock.is_some() {
            table.push_str(&format!("{:<40} {:>7}  {:>10}\n", "total", "", milliseconds(total)));
        }
        table
    }
}

/// `tensor:fold_constants                   changed    1.234 ms  folded=3`.
impl std::fmt::Display for PassRecord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let changed = if self.changed.is_yes() { "changed" } else { "-" };
        let mut line = format!("{:<40} {changed:<7}", format!("{}:{}", self.pipeline, self.pass));
        if let Some(time_ns) = self.time_ns {
            line += &format!("  {:>10}", milliseconds(time_ns));
        }
        for (name, n) in &self.counters {
            line += &format!("  {name}={n}");
        }
        f.write_str(line.trim_end())
    }
}

fn milliseconds(ns: u64) -> String {
    format!("{:.3} ms", ns as f64 * 1e-6)
}
