//! A model on machines side by side: the time on each, with the facts that were varied, then its kernels there.

use super::table::{END, FILTER, kernels, table};
use super::{colour, escaped, framed};
use crate::human::{duration, size};
use crate::machine_report::{Kernels, MachineReport};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Writes the page of what was predicted for the model of this name at the sizes in `dims`.
pub fn machines(model: &str, dims: &BTreeMap<String, i64>, reports: &[MachineReport]) -> String {
    let mut facts = vec![
        ("machines", reports.len().to_string()),
        ("times", "predicted; of a processor at one thread on one core, of a GPU as a whole".to_string()),
        ("compiled by", format!("Tegula {}", env!("CARGO_PKG_VERSION"))),
    ];
    if !dims.is_empty() {
        let given: Vec<String> = dims.iter().map(|(name, n)| format!("{name} = {n}")).collect();
        facts.push(("sizes", given.join(", ")));
    }
    let mut made_up: Vec<&str> =
        reports.iter().flat_map(|report| &report.made_up).map(String::as_str).collect();
    made_up.sort_unstable();
    made_up.dedup();
    if !made_up.is_empty() {
        facts.push(("sizes not given, taken as 1", made_up.join(", ")));
    }
    let mut body = format!("<h2>Machines</h2>\n{}", sides(reports));
    if reports.iter().any(|report| !report.swings.is_empty()) {
        let _ =
            write!(body, "<h2>Change of the time for 10 % more of a fact</h2>\n{}", sensitivities(reports));
    }
    body += FILTER;
    for (number, report) in reports.iter().enumerate() {
        let _ = write!(
            body,
            "<h2>Kernels on {}</h2>\n<p>{}</p>\n{}",
            escaped(&report.basis.machine),
            escaped(&report.basis.to_string()),
            kernels(&format!("kernels-{number}"), &report.kernels),
        );
    }
    framed(model, &facts, &body)
}

/// One row for each machine and each setting of its facts; a bar's length is the time.
fn sides(reports: &[MachineReport]) -> String {
    let varied = reports.iter().flat_map(|report| &report.varied).map(|varied| varied.kernels.ns);
    let longest =
        reports.iter().map(|report| report.kernels.ns).chain(varied).fold(f64::MIN_POSITIVE, f64::max);
    let mut text = table("machines", &["machine", "facts", "predicted", "traffic", "bound", "model", "time"]);
    for report in reports {
        let mut row = |facts: &str, kernels: &Kernels| {
            // A `String` takes whatever is written.
            let _ = writeln!(
                text,
                "<tr class=\"{0}\"><td>{1}, {10}</td><td>{2}</td><td data-n=\"{3}\">{4}</td><td data-n=\"{5}\">{6}</td>\
                 <td><span class=\"bound\">{7}</span></td><td>{8}</td>\
                 <td class=\"lengths\"><span class=\"length\" style=\"width: {9:.2}%\"></span></td></tr>",
                colour(kernels.bound()),
                escaped(&report.basis.machine),
                escaped(facts),
                kernels.ns,
                duration(kernels.ns),
                kernels.bytes(),
                size(kernels.bytes() as u64),
                escaped(kernels.bound()),
                report.basis.model.name(),
                100.0 * kernels.ns / longest,
                report.basis.part,
            );
        };
        row("", &report.kernels);
        for varied in &report.varied {
            row(&varied.setting(), &varied.kernels);
        }
    }
    text + END
}

fn sensitivities(reports: &[MachineReport]) -> String {
    let mut text = table("facts", &["machine", "fact", "value", "change", "why none"]);
    for report in reports {
        let ns = report.kernels.ns;
        for swing in &report.swings {
            let share = swing.sensitivity(ns);
            let _ = writeln!(
                text,
                "<tr><td>{}</td><td>{}</td><td data-n=\"{2}\">{2}</td><td data-n=\"{3}\">{4}</td><td>{5}</td></tr>",
                escaped(&report.basis.machine),
                escaped(&swing.fact),
                swing.value,
                share.unwrap_or(0.0).abs(),
                share.map_or("none".to_string(), |share| format!("{:+.2} %", 100.0 * share)),
                escaped(&share.map_or_else(|| swing.why_none(), |_| String::new())),
            );
        }
    }
    text + END
}
