//! Schedules of small tile kernels as reviewed text: `lower/text/*.tgt` hold a kernel and, below a rule, what it
//! becomes. `UPDATE_EXPECT=1` blesses.
//!
//! The first line gives register bits and grid: `// bits: 512, grid: [4, n]`; the second the views that are
//! written: `// written: [1]`.

use expect_test::expect_file;
use std::path::{Path, PathBuf};
use tegula_base::{Dim, Symbols};
use tegula_ir::{PrintOptions, Program, parse_program, print_program};
use tegula_target_cpu::lower::{Registers, lower};
use tegula_tile::{GridDim, TileKernel, TileOp, TileType, ViewParam};

const RULE: &str = "\n// ---- schedule\n";

/// What stands in the brackets after `name`.
fn list<'t>(line: &'t str, name: &str) -> Vec<&'t str> {
    let (_, rest) = line.split_once(name).unwrap_or_else(|| panic!("`{name}` is missing in `{line}`"));
    let (inside, _) = rest.trim_start().trim_start_matches('[').split_once(']').expect("a closing bracket");
    inside.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn kernel(text: &str) -> (u32, TileKernel) {
    let mut lines = text.lines();
    let (first, second) = (lines.next().expect("a first line"), lines.next().expect("a second line"));
    let bits = first.trim_start_matches("// bits: ").split(',').next().expect("bits").parse().expect("bits");
    let extent = |text: &str| GridDim { extent: text.parse::<Dim>().expect("a size") };
    let grid: Vec<GridDim> = list(first, "grid:").into_iter().map(extent).collect();
    let written: Vec<usize> = list(second, "written:").iter().map(|n| n.parse().expect("a view")).collect();
    let program = parse_program::<TileOp>(text, None).unwrap_or_else(|errors| panic!("{errors}"));
    let func = program.funcs.into_iter().next().expect("one function");
    let types = func.args(func.body()).iter().filter_map(|arg| match func.ty(*arg) {
        TileType::View(view) => Some(view.as_ref().clone()),
        TileType::Index | TileType::Tile { .. } => None,
    });
    let view = |(i, ty)| ViewParam { ty, written: written.contains(&i), in_place: None };
    let views = types.enumerate().map(view).collect();
    (bits, TileKernel { func, grid, views })
}

fn check(path: &Path) {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let input = text.split(RULE).next().expect("a kernel").trim_end();
    let (bits, kernel) = kernel(input);
    tegula_ir::verify(&kernel.func).unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
    let schedule = lower("kernel", &kernel, Registers::whole(bits), &Symbols::default());
    tegula_ir::verify(&schedule.func).unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
    let sizes: Vec<String> = schedule.sizes.iter().map(Dim::to_string).collect();
    let printed = print_program(&Program::new(schedule.func), &PrintOptions::default());
    let facts = format!("// sizes: [{}], scratch: {}\n", sizes.join(", "), schedule.scratch);
    expect_file![path].assert_eq(&format!("{input}\n{RULE}{facts}{printed}"));
}

#[test]
fn schedules_are_as_reviewed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lower/text");
    let entries = std::fs::read_dir(&folder).expect("the folder of kernels");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        check(&path);
    }
}
