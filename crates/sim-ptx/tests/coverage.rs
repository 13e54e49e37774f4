//! Which instructions the simulator lacks: this list, and no other. The instructions are those of isa-ptx's file in
//! which every form stands.

use std::collections::BTreeSet;

use tegula_isa_ptx::{Block, Entry, Op};
use tegula_sim_ptx::Kernel;

const FORMS: &str = include_str!("../../isa-ptx/tests/ptx/forms_sm_90a.ptx");

/// Tensor maps changed on the card, `.im2col` boxes, constant memory, and `discard`, which loses what is there.
const ABSENT: &[&str] = &[
    "Discard",
    "FenceProxyTensormapAcquire",
    "FenceProxyTensormapRelease",
    "Ld const",
    "TensorLoad im2col",
    "TensorReduce im2col",
    "TensorStore im2col",
    "TensormapCpFenceProxy",
    "TensormapReplace",
];

#[test]
fn the_list_of_what_is_absent_is_whole() {
    let mut absent = BTreeSet::new();
    let mut n_known = 0;
    for text in FORMS.split_inclusive("\n}\n").filter(|text| text.contains(".entry")) {
        let text = if text.contains(".version") { text.to_string() } else { format!("{HEAD}{text}") };
        let module = tegula_isa_ptx::parse(&text, "forms").unwrap_or_else(|errors| panic!("{errors}"));
        for entry in &module.entries {
            for inst in entry.insts().filter(|inst| !matches!(inst.op, Op::Bra(_))) {
                let block = Block { name: String::new(), insts: vec![inst.clone()] };
                let alone = Entry { blocks: vec![block], ..entry.clone() };
                match Kernel::new(&alone) {
                    Ok(_) => n_known += 1,
                    Err(errors) => {
                        assert!(errors.to_string().contains("that the simulator lacks"), "{errors}");
                        absent.insert(kind(&inst.op));
                    }
                }
            }
        }
    }
    assert_eq!(absent.iter().map(String::as_str).collect::<Vec<_>>(), ABSENT);
    assert!(n_known > 500, "{n_known}");
}

const HEAD: &str = ".version 9.0\n.target sm_90a\n.address_size 64\n";

fn kind(op: &Op) -> String {
    match op {
        Op::Ld(_) => "Ld const".to_string(),
        Op::TensorLoad(_) | Op::TensorStore(_) | Op::TensorReduce(_) => format!("{} im2col", op.kind()),
        _ => op.kind().to_string(),
    }
}
