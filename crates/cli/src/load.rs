//! From a file on the command line to a session: models are compiled on the way, packages mapped.

use crate::args::{CompileOptions as Args, DimOptions, InputOptions, Threads, refuse};
use crate::failure::Failure;
use crate::inputs::{quoted, ranks};
use crate::{device, kind, output};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use tegula::Session;
use tegula::clock::WallClock;
use tegula::files::{Folder, map_model};
use tegula_base::face::Clock;
use tegula_base::{Diagnostic, Diagnostics, Dim};
use tegula_driver::{CompileOptions, Compiled, Form, Model, PassCx, PassRecord, Trace};
use tegula_package::Port;

/// A session with how long it took to get there.
pub struct Loaded {
    pub session: Session,
    /// 0 for a package.
    pub compile_ns: u64,
    pub load_ns: u64,
    pub records: Vec<PassRecord>,
}

/// Compiles or maps a file. `inputs` are those of its run, for which it is compiled.
pub fn load(file: &Path, args: &Args, inputs: &InputOptions, threads: &Threads) -> Result<Loaded, Failure> {
    let clock = WallClock::default();
    if kind::is_package(file)? {
        args.without_target().refuse("a package is compiled already")?;
        let asked = [
            ("--result", !args.dims.results.is_empty()),
            ("--overridable", !args.dims.overridable.is_empty()),
            ("--checked", args.dims.checked),
        ];
        refuse("a package is compiled already", &asked)?;
        let session = Session::load(file, threads.session_options(device::hardware(args)?))?;
        warn(&session);
        check_dims(session.inputs(), &dims(&args.dims)?)?;
        return Ok(Loaded { session, compile_ns: 0, load_ns: clock.now_ns(), records: vec![] });
    }
    device::check_device(args)?;
    let (mut compiled, records) = with_model_of(file, args, inputs, |model, options, cx| {
        tegula_driver::compile(model, options, Some(&clock), cx)
    })?;
    let package = take_package(&mut compiled)?.into_package();
    drop(compiled);
    let compile_ns = clock.now_ns();
    let session = Session::from_package(package, threads.session_options(device::hardware(args)?))?;
    warn(&session);
    Ok(Loaded { session, compile_ns, load_ns: clock.now_ns() - compile_ns, records })
}

/// What costs time is told, not kept back.
fn warn(session: &Session) {
    for warning in session.warnings() {
        output::complain(&format!("{warning}\n"));
    }
}

/// The names of dims that a package leaves open.
pub fn open_dims<'a>(inputs: impl IntoIterator<Item = &'a Port>) -> BTreeSet<String> {
    symbols(inputs.into_iter().flat_map(|port| &port.shape))
}

/// The names in sizes.
pub fn symbols<'a>(sizes: impl IntoIterator<Item = &'a Dim>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for size in sizes {
        size.for_each_symbol(&mut |name| {
            names.insert(name.to_string());
        });
    }
    names
}

/// Dims only size what is made up or predicted for a package. Errors: names that none of its inputs' dims has.
pub fn check_dims<'a>(
    inputs: impl IntoIterator<Item = &'a Port>,
    dims: &BTreeMap<String, i64>,
) -> Result<(), Diagnostics> {
    let open = open_dims(inputs);
    let mut found = Diagnostics::default();
    for name in dims.keys().filter(|name| !open.contains(*name)) {
        let note = match open.is_empty() {
            true => "all its dims have fixed sizes".to_string(),
            false => format!("its open dims are {}", quoted(&open)),
        };
        found.push(
            Diagnostic::error("unknown-dim", format!("the package has no open dim `{name}`")).note(note),
        );
    }
    found.into_result(())
}

/// The package of a compilation that was not stopped. What a tuning record has for other models is told.
pub fn take_package(compiled: &mut Compiled) -> Result<tegula_package::Draft, Failure> {
    if compiled.unmet_tiles > 0 {
        let of_others = compiled.unmet_tiles;
        output::complain(&format!(
            "note: {of_others} tiles of the tuning record match no contraction of this model\n"
        ));
    }
    compiled.package.take().ok_or_else(|| {
        Diagnostic::error("stopped", "`--stop-after` ends before there is a package")
            .help("`tegula compile MODEL --stop-after PASS` without `-o` prints what the pass leaves")
            .into()
    })
}

