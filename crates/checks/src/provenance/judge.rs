//! Holds the names of kernels against the nodes of the file.

use std::collections::{BTreeMap, BTreeSet};

use super::kernels::{Kernels, Work};
use super::source::{Idle, Node};

/// How much more work kernels may do than the nodes that they are named by: borders, and rows that tiles are filled up with.
const MOST_WORK: f64 = 1.5;
/// How much less, of nodes that share kernels.
const LEAST_WORK: f64 = 0.5;

#[derive(Debug, Default)]
pub struct Findings {
    /// A line each.
    pub faults: Vec<String>,
    /// Nodes without a kernel, by the reason that the file gives.
    pub listed: BTreeMap<String, usize>,
    pub nodes: usize,
    pub kernels: usize,
    /// Pairs of nodes whose kernels come one after the other as the nodes do.
    pub orders: usize,
}

impl Findings {
    pub fn add(&mut self, other: Findings) {
        self.faults.extend(other.faults);
        for (reason, count) in other.listed {
            *self.listed.entry(reason).or_default() += count;
        }
        self.nodes += other.nodes;
        self.kernels += other.kernels;
        self.orders += other.orders;
    }
}

/// `work` is that of each node at its import.
pub fn judge(nodes: &[Node], work: &BTreeMap<String, Work>, kernels: &Kernels) -> Findings {
    let kernels = &merged(nodes, kernels);
    let mut of_node: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, kernel) in kernels.list.iter().enumerate() {
        kernel.nodes.iter().for_each(|name| of_node.entry(name).or_default().push(i));
    }
    let mut findings = Findings { nodes: nodes.len(), kernels: kernels.list.len(), ..Findings::default() };
    let judge = Judge { nodes, work, kernels, of_node };
    judge.missing(&mut findings);
    judge.doubled(&mut findings);
    judge.apart(&mut findings);
    judge.misnamed(&mut findings);
    judge.misplaced(&mut findings);
    findings
}

/// A node that is equal to another one and has no kernel that does work is that other one: both are computed at once.
fn merged(nodes: &[Node], kernels: &Kernels) -> Kernels {
    let working = kernels.list.iter().filter(|kernel| kernel.work > 0.0);
    let worked: BTreeSet<&String> = working.flat_map(|kernel| &kernel.nodes).collect();
    let equal = nodes.iter().filter(|node| !worked.contains(&node.name));
    let equal: BTreeMap<&str, &String> = equal
        .filter_map(|node| match &node.idle {
            Some(Idle::Equal(other)) => Some((node.name.as_str(), other)),
            _ => None,
        })
        .collect();
    let mut kernels = kernels.clone();
    for kernel in &mut kernels.list {
        for name in &mut kernel.nodes {
            if let Some(other) = equal.get(name.as_str()) {
                name.clone_from(other);
            }
        }
        let mut seen = BTreeSet::new();
        kernel.nodes.retain(|name| seen.insert(name.clone()));
    }
    kernels
}

struct Judge<'a> {
    nodes: &'a [Node],
    work: &'a BTreeMap<String, Work>,
    kernels: &'a Kernels,
    /// The kernels that are named by each node.
    of_node: BTreeMap<&'a str, Vec<usize>>,
}

