//! A forest as a model states it, in either of the domain's two forms, checked: branches lead to nodes, and never back.

use crate::onnx::cx::Cx;
use crate::onnx::node::Node;
use crate::report::{Fault, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use tegula_base::{DType, HostTensor, SymbolInfo};

/// How a node asks its feature; the numbers are those of `TreeEnsemble`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mode {
    LessOrEqual = 0,
    Less = 1,
    GreaterOrEqual = 2,
    Greater = 3,
    Equal = 4,
    NotEqual = 5,
    /// Whether it is one of a set.
    Member = 6,
}

impl Mode {
    const ALL: [(Mode, &'static str); 7] = [
        (Mode::LessOrEqual, "BRANCH_LEQ"),
        (Mode::Less, "BRANCH_LT"),
        (Mode::GreaterOrEqual, "BRANCH_GTE"),
        (Mode::Greater, "BRANCH_GT"),
        (Mode::Equal, "BRANCH_EQ"),
        (Mode::NotEqual, "BRANCH_NEQ"),
        (Mode::Member, "BRANCH_MEMBER"),
    ];

    fn of_number(number: i64) -> Outcome<Mode> {
        let known = usize::try_from(number).ok().and_then(|number| Mode::ALL.get(number));
        known
            .map(|(mode, _)| *mode)
            .ok_or_else(|| Fault::invalid(format!("node mode {number} is none of 0 to 6")))
    }

    fn of_name(name: &str) -> Outcome<Mode> {
        let known = Mode::ALL.iter().find(|(_, known)| *known == name);
        known.map(|(mode, _)| *mode).ok_or_else(|| Fault::invalid(format!("node mode `{name}` is unknown")))
    }
}

/// A branch, or a leaf: that leads to itself.
pub(super) struct TreeNode {
    pub feature: i64,
    pub split: f64,
    pub mode: Mode,
    pub members: Vec<f64>,
    /// Where a feature that is NaN goes.
    pub nan_is_true: bool,
    pub yes: usize,
    pub no: usize,
    /// What a leaf adds: target and weight.
    pub outputs: Vec<(i64, f64)>,
}

impl TreeNode {
    pub fn is_leaf(&self, own: usize) -> bool {
        self.yes == own && self.no == own
    }

    /// Of a branch. Errors: it leads to itself, as only leaves do.
    fn check_children(&self, own: usize) -> Outcome<()> {
        match self.yes == own || self.no == own {
            true => Err(Fault::invalid(format!("node {own} of a tree is its own child"))),
            false => Ok(()),
        }
    }

    fn leaf(own: usize, outputs: Vec<(i64, f64)>) -> TreeNode {
        TreeNode {
            feature: 0,
            split: 0.0,
            mode: Mode::LessOrEqual,
            members: vec![],
            nan_is_true: false,
            yes: own,
            no: own,
            outputs,
        }
    }
}

pub(super) struct Forest {
    pub nodes: Vec<TreeNode>,
    pub roots: Vec<usize>,
    /// Branches on the longest way from a root to a leaf.
    pub depth: i64,
    /// `f64` where the model states weights so.
    pub weights: DType,
}

impl Forest {
    fn new(nodes: Vec<TreeNode>, roots: Vec<usize>, weights: DType) -> Outcome<Forest> {
        if nodes.is_empty() || roots.is_empty() {
            return Err(Fault::invalid("there are no trees"));
        }
        if let Some(node) = nodes.iter().find(|node| !(0..SymbolInfo::MAX).contains(&node.feature)) {
            return Err(Fault::invalid(format!("a node asks feature {}", node.feature)));
        }
        let depth = depth(&nodes, &roots)?;
        Ok(Forest { nodes, roots, depth, weights })
    }

