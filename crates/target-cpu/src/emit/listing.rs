//! Prints emitted code as an assembly listing, each op's instructions under the op's name.

use super::Code;
use crate::schedule::CpuFunc;
use iced_x86::{Formatter, IntelFormatter, OpKind};
use std::collections::BTreeSet;
use std::fmt::Write;
use tegula_ir::Op;

impl Code {
    /// The listing: a comment line per op with its source location, labels where branches lead, no addresses
    /// but those of constants.
    pub fn listing(&self, func: &CpuFunc) -> String {
        let targets: BTreeSet<u64> = self
            .lines
            .iter()
            .filter(|line| is_branch(line))
            .map(|line| line.instruction.near_branch64())
            .collect();
        let name = |target: u64| format!("L{}", targets.range(..target).count());
        let mut formatter = IntelFormatter::new();
        let options = formatter.options_mut();
        options.set_space_after_operand_separator(true);
        options.set_small_hex_numbers_in_decimal(true);
        options.set_hex_prefix("0x");
        options.set_hex_suffix("");
        options.set_uppercase_hex(false);
        options.set_rip_relative_addresses(false);
        let mut text = String::new();
        let mut last = None;
        let mut line_text = String::new();
        for line in &self.lines {
            if targets.contains(&u64::from(line.offset)) {
                let _ = writeln!(text, "{}:", name(u64::from(line.offset)));
            }
            if line.op != last {
                last = line.op;
                if let Some(op) = line.op {
                    let _ = write!(text, "    ; {op} tgc.{}", func.kind(op).name());
                    if let Some(location) = &func.op(op).location {
                        let _ = write!(text, " \"{location}\"");
                    }
                    text.push('\n');
                }
            }
            line_text.clear();
            formatter.format(&line.instruction, &mut line_text);
            if is_branch(line) {
                let mnemonic = line_text.split_whitespace().next().unwrap_or("");
                line_text = format!("{mnemonic} {}", name(line.instruction.near_branch64()));
            }
            let _ = writeln!(text, "    {line_text}");
        }
        text
    }
}

fn is_branch(line: &super::Line) -> bool {
    line.instruction.op_count() > 0 && line.instruction.op0_kind() == OpKind::NearBranch64
}
