//! The arena of each device over the program's steps: a rectangle a buffer, as wide as it lives and as high as it is
//! large.

use super::escaped;
use crate::human::size;
use crate::sizes::AtSizes;
use std::fmt::Write;
use tegula_package::lifetime::{lifetimes, roots};
use tegula_package::plan::{Item, lower_bound, plan_arena};
use tegula_package::{Buffer, DeviceId, Package, Place};

const WIDTH: f64 = 1100.0;
const HEIGHT: f64 = 320.0;
/// For numbers beside the drawing.
const LEFT: f64 = 74.0;
const BELOW: f64 = 24.0;

pub(super) fn drawings(package: &Package, sizes: &mut AtSizes) -> String {
    let about = &package.manifest.about;
    let mut all = drawing(package, DeviceId::HOME, sizes);
    for device in (1..about.device_count() as u32).map(DeviceId) {
        all += &format!("<h3>{}</h3>\n", escaped(&about.device_name(device)));
        all += &drawing(package, device, sizes);
    }
    all
}

fn drawing(package: &Package, device: DeviceId, sizes: &mut AtSizes) -> String {
    let program = &package.program;
    let lives = lifetimes(program, &roots(program));
    let is_held = |buffer: &Buffer| buffer.place == Place::Arena && buffer.device == device;
    let held = program.buffers.iter().zip(&lives).filter(|(buffer, _)| is_held(buffer));
    let (names, items): (Vec<&str>, Vec<Item>) = held
        .map(|(buffer, life)| {
            let bytes = sizes.number(&buffer.bytes).max(0) as u64;
            (buffer.name.as_str(), Item { bytes, first: life.first, last: life.last })
        })
        .unzip();
    let Some(plan) = plan_arena(&items).filter(|plan| plan.bytes > 0) else {
        return "<p>no intermediate value needs memory of its own</p>\n".to_string();
    };
    let steps = items.iter().map(|item| item.last + 1).max().unwrap_or(1);
    let x = |step: u32| LEFT + f64::from(step) / f64::from(steps) * WIDTH;
    let y = |offset: u64| HEIGHT - offset as f64 / plan.bytes as f64 * HEIGHT;
    let mut svg = format!(
        "<svg width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n",
        LEFT + WIDTH + 10.0,
        HEIGHT + BELOW
    );
    for ((name, item), offset) in names.iter().zip(&items).zip(&plan.offsets) {
        let (left, top) = (x(item.first), y(offset + item.bytes));
        let title = format!("{name}\n{}, steps {} to {}", size(item.bytes), item.first, item.last);
        // A `String` takes whatever is written.
        let _ = writeln!(
            svg,
            "<rect class=\"buffer\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.1}\" height=\"{:.1}\"><title>{}</title></rect>",
            x(item.last + 1) - left,
            y(*offset) - top,
            escaped(&title)
        );
    }
    let least = lower_bound(&items);
    for (offset, name) in [(0, "0".to_string()), (plan.bytes, size(plan.bytes))] {
        let baseline = y(offset).clamp(12.0, HEIGHT);
        let _ = writeln!(svg, "<text class=\"axis\" x=\"{}\" y=\"{baseline:.1}\">{name}</text>", LEFT - 8.0);
    }
    let _ = writeln!(
        svg,
        "<path class=\"least\" d=\"M{LEFT} {0:.1}H{1}\"><title>alive at once: {2}</title></path>",
        y(least),
        LEFT + WIDTH,
        size(least)
    );
    let _ = writeln!(
        svg,
        "<text class=\"small\" x=\"{LEFT}\" y=\"{}\">step 0 to {}; dashed: {}, the most that is alive at once</text>",
        HEIGHT + 17.0,
        steps - 1,
        size(least)
    );
    svg + "</svg>\n"
}
