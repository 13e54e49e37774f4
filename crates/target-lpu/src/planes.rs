//! Which plane multiplies a product, and when its weights are loaded.
//!
//! Weights come apart, a few rows at a time, wherever streams and ports are free: a burst of rows that is multiplied needs one
//! stream of them only for a cycle. A plane's sets of weights follow one another: a set is loaded when its buffer is free, and
//! installed when the set before it has multiplied all its rows.

use crate::flow::{Flow, Product};
use crate::schedule::product::{PlaneId, load, rows, weights_tag};
use crate::schedule::template::Template;
use crate::schedule::{Event, Scene};
use crate::timeline::Timeline;
use std::collections::BTreeMap;
use tegula_isa_lpu::word::{Factors, Word};
use tegula_isa_lpu::{Half, QueueId, Tag, Tags};

/// The sets of weights of each plane.
#[derive(Default)]
pub(crate) struct Planes(BTreeMap<PlaneId, Plane>);

#[derive(Default)]
struct Plane {
    sets: Vec<Set>,
}

/// Weights of a tile.
struct Set {
    tag: Tag,
    factors: Factors,
    installed: i64,
    last_multiply: i64,
}

impl Plane {
    /// The first cycle in which rows of the next set may be loaded.
    fn loads_from(&self, buffers: usize) -> i64 {
        let installed = self.sets.last().map_or(-1, |set| set.installed);
        let buffer = self.sets.len().checked_sub(buffers).map_or(-1, |at| self.sets[at].last_multiply);
        installed.max(buffer) + 1
    }

    fn multiplied(&self) -> i64 {
        self.sets.last().map_or(-1, |set| set.last_multiply)
    }
}

impl Planes {
    /// Places a product whose rows have sums of their own. None: its rows are no burst.
    pub(crate) fn place(
        &mut self,
        flow: &Flow,
        product: &Product,
        scene: &Scene<'_>,
        timeline: &mut Timeline<'_>,
    ) -> Option<()> {
        let at = self.choose(product, scene);
        for (number, tile) in product.tiles.iter().enumerate() {
            let tag = weights_tag(product, *tile);
            let is_there = self.parts(product.factors, at).all(|plane| {
                let set = self.0.get(&plane).and_then(|plane| plane.sets.last());
                set.is_some_and(|set| set.tag == part_of(tag, at, plane) && set.factors == product.factors)
            });
            if !is_there {
                self.load(product, number, at, scene, timeline)?;
            }
            let template = rows(scene, flow, product, number, at)?;
            let own = |plane: PlaneId| self.0.get(&plane).map_or(0, |plane| plane.multiplied() + 1);
            let multiplied = self.parts(product.factors, at).map(own).max().unwrap_or(0);
            let set = |plane: PlaneId| self.0.get(&plane).and_then(|plane| plane.sets.last());
            let installed = self.parts(product.factors, at).filter_map(set).map(|set| set.installed);
            let installed = installed.max().unwrap_or(0);
            let open = multiplied.max(installed + i64::from(scene.lpu.mxm.install));
            let start = timeline.place(&template, open + template.origin);
            let last = last_multiply(&template) + start;
            for plane in self.parts(product.factors, at) {
                if let Some(set) = self.0.entry(plane).or_default().sets.last_mut() {
                    set.last_multiply = last;
                }
            }
        }
        Some(())
    }

    /// The planes that hold a set.
    fn parts(&self, factors: Factors, at: PlaneId) -> impl Iterator<Item = PlaneId> + use<> {
        (0..factors.width() as u8).map(move |part| PlaneId { plane: at.plane + part, ..at })
    }

    /// The plane that has the first weights already, else that is idle first.
    fn choose(&self, product: &Product, scene: &Scene<'_>) -> PlaneId {
        let width = product.factors.width();
        let numbers = (0..scene.lpu.mxm.planes.saturating_sub(width - 1)).step_by(width as usize);
        let all = numbers
            .flat_map(|plane| [Half::East, Half::West].map(|half| PlaneId { half, plane: plane as u8 }));
        let idle = |at: &PlaneId| {
            let own = self
                .parts(product.factors, *at)
                .filter_map(|plane| self.0.get(&plane))
                .map(Plane::multiplied);
            own.max().unwrap_or(-1)
        };
        all.min_by_key(idle).unwrap_or(PlaneId::FIRST)
    }

    fn load(
        &mut self,
        product: &Product,
        number: usize,
        at: PlaneId,
        scene: &Scene<'_>,
        timeline: &mut Timeline<'_>,
    ) -> Option<()> {
        let (lpu, tile) = (scene.lpu, product.tiles[number]);
        let (k, step) = (product.factors.k(lpu)?, lpu.mxm.load_streams);
        let tag = weights_tag(product, tile);
        for plane in self.parts(product.factors, at) {
            let part = u32::from(plane.plane - at.plane);
            let state = self.0.entry(plane).or_default();
            let mut open = state.loads_from(lpu.mxm.buffers as usize);
            for row in (0..k).step_by(step as usize) {
                let template = load(scene, product, tile, at, (part, row, row + step >= k))?;
                let start = timeline.place(&template, open + template.origin);
                open = start - template.origin + 1;
            }
            let installed = open.max(state.multiplied() + 1);
            let queue = QueueId::Weights { half: plane.half, plane: plane.plane };
            let tag = part_of(tag, at, plane);
            timeline.issue(Event {
                queue,
                cycle: installed,
                word: Word::InstallWeights,
                tags: Tags::from_slice(&[tag]),
            });
            state.sets.push(Set { tag, factors: product.factors, installed, last_multiply: -1 });
        }
        Some(())
    }
}

/// The name of what a plane holds of weights whose first plane is `first`.
fn part_of(tag: Tag, first: PlaneId, plane: PlaneId) -> Tag {
    tag.part(plane.plane - first.plane)
}

fn last_multiply(template: &Template) -> i64 {
    let multiplies = template.events.iter().filter(|event| matches!(event.queue, QueueId::Rows { .. }));
    multiplies.map(|event| event.cycle).max().unwrap_or(0)
}
