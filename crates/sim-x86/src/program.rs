//! Bytes to instructions: all that the entry leads to; constants may lie behind.

use crate::inst::{Inst, Kind};
use crate::problem::{Problem, Run};
use crate::{space, table};
use iced_x86::{
    Code, ConditionCode, Decoder, DecoderOptions, FlowControl, Formatter, Instruction, IntelFormatter,
    Mnemonic,
};
use std::collections::BTreeMap;

pub struct Program {
    /// In the order of their places; each is followed by the one that runs next where it does not branch.
    pub insts: Vec<Inst>,
    sources: Vec<Instruction>,
}

impl Program {
    /// Errors: bytes that are no instruction, or one that is not simulated.
    pub fn decode(code: &[u8]) -> Run<Program> {
        let sources = reachable(code)?;
        let number = |place: u64| sources.partition_point(|source| source.ip() < place);
        let mut insts = Vec::with_capacity(sources.len());
        for (index, source) in sources.iter().enumerate() {
            let kind = match source.code() {
                Code::Retnq => Kind::Return,
                Code::Call_rm64 => Kind::Call,
                _ if source.is_jmp_short_or_near() => Kind::Jump(number(source.near_branch_target())),
                _ if source.is_jcc_short_or_near() && !asks_parity(source) => {
                    Kind::Branch(number(source.near_branch_target()))
                }
                _ if matches!(source.mnemonic(), Mnemonic::Nop | Mnemonic::Prefetcht1) => Kind::Nothing,
                _ => match table::act(source).filter(|_| source.flow_control() == FlowControl::Next) {
                    Some(act) => Kind::Act(act),
                    None => return Err(about(source, Problem::new("is not simulated"))),
                },
            };
            let falls_through = !matches!(kind, Kind::Return | Kind::Jump(_));
            let follows = sources.get(index + 1).is_some_and(|next| next.ip() == source.next_ip());
            if falls_through && !follows {
                return Err(about(source, Problem::new("has another instruction within its bytes")));
            }
            insts.push(Inst::new(source, kind, space::CODE).map_err(|problem| about(source, problem))?);
        }
        Ok(Program { insts, sources })
    }

    /// The problem with its instruction.
    pub fn at(&self, index: usize, problem: Problem) -> Problem {
        match self.sources.get(index) {
            Some(source) => about(source, problem),
            None => problem,
        }
    }
}

fn asks_parity(source: &Instruction) -> bool {
    matches!(source.condition_code(), ConditionCode::p | ConditionCode::np)
}

fn about(source: &Instruction, problem: Problem) -> Problem {
    let mut text = String::new();
    IntelFormatter::new().format(source, &mut text);
    Problem { at: Some((source.ip(), text)), ..problem }
}

/// By their places.
fn reachable(code: &[u8]) -> Run<Vec<Instruction>> {
    let mut found = BTreeMap::new();
    let mut open = vec![0];
    while let Some(place) = open.pop() {
        if found.contains_key(&place) {
            continue;
        }
        let bytes = usize::try_from(place).ok().and_then(|at| code.get(at..)).unwrap_or_default();
        let instruction = Decoder::with_ip(64, bytes, place, DecoderOptions::NONE).decode();
        if instruction.is_invalid() {
            return Err(Problem::new(format!("there is no instruction at byte {place:#x} of the code")));
        }
        found.insert(place, instruction);
        let flow = instruction.flow_control();
        if !matches!(flow, FlowControl::UnconditionalBranch | FlowControl::Return) {
            open.push(instruction.next_ip());
        }
        if matches!(flow, FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch) {
            open.push(instruction.near_branch_target());
        }
    }
    Ok(found.into_values().collect())
}
