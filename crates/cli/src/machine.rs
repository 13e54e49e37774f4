//! `tegula machine`.

use crate::args::{MachineArgs, MachineCommand};
use crate::failure::Failure;
use crate::output;
use serde_json::json;
use tegula::{Machine, processor};
use tegula_driver::Form;

pub fn machine(args: &MachineArgs) -> Result<(), Failure> {
    match args.command {
        MachineCommand::Probe { json } => probe(json),
        MachineCommand::List => {
            let lines = Machine::class_names()
                .filter_map(Machine::class)
                .map(|machine| format!("{:<18} {:<8} {}\n", machine.name, machine.tier, machine.title));
            output::print(&lines.collect::<String>())
        }
    }
}

fn probe(as_json: bool) -> Result<(), Failure> {
    let facts = processor::facts();
    let (class, form) = processor::default_machine()?;
    let portable = form == Form::Portable;
    if as_json {
        return output::print_json(&json!({
            "vendor": facts.vendor,
            "family": facts.family,
            "model": facts.model,
            "features": facts.features,
            "class": class.name,
            "tier": class.tier,
            "portable": portable,
        }));
    }
    let how = if portable { " (portable executor: the processor has no AVX2)" } else { "" };
    output::print(&format!(
        "vendor   {}\nfamily   {}\nmodel    {}\nfeatures {}\nclass    {} ({}){how}\n",
        facts.vendor,
        facts.family,
        facts.model,
        facts.features.join(" "),
        class.name,
        class.title,
    ))
}