impl Judge<'_> {
    fn named_by(&self, node: &str) -> &[usize] {
        self.of_node.get(node).map_or(&[], Vec::as_slice)
    }

    /// Sums of one step are products of elements: no work.
    fn work_of(&self, node: &str) -> f64 {
        self.work.get(node).filter(|work| !work.is_one_step).map_or(0.0, |work| work.amount)
    }

    fn title(&self, kernel: usize) -> &str {
        &self.kernels.list[kernel].title
    }

    /// Nodes that do work, once each.
    fn workers(&self) -> impl Iterator<Item = &str> {
        let names: BTreeSet<&str> = self.nodes.iter().map(|node| node.name.as_str()).collect();
        names.into_iter().filter(|name| self.work_of(name) > 0.0 && !self.named_by(name).is_empty())
    }

    /// The kernels that do a node's work: of those with work the ones that are named by it first, or else all; of none with
    /// work, likewise.
    fn home(&self, node: &str) -> BTreeSet<usize> {
        let list = &self.kernels.list;
        let named = self.named_by(node).iter().copied();
        let working: Vec<usize> = named.clone().filter(|i| list[*i].work > 0.0).collect();
        let candidates = if working.is_empty() { named.collect() } else { working };
        let first: BTreeSet<usize> =
            candidates.iter().copied().filter(|i| list[*i].nodes[0] == node).collect();
        if first.is_empty() { candidates.into_iter().collect() } else { first }
    }

    fn missing(&self, findings: &mut Findings) {
        for node in self.nodes.iter().filter(|node| self.named_by(&node.name).is_empty()) {
            let is_one_step = self.work.get(&node.name).is_some_and(|work| work.is_one_step);
            match &node.idle {
                Some(Idle::Equal(other)) if self.named_by(other).is_empty() => {
                    let line = format!("missing: {} \"{}\" and its equal \"{other}\"", node.op, node.name);
                    findings.faults.push(line);
                }
                Some(idle) => *findings.listed.entry(idle.to_string()).or_default() += 1,
                None if is_one_step => *findings.listed.entry("one-step".to_string()).or_default() += 1,
                None => findings.faults.push(format!("missing: {} \"{}\"", node.op, node.name)),
            }
        }
    }

    fn doubled(&self, findings: &mut Findings) {
        let homes: Vec<(&str, BTreeSet<usize>)> =
            self.workers().map(|name| (name, self.home(name))).collect();
        let mut at: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (node, (_, home)) in homes.iter().enumerate() {
            home.iter().for_each(|kernel| at.entry(*kernel).or_default().push(node));
        }
        for (name, home) in &homes {
            let done: f64 = home.iter().map(|kernel| self.kernels.list[*kernel].work).sum();
            let sharing: BTreeSet<usize> =
                home.iter().flat_map(|kernel| at[kernel].iter().copied()).collect();
            let wanted: f64 = sharing.iter().map(|node| self.work_of(homes[*node].0)).sum();
            let wanted = wanted + self.of_one_step(home);
            let is_shared = sharing.len() > 1;
            if done > MOST_WORK * wanted || is_shared && done < LEAST_WORK * wanted {
                let titles: Vec<&str> = home.iter().map(|kernel| self.title(*kernel)).collect();
                let titles = titles.join(", ");
                findings.faults.push(format!("doubled: \"{name}\": {titles} do {done:.3e} of {wanted:.3e}"));
            }
        }
    }

    /// The elements of sums of one step that kernels are named by: as part of an attention they are computed as the others.
    fn of_one_step(&self, kernels: &BTreeSet<usize>) -> f64 {
        let names = kernels.iter().flat_map(|kernel| &self.kernels.list[*kernel].nodes);
        let names: BTreeSet<&String> = names.collect();
        let work = names.into_iter().filter_map(|name| self.work.get(name));
        work.filter(|work| work.is_one_step).map(|work| work.amount).sum()
    }

    /// Kernels that bear the name of a node that no neighbour of theirs computes.
    fn apart(&self, findings: &mut Findings) {
        for name in self.workers() {
            let (named, home) = (self.named_by(name), self.home(name));
            // The mask of an attention belongs to its second product, and is added behind the first.
            let read = self.nodes.iter().filter(|node| node.name == name).flat_map(|node| &node.reads);
            let read: BTreeSet<usize> = read.flat_map(|other| self.named_by(other)).copied().collect();
            for &i in named.iter().filter(|i| !home.contains(*i)) {
                let is_neighbour =
                    named.iter().any(|other| self.reaches(i, *other) || self.reaches(*other, i))
                        || read.iter().any(|other| self.reaches(*other, i));
                if !self.kernels.list[i].is_carried && !is_neighbour {
                    findings.faults.push(format!("doubled: {} is not of \"{name}\"", self.title(i)));
                }
            }
        }
    }

    /// Whether a kernel reads another one, perhaps through others that do no work.
    fn reaches(&self, later: usize, earlier: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut waiting = vec![later];
        while let Some(kernel) = waiting.pop() {
            for &read in &self.kernels.list[kernel].reads {
                if read == earlier {
                    return true;
                }
                if self.kernels.list[read].work == 0.0 && seen.insert(read) {
                    waiting.push(read);
                }
            }
        }
        false
    }

    fn misnamed(&self, findings: &mut Findings) {
        for name in self.workers() {
            for i in self.home(name) {
                let first = &self.kernels.list[i].nodes[0];
                if self.work_of(first) == 0.0 {
                    let line = format!("misnamed: {} is named \"{first}\" before \"{name}\"", self.title(i));
                    findings.faults.push(line);
                }
            }
        }
    }

    fn misplaced(&self, findings: &mut Findings) {
        for node in self.nodes.iter().filter(|node| !self.named_by(&node.name).is_empty()) {
            for other in node.reads.iter().filter(|other| !self.named_by(other).is_empty()) {
                let (later, earlier) = (self.named_by(&node.name), self.named_by(other));
                let follows = |later: &usize, earlier: &usize| {
                    self.kernels.follows(&self.kernels.list[*later], &self.kernels.list[*earlier])
                };
                findings.orders += 1;
                if !later.iter().any(|later| earlier.iter().any(|earlier| follows(later, earlier))) {
                    let line =
                        format!("misplaced: \"{}\" reads \"{other}\", no kernel of it does", node.name);
                    findings.faults.push(line);
                }
            }
        }
    }
}
