//! What stops a run: a word that the machine would not do as it was meant.

use std::fmt;
use tegula_isa_lpu::issue::Problem;
use tegula_isa_lpu::{Image, Issue, QueueId, Tag, ValueName};

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trap {
    pub chip: u16,
    pub queue: QueueId,
    /// Of the phase; none: the queue cannot be followed to it.
    pub cycle: Option<i64>,
    /// The word's place in its queue.
    pub place: u32,
    pub fault: Fault,
    /// The fault in words, with the names of values.
    text: String,
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    Queue(Problem),
    /// Nothing is on the stream, in the word of SRAM, or given by the ALU.
    Nothing {
        wanted: Tag,
    },
    /// Another vector is there.
    Other {
        wanted: Tag,
        found: Tag,
    },
    TwoDrivers {
        first: Tag,
        second: Tag,
    },
    /// A bank has one port.
    PortTwice,
    /// What the word names does not exist on the machine.
    OutOfRange(&'static str),
    /// Fewer tags than ends, or more.
    Tags,
    RowNotLoaded {
        row: u32,
    },
    NothingInstalled,
    /// A row is multiplied before its weights are there.
    Installing,
    /// The planes of a tandem are not both free.
    Tandem,
    /// No row was multiplied in the cycle that the word takes sums of.
    NoSums,
    /// Sums that no word takes.
    SumsLeft,
    /// Sums were not set, were emitted already, or are of another type.
    SumsNotSet,
    /// Sums were not emitted.
    SumsDue,
    NothingHeld,
    TwoResults,
    /// The queue holds no word any more.
    Dry,
    NoChip,
}

impl Fault {
    fn text(&self, values: &[ValueName]) -> String {
        let name = |tag: Tag| match values.get(tag.value as usize) {
            Some(value) if value.node.is_empty() => {
                format!("vector {} of `{}`{}", tag.index, value.name, part(tag))
            }
            Some(value) => {
                format!("vector {} of `{}` of node `{}`{}", tag.index, value.name, value.node, part(tag))
            }
            None => format!("{tag}"),
        };
        match self {
            Fault::Queue(problem) => problem.text().into(),
            Fault::Nothing { wanted } => format!("nothing is there in place of {}", name(*wanted)),
            Fault::Other { wanted, found } => {
                format!("{} is there in place of {}", name(*found), name(*wanted))
            }
            Fault::TwoDrivers { first, second } => {
                format!("{} and {} are driven at once", name(*first), name(*second))
            }
            Fault::PortTwice => "a bank is used twice in a cycle".into(),
            Fault::OutOfRange(what) => format!("the machine has no such {what}"),
            Fault::Tags => "its tags are not those of its ends".into(),
            Fault::RowNotLoaded { row } => format!("row {row} of the weights is not loaded"),
            Fault::NothingInstalled => "no weights are installed".into(),
            Fault::Installing => "the weights are not there yet".into(),
            Fault::Tandem => "the planes of the pair are not both free for it".into(),
            Fault::NoSums => "no row was multiplied in the cycle that it takes sums of".into(),
            Fault::SumsLeft => "no word takes its sums".into(),
            Fault::SumsNotSet => "the row of sums is not set".into(),
            Fault::SumsDue => "the row of sums is not emitted yet".into(),
            Fault::NothingHeld => "the ALU holds nothing".into(),
            Fault::TwoResults => "the ALU gives two results at once".into(),
            Fault::Dry => "the queue holds no further word".into(),
            Fault::NoChip => "the link leads to no chip".into(),
        }
    }
}

fn part(tag: Tag) -> String {
    if tag.part == 0 { String::new() } else { format!(", part {}", tag.part) }
}

impl Trap {
    pub(crate) fn at(issue: &Issue, fault: Fault, image: &Image) -> Trap {
        let text = fault.text(&image.values);
        let Issue { chip, queue, place, cycle, .. } = *issue;
        Trap { chip, queue, cycle: Some(cycle), place, fault, text }
    }

    pub(crate) fn of_queue(chip: u16, queue: QueueId, place: u32, fault: Fault, image: &Image) -> Trap {
        let text = fault.text(&image.values);
        Trap { chip, queue, cycle: None, place, fault, text }
    }
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Trap { chip, queue, cycle, place, text, .. } = self;
        write!(f, "chip {chip}, {queue}, word {place}")?;
        if let Some(cycle) = cycle {
            write!(f, ", cycle {cycle}")?;
        }
        write!(f, ": {text}")
    }
}
