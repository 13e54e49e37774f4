//! Text to an image: the reverse of `print.rs`. A line that starts with `//` is a comment.

use crate::image::{Binding, BindingKind, Cell, Chip, Image, Phase, Program, Queue, ValueName};
use crate::lex::{Line, Parsed};
use crate::tag::Tags;
use crate::word::{Alu, AluOp, Element, Factors, NUMERIC, Number, Operand, PLAIN, Read, WHOLE, Word, Write};
use tegula_base::{DType, Diagnostic};

/// Reads what `print` writes. Errors: `lpu-text`, the first line that is wrong.
pub fn parse(text: &str) -> Result<Image, Diagnostic> {
    let mut image = Image::default();
    for (number, text) in text.lines().enumerate() {
        let text = text.trim();
        if text.is_empty() || text.starts_with("//") {
            continue;
        }
        let mut line = Line::new(text, number + 1);
        item(&mut image, &mut line)?;
        if !line.is_empty() {
            let rest = line.piece()?;
            return Err(line.error(format!("`{rest}` is too much")));
        }
    }
    Ok(image)
}

/// One line, in what is open.
fn item(image: &mut Image, line: &mut Line) -> Parsed<()> {
    if line.takes("machine") {
        image.machine = line.piece()?.to_string();
    } else if line.takes("value") {
        let number: usize = line.number()?;
        if number != image.values.len() {
            return Err(line.error(format!("value {number} should be {}", image.values.len())));
        }
        let name = line.quoted()?;
        line.expect("node")?;
        image.values.push(ValueName { name, node: line.quoted()? });
    } else if line.takes("chip") {
        let number: usize = line.number()?;
        if number != image.chips.len() {
            return Err(line.error(format!("chip {number} should be {}", image.chips.len())));
        }
        image.chips.push(Chip::default());
    } else if line.takes("program") {
        let name = line.quoted()?;
        image.programs.push(Program { name, phases: Vec::new() });
    } else if let Some(program) = image.programs.last_mut() {
        of_program(program, line)?;
    } else if let Some(chip) = image.chips.last_mut() {
        of_chip(chip, line)?;
    } else {
        return Err(line.error("this stands in no chip or program".into()));
    }
    Ok(())
}

fn of_chip(chip: &mut Chip, line: &mut Line) -> Parsed<()> {
    if line.takes("cell") {
        let (at, tag) = (line.address()?, line.tag()?);
        let digits = line.piece()?;
        let byte = |at: usize| digits.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
        let bytes = bytes.ok_or_else(|| line.error("bytes are two hexadecimal digits each".into()))?;
        chip.cells.push(Cell { at, tag, bytes });
        return Ok(());
    }
    let kinds =
        [("input", BindingKind::Input), ("output", BindingKind::Output), ("state", BindingKind::State)];
    let Some((_, kind)) = kinds.into_iter().find(|(name, _)| line.takes(name)) else {
        return Err(line.error("a chip has cells, inputs, outputs and states".into()));
    };
    let (name, value) = (line.quoted()?, line.value()?);
    let name_of_type = line.piece()?;
    let dtype = DType::ALL.into_iter().find(|dtype| dtype.to_string() == name_of_type);
    let dtype = dtype.ok_or_else(|| line.error(format!("`{name_of_type}` is no element type")))?;
    line.expect("row")?;
    let row = line.number()?;
    line.expect("lanes")?;
    let lanes = line.number()?;
    line.expect("at")?;
    let mut places = Vec::new();
    while !line.is_empty() {
        places.push(line.address()?);
    }
    chip.bindings.push(Binding { name, kind, dtype, row, lanes, value, places });
    Ok(())
}

fn of_program(program: &mut Program, line: &mut Line) -> Parsed<()> {
    if line.takes("phase") {
        line.expect("trips")?;
        program.phases.push(Phase { trips: line.number()?, queues: Vec::new() });
        return Ok(());
    }
    let Some(phase) = program.phases.last_mut() else {
        return Err(line.error("this stands in no phase".into()));
    };
    if line.takes("queue") {
        let chip = line.number()?;
        phase.queues.push(Queue::new(chip, line.queue()?));
        return Ok(());
    }
    let Some(queue) = phase.queues.last_mut() else {
        return Err(line.error("this stands in no queue".into()));
    };
    let word = word(line)?;
    let mut tags = Tags::new();
    if line.takes(";") {
        while !line.is_empty() {
            tags.push(line.tag()?);
        }
    }
    queue.push(word, &tags);
    Ok(())
}

