//! Choices of tiles by machine class, and machines that are refused.

use super::*;
use tegula_base::Dim;
use tegula_tiling::Panels;

fn tile(class: &str, m: &str, n: &str, k: &str) -> [i64; 4] {
    let machine = Machine::class(class).expect("a class");
    let target = CpuTarget::new(machine, Form::Machine).expect("a known tier");
    let tile = target.contract_tile(&contract(m, n, k), &Symbols::default());
    [tile.m, tile.n, tile.k, tile.m_block]
}

pub(super) fn contract(m: &str, n: &str, k: &str) -> Contract {
    let dim = |text: &str| text.parse().expect("a size");
    Contract::new([Dim::from(1), dim(m), dim(n), dim(k)], [DType::F32; 3])
}

#[test]
fn columns_stay_in_a_share_of_l3_while_rows_pass() {
    let target = CpuTarget::new(Machine::class("zen5").expect("a class"), Form::Machine).expect("a tier");
    let slabs =
        |m: &str, n: &str, k: &str| target.contract_tile(&contract(m, n, k), &Symbols::default()).n_slabs;
    assert_eq!(slabs("2048", "2048", "2048"), 4);
    assert_eq!(slabs("batch", "2048", "2048"), 4);
    assert_eq!(slabs("2048", "768", "768"), 1);
    // One block of rows passes once.
    assert_eq!(slabs("64", "2048", "2048"), 1);
    assert_eq!(slabs("2048", "2048", "0"), 1);
    assert_eq!(slabs("2048", "0", "2048"), 1);
    // 67 column tiles have no divisor that would do.
    assert_eq!(slabs("2048", "2144", "2048"), 1);
}

#[test]
fn rows_are_asked_for_where_no_near_cache_holds_them() {
    let asks = |class: &str, m: &str, k: &str| {
        let target = CpuTarget::new(Machine::class(class).expect("a class"), Form::Machine).expect("a tier");
        target.prefetches_rows(&contract(m, "2048", k))
    };
    assert!(asks("zen5", "2048", "2048"));
    assert!(!asks("zen3", "2048", "2048"));
    assert!(!asks("zen5", "128", "1536"));
    assert!(!asks("zen5", "batch", "2048"));
    assert!(!asks("zen5", "2048", "0"));
}

#[test]
fn contraction_tiles() {
    assert_eq!(tile("zen5", "batch", "768", "768"), [8, 32, 4, 16]);
    assert_eq!(tile("zen5", "128", "768", "768"), [8, 32, 4, 16]);
    assert_eq!(tile("zen5", "112", "64", "27"), [14, 32, 4, 8]);
    // Ten row tiles fit a share of L2: two blocks of eight, not of ten and six.
    assert_eq!(tile("zen5", "128", "384", "1536"), [8, 32, 4, 8]);
    assert_eq!(tile("zen5", "0", "384", "1536")[3], 1);
    assert_eq!(tile("zen5", "1", "1000", "2048"), [1, 128, 4, 1]);
    assert_eq!(tile("zen5", "4", "3072", "768"), [4, 32, 4, 1]);
    assert_eq!(tile("zen5", "56", "16", "3"), [28, 16, 3, 2]);
    // 24 columns are three half registers, which take as long as one and a half where a whole one takes two cycles.
    assert_eq!(tile("zen4", "batch", "768", "768"), [8, 32, 4, 16]);
    assert_eq!(tile("zen4", "112", "24", "27")[1], 24);
    assert_eq!(tile("zen4", "112", "72", "27")[1], 16);
    assert_eq!(tile("zen5", "112", "24", "27")[1], 32);
    // Golden Cove takes in six instructions a cycle, of two threads: fewer loads for each multiply-add.
    assert_eq!(tile("sapphire-rapids", "batch", "768", "768"), [8, 48, 4, 16]);
    assert_eq!(tile("sapphire-rapids", "2048", "2048", "2048"), [6, 64, 4, 16]);
    assert_eq!(tile("sapphire-rapids", "40", "64", "64")[..2], [5, 64]);
    assert_eq!(tile("sapphire-rapids", "batch", "64", "64")[..2], [4, 64]);
    assert_eq!(tile("sapphire-rapids", "batch", "columns", "64")[..2], [8, 32]);
    // 14 vectors are seven twos, and the width is that for any number of rows.
    for rows in ["7", "56", "100", "batch"] {
        assert_eq!(tile("sapphire-rapids", rows, "224", "64")[1], 32);
    }
    assert_eq!(tile("sapphire-rapids", "1", "1000", "2048"), [1, 128, 4, 1]);
    let held = |class: &str, acc: DType| {
        let target = CpuTarget::new(Machine::class(class).expect("a class"), Form::Machine).expect("a tier");
        let factors = Contract { lhs: acc, rhs: acc, acc, ..contract("batch", "64", "64") };
        target.is_held_by_front_end(&factors)
    };
    for acc in [DType::F32, DType::F64, DType::I64] {
        assert!(held("sapphire-rapids", acc) && !held("zen5", acc) && !held("zen4", acc), "{acc:?}");
    }
    assert_eq!(tile("avx2-generic", "batch", "768", "768"), [6, 16, 4, 7]);
    assert_eq!(tile("avx2-generic", "1", "1000", "2048"), [1, 64, 4, 1]);
}