    /// As `TreeEnsemble` has it: branches and leaves in lists of their own.
    pub fn of_lists(cx: &mut Cx, node: &Node) -> Outcome<Forest> {
        let ints = |name: &str| node.ints(name).unwrap_or_default();
        let (_, splits) = numbers(cx, node, "nodes_splits")?;
        let modes: Vec<i64> = match node.tensor("nodes_modes") {
            Some(tensor) => cx.weights.load(tensor).map_err(Fault::invalid)?.to_host().to_i64(),
            None => vec![],
        };
        let (weights_dtype, weights) = numbers(cx, node, "leaf_weights")?;
        let (_, members) = numbers(cx, node, "membership_values")?;
        let targets = ints("leaf_targetids");
        let n = splits.len();
        let features = ints("nodes_featureids");
        let (yes, no) = (ints("nodes_truenodeids"), ints("nodes_falsenodeids"));
        let (yes_leaf, no_leaf) = (ints("nodes_trueleafs"), ints("nodes_falseleafs"));
        for (name, length) in [
            ("nodes_featureids", features.len()),
            ("nodes_modes", modes.len()),
            ("nodes_truenodeids", yes.len()),
            ("nodes_falsenodeids", no.len()),
            ("nodes_trueleafs", yes_leaf.len()),
            ("nodes_falseleafs", no_leaf.len()),
        ] {
            if length != n {
                return Err(Fault::invalid(format!("{name} has {length} entries for {n} nodes")));
            }
        }
        if targets.len() != weights.len() {
            return Err(Fault::invalid(format!(
                "{} targets for {} leaf weights",
                targets.len(),
                weights.len()
            )));
        }
        let nan = node.ints("nodes_missing_value_tracks_true").filter(|list| list.len() == n);
        // Sets end with NaN, in the order of the nodes that have one.
        let mut sets = members.split(|member| member.is_nan());
        let n_leaves = weights.len();
        let place = |id: i64, leaf: bool| {
            let limit = if leaf { n_leaves } else { n };
            let id = usize::try_from(id).ok().filter(|id| *id < limit);
            id.map(|id| if leaf { n + id } else { id })
                .ok_or_else(|| Fault::invalid("a branch leads to a node that there is not"))
        };
        let mut nodes = Vec::with_capacity(n + n_leaves);
        for i in 0..n {
            let mode = Mode::of_number(modes[i])?;
            nodes.push(TreeNode {
                feature: features[i],
                split: splits[i],
                mode,
                members: match mode {
                    Mode::Member => sets.next().unwrap_or_default().to_vec(),
                    _ => vec![],
                },
                nan_is_true: nan.as_ref().is_some_and(|list| list[i] != 0),
                yes: place(yes[i], yes_leaf[i] != 0)?,
                no: place(no[i], no_leaf[i] != 0)?,
                outputs: vec![],
            });
            nodes[i].check_children(i)?;
        }
        for (i, (target, weight)) in targets.into_iter().zip(weights).enumerate() {
            nodes.push(TreeNode::leaf(n + i, vec![(target, weight)]));
        }
        let roots = ints("tree_roots").into_iter().map(|root| place(root, false)).collect::<Outcome<_>>()?;
        Forest::new(nodes, roots, weights_dtype)
    }

    /// As `TreeEnsembleClassifier` and `TreeEnsembleRegressor` have it: nodes by tree and number. What leaves add is in
    /// lists whose names begin with `stem`, `class` or `target`.
    pub fn of_trees(cx: &mut Cx, node: &Node, stem: &str) -> Outcome<Forest> {
        let ints = |name: &str| node.ints(name).unwrap_or_default();
        let (trees, ids) = (ints("nodes_treeids"), ints("nodes_nodeids"));
        let n = trees.len();
        let (features, yes, no) =
            (ints("nodes_featureids"), ints("nodes_truenodeids"), ints("nodes_falsenodeids"));
        let modes = node.texts("nodes_modes").unwrap_or_default();
        let (_, splits) = numbers(cx, node, "nodes_values")?;
        for (name, length) in [
            ("nodes_nodeids", ids.len()),
            ("nodes_featureids", features.len()),
            ("nodes_truenodeids", yes.len()),
            ("nodes_falsenodeids", no.len()),
            ("nodes_modes", modes.len()),
            ("nodes_values", splits.len()),
        ] {
            if length != n {
                return Err(Fault::invalid(format!("{name} has {length} entries for {n} nodes")));
            }
        }
        let places: BTreeMap<(i64, i64), usize> =
            trees.iter().copied().zip(ids).enumerate().map(|(i, key)| (key, i)).collect();
        let place = |tree: i64, id: i64| {
            places.get(&(tree, id)).copied().ok_or_else(|| {
                Fault::invalid(format!("node {id} of tree {tree} is spoken of, but there is none"))
            })
        };
        let nan = node.ints("nodes_missing_value_tracks_true").filter(|list| list.len() == n);
        let mut nodes = Vec::with_capacity(n);
        for i in 0..n {
            if modes[i] == "LEAF" {
                nodes.push(TreeNode::leaf(i, vec![]));
                continue;
            }
            nodes.push(TreeNode {
                feature: features[i],
                split: splits[i],
                mode: Mode::of_name(&modes[i])?,
                members: vec![],
                nan_is_true: nan.as_ref().is_some_and(|list| list[i] != 0),
                yes: place(trees[i], yes[i])?,
                no: place(trees[i], no[i])?,
                outputs: vec![],
            });
            nodes[i].check_children(i)?;
        }
        let (of_trees, of_nodes) = (ints(&format!("{stem}_treeids")), ints(&format!("{stem}_nodeids")));
        let targets = ints(&format!("{stem}_ids"));
        let (dtype, weights) = numbers(cx, node, &format!("{stem}_weights"))?;
        if [of_nodes.len(), targets.len(), weights.len()].iter().any(|length| *length != of_trees.len()) {
            return Err(Fault::invalid(format!(
                "the lists of what leaves add ({stem}_...) differ in length"
            )));
        }
        for (i, weight) in weights.into_iter().enumerate() {
            let leaf = place(of_trees[i], of_nodes[i])?;
            nodes[leaf].outputs.push((targets[i], weight));
        }
        // A tree's first node is its root.
        let mut seen = BTreeSet::new();
        let roots = (0..n).filter(|i| seen.insert(trees[*i])).collect();
        Forest::new(nodes, roots, dtype)
    }

