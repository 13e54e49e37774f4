//! `tegula compile` of words of a streaming chip, written as text (`.lpu`).

use crate::args::CompileArgs;
use crate::failure::Failure;
use crate::{device, output};
use std::path::Path;
use tegula_base::{Diagnostic, Diagnostics};

/// Whether a file has words of a chip, by its name.
pub fn is_words(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "lpu")
}

/// Writes a package of the words as they stand. Errors: those of the text; an image that the machine does not run.
pub fn compile(args: &CompileArgs) -> Result<(), Failure> {
    let (machine, _) = device::machine(&args.compile)?;
    let name = args.model.display().to_string();
    let text = tegula::files::read_text(&args.model)
        .map_err(|error| tegula::files::failure("read", &args.model, &error))?;
    let at = |mut error: Diagnostic| {
        error.spans.iter_mut().for_each(|line| *line = format!("{name}: {line}"));
        Diagnostics::from(error)
    };
    let image = tegula_driver::lpu::parse(&text).map_err(at)?;
    let package = tegula_driver::lpu::package(&image, &machine, &name)?;
    let Some(file) = &args.output else {
        let message = "nothing to write: name a package with `-o FILE.tgl`";
        return Err(Diagnostic::error("bad-option", message).into());
    };
    output::write_package(file, &package)?;
    output::print(&format!("wrote {} ({})\n", file.display(), output::size(package.byte_len())))
}
