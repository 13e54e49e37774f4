//! Launches in layers: each stands below all whose results it reads, near them.

use super::{Launch, colour, escaped, shortened};
use crate::human::duration;
use std::fmt::Write;
use tegula_package::Package;

/// Pixels of a box, and between boxes and layers.
const WIDTH: usize = 216;
const HEIGHT: usize = 50;
const GAP: usize = 20;
const LAYER: usize = HEIGHT + 34;
const MARGIN: usize = 12;
/// Characters that a line of a box holds.
const LETTERS: usize = 27;

/// A box's layer and its place there.
#[derive(Clone, Copy)]
struct Spot {
    layer: usize,
    column: usize,
}

impl Spot {
    fn left(self) -> usize {
        MARGIN + self.column * (WIDTH + GAP)
    }

    fn top(self) -> usize {
        MARGIN + self.layer * LAYER
    }
}

pub(super) fn drawing(package: &Package, launches: &[Launch]) -> String {
    let spots = spots(launches);
    let far = |extent: &dyn Fn(&Spot) -> usize| spots.iter().map(extent).max().unwrap_or(0);
    let width = far(&|spot| spot.left() + WIDTH) + MARGIN;
    let height = far(&|spot| spot.top() + HEIGHT) + MARGIN;
    let mut svg = format!("<svg width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n");
    for (at, launch) in launches.iter().enumerate() {
        for from in &launch.from {
            svg += &edge(spots[*from], spots[at]);
        }
    }
    let most = launches.iter().map(|launch| launch.ns).fold(f64::MIN_POSITIVE, f64::max);
    for (launch, spot) in launches.iter().zip(&spots) {
        svg += &node(package, launch, *spot, most);
    }
    svg + "</svg>\n"
}

/// A launch is one layer below the lowest that it reads; in a layer, boxes stand in the order of their sources' columns.
fn spots(launches: &[Launch]) -> Vec<Spot> {
    let mut spots: Vec<Spot> = Vec::new();
    for launch in launches {
        let layer = launch.from.iter().map(|from| spots[*from].layer + 1).max().unwrap_or(0);
        spots.push(Spot { layer, column: 0 });
    }
    let layers = spots.iter().map(|spot| spot.layer + 1).max().unwrap_or(0);
    for layer in 0..layers {
        let mut here: Vec<usize> = (0..spots.len()).filter(|at| spots[*at].layer == layer).collect();
        let middle = |at: &usize| {
            let from = &launches[*at].from;
            let sum: usize = from.iter().map(|from| spots[*from].column).sum();
            sum as f64 / from.len().max(1) as f64
        };
        here.sort_by(|a, b| middle(a).total_cmp(&middle(b)));
        for (column, at) in here.into_iter().enumerate() {
            spots[at].column = column;
        }
    }
    spots
}

/// A line to the next layer; one that passes others goes around the boxes between.
fn edge(from: Spot, to: Spot) -> String {
    let (x1, y1) = (from.left() + WIDTH / 2, from.top() + HEIGHT);
    let (x2, y2) = (to.left() + WIDTH / 2, to.top());
    let (bend, aside) = match to.layer - from.layer {
        1 => ((LAYER - HEIGHT) / 2 + 6, 0),
        _ => (LAYER, WIDTH * 3 / 4 + GAP),
    };
    let (a, b) = (y1 + bend, y2.saturating_sub(bend));
    format!("<path class=\"edge\" d=\"M{x1} {y1}C{} {a} {} {b} {x2} {y2}\"/>\n", x1 + aside, x2 + aside)
}

fn node(package: &Package, launch: &Launch, spot: Spot, most: f64) -> String {
    let Some(kernel) = package.program.kernels.get(launch.kernel) else { return String::new() };
    let (x, y) = (spot.left(), spot.top());
    let nodes = &kernel.source;
    let first = nodes.first().map_or(kernel.name.as_str(), String::as_str);
    let more = if nodes.len() > 1 { format!(" +{}", nodes.len() - 1) } else { String::new() };
    let title = format!("{}{more}", shortened(first, LETTERS - more.len()));
    let line = format!("{}, {}", kernel.cost.class, duration(launch.ns));
    let bar = (launch.ns / most * WIDTH as f64).round();
    let mut all = String::new();
    for name in nodes.iter() {
        // A `String` takes whatever is written.
        let _ = write!(all, "\n{name}");
    }
    let about = format!("{} ({})\nbound by {}{all}", kernel.name, kernel.cost.class, launch.bound);
    format!(
        "<g class=\"launch {}\"><title>{}</title><rect x=\"{x}\" y=\"{y}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"5\"/>\
         <rect class=\"bar\" x=\"{x}\" y=\"{}\" width=\"{bar}\" height=\"4\"/>\
         <text x=\"{}\" y=\"{}\">{}</text><text class=\"small\" x=\"{}\" y=\"{}\">{}</text></g>\n",
        colour(&launch.bound),
        escaped(&about),
        y + HEIGHT - 4,
        x + 8,
        y + 19,
        escaped(&title),
        x + 8,
        y + 36,
        escaped(&shortened(&line, LETTERS)),
    )
}
