//! What differs between two packages, and what it costs.
//!
//! Launches are matched by the model's nodes that they compute: a group is the fewest launches of both sides that
//! compute the same nodes, so that a fusion that one side has and the other lacks is one row. Launches without nodes are
//! matched by their kernel's name.

use crate::forecast::{Basis, Forecast, LaunchForecast, forecast};
use std::collections::{BTreeMap, BTreeSet};
use tegula_base::Diagnostic;
use tegula_package::manifest::PortFacts;
use tegula_package::{Entry, Kernel, KernelCode, Package, PtxLaunch};

/// A fact that both packages have, or one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub what: String,
    /// `None`: that side has no such thing.
    pub values: [Option<String>; 2],
}

/// What a side is predicted to cost at the sizes given, at one thread of its machine.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    pub launches: usize,
    pub ns: f64,
    /// Of memory traffic.
    pub bytes: f64,
    pub flops: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The same code.
    Same,
    /// As many kernels, one or more with other code or cost.
    Code,
    /// Other kernels.
    Kernels,
    OnlyLeft,
    OnlyRight,
}

/// Launches of both sides that compute the same nodes.
#[derive(Clone, Debug)]
pub struct Group {
    pub nodes: Vec<String>,
    /// Names of the kernels, in the order of launches.
    pub kernels: [Vec<String>; 2],
    pub costs: [Cost; 2],
    pub change: Change,
}

impl Group {
    /// Nanoseconds that the right side takes more.
    pub fn slower_ns(&self) -> f64 {
        self.costs[1].ns - self.costs[0].ns
    }
}

#[derive(Clone, Debug)]
pub struct Difference {
    /// What differs besides launches: machine, options, ports, sizes.
    pub facts: Vec<Fact>,
    /// Those that changed first, by how much; then the others in the order of the left side.
    pub groups: Vec<Group>,
    pub totals: [Cost; 2],
    /// Where each side's times come from.
    pub bases: [Basis; 2],
    /// Sizes of the inputs that were not given; 1 was taken.
    pub made_up: Vec<String>,
}

impl Difference {
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty() && self.changed().next().is_none()
    }

    pub fn changed(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| group.change != Change::Same)
    }
}

/// Compares two packages at the sizes in `dims`.
/// Errors: internal, code that kernels do not have.
pub fn diff(sides: [&Package; 2], dims: &BTreeMap<String, i64>) -> Result<Difference, Diagnostic> {
    let [left, right] = sides.map(|side| forecast(side, dims));
    let forecasts = [left?, right?];
    let launches = [0, 1].map(|side| launches(sides[side], &forecasts[side]));
    // Caches that other launches leave change the times of the same code.
    let [left, right] = sides.map(|side| &side.manifest.about.machine.hash);
    let mut groups = group(&launches, left != right);
    groups.sort_by(|a, b| {
        let rank = |group: &Group| (group.change == Change::Same, -group.slower_ns().abs());
        let (a, b) = (rank(a), rank(b));
        a.0.cmp(&b.0).then(if a.0 { std::cmp::Ordering::Equal } else { a.1.total_cmp(&b.1) })
    });
    let totals = [0, 1].map(|side| groups.iter().fold(Cost::default(), |sum, group| sum + group.costs[side]));
    let made_up: BTreeSet<String> = forecasts.iter().flat_map(|side| side.made_up.clone()).collect();
    let (facts, made_up) = (facts(sides), made_up.into_iter().collect());
    let bases = forecasts.map(|side| side.basis);
    let mut found = Difference { facts, groups, totals, bases, made_up };
    let [left, right] = sides.map(|side| &side.program);
    if found.is_empty() && (&left.steps, &left.buffers) != (&right.steps, &right.buffers) {
        let values = ["one", "another"].map(|which| Some(which.to_string()));
        found.facts.push(Fact { what: "order or arguments of the same launches".to_string(), values });
    }
    Ok(found)
}

impl std::ops::Add for Cost {
    type Output = Cost;
    fn add(self, other: Cost) -> Cost {
        Cost {
            launches: self.launches + other.launches,
            ns: self.ns + other.ns,
            bytes: self.bytes + other.bytes,
            flops: self.flops + other.flops,
        }
    }
}

fn facts(sides: [&Package; 2]) -> Vec<Fact> {
    let [left, right] = sides.map(facts_of);
    let names: Vec<&String> = left
        .iter()
        .chain(right.iter().filter(|(name, _)| !left.iter().any(|(known, _)| known == name)))
        .map(|(name, _)| name)
        .collect();
    let value = |side: &[(String, String)], name: &String| {
        side.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    };
    let fact = |name: &String| Fact { what: name.clone(), values: [value(&left, name), value(&right, name)] };
    names.into_iter().map(fact).filter(|fact| fact.values[0] != fact.values[1]).collect()
}

