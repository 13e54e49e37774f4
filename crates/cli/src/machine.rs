//! `tegula machine`.

use crate::args::{MachineArgs, MachineCommand};
use crate::failure::Failure;
use crate::output;
use serde_json::{Value, json};
use tegula::device::machine_of;
use tegula::{Machine, processor};
use tegula_driver::Form;
use tegula_machine::Kind;
use tegula_runtime::peaks::{self, Arithmetic};

pub fn machine(args: &MachineArgs) -> Result<(), Failure> {
    match &args.command {
        MachineCommand::Probe { measure, json } => probe(*measure, *json),
        MachineCommand::Show { machine } => output::print(machine_of(machine)?.text()),
        MachineCommand::List { json: true } => {
            let classes = Machine::class_names().filter_map(Machine::class);
            output::print_json(&Value::from(classes.map(|class| to_json(&class)).collect::<Vec<Value>>()))
        }
        MachineCommand::List { json: false } => {
            let lines = Machine::class_names()
                .filter_map(Machine::class)
                .map(|machine| format!("{:<18} {:<8} {}\n", machine.name, machine.tier, machine.title));
            output::print(&lines.collect::<String>())
        }
    }
}

/// As `L1 data 32.0 KiB, L2 512.0 KiB`.
fn caches() -> String {
    let cache = |cache: &processor::Cache| {
        let holds = match cache.holds.as_str() {
            "Unified" => String::new(),
            holds => format!("{} ", holds.to_lowercase()),
        };
        format!("L{} {holds}{}", cache.level, output::size(cache.bytes))
    };
    match processor::caches().as_slice() {
        [] => "unknown".to_string(),
        found => found.iter().map(cache).collect::<Vec<String>>().join(", "),
    }
}

/// A machine with its numbers by name, each in the unit of the file.
fn to_json(machine: &Machine) -> Value {
    let facts = machine.facts.iter();
    let facts = facts.map(|(name, fact)| (name.clone(), json!({ "value": fact.value, "unit": fact.unit })));
    let (kind, cores) = match &machine.kind {
        Kind::Cpu(cpu) => ("cpu", cpu.cores),
        Kind::Gpu(gpu) => ("gpu", gpu.sms),
        Kind::Lpu(_) => ("lpu", 1),
    };
    json!({
        "name": machine.name,
        "title": machine.title,
        "kind": kind,
        "tier": machine.tier,
        "cores": cores,
        "has_core_model": machine.cpu().is_some_and(|cpu| cpu.core.is_some()),
        "facts": facts.collect::<serde_json::Map<String, Value>>(),
    })
}

fn probe(measure: bool, as_json: bool) -> Result<(), Failure> {
    let facts = processor::facts();
    let (class, form) = processor::default_machine()?;
    let portable = form == Form::Portable;
    let measured = measure.then(|| Measured::of(&class));
    if as_json {
        let mut value = json!({
            "vendor": facts.vendor,
            "family": facts.family,
            "model": facts.model,
            "features": facts.features,
            "class": class.name,
            "tier": class.tier,
            "portable": portable,
            "cores": tegula::all_threads(),
            "caches": processor::caches().iter().map(|cache| json!({
                "level": cache.level, "holds": cache.holds, "bytes": cache.bytes,
            })).collect::<Vec<Value>>(),
            "memory_bytes": processor::memory(),
        });
        if let Some(measured) = measured {
            value["measured"] = measured.json();
        }
        return output::print_json(&value);
    }
    let how = if portable { " (interpreter: the processor has no AVX2)" } else { "" };
    let measured = measured.map_or_else(String::new, |measured| measured.text());
    output::print(&format!(
        "vendor   {}\nfamily   {}\nmodel    {}\nfeatures {}\ncores    {}\ncaches   {}\nmemory   {}\nclass    {} ({}){how}\n{measured}",
        facts.vendor,
        facts.family,
        facts.model,
        facts.features.join(" "),
        tegula::all_threads(),
        caches(),
        processor::memory().map_or("unknown".to_string(), output::size),
        class.name,
        class.title,
    ))
}

