//! Random instructions of every target: what is printed reads as what it was. `TEGULA_SEED=S` takes another seed.

use tegula_base::random::SplitMix64;
use tegula_isa_ptx::{Op, Target, parse, print, print_inst, sample};

const INSTS: usize = 4_000;

fn seed() -> u64 {
    let seed = std::env::var("TEGULA_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    println!("TEGULA_SEED={seed}");
    seed
}

#[test]
fn print_then_parse_is_equal() {
    for target in Target::ALL {
        let mut random = SplitMix64::new(seed());
        let insts = (0..INSTS).map(|_| sample::random_inst(&mut random, *target)).collect();
        for module in sample::modules_of(*target, insts) {
            let text = print(&module).unwrap();
            let read = parse(&text, "random").unwrap_or_else(|errors| panic!("{errors}"));
            for (found, wanted) in read.entries.iter().zip(&module.entries) {
                for (found, inst) in found.insts().zip(wanted.insts()) {
                    assert_eq!(found, inst, "{}", print_inst(wanted, inst));
                }
            }
            assert!(read == module);
            assert!(print(&read).unwrap() == text);
        }
    }
}

#[test]
fn every_kind_is_covered() {
    let covering = sample::covering(seed(), Target::Sm90a);
    for (mnemonic, op) in Op::kinds() {
        let count = covering.iter().filter(|inst| inst.op.kind() == op.kind()).count();
        assert!(count > 0, "no `{mnemonic}` ({}) can be drawn", op.kind());
    }
}

/// Damaged text is refused or read, and never more.
#[test]
fn damaged_text_is_no_panic() {
    let mut random = SplitMix64::new(seed());
    let text = print(&sample::module_of(Target::Sm90a, sample::covering(1, Target::Sm90a))).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for _ in 0..3_000 {
        let at = random.next_u64() as usize % (lines.len() - 30);
        let mut piece: Vec<u8> = lines[at..at + 30].join("\n").into_bytes();
        for _ in 0..1 + random.next_u64() % 4 {
            let place = random.next_u64() as usize % piece.len();
            let byte = b"%,.[]{}|@!;:-+09xufdL_$ \n"[random.next_u64() as usize % 25];
            match random.next_u64() % 3 {
                0 => piece[place] = byte,
                1 => piece.insert(place, byte),
                _ => drop(piece.remove(place)),
            }
        }
        let head = lines[..lines.iter().position(|line| line.contains("$L0")).unwrap()].join("\n");
        let whole = format!("{head}\n{}\n}}", String::from_utf8(piece).unwrap());
        let _ = parse(&whole, "damaged");
    }
}
