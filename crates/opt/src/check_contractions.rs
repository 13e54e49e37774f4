//! Refuses contractions that the host would compute where the device is to compute all of them.
//!
//! Before: `partition` has run.  After: of [`Contractions::Device`] each contraction is in a region, or the first that is
//! not is an error with the device's reason: what it has too little of, or that it has no form of it.

use crate::passes::Precision;
use std::borrow::Cow;
use std::sync::Arc;
use tegula_backend::{Claim, Contractions, Infeasible, Short, Target, Targets};
use tegula_base::{DType, Diagnostic};
use tegula_ir::{Op, OpId, RegionId};
use tegula_tensor::facts::is_contraction;
use tegula_tensor::{TensorFunc, TensorOp, TensorProgram};

/// Kinds of contractions that an error lists.
const MOST_KINDS: usize = 8;

/// Errors: `host-contraction`; where all that are not are too large, what the device has too little of.
pub fn check_contractions(
    program: &TensorProgram,
    targets: Targets<'_>,
    precision: Precision,
) -> Result<(), Diagnostic> {
    let (Some(device), Contractions::Device) = (targets.device, targets.contractions) else {
        return Ok(());
    };
    let mut found = Vec::new();
    for func in &program.funcs {
        on_host(func, func.body(), &mut |op| found.push(Refused::new(func, op, device)));
    }
    if found.is_empty() {
        return Ok(());
    }
    Err(too_large(&found, device).unwrap_or_else(|| error(&found, device, precision)))
}

/// A contraction of the host.
struct Refused {
    name: &'static str,
    node: Option<Arc<str>>,
    reason: Cow<'static, str>,
    short: Option<Short>,
    is_f32: bool,
}

impl Refused {
    fn new(func: &TensorFunc, op: OpId, device: &dyn Target) -> Refused {
        let claim = device.claims(func, op);
        let reason = claim.refusal().unwrap_or("it stands between ops of the host".into());
        let short = match claim {
            Claim::Short(short) => Some(short),
            Claim::Yes | Claim::No(_) => None,
        };
        let factor = func.operands(op).first();
        Refused {
            name: func.kind(op).name(),
            node: func.op(op).location.clone(),
            reason,
            short,
            is_f32: factor.is_some_and(|value| func.ty(*value).dtype == DType::F32),
        }
    }
}

/// The contractions that stand outside of kernels.
fn on_host(func: &TensorFunc, region: RegionId, visit: &mut dyn FnMut(OpId)) {
    for op in func.ops_in(region) {
        if is_contraction(func.kind(*op)) {
            visit(*op);
        }
        if !matches!(func.kind(*op), TensorOp::Kernel { .. }) {
            func.regions_of(*op).iter().for_each(|inner| on_host(func, *inner, visit));
        }
    }
}

/// The largest of them. None: something else is wrong as well.
fn too_large(found: &[Refused], device: &dyn Target) -> Option<Diagnostic> {
    let shorts = found.iter().map(|refused| refused.short.clone()).collect::<Option<Vec<Short>>>()?;
    let (largest, short) = found.iter().zip(&shorts).rev().max_by_key(|(_, short)| short.need)?;
    let node = |refused: &Refused| refused.node.as_deref().unwrap_or("").to_string();
    let same = found.iter().zip(&shorts).filter(|(_, own)| own.resource == short.resource);
    let holders = same.map(|(own, short)| (format!("`{}` of node \"{}\"", own.name, node(own)), short.need));
    let error = Infeasible {
        short: short.clone(),
        what: format!("`{}`", largest.name).into(),
        node: node(largest).into(),
        holders: holders.collect(),
    };
    Some(error.on(&device.machine().name))
}

/// The first of them, and how many there are of each kind.
fn error(found: &[Refused], device: &dyn Target, precision: Precision) -> Diagnostic {
    let Refused { name, node, reason, .. } = &found[0];
    let message = format!("`{name}` is not computed by `{}`: {reason}", device.machine().name);
    let mut error = Diagnostic::error("host-contraction", message);
    if let Some(node) = node {
        error = error.at(format!("node \"{node}\""));
    }
    let mut kinds: Vec<(&Refused, usize)> = Vec::new();
    for refused in found {
        let known =
            kinds.iter_mut().find(|(kind, _)| (kind.name, &kind.reason) == (refused.name, &refused.reason));
        match known {
            Some((_, count)) => *count += 1,
            None => kinds.push((refused, 1)),
        }
    }
    if found.len() > 1 {
        for (Refused { name, reason, .. }, count) in kinds.iter().take(MOST_KINDS) {
            error = error.note(format!("{count} of `{name}`: {reason}"));
        }
    }
    match precision == Precision::F32 && found.iter().any(|refused| refused.is_f32) {
        true => error.help(
            "`--precision f16` rounds the factors of contractions, `f16x2` keeps 21 bits of them; sums stay `f32`",
        ),
        false => error,
    }
}
