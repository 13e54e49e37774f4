//! `tegula diff`.

use crate::args::{CompileOptions, DiffArgs};
use crate::failure::Failure;
use crate::inspect::at;
use crate::load::{self, take_package, with_model};
use crate::{kind, output};
use serde_json::{Value, json};
use std::path::Path;
use tegula_driver::diff::{Change, Cost, Difference, Group, diff as compare};
use tegula_package::Package;
use tegula_runtime::map_file;

/// Groups that are shown unless all are asked for.
const SHOWN: usize = 20;
/// Nodes of a group that are named.
const NAMED: usize = 3;

pub fn diff(args: &DiffArgs) -> Result<(), Failure> {
    let [left, right] = [&args.left, &args.right];
    let dims = load::dims(&args.compile.dims)?;
    let packages = [package(left)?, package(right)?];
    if packages.iter().all(Option::is_some) {
        args.compile.refuse("both sides are compiled already")?;
        load::check_dims(packages.iter().flatten().flat_map(|package| &package.program.inputs), &dims)?;
    }
    // Dims that a package has open are open on the other side too, and size what both are predicted to take.
    let open = load::open_dims(packages.iter().flatten().flat_map(|package| &package.program.inputs));
    let mut compile = args.compile.clone();
    compile.dims.dims.retain(|(name, _)| !open.contains(name));
    let [one, other] = packages;
    let sides = [side(one, left, &compile)?, side(other, right, &compile)?];
    let found = compare([&sides[0], &sides[1]], &dims)?;
    for name in &found.made_up {
        output::complain(&format!("note: dim `{name}` is not given; using 1 (`--dim {name}=N`)\n"));
    }
    if args.json {
        return output::print_json(&to_json(&found));
    }
    output::print(&to_text(&found, if args.all { usize::MAX } else { SHOWN }))
}

/// The package of a file, if it is one.
fn package(file: &Path) -> Result<Option<Package>, Failure> {
    if !kind::is_package(file)? {
        return Ok(None);
    }
    Ok(Some(Package::parse(map_file(file)?).map_err(|found| at(file, found))?))
}

/// A package, or a model compiled to one.
fn side(package: Option<Package>, file: &Path, compile: &CompileOptions) -> Result<Package, Failure> {
    if let Some(package) = package {
        return Ok(package);
    }
    let (mut compiled, _) = with_model(file, compile, None, |model, options, cx| {
        tegula_driver::compile(model, options, None, cx)
    })?;
    Ok(take_package(&mut compiled)?.into_package())
}

fn to_text(found: &Difference, most: usize) -> String {
    if found.is_empty() {
        return format!("no difference: {} launches, the same code\n", found.totals[0].launches);
    }
    let mut text = String::new();
    for fact in &found.facts {
        let [left, right] = fact.values.each_ref().map(|value| value.as_deref().unwrap_or("-"));
        text += &format!("{}: {left} -> {right}\n", fact.what);
    }
    let changed: Vec<&Group> = found.changed().collect();
    if !changed.is_empty() {
        text += &format!("{:<10}  {:<10}  {:>9} {:>9}  what\n", "left", "right", "launches", "traffic");
    }
    text.extend(changed.iter().take(most).map(|group| row(&group.costs, &what(group))));
    if changed.len() > most {
        text += &format!("{} more groups; `--all` shows them\n", changed.len() - most);
    }
    let same = found.groups.len() - changed.len();
    let [left, right] = &found.bases;
    text += &match left == right {
        true => format!("times by the {left}\n"),
        false => format!("times of the left side by the {left}\ntimes of the right side by the {right}\n"),
    };
    text += &row(&found.totals, &format!("all; {same} of {} groups are the same", found.groups.len()));
    text
}

/// Predicted times, launches and memory traffic of both sides.
fn row(costs: &[Cost; 2], what: &str) -> String {
    let [left, right] = costs;
    let time = |cost: &Cost| if cost.launches == 0 { "-".to_string() } else { output::duration(cost.ns) };
    let traffic = match left.bytes > 0.0 && right.bytes > 0.0 {
        true => format!("{:+.1} %", 100.0 * (right.bytes / left.bytes - 1.0)),
        false => "-".to_string(),
    };
    let launches = format!("{} -> {}", left.launches, right.launches);
    format!("{:<10}  {:<10}  {launches:>9} {traffic:>9}  {what}\n", time(left), time(right))
}

fn what(group: &Group) -> String {
    let word = match group.change {
        Change::Same => "same",
        Change::Code => "other code",
        Change::Kernels => "other kernels",
        Change::OnlyLeft => "gone",
        Change::OnlyRight => "new",
    };
    let more = group.nodes.len().saturating_sub(NAMED);
    let nodes = group.nodes.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{word}: {nodes}{more}")
}

fn to_json(found: &Difference) -> Value {
    let cost = |cost: &Cost| json!({ "launches": cost.launches, "predicted_ns": cost.ns, "bytes": cost.bytes, "flops": cost.flops });
    json!({
        "same": found.is_empty(),
        "facts": found.facts.iter().map(|fact| json!({
            "what": fact.what, "left": fact.values[0], "right": fact.values[1],
        })).collect::<Vec<Value>>(),
        "groups": found.changed().map(|group| json!({
            "change": what(group).split(':').next(),
            "nodes": group.nodes,
            "left": { "kernels": group.kernels[0], "cost": cost(&group.costs[0]) },
            "right": { "kernels": group.kernels[1], "cost": cost(&group.costs[1]) },
        })).collect::<Vec<Value>>(),
        "left": cost(&found.totals[0]),
        "right": cost(&found.totals[1]),
        "predictions": found.bases.each_ref().map(output::basis),
    })
}
