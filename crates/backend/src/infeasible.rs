//! What a machine has too little of for a region, or for an op: one resource, one report.

use std::fmt;
use tegula_base::{Code, Diagnostic};

/// What a machine can have too little of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Bytes of its memory.
    Memory,
    /// Words side by side in a bank of memory, for a part of a value.
    Bank,
    /// Vectors of one tensor, which share a part of the memory with others.
    Tensor,
    /// Elements of one tensor, each of which is looked at when a movement is compiled.
    Elements,
    /// Words of a queue, which hold no more until it idles.
    Queue(String),
    /// Streams, units or words of queues for a step that is cut no further: what it is.
    Step(String),
    /// A way to compute something, which a claim said that there is.
    Form(String),
}

impl Resource {
    /// What holders take.
    fn unit(&self) -> &'static str {
        match self {
            Resource::Memory | Resource::Bank => "bytes",
            Resource::Tensor => "vectors",
            Resource::Elements => "elements",
            Resource::Queue(_) => "words",
            Resource::Step(_) | Resource::Form(_) => "",
        }
    }
}

/// How much is needed of what, and how much there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Short {
    /// Of the diagnostic.
    pub code: Code,
    pub resource: Resource,
    pub need: u64,
    pub have: u64,
}

/// As the end of a sentence about what is short of it.
impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Short { resource, need, have, .. } = self;
        match resource {
            Resource::Memory => write!(f, "{need} bytes of memory are needed, and {have} are there"),
            Resource::Bank => {
                write!(f, "{need} words side by side in a bank are needed, and at most {have} are free")
            }
            Resource::Tensor => write!(f, "a tensor has {need} vectors, and one may take {have}"),
            Resource::Elements => {
                write!(f, "a tensor has {need} elements, and movements of at most {have} are compiled")
            }
            Resource::Queue(queue) => {
                write!(f, "{queue} needs {need} words of text before it idles, and holds {have}")
            }
            Resource::Form(what) => write!(f, "there is no form of {what}"),
            Resource::Step(what) => write!(f, "streams, units or words of queues are too few for {what}"),
        }
    }
}

/// Why a region does not compile: what the machine has too little of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Infeasible {
    pub short: Short,
    /// What does not fit, in the user's words, and the node of the model that it is part of, which may be empty.
    pub what: Box<str>,
    pub node: Box<str>,
    /// What takes most of the resource, with how much of it each takes; of memory in bytes.
    pub holders: Vec<(String, u64)>,
}

/// Holders that a report has at most.
pub const MOST_HOLDERS: usize = 5;

impl Infeasible {
    /// As a user reads it, with the largest holders.
    pub fn on(self, machine: &str) -> Diagnostic {
        let Infeasible { short, what, node, mut holders } = self;
        let unit = short.resource.unit();
        let mut error = Diagnostic::error(short.code, format!("{what} does not fit `{machine}`: {short}"));
        if !node.is_empty() {
            error = error.at(format!("node \"{node}\""));
        }
        holders.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let shown = holders.into_iter().take(MOST_HOLDERS);
        shown.fold(error, |error, (holder, amount)| error.note(format!("{holder} takes {amount} {unit}")))
    }
}
