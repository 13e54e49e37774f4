//! Records of tuning are read as they are written, and refused where they are wrong or another machine's.

use std::collections::BTreeMap;
use tegula_machine::Machine;
use tegula_tiling::tuning::{TunedContract, TunedTile, Tuning};

fn record() -> Tuning {
    let tile = TunedTile { rows: 4, columns: 24, row_tiles: 8 };
    let name = "1 of seq x 384 by 384 x 1536, f32 by f32 in f32".to_string();
    let contractions = BTreeMap::from([(name, TunedContract::new(tile, 0.93))]);
    Tuning { machine: "avx2-generic".into(), tier: "avx2".into(), contractions }
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let text = record().print();
    assert_eq!(Tuning::parse(&text, "record").unwrap(), record(), "{text}");
    let none = Tuning { contractions: BTreeMap::new(), ..record() };
    assert_eq!(Tuning::parse(&none.print(), "record").unwrap(), none);
}

#[test]
fn wrong_records_say_where() {
    let found = Tuning::parse("machine = \"a\"\ntier = 3\n", "r.toml").unwrap_err().to_string();
    assert!(found.contains("tuning-record") && found.contains("r.toml: line 2"), "{found}");
    assert!(Tuning::parse(&record().print().replace("columns", "colums"), "r").is_err());
}

#[test]
fn a_record_is_of_one_machine() {
    let [own, other] = ["avx2-generic", "zen5"].map(|name| Machine::class(name).unwrap());
    assert!(record().check_machine(&own).is_ok());
    assert!(record().check_machine(&other).is_err());
}
