//! Jobs of a phase, and the phases that they become.
//!
//! Jobs are placed as they come, each where it fits. A phase ends when it has many words: the proof and the calendars of a phase
//! are held at once. If a queue's words can't all be there in time, the phase becomes two, each of half of its jobs.

use crate::assemble::{Text, phase};
use crate::flow::{Flow, Kind};
use crate::place::Homes;
use crate::planes::Planes;
use crate::schedule::Scene;
use crate::schedule::template::Template;
use crate::timeline::Timeline;
use tegula_isa_lpu::{Phase, QueueId};
use tegula_machine::Lpu;

/// Words of a phase, repeats counted each time, beyond which it ends.
const MANY_EVENTS: usize = 1 << 20;

/// A flow with what it takes.
pub(crate) struct Job {
    /// The flow, as text.
    pub(crate) what: String,
    pub(crate) kind: JobKind,
}

pub(crate) enum JobKind {
    Rigid(Template),
    /// A product, and where its values lie.
    Product(Flow, Homes),
}

/// A phase as it was placed.
pub(crate) struct Placed {
    pub(crate) phase: Phase,
    /// From its first cycle to its last issue.
    pub(crate) cycles: u64,
    /// The first and last cycle of each flow.
    pub(crate) spans: Vec<(String, [u64; 2])>,
}

/// The phase at hand, and its jobs.
pub(crate) struct Filling<'a> {
    timeline: Timeline<'a>,
    planes: Planes,
    jobs: Vec<Job>,
    spans: Vec<(String, [u64; 2])>,
}

/// Why a phase has no words: a queue needs some before it idles, and holds fewer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunsDry {
    pub(crate) queue: QueueId,
    pub(crate) need: u64,
    pub(crate) have: u64,
}

impl<'a> Filling<'a> {
    pub(crate) fn new(lpu: &'a Lpu) -> Filling<'a> {
        Filling {
            timeline: Timeline::new(lpu),
            planes: Planes::default(),
            jobs: Vec::new(),
            spans: Vec::new(),
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.timeline.events.len() >= MANY_EVENTS
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Calendar probes and reservations so far.
    pub(crate) fn probes(&self) -> [u64; 2] {
        [self.timeline.probes, self.timeline.reservations]
    }

    /// Places a job. None: a product's rows are no burst.
    pub(crate) fn add(&mut self, job: Job, scene: &Scene<'_>) -> Option<()> {
        let from = self.timeline.events.len();
        match &job.kind {
            JobKind::Rigid(template) => _ = self.timeline.place(template, 0),
            JobKind::Product(flow, homes) => {
                let Kind::Product(product) = &flow.kind else { return None };
                let scene = Scene { homes, ..*scene };
                self.planes.place(flow, product, &scene, &mut self.timeline)?;
            }
        }
        let cycles = self.timeline.events[from..].iter().map(|event| event.cycle as u64);
        let span = [cycles.clone().min().unwrap_or(0), cycles.max().unwrap_or(0)];
        self.spans.push((job.what.clone(), span));
        self.jobs.push(job);
        Some(())
    }

    /// The phases of all jobs. Errors: a single job whose words can't all be there.
    pub(crate) fn finish(self, scene: &Scene<'_>, text: &mut Text) -> Result<Vec<Placed>, RunsDry> {
        let Filling { mut timeline, mut jobs, spans, .. } = self;
        if jobs.is_empty() {
            return Ok(Vec::new());
        }
        timeline.events.sort_by_key(|event| (event.queue, event.cycle));
        let cycles = timeline.events.iter().map(|event| event.cycle as u64 + 1).max().unwrap_or(0);
        let dry = match phase(&timeline.events, scene.lpu, text) {
            Ok(phase) => return Ok(vec![Placed { phase, cycles, spans }]),
            Err(dry) => dry,
        };
        if jobs.len() < 2 {
            return Err(dry);
        }
        let back = jobs.split_off(jobs.len() / 2);
        let mut phases = Vec::new();
        for jobs in [jobs, back] {
            let mut filling = Filling::new(scene.lpu);
            for job in jobs {
                filling.add(job, scene).ok_or(dry)?;
            }
            phases.extend(filling.finish(scene, text)?);
        }
        Ok(phases)
    }
}
