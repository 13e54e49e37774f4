//! Loops that count by themselves: no trip count is given, but a round is followed by another only while a counter that
//! each round raises by one is below a limit that no round changes. That bounds the number of rounds.

use crate::build::scope::Slot;
use crate::onnx::cx::Cx;
use crate::onnx::proto::{GraphProto, NodeProto};
use crate::report::Outcome;
use tegula_base::{Dim, HashMap, SymbolInfo};
use tegula_ir::Value;

/// `f32`, `i32`, `i64`, `bool` and `f64` as ONNX numbers types.
const WIDE: [i64; 5] = [1, 6, 7, 9, 11];

/// A loop's body and what enters it.
struct Body<'a> {
    graph: &'a GraphProto,
    carried: &'a [Value],
    /// Nodes by their first result.
    made: HashMap<&'a str, &'a NodeProto>,
}

/// A number that is at least that of the rounds; `None` where the body does not count.
pub(super) fn most_rounds(cx: &mut Cx, graph: &GraphProto, carried: &[Value]) -> Outcome<Option<Dim>> {
    let made = graph.node.iter().filter_map(|node| Some((node.output.first()?.as_str(), node))).collect();
    let body = Body { graph, carried, made };
    let Some(condition) = graph.output.first() else { return Ok(None) };
    let mut next = vec![condition.name()];
    let mut looked_at = 0;
    while let Some(name) = next.pop() {
        looked_at += 1;
        let Some(node) = body.made.get(body.behind(name)).filter(|_| looked_at <= graph.node.len()) else {
            continue;
        };
        let [a, b] = node.input.as_slice() else { continue };
        let found = match node.op_type() {
            // Either bounds the rounds.
            "And" => {
                next.extend([a.as_str(), b.as_str()]);
                None
            }
            "Less" => body.rounds_below(cx, a, b)?,
            "Greater" => body.rounds_below(cx, b, a)?,
            _ => None,
        };
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

impl<'a> Body<'a> {
    /// The value that a name stands for, but for a type that keeps what is less.
    fn behind(&self, name: &'a str) -> &'a str {
        let keeps = |node: &NodeProto| match node.op_type() {
            "Identity" => true,
            "Cast" => node
                .attribute
                .iter()
                .any(|attribute| attribute.name() == "to" && WIDE.contains(&attribute.i())),
            _ => false,
        };
        let mut name = name;
        for _ in 0..self.graph.node.len() {
            match self.made.get(name).filter(|node| keeps(node) && !node.input.is_empty()) {
                Some(node) => name = &node.input[0],
                None => break,
            }
        }
        name
    }

    /// The place among what is carried of an input of the body.
    fn place(&self, name: &str) -> Option<usize> {
        let place = self.graph.input.iter().skip(2).position(|input| input.name() == name)?;
        (place < self.carried.len()).then_some(place)
    }

    /// What a round leaves of carried value `i`.
    fn left(&self, i: usize) -> Option<&'a str> {
        self.graph.output.get(i + 1).map(|output| self.behind(output.name()))
    }

    /// The rounds of a loop that goes on while the counter, as a round leaves it, is below the limit.
    fn rounds_below(&self, cx: &mut Cx, counter: &'a str, limit: &'a str) -> Outcome<Option<Dim>> {
        let (counter, limit) = (self.behind(counter), self.behind(limit));
        let Some(start) = self.start_of(cx, counter) else { return Ok(None) };
        let limit = match self.place(limit) {
            Some(i) if self.left(i) == Some(limit) => self.carried[i],
            Some(_) => return Ok(None),
            None => match self.around(cx, limit) {
                Some(Slot::Value(limit)) => limit,
                _ => return Ok(None),
            },
        };
        if !cx.dtype(limit).is_int() || !cx.shape(limit).count().is_const(1) {
            return Ok(None);
        }
        let limit = cx.size_or_bind(limit, "limit", Dim::from(SymbolInfo::MAX))?;
        // The first round is done whatever the limit is.
        Ok(Some((limit - Dim::from(start)).maximum(&Dim::from(1))))
    }

    /// What a carried integer starts with that each round leaves as `counter`: raised by one.
    fn start_of(&self, cx: &mut Cx, counter: &'a str) -> Option<i64> {
        let node = self.made.get(counter).filter(|node| node.op_type() == "Add")?;
        let [a, b] = node.input.as_slice() else { return None };
        let (i, step) =
            self.place(self.behind(a)).map(|i| (i, b)).or_else(|| Some((self.place(self.behind(b))?, a)))?;
        let is_counted = self.left(i) == Some(counter) && cx.dtype(self.carried[i]).is_int();
        if !is_counted || self.number(cx, step)? != 1 {
            return None;
        }
        single(cx, self.carried[i])
    }

    /// What the body uses of what is around it.
    fn around(&self, cx: &Cx, name: &str) -> Option<Slot> {
        let is_own = self.made.contains_key(name)
            || self.graph.input.iter().any(|input| input.name() == name)
            || self.graph.initializer.iter().any(|tensor| tensor.name() == name);
        if is_own { None } else { cx.scopes.get(name) }
    }

    /// A constant that the body uses.
    fn number(&self, cx: &mut Cx, name: &str) -> Option<i64> {
        let own = self.graph.initializer.iter().find(|tensor| tensor.name() == name);
        let made = self.made.get(name).map(|node| (node.op_type(), node.attribute.first()));
        let value = match (own, made) {
            (Some(tensor), _) => cx.stored(tensor).ok()?,
            (None, Some(("Constant", Some(value)))) => cx.stored(value.t.as_ref()?).ok()?,
            (None, _) => self.around(cx, name)?,
        };
        match value {
            Slot::Value(value) => single(cx, value),
            _ => None,
        }
    }
}

fn single(cx: &mut Cx, value: Value) -> Option<i64> {
    match cx.known_ints(value)?.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}
