//! Flows as text, a line each.

use super::{Access, Flow, FlowProgram, Kind, Product, Source, ValueId};
use std::fmt::{self, Display};

/// As `%7[3 + 2*i0 + i1]`.
struct Place<'a>(&'a Access);

impl Display for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Access { value, base, strides } = self.0;
        write!(f, "{value}[{base}")?;
        for (loop_number, stride) in strides.iter().enumerate().filter(|(_, stride)| **stride != 0) {
            write!(f, " + {stride}*i{loop_number}")?;
        }
        f.write_str("]")
    }
}

impl Display for Flow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <- ", Place(&self.out))?;
        match &self.kind {
            Kind::Alu { op, operands } => {
                write!(f, "alu {op:?}")?;
                operands.iter().try_for_each(|source| match source {
                    Source::Vector(access) => write!(f, " {}", Place(access)),
                    Source::Immediate(bits) => write!(f, " #{bits:#x}"),
                })?;
            }
            Kind::Fold { op, inner, from } => write!(f, "fold {op:?} {} over {inner:?}", Place(from))?,
            Kind::Move { how, from } => write!(f, "move {how:?} {}", Place(from))?,
            Kind::Merge { fill, vectors } => {
                let pieces: usize = vectors.iter().map(Vec::len).sum();
                write!(f, "merge {pieces} pieces over #{fill:#x}")?;
            }
            Kind::Product(Product { factors, rows, tiles, weights, .. }) => {
                write!(f, "product {factors:?} {} by {weights}", Place(rows))?;
                tiles
                    .iter()
                    .try_for_each(|tile| write!(f, " +{}*[{}; {}]", tile.row, tile.first, tile.steps))?;
            }
        }
        write!(f, " for {:?}", self.loops)?;
        if !self.node.is_empty() {
            write!(f, " ; {}", self.node)?;
        }
        Ok(())
    }
}

impl Display for FlowProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "lanes {}", self.lanes)?;
        for (number, value) in self.values.iter().enumerate() {
            let kind = match (&value.constant, value.striped) {
                (Some(_), true) => " weights",
                (Some(_), false) => " constant",
                (None, true) => " striped",
                (None, false) => "",
            };
            writeln!(f, "%{number} {:?} {} x {}{kind}", value.name, value.vectors, value.element.name())?;
        }
        for (port, way) in self
            .inputs
            .iter()
            .map(|port| (port, "input"))
            .chain(self.outputs.iter().map(|port| (port, "output")))
        {
            writeln!(f, "{way} {:?} {} {} row {}", port.name, port.value, port.dtype, port.row)?;
        }
        self.flows.iter().try_for_each(|flow| writeln!(f, "{flow}"))
    }
}
