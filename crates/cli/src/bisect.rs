//! `tegula bisect`.

use crate::args::{BisectArgs, refuse};
use crate::check::judgement;
use crate::failure::Failure;
use crate::inputs::inputs_of_sizes;
use crate::load::with_model;
use crate::output;
use tegula_base::Diagnostics;
use tegula_driver::bisect::GuiltyPass;
use tegula_driver::check::fitting_sizes;

pub fn bisect(args: &BisectArgs) -> Result<(), Failure> {
    output::keep_input(&args.model, args.output.as_ref())?;
    let aliases = [("--alias", !args.compile.build.aliases.is_empty())];
    refuse("`bisect` evaluates tensor programs, which share no memory", &aliases)?;
    output::progress(&format!("evaluating {} between passes", args.model.display()));
    let (found, _) = with_model(&args.model, &args.compile, None, |model, options, cx| {
        let program = model.import(&options.dims)?;
        let ports = tegula_driver::model::ports(&program);
        let fitting = |known: &_| fitting_sizes(&program, known);
        let inputs =
            inputs_of_sizes(&ports, &args.inputs, &options.dims, &fitting).map_err(Diagnostics::from)?;
        tegula_driver::bisect::bisect(model, options, &inputs.noted(), cx)
    })?;
    let Some(found) = found else {
        return output::print("no tensor pass changes the results; `tegula check` tests the kernels\n");
    };
    output::print(&to_text(&found))?;
    if let Some(file) = &args.output {
        output::write_bytes(file, found.before.as_bytes())?;
    }
    Err(Failure::No(format!("error: pass `{}` changes what the program means", found.pass)))
}

fn to_text(found: &GuiltyPass) -> String {
    let mut text = match &found.fault {
        Ok(output) => format!("{}: output {}: {}\n", found.pass, output.name, judgement(output)),
        Err(why) => format!("{}: the program after it does not run: {why}\n", found.pass),
    };
    if let Some(rewrite) = &found.rewrite {
        let node = rewrite.node.as_deref().map_or(String::new(), |node| format!(" of node \"{node}\""));
        text += &format!("  rewrite {} of {}: `{}`{node}\n", rewrite.number, rewrite.of, rewrite.op);
    }
    text
}