#[test]
fn a_machine_has_what_its_tier_uses() {
    let file = include_str!("../../../machine/machines/ice-lake-server.toml");
    let lacks = Machine::parse(&file.replace(r#""avx512vnni", "#, ""), "file").expect("a machine");
    let found = CpuTarget::new(lacks.clone(), Form::Machine).expect_err("no `vpdpbusd`").to_string();
    assert!(found.contains("code of tier `avx512` uses avx512vnni"), "{found}");
    assert!(CpuTarget::new(lacks, Form::Portable).is_ok());
    let spelled = file.replace("avx512vnni", "avx512_vnni");
    assert!(CpuTarget::new(Machine::parse(&spelled, "file").expect("a machine"), Form::Machine).is_ok());
}

#[test]
fn accumulators_fit_the_registers() {
    for class in Machine::class_names() {
        let machine = Machine::class(class).expect("a class");
        let Some(cpu) = machine.cpu() else { continue };
        let target = CpuTarget::new(machine.clone(), Form::Machine).expect("a known tier");
        let registers = i64::from(cpu.vector_registers);
        for m in 1..200 {
            for n in [1, 8, 16, 24, 33, 48, 64, 1000] {
                let [rows, columns, _, _] = tile(class, &m.to_string(), &n.to_string(), "64");
                let lanes = target.product_lanes(&contract(&m.to_string(), &n.to_string(), "64"));
                let vectors = columns / lanes;
                // The narrower side stays in registers, the other passes through one.
                assert!(
                    rows * vectors + vectors.min(rows) < registers,
                    "{class}: {m} x {n}: {rows} x {columns}"
                );
            }
        }
    }
}

/// Two halves of each vector of columns and of a row's element, their mask and a product.
#[test]
fn halves_of_bytes_fit_beside_their_sums() {
    let target =
        CpuTarget::new(Machine::class("avx2-generic").expect("a class"), Form::Machine).expect("a tier");
    for m in 2..100 {
        for n in [8, 16, 24, 33, 64, 1000] {
            let floats = contract(&m.to_string(), &n.to_string(), "64");
            let bytes = Contract { lhs: DType::U8, rhs: DType::I8, acc: DType::I32, ..floats };
            let [rows, vectors] = target.tile(&bytes, target.product_lanes(&bytes));
            let used = rows * vectors + 2 * vectors + 4;
            assert!(used <= i64::from(target.cpu.vector_registers), "{m} x {n}: {rows} x {vectors} vectors");
        }
    }
}

/// Few rows meet wide panels, and whoever is told of a panel keeps its columns.
#[test]
fn words_in_loops_meet_wide_panels() {
    let target =
        CpuTarget::new(Machine::class("zen3").expect("a class"), Form::Machine).expect("a known tier");
    let tile = |m: &str, in_loop: bool, panels: Panels| {
        let words =
            Contract { lhs: DType::I16, rhs: DType::I8, acc: DType::I32, ..contract(m, "3072", "768") };
        let tile = target.contract_tile(&Contract { in_loop, panels, ..words }, &Symbols::default());
        [tile.m, tile.n]
    };
    assert_eq!(tile("batch", true, Panels::OfTile), [2, 32]);
    assert_eq!(tile("batch", false, Panels::OfTile), [6, 16]);
    assert_eq!(tile("128", true, Panels::OfTile), tile("128", false, Panels::OfTile));
    // Of 72 columns three vectors leave none over.
    let few = Contract { lhs: DType::I16, rhs: DType::I8, acc: DType::I32, ..contract("batch", "72", "64") };
    assert_eq!(target.contract_tile(&Contract { in_loop: true, ..few }, &Symbols::default()).n, 24);
    for (width, rows) in [(8, 6), (16, 6), (24, 3), (32, 2), (64, 1)] {
        assert_eq!(tile("batch", false, Panels::Of(width)), [rows, width]);
    }
}

#[test]
fn the_class_named_after_a_tier_has_what_the_tier_uses() {
    for tier in Tier::ALL {
        let class = Machine::class(&format!("{}-generic", tier.name())).expect("a class for each tier");
        let cpu = class.cpu().expect("a processor");
        assert!(tier.features().iter().all(|feature| cpu.has(feature)), "{}", tier.name());
    }
}
