//! The disassembler's listing as instructions.

use std::collections::BTreeMap;

/// An instruction without its guard, its operands without the hint `.reuse`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// `HMMA.16816.F32.BF16`.
    pub opcode: String,
    /// As written: `R4`, `desc[UR4][R2.64+0x10]`, `0x20`.
    pub operands: Vec<String>,
}

impl Instruction {
    /// The opcode's first word.
    pub fn name(&self) -> &str {
        self.opcode.split('.').next().unwrap_or_default()
    }

    pub fn has(&self, modifier: &str) -> bool {
        self.opcode.split('.').skip(1).any(|word| word == modifier)
    }
}

/// The functions of a listing by their names.
pub fn functions(listing: &str) -> BTreeMap<String, Vec<Instruction>> {
    let mut functions: BTreeMap<String, Vec<Instruction>> = BTreeMap::new();
    let mut open = None;
    for line in listing.lines() {
        if let Some(section) = line.trim_start().strip_prefix(".section\t") {
            let name = section.split([',', ' ']).next().unwrap_or_default();
            open = name.strip_prefix(".text.").map(str::to_string);
        }
        if let (Some(name), Some(instruction)) = (&open, instruction(line)) {
            functions.entry(name.clone()).or_default().push(instruction);
        }
    }
    functions
}

/// `/*0a30*/  @P0 LDG.E R4, desc[UR4][R2.64] ;`
fn instruction(line: &str) -> Option<Instruction> {
    let (place, rest) = line.split_once("*/")?;
    place.trim_start().strip_prefix("/*")?;
    let text = rest.split(';').next()?.trim();
    let text = if text.starts_with('@') { text.split_once(' ')?.1.trim_start() } else { text };
    let (opcode, rest) = text.split_once(' ').unwrap_or((text, ""));
    opcode.starts_with(|c: char| c.is_ascii_uppercase()).then_some(())?;
    let operands = rest.split(',').map(|operand| operand.trim().replace(".reuse", ""));
    let operands = operands.filter(|operand| !operand.is_empty()).collect();
    Some(Instruction { opcode: opcode.to_string(), operands })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_is_split_into_functions() {
        let listing = "\t.section\t.text.first,\"ax\",@progbits\n\t.sectioninfo\t@\"SHI_REGISTERS=10\"\n.text.first:\n        \
            /*0000*/                   S2R R5, SR_LANEID ;\n        \
            /*0010*/              @!P0 STG.E.64 desc[UR6][R4.64+0x20], R16.reuse ;\n\
            \t.section\t.text.second\n        /*0000*/                   EXIT ;\n";
        let functions = functions(listing);
        let first = &functions["first"];
        assert_eq!(first[1].opcode, "STG.E.64");
        assert_eq!(first[1].operands, ["desc[UR6][R4.64+0x20]", "R16"]);
        assert!(first[1].has("64") && first[1].name() == "STG");
        assert_eq!(functions["second"], [Instruction { opcode: "EXIT".into(), operands: vec![] }]);
    }
}