fn facts_of(package: &Package) -> Vec<(String, String)> {
    let (manifest, memory) = (&package.manifest, &package.memory);
    let about = &manifest.about;
    let mut facts = vec![
        ("machine".to_string(), format!("{} ({})", about.machine.class, about.machine.isa)),
        ("machine file".to_string(), format!("SHA-256 {}", about.machine.hash)),
        ("compiler".to_string(), about.tegula.clone()),
    ];
    facts.extend(about.options.iter().map(|(name, value)| (format!("option {name}"), value.clone())));
    let port = |port: &PortFacts| format!("{}[{}]", port.dtype, port.shape.join(", "));
    for (what, ports) in [("input", &manifest.inputs), ("output", &manifest.outputs)] {
        facts.extend(ports.iter().map(|one| (format!("{what} {}", one.name), port(one))));
    }
    let code: u64 = manifest.kernels.iter().map(|kernel| kernel.bytes).sum();
    facts.push(("bytes of code".to_string(), code.to_string()));
    facts.push(("bytes of constants".to_string(), memory.constants.to_string()));
    if let Some(arena) = &memory.arena {
        facts.push(("bytes of the arena".to_string(), arena.bytes.to_string()));
    }
    let checksum = format!("checksum {:016x}", package.constants_checksum());
    facts.push(("values of the constants".to_string(), checksum));
    facts
}

/// One launch of a program.
struct Launch {
    kernel: String,
    nodes: Vec<String>,
    code: Vec<u8>,
    /// How a GPU is to launch it.
    launch: Option<PtxLaunch>,
    cost: Cost,
}

/// In program order; those in branches and loops stand once.
fn launches(package: &Package, forecast: &Forecast) -> Vec<Launch> {
    forecast.launches.iter().map(|predicted| launch(package, predicted)).collect()
}

fn launch(package: &Package, predicted: &LaunchForecast) -> Launch {
    let kernel: &Kernel = &package.program.kernels[predicted.kernel as usize];
    let LaunchForecast { ns, bytes, flops, .. } = *predicted;
    let cost = Cost { launches: 1, ns, bytes, flops };
    let nodes = match &*kernel.source {
        [] => vec![kernel.name.clone()],
        nodes => nodes.to_vec(),
    };
    let code = package.kernel_code(&kernel.code).to_vec();
    let launch = match &kernel.code {
        KernelCode::Image { entry: Entry::Ptx { launch, .. }, .. } => Some(launch.clone()),
        _ => None,
    };
    Launch { kernel: kernel.name.clone(), nodes, code, launch, cost }
}

/// Launches that share a node, on either side, are of one group.
/// On other machines, other times are a change too.
fn group(sides: &[Vec<Launch>; 2], by_time: bool) -> Vec<Group> {
    let all: Vec<(usize, &Launch)> =
        [0, 1].into_iter().flat_map(|side| sides[side].iter().map(move |launch| (side, launch))).collect();
    let mut leader: Vec<usize> = (0..all.len()).collect();
    let mut of_node: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, (_, launch)) in all.iter().enumerate() {
        for node in &launch.nodes {
            let first = *of_node.entry(node).or_insert(at);
            let (one, other) = (find(&mut leader, first), find(&mut leader, at));
            leader[one.max(other)] = one.min(other);
        }
    }
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..all.len() {
        members.entry(find(&mut leader, at)).or_default().push(at);
    }
    let members = members.into_values().map(|members| members.into_iter().map(|at| all[at]).collect());
    members.map(|members| group_of(members, by_time)).collect()
}

/// The first of a launch's group.
fn find(leader: &mut [usize], mut at: usize) -> usize {
    while leader[at] != at {
        leader[at] = leader[leader[at]];
        at = leader[at];
    }
    at
}

fn is_same(a: &Launch, b: &Launch, by_time: bool) -> bool {
    let [one, other] = [a, b].map(|launch| (launch.cost.bytes, launch.cost.flops));
    a.code == b.code && a.launch == b.launch && one == other && (!by_time || a.cost == b.cost)
}

fn group_of(members: Vec<(usize, &Launch)>, by_time: bool) -> Group {
    let of = |side: usize| members.iter().filter(move |(of, _)| *of == side).map(|(_, launch)| *launch);
    let mut nodes: Vec<String> = Vec::new();
    for node in members.iter().flat_map(|(_, launch)| &launch.nodes) {
        if !nodes.contains(node) {
            nodes.push(node.clone());
        }
    }
    let kernels = [0, 1].map(|side| of(side).map(|launch| launch.kernel.clone()).collect::<Vec<String>>());
    let costs = [0, 1].map(|side| of(side).fold(Cost::default(), |sum, launch| sum + launch.cost));
    let change = match (of(0).count(), of(1).count()) {
        (_, 0) => Change::OnlyLeft,
        (0, _) => Change::OnlyRight,
        (left, right) if left != right => Change::Kernels,
        _ if of(0).zip(of(1)).all(|(a, b)| is_same(a, b, by_time)) => Change::Same,
        _ => Change::Code,
    };
    Group { nodes, kernels, costs, change }
}
