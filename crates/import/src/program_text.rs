//! Tensor programs as our own text: MLIR's generic syntax with ops of dialect `tgn`, as `tegula emit` prints them.

use crate::front_door::reader::{FrontDoor, ModelFile, Request, Sniff, Step, Supported, located};
use std::collections::BTreeMap;
use tegula_base::{Diagnostic, Diagnostics, Dim, EntityId, SymbolInfo};
use tegula_ir::{Op, Value};
use tegula_tensor::smaller::resize;
use tegula_tensor::{TensorFunc, TensorOp, TensorProgram};

/// The reader of our own text.
pub struct ProgramText;

impl FrontDoor for ProgramText {
    /// By the first op, or by the file's name.
    fn sniff(&self, file: &ModelFile) -> Sniff {
        let is_ours = || first_line(&file.bytes).is_some_and(|line| line.starts_with("\"builtin.module\""));
        let is_text = || std::str::from_utf8(&file.bytes).is_ok();
        match (file.name.ends_with(".mlir") || is_ours()) && is_text() {
            true => Sniff::Yes,
            false => Sniff::No,
        }
    }

    /// Errors: also where values are asked for by name, which text has not.
    fn import(
        &self,
        file: &ModelFile,
        request: &Request,
        done: &mut dyn FnMut(Step),
    ) -> Result<TensorProgram, Diagnostics> {
        let in_file = |found: Diagnostics| located(found, file.name);
        let text = std::str::from_utf8(&file.bytes).map_err(|error| {
            Diagnostic::error("mlir-syntax", format!("this is no text: {error}")).at(file.name)
        })?;
        let mut program = tegula_ir::parse_program::<TensorOp>(text, None).map_err(in_file)?;
        done(Step::Decoded);
        if !request.dims.is_empty() {
            tegula_ir::verify_program(&program).map_err(in_file)?;
            specialise(&mut program, request.dims).map_err(in_file)?;
        }
        if !request.results.is_empty() {
            let message = "values of a program given as text have no names";
            let found = Diagnostic::error("unknown-value", message);
            return Err(found.help("let its `tgn.return` give the value").into());
        }
        done(Step::Converted);
        Ok(program)
    }

    fn supported(&self) -> Vec<Supported> {
        let row = |(op, _)| Supported { domain: TensorOp::DIALECT, op, since: 1, until: i64::MAX };
        let mut all: Vec<Supported> = TensorOp::reference().into_iter().map(row).collect();
        all.sort_unstable();
        all
    }
}

/// The first line that says something, where it is text.
pub(crate) fn first_line(bytes: &[u8]) -> Option<&str> {
    let lines = bytes.split(|byte| *byte == b'\n');
    let mut lines = lines.map_while(|line| std::str::from_utf8(line).ok()).map(str::trim);
    lines.find(|line| !line.is_empty() && !line.starts_with("//") && !line.starts_with('#'))
}

/// Replaces dims of the names given by constants, everywhere.
/// Before: a verified program. Errors: layouts or several functions, a name that no input's dim has, a size beyond what the
/// program declares of it, sizes that its ops do not fit together at.
fn specialise(program: &mut TensorProgram, dims: &BTreeMap<String, i64>) -> Result<(), Diagnostics> {
    let has_layouts =
        |func: &TensorFunc| (0..func.value_count()).any(|i| func.ty(Value::new(i)).layout.is_some());
    if program.funcs.len() > 1 || program.funcs.iter().any(has_layouts) {
        let message = "`--dim` works only on text programs with one function and no layouts";
        return Err(Diagnostic::error("unsupported-dim", message).into());
    }
    let mut found = Diagnostics::default();
    let open = |name: &str| program.symbols.get(name).is_some_and(SymbolInfo::is_input);
    for (name, n) in dims {
        if let Some(info) = program.symbols.get(name).filter(|info| info.is_input()) {
            let fits = (info.min..=info.max).contains(n) && n % info.divisor == 0;
            let (min, max, divisor) = (info.min, info.max, info.divisor);
            let message = format!("dim `{name}` is {min} to {max}, a multiple of {divisor}; {n} is not");
            if !fits {
                found.push(Diagnostic::error("shape-mismatch", message));
            }
            continue;
        }
        let known = program.symbols.0.keys().filter(|name| open(name)).map(|name| format!("`{name}`"));
        let note = match known.collect::<Vec<String>>().as_slice() {
            [] => "all dims of its inputs are constant".to_string(),
            known => format!("the dims of its inputs are {}", known.join(", ")),
        };
        found.push(Diagnostic::error("unknown-dim", format!("no input has a dim `{name}`")).note(note));
    }
    found.into_result(())?;
    let at = |dim: &Dim| dim.substitute(&|name| dims.get(name).copied().map(Dim::from));
    let Some(mut fixed) = resize(program, &at) else {
        let given: Vec<String> = dims.iter().map(|(name, n)| format!("{name}={n}")).collect();
        let message = format!("the program's ops do not fit together at {}", given.join(", "));
        return Err(Diagnostic::error("shape-mismatch", message).into());
    };
    fixed.symbols.0.retain(|name, _| !dims.contains_key(&**name));
    *program = fixed;
    Ok(())
}
