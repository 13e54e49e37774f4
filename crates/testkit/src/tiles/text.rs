//! Tile kernels as text. The first line gives chip and grid: `// chip: h200, grid: [4, n]`; the second the views that
//! are written: `// written: [1]`; the function follows.

use tegula_base::Dim;
use tegula_ir::parse_program;
use tegula_tile::{GridDim, TileKernel, TileOp, TileType, ViewParam};

/// What stands in the brackets after `name`.
fn list<'t>(line: &'t str, name: &str) -> Vec<&'t str> {
    let (_, rest) = line.split_once(name).unwrap_or_else(|| panic!("`{name}` is missing in `{line}`"));
    let (inside, _) = rest.trim_start().trim_start_matches('[').split_once(']').expect("a closing bracket");
    inside.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// The chip's machine class and the kernel, verified. Panics where the text is none.
pub fn parse(text: &str) -> (&str, TileKernel) {
    let mut lines = text.lines();
    let (first, second) = (lines.next().expect("a first line"), lines.next().expect("a second line"));
    let chip = first.trim_start_matches("// chip: ").split(',').next().expect("a chip");
    let extent = |text: &str| GridDim { extent: text.parse::<Dim>().expect("a size") };
    let grid: Vec<GridDim> = list(first, "grid:").into_iter().map(extent).collect();
    let written: Vec<usize> = list(second, "written:").iter().map(|n| n.parse().expect("a view")).collect();
    let program = parse_program::<TileOp>(text, None).unwrap_or_else(|errors| panic!("{errors}"));
    let func = program.funcs.into_iter().next().expect("one function");
    tegula_ir::verify(&func).unwrap_or_else(|errors| panic!("{errors}"));
    let types = func.args(func.body()).iter().filter_map(|arg| match func.ty(*arg) {
        TileType::View(view) => Some(view.as_ref().clone()),
        TileType::Index | TileType::Tile { .. } => None,
    });
    let view = |(i, ty)| ViewParam { ty, written: written.contains(&i), in_place: None };
    let views = types.enumerate().map(view).collect();
    (chip, TileKernel { func, grid, views })
}
