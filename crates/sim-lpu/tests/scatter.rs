//! Data chooses the word that a `scatter` writes; each row keeps its name, so that later words find it.

use std::collections::BTreeMap;
use tegula_isa_lpu::{Image, parse, verify};
use tegula_machine::Machine;
use tegula_sim_lpu::Rack;

/// Rows 0, 1 and 2 of a table, of which `index` chooses the one that is written; then all are read by their names.
fn image(machine: &Machine, index: u8) -> Image {
    let lane = |first: u8| format!("{first:02x}{}", "00".repeat(15));
    let text = format!(
        "machine {}\n\
         value 0 \"table\" node \"\"\n\
         value 1 \"index\" node \"\"\n\
         value 2 \"row\" node \"\"\n\
         chip 0\n\
           cell W.mem1 0:0 %1[0] {}\n\
           cell W.mem2 0:0 %1[0].1 {}\n\
           cell W.mem3 0:0 %2[0] {}\n\
           input \"table\" %0 i8 row 16 lanes 16 at W.mem0 0:8 W.mem0 0:9 W.mem0 0:10\n\
           output \"y\" %0 i8 row 16 lanes 16 at E.mem0 0:0 E.mem0 0:1 E.mem0 0:2\n\
         program \"main\"\n\
           phase trips 1\n\
             queue 0 W.mem0\n\
               nop 2\n\
               scatter 0:8 x3 e0 e4 ; %1[0] %2[0] %0[0]\n\
               read 0:8 -> e6 ; %0[0]\n\
               read 0:9 -> e6 ; %0[1]\n\
               read 0:10 -> e6 ; %0[2]\n\
               halt\n\
             queue 0 W.mem1\n\
               read 0:0 -> e0 ; %1[0]\n\
               halt\n\
             queue 0 W.mem2\n\
               read 0:0 -> e1 ; %1[0].1\n\
               halt\n\
             queue 0 W.mem3\n\
               read 0:0 -> e4 ; %2[0]\n\
               halt\n\
             queue 0 E.mem0\n\
               nop 7\n\
               write e6 -> 0:0 ; %0[0] %0[0]\n\
               write e6 -> 0:1 ; %0[1] %0[1]\n\
               write e6 -> 0:2 ; %0[2] %0[2]\n\
               halt\n",
        machine.hash(),
        lane(index),
        lane(0),
        "ee".repeat(16),
    );
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_row_that_data_chooses_keeps_its_name() {
    let machine = Machine::class("lpu-mini").unwrap();
    let table: Vec<u8> = (0..48).collect();
    for index in 0..3u8 {
        let image = image(&machine, index);
        verify(&image, &machine).unwrap_or_else(|faults| panic!("{faults}"));
        let given = BTreeMap::from([("table".to_string(), &table[..])]);
        let outcome = Rack::load(image, &machine).unwrap().run("main", &given);
        let mut wanted = table.clone();
        wanted[usize::from(index) * 16..][..16].fill(0xee);
        assert_eq!(outcome.unwrap_or_else(|trap| panic!("{trap}")).outputs["y"], wanted, "row {index}");
    }
}
