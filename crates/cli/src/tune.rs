//! `tegula tune`.

use crate::args::{CompileOptions, TargetOptions, TuneArgs};
use crate::failure::Failure;
use crate::inputs::inputs;
use crate::load::{dims, with_model};
use crate::output;
use serde_json::{Value, json};
use tegula_base::{Diagnostics, HostTensor};
use tegula_driver::tune::{Contraction, Rounds, Tuned, TunedContract, TunedTile, tune as measure};
use tegula_package::Port;

pub fn tune(args: &TuneArgs) -> Result<(), Failure> {
    output::keep_input(&args.model, Some(&args.output))?;
    output::check_place(&args.output)?;
    let sizes = dims(&args.dims)?;
    let mut made = |ports: &[Port]| -> Result<Vec<HostTensor>, Diagnostics> {
        Ok(inputs(ports, &args.inputs, &sizes)?.noted())
    };
    let rounds = Rounds { count: args.rounds, threads: args.threads.count() };
    let (tuned, _) = with_model(&args.model, &compiled(args), None, |model, options, _| {
        measure(model, options, rounds, &mut made, &mut output::progress)
    })?;
    if !tuned.open.is_empty() {
        output::complain(&format!(
            "note: {} contractions have dynamic sizes and are not tuned (`--dim NAME=N` fixes sizes)\n",
            tuned.open.len()
        ));
    }
    output::write_bytes(&args.output, tuned.record.print().as_bytes())?;
    if args.json {
        return output::print_json(&to_json(&tuned));
    }
    output::print(&to_text(&tuned, args))
}

/// How the model is compiled.
fn compiled(args: &TuneArgs) -> CompileOptions {
    let TuneArgs { machine, tier, precision, dims, build, .. } = args;
    let target = TargetOptions {
        machine: machine.clone(),
        tier: tier.clone(),
        precision: precision.clone(),
        ..TargetOptions::default()
    };
    CompileOptions { target, dims: dims.clone(), build: build.clone(), ..CompileOptions::default() }
}

fn to_text(tuned: &Tuned, args: &TuneArgs) -> String {
    let mut text = format!("{:>10}  {:<18} {:<18} {:>6}  contraction\n", "time", "tile", "faster", "share");
    for row in &tuned.contractions {
        let Contraction { title, usual_ns, usual, tuned, .. } = row;
        let tile = |rows: i64, columns: i64, block: i64| format!("{rows} x {columns}, {block} a block");
        let (faster, share) = match tuned {
            Some(tuned) => (tile(tuned.rows, tuned.columns, tuned.row_tiles), format!("{:.2}", tuned.share)),
            None => (String::new(), String::new()),
        };
        let usual = tile(usual.rows, usual.columns, usual.row_tiles);
        let time = output::duration(*usual_ns);
        text += &format!("{time:>10}  {usual:<18} {faster:<18} {share:>6}  {title}\n");
    }
    let (found, all) = (tuned.record.contractions.len(), tuned.contractions.len());
    let run = output::duration(tuned.usual_ns);
    text += &match found {
        0 => format!("no other tile of the {all} contractions makes a run faster; it takes {run}\n"),
        _ => format!(
            "{found} of {all} contractions have a faster tile; with them a run takes {:.3} of {run}\n",
            tuned.share
        ),
    };
    text += &format!("wrote {}\n", args.output.display());
    text
}

fn to_json(tuned: &Tuned) -> Value {
    let tile =
        |tile: TunedTile| json!({ "rows": tile.rows, "columns": tile.columns, "row_tiles": tile.row_tiles });
    let measured = |found: &TunedContract| json!({ "tile": tile(found.tile()), "share": found.share });
    let contractions = tuned.contractions.iter().map(|row| {
        json!({
            "contraction": row.title,
            "usual_ns": row.usual_ns,
            "usual": tile(row.usual),
            "tried": row.tried.iter().map(measured).collect::<Vec<Value>>(),
            "tuned": row.tuned.as_ref().map(measured),
        })
    });
    json!({
        "contractions": contractions.collect::<Vec<Value>>(),
        "open": tuned.open,
        "usual_ns": tuned.usual_ns,
        "share": tuned.share,
    })
}
