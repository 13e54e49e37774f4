//! PTX of small tile kernels as reviewed text: `lower/text/*.tgt` hold a kernel, the `.ptx` beside it what it becomes.
//! `UPDATE_EXPECT=1` blesses.
//!
//! The first line gives chip and grid: `// chip: h200, grid: [4, n]`; the second the views that are
//! written: `// written: [1]`.

use expect_test::expect_file;
use std::path::{Path, PathBuf};
use tegula_base::{Dim, Symbols};
use tegula_ir::parse_program;
use tegula_machine::Machine;
use tegula_target_gpu::model::GpuTarget;
use tegula_tile::{GridDim, TileKernel, TileOp, TileType, ViewParam};

/// What stands in the brackets after `name`.
fn list<'t>(line: &'t str, name: &str) -> Vec<&'t str> {
    let (_, rest) = line.split_once(name).unwrap_or_else(|| panic!("`{name}` is missing in `{line}`"));
    let (inside, _) = rest.trim_start().trim_start_matches('[').split_once(']').expect("a closing bracket");
    inside.split(',').map(str::trim).filter(|part| !part.is_empty()).collect()
}

fn kernel(text: &str) -> (Machine, TileKernel) {
    let mut lines = text.lines();
    let (first, second) = (lines.next().expect("a first line"), lines.next().expect("a second line"));
    let chip = first.trim_start_matches("// chip: ").split(',').next().expect("a chip");
    let machine = Machine::class(chip).expect("a class");
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
    (machine, TileKernel { func, grid, views })
}

fn check(path: &Path) {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let (machine, kernel) = kernel(&text);
    tegula_ir::verify(&kernel.func).unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
    let target = GpuTarget::new(machine).expect("a GPU");
    let (module, lowered) =
        target.module("kernel", &kernel, &Symbols::default()).expect("nothing is refused");
    let printed =
        tegula_isa_ptx::print(&module).unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
    let sizes: Vec<String> = lowered.sizes.iter().map(Dim::to_string).collect();
    let facts = format!("// sizes: [{}]\n", sizes.join(", "));
    expect_file![path.with_extension("ptx")].assert_eq(&format!("{facts}{printed}"));
}

#[test]
fn ptx_is_as_reviewed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lower/text");
    let entries = std::fs::read_dir(&folder).expect("the folder of kernels");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "tgt"));
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        check(&path);
    }
}
