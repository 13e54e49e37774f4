//! Loops: one scheduled trip, whose states lie in memory.

use crate::support::{check, floats, region_with, run};
use tegula_base::HostTensor;
use tegula_tensor::TensorProgram;

/// `trips` times: `h = tanh(x[place] + h * w)`, with what `place` says of the trip; gives the last `h` and all of them.
fn recurrence(trips: usize, width: usize, place: &str, what: &str) -> TensorProgram {
    let (row, rows) = (format!("tensor<{width}xf32>"), format!("tensor<{trips}x{width}xf32>"));
    let inside = format!(
        "{place}\n\
         %row = \"tgn.gather\"(%x0, %at) <{{axis = 0}}> : ({rows}, tensor<i64>) -> {row}\n\
         %kept = \"tgn.elementwise\"(%h, %x1) <{{f = \"mul\"}}> : ({row}, {row}) -> {row}\n\
         %sum = \"tgn.elementwise\"(%row, %kept) <{{f = \"add\"}}> : ({row}, {row}) -> {row}\n\
         %new = \"tgn.elementwise\"(%sum) <{{f = \"tanh\"}}> : ({row}) -> {row}\n\
         \"tgn.yield\"(%go, %new, %new) : (tensor<i1>, {row}, {row}) -> ()"
    );
    let text = format!(
        "%go = \"tgn.splat\"() <{{dtype = \"bool\", shape = [], bits = 1}}> : () -> tensor<i1>\n\
         %h0 = \"tgn.splat\"() <{{dtype = \"f32\", shape = [{width}], bits = 1056964608}}> : () -> {row}\n\
         %n, %last, %all = \"tgn.loop\"(%go, %h0) <{{trip = {trips}, stacked = 1}}> ({{\n\
         ^bb0(%t: tensor<i64>, %h: {row}):\n{inside}\n\
         }}) : (tensor<i1>, {row}) -> (tensor<i64>, {row}, {rows})\n\
         %y = \"tgn.reshape\"(%{what}) <{{shape = [{}]}}> : ({}) -> {}",
        if what == "all" { format!("{trips}, {width}") } else { width.to_string() },
        if what == "all" { &rows } else { &row },
        if what == "all" { &rows } else { &row },
    );
    region_with(&[&rows, &row], &text, if what == "all" { &rows } else { &row }, &[])
}

const FORWARD: &str = "%zero = \"tgn.splat\"() <{dtype = \"i64\", shape = [], bits = 0}> : () -> tensor<i64>\n\
                       %at = \"tgn.elementwise\"(%t, %zero) <{f = \"add\"}> : (tensor<i64>, tensor<i64>) -> tensor<i64>";

fn backward(trips: usize) -> String {
    format!(
        "%last_place = \"tgn.splat\"() <{{dtype = \"i64\", shape = [], bits = {}}}> : () -> tensor<i64>\n\
         %at = \"tgn.elementwise\"(%last_place, %t) <{{f = \"sub\"}}> : (tensor<i64>, tensor<i64>) -> tensor<i64>",
        trips - 1
    )
}

fn inputs(trips: usize, width: usize) -> [HostTensor; 2] {
    [floats(&[trips, width], 1), floats(&[width], 2)]
}

#[test]
fn states_and_rows_of_each_trip() {
    for (trips, width) in [(1, 40), (2, 320), (9, 700)] {
        for place in [FORWARD.to_string(), backward(trips)] {
            for what in ["last", "all"] {
                let program = recurrence(trips, width, &place, what);
                check(&program, "tsp1", &inputs(trips, width), 1e-5);
            }
        }
    }
}

#[test]
fn machines_of_few_slices_and_streams_repeat_too() {
    let program = recurrence(5, 20, FORWARD, "all");
    check(&program, "lpu-mini", &inputs(5, 20), 1e-5);
    check(&program, "lpx", &inputs(5, 20), 1e-5);
}

/// The words of a trip are the same in each, so more trips take as many more cycles, and no more.
#[test]
fn each_trip_takes_as_many_cycles() {
    let cycles =
        |trips: usize| run(&recurrence(trips, 300, FORWARD, "last"), "tsp1", &inputs(trips, 300)).cycles;
    let (two, three, nine) = (cycles(2), cycles(3), cycles(9));
    let trip = three - two;
    // A longer sequence takes its cycles before the loop: one for each vector.
    assert!((nine - three).abs_diff(6 * trip) < 100, "{two}, {three}, {nine} cycles");
}
