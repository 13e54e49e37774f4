//! An image as text. What is printed parses to the same image.

use crate::floor::QueueId;
use crate::image::{Address, Binding, BindingKind, Image};
use crate::tag::Tags;
use crate::word::{Alu, AluOp, Factors, NUMERIC, Number, Operand, PLAIN, Read, WHOLE, Word, Write};
use std::fmt::Write as _;

/// Writes an image; a word a line.
pub fn print(image: &Image) -> String {
    let mut text = format!("machine {}\n", image.machine);
    // A `String` takes whatever is written.
    for (number, value) in image.values.iter().enumerate() {
        let _ = writeln!(text, "value {number} {:?} node {:?}", value.name, value.node);
    }
    for (number, chip) in image.chips.iter().enumerate() {
        let _ = writeln!(text, "chip {number}");
        for cell in &chip.cells {
            let bytes: String = cell.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            let _ = writeln!(text, "  cell {} {} {bytes}", address(cell.at), cell.tag);
        }
        for Binding { name, kind, dtype, row, lanes, value, places } in &chip.bindings {
            let kind = match kind {
                BindingKind::Input => "input",
                BindingKind::Output => "output",
                BindingKind::State => "state",
            };
            let _ = write!(text, "  {kind} {name:?} %{value} {dtype} row {row} lanes {lanes} at");
            for place in places {
                let _ = write!(text, " {}", address(*place));
            }
            text.push('\n');
        }
    }
    for program in &image.programs {
        let _ = writeln!(text, "program {:?}", program.name);
        for phase in &program.phases {
            let _ = writeln!(text, "  phase trips {}", phase.trips);
            for queue in &phase.queues {
                let _ = writeln!(text, "    queue {} {}", queue.chip, queue.id);
                for (word, tags) in queue.words.iter().zip(&queue.tags) {
                    let _ = writeln!(text, "      {}{}", line(word), after(tags));
                }
            }
        }
    }
    text
}

/// A slice's word, as `E.mem3 1:42`.
fn address(at: Address) -> String {
    let queue = QueueId::Mem { half: at.half, slice: at.slice };
    format!("{queue} {}:{}", at.bank, at.word)
}

fn after(tags: &Tags) -> String {
    if tags.is_empty() {
        return String::new();
    }
    let tags: Vec<String> = tags.iter().map(ToString::to_string).collect();
    format!(" ; {}", tags.join(" "))
}

fn line(word: &Word) -> String {
    match *word {
        Word::Nop { cycles } => format!("nop {cycles}"),
        Word::Repeat { count, gap, strides: [a, b, c] } => format!("repeat {count} gap {gap} by {a} {b} {c}"),
        Word::Sync => "sync".into(),
        Word::Notify => "notify".into(),
        Word::Fetch { slice, bank, word } => format!("fetch {slice} {bank}:{word}"),
        Word::Halt => "halt".into(),
        Word::Mem { read, write } => {
            let read = read.map(|Read { bank, word, to }| format!("read {bank}:{word} -> {to}"));
            let write = write.map(|Write { bank, word, from, mask }| {
                let mask = if mask == WHOLE { String::new() } else { format!(" mask {mask:#x}") };
                format!("write {from} -> {bank}:{word}{mask}")
            });
            match (read, write) {
                (Some(read), Some(write)) => format!("{read} & {write}"),
                (one, other) => one.or(other).unwrap_or_else(|| "rest".into()),
            }
        }
        Word::Gather { bank, word, count, by, to } => format!("gather {bank}:{word} x{count} {by} -> {to}"),
        Word::Scatter { bank, word, count, by, from } => {
            format!("scatter {bank}:{word} x{count} {by} {from}")
        }
        Word::LoadWeights { row, from } => format!("lw {row} {from}"),
        Word::InstallWeights => "iw".into(),
        Word::Multiply { factors, from } => format!("abc {} {from}", factors_name(factors)),
        Word::Accumulate { row, add, emit } => {
            let emit = emit.map_or(String::new(), |to| format!(" -> {to}"));
            format!("acc {row} {}{emit}", if add { "add" } else { "set" })
        }
        Word::Alu(alu) => alu_line(&alu),
        Word::Shift { by, rotate, streams, from, to } => {
            format!("{} {by} x{streams} {from} -> {to}", if rotate { "rotate" } else { "shift" })
        }
        Word::Permute { table, streams, from, to } => format!("permute x{streams} {table} {from} -> {to}"),
        Word::Broadcast { lane, streams, from, to } => format!("broadcast {lane} x{streams} {from} -> {to}"),
        Word::Transpose { from, to } => format!("transpose {from} -> {to}"),
        Word::Blend { mask, streams, a, b, to } => format!("blend x{streams} {mask} {a} {b} -> {to}"),
        Word::Send { link, from } => format!("send {link} {from}"),
        Word::Receive { link, to } => format!("receive {link} -> {to}"),
    }
}

pub(crate) fn factors_name(factors: Factors) -> &'static str {
    match factors {
        Factors::I8 => "i8",
        Factors::F16 => "f16",
        Factors::F8 => "f8",
    }
}

fn alu_line(alu: &Alu) -> String {
    let mut text = format!("alu {}", op_name(alu.op));
    for operand in &alu.operands[..alu.op.operands()] {
        match operand {
            Operand::None => text += " -",
            Operand::Stream(stream) => {
                let _ = write!(text, " {stream}");
            }
            Operand::Alu(other) => {
                let _ = write!(text, " alu{other}");
            }
            Operand::Immediate => {
                let _ = write!(text, " #{:#x}", alu.immediate);
            }
            Operand::Held => text += " held",
        }
    }
    if alu.hold {
        text += " hold";
    }
    if let Some(to) = alu.to {
        let _ = write!(text, " -> {to}");
    }
    text
}

pub(crate) fn op_name(op: AluOp) -> String {
    if let AluOp::Cast { from, to, saturate, shift } = op {
        let saturate = if saturate { ".sat" } else { "" };
        let shift = if shift == 0 { String::new() } else { format!(".{shift}") };
        return format!("cast.{}.{}{saturate}{shift}", from.name(), to.name());
    }
    if let Some((name, _)) = PLAIN.iter().find(|(_, plain)| *plain == op) {
        return (*name).to_string();
    }
    let numeric = NUMERIC.iter().flat_map(|(name, of)| Number::BOTH.map(|number| (name, number, of(number))));
    let found = numeric.into_iter().find(|(_, _, own)| *own == op);
    let (name, number, _) = found.expect("invariant: the tables have every operation");
    format!("{name}.{}", number.name())
}