    /// The longest of the nodes' lists, as the width of a table of all of them. Errors: one is so much longer than the
    /// others that the table would be large.
    pub fn longest(&self, length: impl Fn(&TreeNode) -> usize) -> Outcome<usize> {
        /// Such a table costs nothing.
        const SMALL: usize = 1 << 24;
        /// How much of a larger one may be empty.
        const SPARSE: usize = 16;
        let longest = self.nodes.iter().map(&length).max().unwrap_or(0);
        let filled: usize = self.nodes.len() + self.nodes.iter().map(&length).sum::<usize>();
        match self.nodes.len().checked_mul(longest) {
            Some(size) if size <= filled.saturating_mul(SPARSE).max(SMALL) => Ok(longest),
            _ => Err(Fault::unsupported(format!("a node with {longest} entries, far more than the others"))),
        }
    }
}

/// Numbers of an attribute of floats, or of a tensor (of that name, or with `_as_tensor` behind it), and their type. None
/// where there is no such attribute.
pub(super) fn numbers(cx: &mut Cx, node: &Node, name: &str) -> Outcome<(DType, Vec<f64>)> {
    let as_tensor = format!("{name}_as_tensor");
    let named = [name, as_tensor.as_str()]
        .into_iter()
        .find(|name| node.attribute(name).is_some_and(|attribute| attribute.t.is_some()));
    if let Some(tensor) = named.and_then(|name| node.tensor(name)) {
        let data: HostTensor = cx.weights.load(tensor).map_err(Fault::invalid)?.to_host();
        if !data.dtype.is_float() {
            return Err(Fault::invalid(format!("attribute `{name}` must hold floats, not {}", data.dtype)));
        }
        return Ok((data.dtype, data.to_f64()));
    }
    let floats = node.floats(name).unwrap_or_default();
    Ok((DType::F32, floats.into_iter().map(f64::from).collect()))
}

/// Branches on the longest way down. Errors: a way leads back to where it came from.
fn depth(nodes: &[TreeNode], roots: &[usize]) -> Outcome<i64> {
    const UNSEEN: i64 = -1;
    const OPEN: i64 = -2;
    let mut heights = vec![UNSEEN; nodes.len()];
    // Each node twice: to open it, and to close it behind what it leads to.
    let mut stack: Vec<usize> = roots.to_vec();
    while let Some(at) = stack.pop() {
        let node = &nodes[at];
        if node.is_leaf(at) {
            heights[at] = 0;
        } else if heights[at] == UNSEEN {
            heights[at] = OPEN;
            stack.push(at);
            for next in [node.yes, node.no] {
                match heights[next] {
                    UNSEEN => stack.push(next),
                    OPEN => return Err(Fault::invalid("a tree leads back to a node that it came from")),
                    _ => {}
                }
            }
        } else if heights[at] == OPEN {
            heights[at] = 1 + heights[node.yes].max(heights[node.no]);
        }
    }
    Ok(roots.iter().map(|root| heights[*root]).max().unwrap_or(0))
}
