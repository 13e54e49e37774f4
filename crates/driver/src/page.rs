//! Pages for a browser. Of a package: launches and what flows between them, memory over time, kernels and their bounds. Of
//! machines side by side: `page/machines.rs`.
//!
//! A page stands alone: drawings are SVG inside of it, and nothing is fetched. Times are predicted, at one thread of
//! the package's machine; sizes that are not given count as 1, which the page says.

mod graph;
mod machines;
mod memory;
mod table;

use crate::forecast::{Forecast, LaunchForecast, forecast};
use crate::human::{duration, size};
use crate::machine_report::Kernels;
use crate::sizes::AtSizes;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use tegula_base::Diagnostic;
use tegula_package::{Arg, BufferId, Package, Place, Step};

pub use machines::machines;

const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// One launch of the program, in its order; those in branches and loops stand once.
struct Launch {
    /// The kernel's place in the package's list.
    kernel: usize,
    /// Launches whose results it reads, in their order, each once.
    from: Vec<usize>,
    ns: f64,
    bound: String,
}

/// Writes the page of a package at the sizes in `dims`. Errors: internal, code that kernels do not have.
pub fn page(package: &Package, dims: &BTreeMap<String, i64>) -> Result<String, Diagnostic> {
    let mut sizes = AtSizes::new(dims);
    let forecast = forecast(package, dims)?;
    let launches = launches(package, &forecast);
    sizes.made_up.extend(forecast.made_up.iter().cloned());
    let table = table::kernels("kernels", &Kernels::of(package, &forecast));
    let memory = memory::drawings(package, &mut sizes);
    let graph = graph::drawing(package, &launches);
    let about = &package.manifest.about;
    let total: f64 = launches.iter().map(|launch| launch.ns).sum();
    let mut facts = vec![
        ("machine", format!("{} ({})", about.machine.class, about.machine.isa)),
        ("launches", launches.len().to_string()),
        ("kernels", package.program.kernels.len().to_string()),
        ("predicted", duration(total)),
        ("predicted by", forecast.basis.to_string()),
        ("constants", size(package.memory.constants)),
        ("compiled by", format!("Tegula {}", about.tegula)),
    ];
    if !dims.is_empty() {
        let given: Vec<String> = dims.iter().map(|(name, n)| format!("{name} = {n}")).collect();
        facts.push(("sizes", given.join(", ")));
    }
    if !sizes.made_up.is_empty() {
        let names: Vec<&str> = sizes.made_up.iter().map(String::as_str).collect();
        facts.push(("sizes not given, taken as 1", names.join(", ")));
    }
    let mut body = String::new();
    body += &format!("<h2>Launches</h2>\n<div class=\"scroll\" id=\"graph\">\n{graph}</div>\n");
    body += &format!("<h2>Memory</h2>\n<div class=\"scroll\" id=\"memory\">\n{memory}</div>\n");
    body += &format!("<h2>Kernels</h2>\n{}{table}", table::FILTER);
    Ok(framed(&about.model, &facts, &body))
}

/// A whole page: its title, facts below it, and what follows them.
fn framed(title: &str, facts: &[(&str, String)], body: &str) -> String {
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{0}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<dl>\n",
        escaped(title)
    );
    for (name, value) in facts {
        // A `String` takes whatever is written.
        let _ = writeln!(page, "<div><dt>{name}</dt><dd>{}</dd></div>", escaped(value));
    }
    page + &format!("</dl>\n{body}<script>\n{SCRIPT}</script>\n</body>\n</html>\n")
}

fn launches(package: &Package, forecast: &Forecast) -> Vec<Launch> {
    let program = &package.program;
    let root = |id: BufferId| match program.buffers.get(id.index()).map(|buffer| &buffer.place) {
        Some(Place::Alias { of, .. }) => *of,
        _ => id,
    };
    let mut found: Vec<Launch> = Vec::new();
    // Who filled a buffer last; what else moves bytes passes that on.
    let mut writer: HashMap<BufferId, usize> = HashMap::new();
    Step::for_each(&program.steps, 0, &mut |number, step| match step {
        Step::Launch { kernel, args, .. } => {
            let kernel = *kernel as usize;
            let mut from = Vec::new();
            let named = args.iter().filter_map(|arg| match arg {
                Arg::Buffer(id) => Some(*id),
                Arg::Size(_) => None,
            });
            let (made, read): (Vec<BufferId>, Vec<BufferId>) = named
                .partition(|id| program.buffers.get(id.index()).is_some_and(|buffer| buffer.first == number));
            for id in read {
                let source = writer.get(&id).or_else(|| writer.get(&root(id)));
                from.extend(
                    source.copied().filter(|source| !from.contains(source)).into_iter().collect::<Vec<_>>(),
                );
            }
            writer.extend(made.into_iter().flat_map(|id| [(id, found.len()), (root(id), found.len())]));
            from.sort_unstable();
            let LaunchForecast { ns, bound, .. } = &forecast.launches[found.len()];
            found.push(Launch { kernel, from, ns: *ns, bound: bound.clone() });
        }
        Step::Copy { src, dst, .. } | Step::Transfer { src, dst, .. } => {
            if let Some(source) = writer.get(src).or_else(|| writer.get(&root(*src))).copied() {
                writer.extend([(*dst, source), (root(*dst), source)]);
            }
        }
        Step::Fill { .. }
        | Step::Bind { .. }
        | Step::Assert { .. }
        | Step::If { .. }
        | Step::Loop { .. }
        | Step::Fork { .. } => {}
    });
    found
}

/// Text between tags or in quotes.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// At most so many characters, the last of them an ellipsis where some are left out.
fn shortened(text: &str, most: usize) -> String {
    match text.chars().count() > most {
        true => text.chars().take(most.saturating_sub(1)).chain(['\u{2026}']).collect(),
        false => text.to_string(),
    }
}

/// The class of CSS that colours what this bound holds back.
fn colour(bound: &str) -> &'static str {
    match bound {
        "compute" => "compute",
        "l1" | "l2" | "l3" | "shared" => "cache",
        "dram" | "memory" => "dram",
        "launch" | "latency" => "latency",
        _ => "other",
    }
}
