//! Flows as text, a line each.

use super::{Access, Arg, Flow, FlowProgram, Kind, Product, Source, Step, ValueId};
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
            Kind::Alu { steps } => {
                f.write_str("alu")?;
                steps.iter().enumerate().try_for_each(|(number, step)| write_step(f, number, step))?;
            }
            Kind::Fold { op, inner, from } => write!(f, "fold {op:?} {} over {inner:?}", Place(from))?,
            Kind::Move { how, from } => write!(f, "move {how:?} {}", Place(from))?,
            Kind::Merge { fill, vectors } => {
                let pieces: usize = vectors.iter().map(Vec::len).sum();
                write!(f, "merge {pieces} pieces over #{fill:#x}")?;
            }
            Kind::Assemble { parts } => write!(f, "assemble {} parts", parts.len())?,
            Kind::Transpose { from, size } => write!(f, "transpose {size} of {}", Place(from))?,
            Kind::Gather { index, from, count } => {
                write!(f, "gather {} behind {} of {count}", Place(index), Place(from))?;
            }
            Kind::Scatter { index, from, count } => {
                write!(f, "scatter {} behind {} of {count}", Place(from), Place(index))?;
            }
            Kind::Product(Product { factors, rows, tiles, weights, .. }) => {
                write!(f, "product {factors:?} {} by {weights}", Place(rows))?;
                tiles.iter().try_for_each(|tile| {
                    write!(f, " +{}.{}*[{}; {}]", tile.row, tile.lane, tile.first, tile.steps)
                })?;
            }
        }
        write!(f, " for {:?}", self.loops)?;
        if !self.node.is_empty() {
            write!(f, " ; {}", self.node)?;
        }
        Ok(())
    }
}

/// As ` s0 = Add(F32) %1[0 + 1*i0] #0x1`, with ` -> %2[..]` where more than the next steps reads it.
fn write_step(f: &mut fmt::Formatter<'_>, number: usize, step: &Step) -> fmt::Result {
    if number > 0 {
        f.write_str(";")?;
    }
    write!(f, " s{number} = {:?}", step.op)?;
    step.operands.iter().try_for_each(|operand| match operand {
        Arg::Source(Source::Vector(access)) => write!(f, " {}", Place(access)),
        Arg::Source(Source::Immediate(bits)) => write!(f, " #{bits:#x}"),
        Arg::Moved(how, access) => write!(f, " {how:?} {}", Place(access)),
        Arg::Step(step) => write!(f, " s{step}"),
    })?;
    step.out.iter().try_for_each(|access| write!(f, " -> {}", Place(access)))
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
        for (number, flow) in self.flows.iter().enumerate() {
            if let Some(repeat) = self.repeats.iter().find(|repeat| repeat.flows.start == number) {
                writeln!(f, "{} flows {} times", repeat.flows.len(), repeat.trips)?;
            }
            writeln!(f, "{flow}")?;
        }
        Ok(())
    }
}