/// Calls `use_model` with the model of a file, options and a context that traces to stderr; also gives the passes'
/// times. `stop_after` is the last pass to run.
pub fn with_model<T>(
    file: &Path,
    args: &Args,
    stop_after: Option<&str>,
    use_model: impl FnOnce(&Model, &CompileOptions, &mut PassCx) -> Result<T, Diagnostics>,
) -> Result<(T, Vec<PassRecord>), Failure> {
    with_given(file, args, &[], stop_after, use_model)
}

/// As [`with_model`], of a model that is run on these inputs: those that have a default are open, and ranks that the model
/// leaves out are those of the files.
pub fn with_model_of<T>(
    file: &Path,
    args: &Args,
    inputs: &InputOptions,
    use_model: impl FnOnce(&Model, &CompileOptions, &mut PassCx) -> Result<T, Diagnostics>,
) -> Result<(T, Vec<PassRecord>), Failure> {
    with_given(file, args, &ranks(inputs), None, use_model)
}

fn with_given<T>(
    file: &Path,
    args: &Args,
    given: &[(String, usize)],
    stop_after: Option<&str>,
    use_model: impl FnOnce(&Model, &CompileOptions, &mut PassCx) -> Result<T, Diagnostics>,
) -> Result<(T, Vec<PassRecord>), Failure> {
    let mut options = compile_options(args)?;
    options.stop_after = stop_after.map(str::to_string);
    let trace = match &args.passes.trace {
        Some(rules) => rules.parse::<Trace>().map_err(|reason| Diagnostic::error("bad-option", reason))?,
        None => Trace::default(),
    };
    tegula_driver::compile::check_trace(&trace, &options)?;
    let folder = Folder::of(file);
    let name = file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let model = Model {
        name,
        bytes: map_model(file)?,
        results: args.dims.results.clone(),
        checked: args.dims.checked,
        files: &folder,
    };
    for (dim, value) in model.dims_of_given(given) {
        options.dims.entry(dim).or_insert(value);
    }
    let (clock, mut sink) = (WallClock::default(), Stderr);
    let mut cx = PassCx::new().without_remarks().with_clock(&clock).with_trace(trace, &mut sink);
    let result = use_model(&model, &options, &mut cx)?;
    if args.passes.trace.is_some() {
        // The lines of the passes are there already.
        let table = cx.timing_table();
        output::complain(&format!("{}\n", table.lines().last().unwrap_or_default()));
    }
    Ok((result, cx.records))
}

/// What the compiler is asked for.
pub fn compile_options(args: &Args) -> Result<CompileOptions, Failure> {
    let (machine, form) = device::machine(args)?;
    let mut options = CompileOptions::new(machine);
    options.form = if args.target.portable { Form::Portable } else { form };
    options.tier = args.target.tier.clone();
    if let Some(precision) = &args.target.precision {
        options.precision = precision.parse()?;
    }
    if let Some(file) = &args.target.tuning {
        options.tuning = Some(tegula::read_tuning(file)?);
    }
    options.dims = dims(&args.dims)?;
    options.threads = args.build.compile_threads.unwrap_or_else(tegula::all_threads);
    options.start_from = args.passes.start_from.clone();
    options.verify |= args.build.verify_passes;
    options.aliases = args.build.aliases.clone();
    Ok(options)
}

/// Each named dim with its one value.
pub fn dims(args: &DimOptions) -> Result<BTreeMap<String, i64>, Failure> {
    let mut dims = each_once(&args.dims)?;
    dims.extend(args.overridable.iter().map(|input| (tegula_driver::model::given_dim(input), 1)));
    Ok(dims)
}

/// Errors: a dim is given twice.
pub fn each_once(given: &[(String, i64)]) -> Result<BTreeMap<String, i64>, Failure> {
    let mut dims = BTreeMap::new();
    for (name, value) in given {
        if dims.insert(name.clone(), *value).is_some() {
            return Err(Diagnostic::error("bad-option", format!("dim `{name}` is given twice")).into());
        }
    }
    Ok(dims)
}

/// Traces go to stderr as they come.
struct Stderr;

impl Write for Stderr {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        output::complain(text);
        Ok(())
    }
}