/// What the processor reaches now; figures are none where there is no code to measure them with.
struct Measured {
    peaks: Vec<Peak>,
    reads: Vec<Read>,
}

/// Multiply-adds of one type on registers alone; each counts two.
struct Peak {
    of: Arithmetic,
    threads: usize,
    per_second: f64,
    /// Of one thread, measured right before.
    clock_hz: f64,
    /// Of width times ports, as the machine class says, times the clock.
    share: f64,
}

struct Read {
    threads: usize,
    bytes: usize,
    per_second: f64,
}

/// Of each thread: what a level 2 cache holds, and far more than any cache.
const BLOCKS: [usize; 2] = [256 << 10, 128 << 20];

impl Measured {
    fn of(class: &Machine) -> Measured {
        let counts = match tegula::all_threads() {
            1 => vec![1],
            all => vec![1, all],
        };
        let (mut peaks, mut reads) = (Vec::new(), Vec::new());
        for threads in counts {
            for of in Arithmetic::ALL {
                let rates = class.cpu().map(|cpu| cpu.flops_per_cycle);
                let per_cycle = rates.map_or(0.0, |rates| match of {
                    Arithmetic::F32 => rates.f32,
                    Arithmetic::Bf16 => rates.bf16,
                    Arithmetic::U8S8 => rates.i8,
                });
                let measure = |_| Some((peaks::clock_hz()?, peaks::operations_per_second(of)?));
                let found: Option<Vec<(f64, f64)>> =
                    peaks::on_threads(threads, measure).into_iter().collect();
                let Some(found) = found else { continue };
                let clocks: f64 = found.iter().map(|(clock, _)| clock).sum();
                let per_second = found.iter().map(|(_, rate)| rate).sum();
                let share = per_second / (clocks * per_cycle);
                peaks.push(Peak { of, threads, per_second, clock_hz: clocks / threads as f64, share });
            }
            for bytes in BLOCKS {
                let measure = |_| peaks::bytes_per_second(&vec![1u8; bytes]);
                let found: Option<Vec<f64>> = peaks::on_threads(threads, measure).into_iter().collect();
                reads.extend(found.map(|rates| Read { threads, bytes, per_second: rates.iter().sum() }));
            }
        }
        Measured { peaks, reads }
    }

    fn json(&self) -> Value {
        let peaks = self.peaks.iter().map(|peak| {
            json!({
                "arithmetic": peak.of.name(),
                "instruction": peaks::instruction(peak.of),
                "threads": peak.threads,
                "operations_per_second": peak.per_second,
                "clock_hz": peak.clock_hz,
                "share_of_class": peak.share,
            })
        });
        let reads = self.reads.iter().map(|read| {
            json!({ "threads": read.threads, "bytes_each": read.bytes, "bytes_per_second": read.per_second })
        });
        json!({
            "arithmetic": peaks.collect::<Vec<_>>(),
            "reads": reads.collect::<Vec<_>>(),
        })
    }

    fn text(&self) -> String {
        if self.peaks.is_empty() {
            return "nothing measured: Tegula has no machine code for this processor\n".to_string();
        }
        let threads = |threads: usize| format!("{threads} thread{}", if threads == 1 { "" } else { "s" });
        let mut text = String::new();
        for peak in &self.peaks {
            text += &format!(
                "{:8} {:.1} Gop/s, {}, {} at {:.2} GHz, {:.1} % of the class\n",
                peak.of.name(),
                peak.per_second / 1e9,
                threads(peak.threads),
                peaks::instruction(peak.of).unwrap_or_default(),
                peak.clock_hz / 1e9,
                peak.share * 100.0,
            );
        }
        for read in &self.reads {
            text += &format!(
                "read     {:.1} GB/s, {}, {} KiB each\n",
                read.per_second / 1e9,
                threads(read.threads),
                read.bytes >> 10
            );
        }
        text
    }
}
