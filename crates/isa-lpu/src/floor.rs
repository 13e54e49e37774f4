//! The floor of a chip: halves, positions, streams and queues, as words and messages name them.

use std::fmt;
use tegula_machine::Lpu;

/// West of the centre, or east of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Half {
    West,
    East,
}

impl Half {
    pub const BOTH: [Half; 2] = [Half::West, Half::East];

    pub fn other(self) -> Half {
        match self {
            Half::West => Half::East,
            Half::East => Half::West,
        }
    }

    /// The sign of its positions.
    pub fn sign(self) -> i32 {
        match self {
            Half::West => -1,
            Half::East => 1,
        }
    }
}

impl fmt::Display for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Half::West => "W",
            Half::East => "E",
        })
    }
}

/// Where vectors hop to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    West,
    East,
}

/// One byte of each lane, that hops by one position a cycle. A group of streams has the ids from the first one on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Stream {
    pub direction: Direction,
    pub id: u8,
}

impl Stream {
    pub fn east(id: u8) -> Stream {
        Stream { direction: Direction::East, id }
    }

    pub fn west(id: u8) -> Stream {
        Stream { direction: Direction::West, id }
    }

    /// The stream so many ids on.
    pub fn plus(self, n: u32) -> Stream {
        Stream { id: self.id.saturating_add(n.min(255) as u8), ..self }
    }

    /// What a vector at a position in a cycle keeps while it hops: hop times cycle less or plus the position.
    pub fn diagonal(self, position: i32, cycle: i64, hop: u32) -> i64 {
        let way = i64::from(position) * i64::from(hop);
        match self.direction {
            Direction::East => cycle - way,
            Direction::West => cycle + way,
        }
    }

    /// Whether a vector at `from` still comes by `to`.
    pub fn reaches(self, from: i32, to: i32) -> bool {
        match self.direction {
            Direction::East => from <= to,
            Direction::West => from >= to,
        }
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.direction {
            Direction::East => 'e',
            Direction::West => 'w',
        };
        write!(f, "{letter}{}", self.id)
    }
}

/// An instruction queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum QueueId {
    /// Of a slice of SRAM.
    Mem {
        half: Half,
        slice: u8,
    },
    /// Of a matrix plane: weights that are loaded and installed, rows that are multiplied, sums.
    Weights {
        half: Half,
        plane: u8,
    },
    Rows {
        half: Half,
        plane: u8,
    },
    Sums {
        half: Half,
        plane: u8,
    },
    /// Of one ALU of each lane.
    Alu(u8),
    /// Of the shifters and permuters.
    Sxm {
        half: Half,
        queue: u8,
    },
}

impl QueueId {
    /// All queues of a chip, in order.
    pub fn all(lpu: &Lpu) -> Vec<QueueId> {
        let mut all = Vec::new();
        for half in Half::BOTH {
            all.extend(numbers(lpu.mem.slices).map(|slice| QueueId::Mem { half, slice }));
            for plane in numbers(lpu.mxm.planes) {
                all.extend([
                    QueueId::Weights { half, plane },
                    QueueId::Rows { half, plane },
                    QueueId::Sums { half, plane },
                ]);
            }
            all.extend(numbers(lpu.sxm.queues).map(|queue| QueueId::Sxm { half, queue }));
        }
        all.extend(numbers(lpu.vxm.alus).map(QueueId::Alu));
        all
    }

    /// The half whose path its fetches take. ALUs, which stand between the halves, have that of the west.
    pub fn text_half(self) -> Half {
        match self {
            QueueId::Mem { half, .. }
            | QueueId::Weights { half, .. }
            | QueueId::Rows { half, .. }
            | QueueId::Sums { half, .. }
            | QueueId::Sxm { half, .. } => half,
            QueueId::Alu(_) => Half::West,
        }
    }

    pub fn exists(self, lpu: &Lpu) -> bool {
        let (number, count) = match self {
            QueueId::Mem { slice, .. } => (slice, lpu.mem.slices),
            QueueId::Weights { plane, .. } | QueueId::Rows { plane, .. } | QueueId::Sums { plane, .. } => {
                (plane, lpu.mxm.planes)
            }
            QueueId::Alu(alu) => (alu, lpu.vxm.alus),
            QueueId::Sxm { queue, .. } => (queue, lpu.sxm.queues),
        };
        u32::from(number) < count
    }

    /// Where its unit senses and drives: 0 is the centre, the west is below.
    pub fn position(self, lpu: &Lpu) -> i32 {
        match self {
            QueueId::Mem { half, slice } => half.sign() * (1 + (u32::from(slice) / lpu.mem.group) as i32),
            QueueId::Weights { half, .. } | QueueId::Rows { half, .. } | QueueId::Sums { half, .. } => {
                half.sign() * lpu.mxm_position()
            }
            QueueId::Alu(_) => 0,
            QueueId::Sxm { half, .. } => half.sign() * lpu.sxm_position(),
        }
    }
}

fn numbers(count: u32) -> impl Iterator<Item = u8> {
    (0..count).map(|number| number as u8)
}

/// As `E.mem3`, `W.mxm1.sums`, `alu5`, `E.sxm0`.
impl fmt::Display for QueueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            QueueId::Mem { half, slice } => write!(f, "{half}.mem{slice}"),
            QueueId::Weights { half, plane } => write!(f, "{half}.mxm{plane}.weights"),
            QueueId::Rows { half, plane } => write!(f, "{half}.mxm{plane}.rows"),
            QueueId::Sums { half, plane } => write!(f, "{half}.mxm{plane}.sums"),
            QueueId::Alu(alu) => write!(f, "alu{alu}"),
            QueueId::Sxm { half, queue } => write!(f, "{half}.sxm{queue}"),
        }
    }
}
