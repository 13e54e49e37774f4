//! `tegula targets`: what there is to run kernels on.

use crate::args::TargetsArgs;
use crate::failure::Failure;
use crate::output;
use serde_json::{Value, json};
use tegula::device::class_of;
use tegula::processor;
use tegula_base::Diagnostic;
use tegula_driver::Form;
use tegula_runtime::cuda::DeviceFacts;

pub fn targets(args: &TargetsArgs) -> Result<(), Failure> {
    let (class, form) = processor::default_machine()?;
    let cards = tegula::gpu::cuda().and_then(|cuda| cuda.devices());
    let tier = if form == Form::Portable { "portable" } else { class.tier.as_str() };
    if args.json {
        let (cards, missing) = match &cards {
            Ok(cards) => (cards.iter().map(to_json).collect::<Vec<Value>>(), Value::Null),
            Err(error) => (vec![], Value::from(error.message.clone())),
        };
        return output::print_json(&json!({
            "cpu": { "class": class.name, "tier": tier },
            "cuda": cards,
            "cuda_missing": missing,
        }));
    }
    let mut text = format!("{:<9} {} ({tier})\n", "cpu", class.title);
    match &cards {
        Ok(cards) => text.extend(cards.iter().map(to_text)),
        Err(Diagnostic { message, .. }) => text += &format!("{:<9} none: {message}\n", "cuda"),
    }
    text += &format!("{:<9} interprets kernels for NVIDIA GPUs\n", "sim-ptx");
    text += &format!("{:<9} interprets kernels for x86-64 processors\n", "sim-x86");
    output::print(&text)
}

fn to_text(facts: &DeviceFacts) -> String {
    let (major, minor) = facts.capability;
    let class = match class_of(facts) {
        Ok(class) => format!("machine class {}", class.name),
        Err(error) => error.message,
    };
    format!(
        "{:<9} {}, sm_{major}{minor}, {} multiprocessors, {}, driver for CUDA {}.{}, {class}\n",
        format!("cuda:{}", facts.ordinal),
        facts.name,
        facts.sms,
        output::size(facts.memory_bytes),
        facts.driver / 1000,
        facts.driver % 1000 / 10,
    )
}

fn to_json(facts: &DeviceFacts) -> Value {
    json!({
        "ordinal": facts.ordinal,
        "name": facts.name,
        "sm": 10 * facts.capability.0 + facts.capability.1,
        "multiprocessors": facts.sms,
        "memory_bytes": facts.memory_bytes,
        "driver": facts.driver,
        "class": class_of(facts).ok().map(|class| class.name),
    })
}
