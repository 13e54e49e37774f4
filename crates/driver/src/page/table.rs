//! Kernels with what they cost and what holds them back, the costliest first.

use super::{colour, escaped};
use crate::human::{duration, size};
use crate::machine_report::Kernels;
use std::fmt::Write;

/// The field whose text is sought in the tables.
pub(super) const FILTER: &str = "<p><input id=\"filter\" type=\"search\" placeholder=\"part of a kernel's or node's name\" \
                                 aria-label=\"filter\"></p>\n";

/// The start of a table with so many heads, up to its first row.
pub(super) fn table(id: &str, heads: &[&str]) -> String {
    let heads: String = heads.iter().map(|head| format!("<th>{head}</th>")).collect();
    format!(
        "<div class=\"scroll\"><table id=\"{}\">\n<thead><tr>{heads}</tr></thead>\n<tbody>\n",
        escaped(id)
    )
}

/// The end of a table.
pub(super) const END: &str = "</tbody>\n</table></div>\n";

pub(super) fn kernels(id: &str, kernels: &Kernels) -> String {
    let heads =
        ["kernel", "class", "launches", "predicted", "share", "traffic", "GB/s", "GFLOP/s", "bound", "nodes"];
    let total = kernels.ns.max(f64::MIN_POSITIVE);
    let mut text = table(id, &heads);
    for kernel in &kernels.rows {
        let row = &kernel.forecast;
        let rate = |amount: f64| if row.ns > 0.0 { amount / row.ns } else { 0.0 };
        // A `String` takes whatever is written.
        let _ = writeln!(
            text,
            "<tr class=\"{0}\"><td>{1}</td><td>{2}</td><td data-n=\"{3}\">{3}</td><td data-n=\"{4}\">{5}</td>\
             <td data-n=\"{4}\">{6:.1} %</td><td data-n=\"{7}\">{8}</td><td data-n=\"{9}\">{9:.1}</td>\
             <td data-n=\"{10}\">{10:.1}</td><td><span class=\"bound\">{11}</span></td><td>{12}</td></tr>",
            colour(&row.bound),
            escaped(&kernel.name),
            escaped(&kernel.class),
            row.launches,
            row.ns,
            duration(row.ns),
            100.0 * row.ns / total,
            row.bytes,
            size(row.bytes as u64),
            rate(row.bytes),
            rate(row.flops),
            escaped(&row.bound),
            escaped(&kernel.nodes.join(", ")),
        );
    }
    text + END
}
