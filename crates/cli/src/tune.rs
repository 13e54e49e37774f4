//! `tegula tune`.

use crate::args::{TuneArgs, refuse};
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
    let switches = [
        ("--target", args.compile.target.target.is_some()),
        ("--tuning", args.compile.target.tuning.is_some()),
        ("--portable", args.compile.target.portable),
        ("--start-from", args.compile.passes.start_from.is_some()),
        ("--trace", args.compile.passes.trace.is_some()),
    ];
    refuse("tiles are measured on this processor, of whole compilations", &switches)?;
    let sizes = dims(&args.compile.dims)?;
    let mut made = |ports: &[Port]| -> Result<Vec<HostTensor>, Diagnostics> {
        Ok(inputs(ports, &args.inputs, &sizes)?.noted())
    };
    let rounds = Rounds { count: args.rounds, threads: args.threads };
    let (tuned, _) = with_model(&args.model, &args.compile, None, |model, options, _| {
        measure(model, options, rounds, &mut made, &mut output::progress)
    })?;
    output::write_bytes(&args.output, tuned.record.print().as_bytes())?;
    if args.json {
        return output::print_json(&to_json(&tuned));
    }
    output::print(&to_text(&tuned, args))
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
    text += &format!(
        "{found} of {all} contractions have a faster tile; a run of {} takes {:.3} of its time with them\nwrote {}\n",
        output::duration(tuned.usual_ns),
        tuned.share,
        args.output.display(),
    );
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
        "usual_ns": tuned.usual_ns,
        "share": tuned.share,
    })
}
