//! Vectors on one way: what a unit drives takes the place of the vector that would have hopped in.

use std::collections::BTreeMap;
use tegula_isa_lpu::{Image, parse, verify};
use tegula_machine::Machine;
use tegula_sim_lpu::Rack;

/// Slices in the order that a vector passes them, each with its hops from the first.
type Way = [(&'static str, u32); 4];

const EASTWARD: Way = [("W.mem4", 0), ("W.mem0", 1), ("E.mem0", 3), ("E.mem4", 4)];
const WESTWARD: Way = [("E.mem4", 0), ("E.mem0", 1), ("W.mem0", 3), ("W.mem4", 4)];

/// Some of the first three slices drive, each in the cycle in which the first one's vector is there, and the last stores `taken`.
fn image(machine: &Machine, stream: &str, way: Way, drivers: &[usize], taken: usize) -> Image {
    let mut text = format!("machine {}\n", machine.hash());
    (0..3).for_each(|value| text += &format!("value {value} \"v{value}\" node \"\"\n"));
    text += "chip 0\n";
    for at in drivers {
        text += &format!("  cell {} 0:0 %{at}[0] {}\n", way[*at].0, format!("{:02x}", at + 1).repeat(16));
    }
    let (last, hops) = way[3];
    text += &format!("  output \"y\" %{taken} i8 row 16 lanes 16 at {last} 1:0\n");
    text += "program \"main\"\n  phase trips 1\n";
    let mut queue = |slice: &str, cycle: u32, word: String| {
        let wait = if cycle == 0 { String::new() } else { format!("      nop {cycle}\n") };
        text += &format!("    queue 0 {slice}\n{wait}      {word}\n      halt\n");
    };
    for at in drivers {
        queue(way[*at].0, way[*at].1, format!("read 0:0 -> {stream} ; %{at}[0]"));
    }
    let arrival = machine.lpu().unwrap().mem.read_delay + hops;
    queue(last, arrival, format!("write {stream} -> 1:0 ; %{taken}[0] %{taken}[0]"));
    parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn the_last_slice_that_drives_is_heard() {
    let machine = Machine::class("lpu-mini").unwrap();
    for (stream, way) in [("e0", EASTWARD), ("w0", WESTWARD)] {
        for set in 1..8usize {
            let drivers: Vec<usize> = (0..3).filter(|at| set >> at & 1 == 1).collect();
            let heard = *drivers.last().unwrap();
            for taken in 0..3 {
                let image = image(&machine, stream, way, &drivers, taken);
                let is_proven = verify(&image, &machine).is_ok();
                assert_eq!(is_proven, taken == heard, "{stream}: {drivers:?}, taken as {taken}");
                match Rack::load(image, &machine).unwrap().run("main", &BTreeMap::new()) {
                    Ok(outcome) => {
                        assert_eq!(taken, heard, "{stream}: {drivers:?}");
                        assert_eq!(outcome.outputs["y"], [heard as u8 + 1; 16], "{stream}: {drivers:?}");
                    }
                    Err(trap) => {
                        let said =
                            format!("vector 0 of `v{heard}` is there in place of vector 0 of `v{taken}`");
                        assert!(trap.to_string().ends_with(&said), "{stream}: {drivers:?}: {trap}");
                    }
                }
            }
        }
    }
}
