//! Kernels with what they cost and what holds them back, the costliest first.

use super::{Launch, colour, escaped};
use crate::human::{duration, size};
use crate::sizes::AtSizes;
use std::fmt::Write;
use tegula_package::Package;

struct Row {
    kernel: usize,
    launches: usize,
    ns: f64,
    bytes: f64,
    flops: f64,
    bound: String,
}

/// What holds the longest launch back.
fn bound_of<'a>(launches: impl Iterator<Item = &'a Launch>) -> Option<String> {
    launches.max_by(|a, b| a.ns.total_cmp(&b.ns)).map(|launch| launch.bound.clone())
}

pub(super) fn kernels(package: &Package, launches: &[Launch], sizes: &mut AtSizes) -> String {
    let kernels = package.program.kernels.iter().enumerate();
    let mut rows: Vec<Row> = kernels
        .map(|(at, kernel)| {
            let own = launches.iter().filter(|launch| launch.kernel == at);
            let count = own.clone().count();
            let times = |n: i64| n as f64 * count as f64;
            Row {
                kernel: at,
                launches: count,
                ns: own.clone().map(|launch| launch.ns).sum(),
                bound: bound_of(own).unwrap_or_else(|| kernel.cost.bound.clone()),
                bytes: times(sizes.number(&kernel.cost.bytes)),
                flops: times(sizes.number(&kernel.cost.flops)),
            }
        })
        .collect();
    rows.sort_by(|a, b| b.ns.total_cmp(&a.ns));
    let total = rows.iter().map(|row| row.ns).sum::<f64>().max(f64::MIN_POSITIVE);
    let mut table = String::from(
        "<p><input id=\"filter\" type=\"search\" placeholder=\"part of a kernel's or node's name\" aria-label=\"filter\"></p>\n\
         <div class=\"scroll\"><table id=\"kernels\">\n<thead><tr>",
    );
    for head in
        ["kernel", "class", "launches", "predicted", "share", "traffic", "GB/s", "GFLOP/s", "bound", "nodes"]
    {
        // A `String` takes whatever is written.
        let _ = write!(table, "<th>{head}</th>");
    }
    table += "</tr></thead>\n<tbody>\n";
    for row in rows {
        let kernel = &package.program.kernels[row.kernel];
        let cost = &kernel.cost;
        let rate = |amount: f64| if row.ns > 0.0 { amount / row.ns } else { 0.0 };
        let _ = writeln!(
            table,
            "<tr class=\"{0}\"><td>{1}</td><td>{2}</td><td data-n=\"{3}\">{3}</td><td data-n=\"{4}\">{5}</td>\
             <td data-n=\"{4}\">{6:.1} %</td><td data-n=\"{7}\">{8}</td><td data-n=\"{9}\">{9:.1}</td>\
             <td data-n=\"{10}\">{10:.1}</td><td><span class=\"bound\">{11}</span></td><td>{12}</td></tr>",
            colour(&row.bound),
            escaped(&kernel.name),
            escaped(&cost.class),
            row.launches,
            row.ns,
            duration(row.ns),
            100.0 * row.ns / total,
            row.bytes,
            size(row.bytes as u64),
            rate(row.bytes),
            rate(row.flops),
            escaped(&row.bound),
            escaped(&kernel.source.join(", ")),
        );
    }
    table + "</tbody>\n</table></div>\n"
}