fn word(line: &mut Line) -> Parsed<Word> {
    let name = line.piece()?;
    Ok(match name {
        "nop" => Word::Nop { cycles: line.number()? },
        "repeat" => {
            let count = line.number()?;
            line.expect("gap")?;
            let gap = line.number()?;
            line.expect("by")?;
            Word::Repeat { count, gap, strides: [line.number()?, line.number()?, line.number()?] }
        }
        "sync" => Word::Sync,
        "notify" => Word::Notify,
        "fetch" => {
            let slice = line.number()?;
            let (bank, word) = line.place()?;
            Word::Fetch { slice, bank, word }
        }
        "halt" => Word::Halt,
        "rest" => Word::Mem { read: None, write: None },
        "read" => {
            let (bank, word) = line.place()?;
            let read = Some(Read { bank, word, to: line.to()? });
            let write = if line.takes("&") {
                line.expect("write")?;
                Some(write(line)?)
            } else {
                None
            };
            Word::Mem { read, write }
        }
        "write" => Word::Mem { read: None, write: Some(write(line)?) },
        "gather" => {
            let (bank, word) = line.place()?;
            Word::Gather { bank, word, count: line.count()?, by: line.stream()?, to: line.to()? }
        }
        "scatter" => {
            let (bank, word) = line.place()?;
            Word::Scatter { bank, word, count: line.count()?, by: line.stream()?, from: line.stream()? }
        }
        "lw" => Word::LoadWeights { row: line.number()?, from: line.stream()? },
        "iw" => Word::InstallWeights,
        "abc" => Word::Multiply { factors: factors(line)?, from: line.stream()? },
        "acc" => {
            let row = line.number()?;
            let add = line.takes("add");
            if !add {
                line.expect("set")?;
            }
            let emit = if line.takes("->") { Some(line.stream()?) } else { None };
            Word::Accumulate { row, add, emit }
        }
        "alu" => Word::Alu(alu(line)?),
        "shift" | "rotate" => {
            let (by, streams) = (line.number()?, line.count()?);
            Word::Shift { by, rotate: name == "rotate", streams, from: line.stream()?, to: line.to()? }
        }
        "permute" => {
            let streams = line.count()?;
            Word::Permute { table: line.stream()?, streams, from: line.stream()?, to: line.to()? }
        }
        "broadcast" => {
            let (lane, streams) = (line.number()?, line.count()?);
            Word::Broadcast { lane, streams, from: line.stream()?, to: line.to()? }
        }
        "transpose" => Word::Transpose { from: line.stream()?, to: line.to()? },
        "blend" => {
            let streams = line.count()?;
            let (mask, a, b) = (line.stream()?, line.stream()?, line.stream()?);
            Word::Blend { mask, streams, a, b, to: line.to()? }
        }
        "send" => Word::Send { link: line.number()?, from: line.stream()? },
        "receive" => Word::Receive { link: line.number()?, to: line.to()? },
        _ => return Err(line.error(format!("there is no word `{name}`"))),
    })
}

fn write(line: &mut Line) -> Parsed<Write> {
    let from = line.stream()?;
    line.expect("->")?;
    let (bank, word) = line.place()?;
    let mask = if line.takes("mask") {
        let bits = line.piece()?;
        line.bits(bits)?
    } else {
        WHOLE
    };
    Ok(Write { bank, word, from, mask })
}

fn factors(line: &mut Line) -> Parsed<Factors> {
    let name = line.piece()?;
    match name {
        "i8" => Ok(Factors::I8),
        "f16" => Ok(Factors::F16),
        "f8" => Ok(Factors::F8),
        _ => Err(line.error(format!("`{name}` is no type of factors: i8, f16, f8"))),
    }
}

fn alu(line: &mut Line) -> Parsed<Alu> {
    let op = op(line)?;
    let mut alu = Alu { op, operands: [Operand::None; 3], immediate: 0, hold: false, to: None };
    for slot in 0..op.operands() {
        let piece = line.piece()?;
        alu.operands[slot] = if piece == "held" {
            Operand::Held
        } else if let Some(bits) = piece.strip_prefix('#') {
            alu.immediate = line.bits(bits)?;
            Operand::Immediate
        } else if let Some(other) = piece.strip_prefix("alu") {
            Operand::Alu(other.parse().map_err(|_| line.error(format!("`{piece}` is no ALU")))?)
        } else if piece == "-" {
            Operand::None
        } else {
            Operand::Stream(line.stream_of(piece)?)
        };
    }
    alu.hold = line.takes("hold");
    alu.to = if line.takes("->") { Some(line.stream()?) } else { None };
    Ok(alu)
}

fn op(line: &mut Line) -> Parsed<AluOp> {
    let name = line.piece()?;
    let wrong = || line.error(format!("there is no ALU operation `{name}`"));
    if let Some((_, op)) = PLAIN.iter().find(|(plain, _)| *plain == name) {
        return Ok(*op);
    }
    let (stem, rest) = name.split_once('.').ok_or_else(wrong)?;
    if stem == "cast" {
        return cast(rest).ok_or_else(wrong);
    }
    let (_, of) = NUMERIC.iter().find(|(numeric, _)| *numeric == stem).ok_or_else(wrong)?;
    let number = Number::BOTH.into_iter().find(|number| number.name() == rest).ok_or_else(wrong)?;
    Ok(of(number))
}

/// As `i32.i8.sat.2`.
fn cast(text: &str) -> Option<AluOp> {
    let mut parts = text.split('.').peekable();
    let mut element = || {
        let name = parts.next()?;
        Element::ALL.into_iter().find(|element| element.name() == name)
    };
    let (from, to) = (element()?, element()?);
    let saturate = parts.next_if_eq(&"sat").is_some();
    let shift = match parts.next() {
        None => 0,
        Some(shift) => shift.parse().ok().filter(|shift| (1..32).contains(shift))?,
    };
    parts.next().is_none().then_some(AluOp::Cast { from, to, saturate, shift })
}
