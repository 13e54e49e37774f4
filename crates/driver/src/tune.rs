//! Measures other tiles of a model's contractions on this processor, and records those that are faster.
//!
//! Before: a model and inputs.  After: a record for `CompileOptions::tuning`, and what was measured.
//! Method: the model is compiled once a try, every contraction with the next of its other tiles, and run in turns with the
//! usual package; a launch's time is its own, so one run tells of all contractions, each among the launches that it stands
//! among. What seems faster is measured once more, against the usual package in other rounds, since the least of many
//! noisy times is too small; what is not faster by [`LEAST_GAIN`] in both is left as it is, and so is all where the whole run is
//! not faster. Contractions whose rows, columns or steps are open have no time of their own, and are left out.

use crate::compile::{Compiled, Stages, compile_program};
use crate::model::Model;
use crate::options::CompileOptions;
use crate::target;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tegula_base::{Diagnostic, Diagnostics, HostTensor, Symbols};
use tegula_ir::PassCx;
use tegula_package::Port;
use tegula_runtime::{Hardware, Session, TensorView};
use tegula_tensor::TensorProgram;
use tegula_tiling::tuning::Tuning;
pub use tegula_tiling::tuning::{TunedContract, TunedTile};
use tegula_tiling::{Contract, TileMachine};

/// The part of its time that another tile must save: rounds of the same package differ by 1 to 2 % where other processes run.
const LEAST_GAIN: f64 = 0.03;
/// Time of a contraction in one run from which it is worth measuring: a clock's reading takes 20 to 50 ns.
const LEAST_NS: f64 = 2_000.0;

/// How long to measure, and with how many threads.
#[derive(Clone, Copy, Debug)]
pub struct Rounds {
    /// Runs of each package that is tried.
    pub count: usize,
    pub threads: usize,
}

/// A contraction and what was measured of it.
#[derive(Clone, Debug)]
pub struct Contraction {
    /// As a record names it.
    pub title: String,
    /// Of its launches in a run, with the usual tile; nanoseconds.
    pub usual_ns: f64,
    pub usual: TunedTile,
    /// What was measured beside it, each once.
    pub tried: Vec<TunedContract>,
    /// What is faster.
    pub tuned: Option<TunedContract>,
}

/// What came of measuring.
#[derive(Clone, Debug)]
pub struct Tuned {
    pub record: Tuning,
    /// The longest first.
    pub contractions: Vec<Contraction>,
    /// Contractions that are left out, since some of their sizes are open.
    pub open: BTreeSet<String>,
    /// Of a run without the record, nanoseconds.
    pub usual_ns: f64,
    /// The part of it that a run with the faster tiles takes; of 1 and more nothing is recorded.
    pub share: f64,
}

/// Measures. `inputs` gives tensors for a package's inputs, `progress` is told what goes on.
/// Errors: those of compilation and of runs; `not-tuned`: the kernels are not machine code of this processor.
pub fn tune(
    model: &Model,
    options: &CompileOptions,
    rounds: Rounds,
    inputs: &mut dyn FnMut(&[Port]) -> Result<Vec<HostTensor>, Diagnostics>,
    progress: &mut dyn FnMut(&str),
) -> Result<Tuned, Diagnostics> {
    let options = CompileOptions { tuning: None, stop_after: None, ..options.clone() };
    let chosen = target::target(&options)?;
    let machine = chosen.tiles();
    if options.machine.cpu().is_none() || options.form == target::Form::Portable {
        let message = "tiles are measured of a processor's own code".to_string();
        return Err(Diagnostic::error("not-tuned", message).into());
    }
    let program = model.import(&options.dims)?;
    let none = Tuning::of(machine.machine());
    let build = |contractions: BTreeMap<String, TunedContract>| {
        let tuning = Tuning { contractions, ..none.clone() };
        Build::new(&program, &model.name, &options, machine, rounds.threads, tuning)
    };
    let usual = build(BTreeMap::new())?;
    let tensors = inputs(usual.session.inputs())?;
    usual.run(&tensors)?;
    let times = usual.run(&tensors)?;
    let mut asked = usual.asked(machine, &times);
    let most = asked.iter().map(|asked| asked.others.len()).max().unwrap_or(0);
    for i in 0..most {
        progress(&format!("measuring tiles, {} of {most} each", i + 1));
        let next = asked.iter().filter_map(|asked| Some((&asked.title, *asked.others.get(i)?)));
        let next = next.map(|(title, tile)| (title.clone(), TunedContract::new(tile, 1.0))).collect();
        let shares = compare(&usual, &build(next)?, &tensors, rounds.count)?;
        for asked in &mut asked {
            let measured = asked.others.get(i).zip(shares.by_contraction.get(&asked.title));
            asked.tried.extend(measured.map(|(tile, found)| TunedContract::new(*tile, found.share)));
        }
    }
    let mut fastest: BTreeMap<String, TunedContract> =
        asked.iter().filter_map(|asked| Some((asked.title.clone(), asked.fastest()?))).collect();
    progress("measuring the fastest once more");
    let again = compare(&usual, &build(fastest.clone())?, &tensors, rounds.count)?;
    fastest.retain(|title, tuned| {
        tuned.share = again.by_contraction.get(title).map_or(1.0, |found| found.share);
        tuned.share <= 1.0 - LEAST_GAIN
    });
    progress("measuring the whole");
    let last = compare(&usual, &build(fastest.clone())?, &tensors, rounds.count)?;
    if last.whole.share >= 1.0 {
        fastest.clear();
    }
    let record = Tuning { contractions: fastest, ..none.clone() };
    let judged = asked.into_iter().map(|asked| {
        let usual_ns = last.by_contraction.get(&asked.title).map_or(asked.usual_ns, |found| found.usual_ns);
        let tuned = record.contractions.get(&asked.title).copied();
        let Asked { title, usual, tried, .. } = asked;
        Contraction { title, usual_ns, usual, tried, tuned }
    });
    let mut contractions: Vec<Contraction> = judged.collect();
    contractions.sort_by(|a, b| b.usual_ns.total_cmp(&a.usual_ns));
    Ok(Tuned {
        record,
        contractions,
        open: usual.open(),
        usual_ns: last.whole.usual_ns,
        share: last.whole.share,
    })
}

/// A record that gives each contraction of a compilation one of its other tiles, the `choice`-th counted round: whichever it
/// is, results are the same within their bounds. Errors: those of the target.
pub fn record_of_others(
    stages: &Stages,
    options: &CompileOptions,
    choice: usize,
) -> Result<Tuning, Diagnostics> {
    let chosen = target::target(options)?;
    let machine = chosen.tiles();
    let mut record = Tuning::of(machine.machine());
    for (title, contract) in stages.contractions(machine).into_iter().flatten() {
        let others = machine.other_tiles(&contract, &stages.tensor.symbols);
        if let Some(tile) = others.get(choice % others.len().max(1)) {
            record.contractions.insert(title, TunedContract::new(*tile, 1.0));
        }
    }
    Ok(record)
}

/// What a tile must cover is known.
fn has_known_sizes(contract: &Contract) -> bool {
    [&contract.m, &contract.n, &contract.k].into_iter().all(|size| size.as_const().is_some())
}

/// A contraction of the usual package.
struct Asked {
    title: String,
    usual: TunedTile,
    usual_ns: f64,
    others: Vec<TunedTile>,
    tried: Vec<TunedContract>,
}

impl Asked {
    fn fastest(&self) -> Option<TunedContract> {
        let faster = self.tried.iter().filter(|tried| tried.share <= 1.0 - LEAST_GAIN);
        faster.min_by(|a, b| a.share.total_cmp(&b.share)).copied()
    }
}

/// A package of the model, ready to run.
struct Build {
    session: Session,
    /// Which contraction each of its launches is.
    contractions: Vec<Option<(String, Contract)>>,
    symbols: Symbols,
}

/// What a run took, nanoseconds.
struct Times {
    whole: f64,
    by_contraction: HashMap<String, f64>,
}

/// One package's time, nanoseconds, and the part of it that another takes: medians over rounds.
#[derive(Clone, Copy)]
struct Share {
    usual_ns: f64,
    share: f64,
}

struct Shares {
    whole: Share,
    by_contraction: HashMap<String, Share>,
}

impl Build {
    fn new(
        program: &TensorProgram,
        name: &str,
        options: &CompileOptions,
        machine: &dyn TileMachine,
        threads: usize,
        tuning: Tuning,
    ) -> Result<Build, Diagnostics> {
        let options = CompileOptions { tuning: Some(tuning), ..options.clone() };
        let cx = &mut PassCx::new().without_remarks();
        let Compiled { stages, package, .. } = compile_program(program.clone(), name, &options, None, cx)?;
        let package = package.ok_or_else(|| Diagnostic::internal("a whole compilation made no package"))?;
        let options = crate::session_options(threads, Hardware::Own);
        let session = Session::from_bytes(package.to_bytes(), options)?;
        let contractions = stages.contractions(machine);
        let symbols = stages.tensor.symbols.clone();
        Ok(Build { session, contractions, symbols })
    }

    /// The titles of contractions of open sizes.
    fn open(&self) -> BTreeSet<String> {
        let open = self.contractions.iter().flatten().filter(|(_, contract)| !has_known_sizes(contract));
        open.map(|(title, _)| title.clone()).collect()
    }

    /// The contractions that take long enough and might have another tile.
    fn asked(&self, machine: &dyn TileMachine, times: &Times) -> Vec<Asked> {
        let contractions: BTreeMap<&String, &Contract> =
            self.contractions.iter().flatten().map(|(title, contract)| (title, contract)).collect();
        let asked = contractions.into_iter().filter_map(|(title, contract)| {
            let usual_ns = *times.by_contraction.get(title)?;
            let others = machine.other_tiles(contract, &self.symbols);
            let tile = machine.contract_tile(contract, &self.symbols);
            let usual = TunedTile { rows: tile.m, columns: tile.n, row_tiles: tile.m_block };
            let is_worth_it = has_known_sizes(contract) && usual_ns >= LEAST_NS && !others.is_empty();
            is_worth_it.then(|| Asked { title: title.clone(), usual, usual_ns, others, tried: vec![] })
        });
        asked.collect()
    }

    fn run(&self, tensors: &[HostTensor]) -> Result<Times, Diagnostics> {
        let views: Vec<TensorView> = tensors.iter().map(TensorView::from).collect();
        let profile = self.session.run_profiled(&views, &mut Vec::new())?;
        let mut by_contraction: HashMap<String, f64> = HashMap::new();
        for launch in &profile.launches {
            if let Some((title, _)) = &self.contractions[launch.kernel as usize] {
                *by_contraction.entry(title.clone()).or_default() += launch.ns as f64;
            }
        }
        Ok(Times { whole: profile.total_ns as f64, by_contraction })
    }
}

/// Runs both in turns, after one turn that warms up.
fn compare(
    usual: &Build,
    tried: &Build,
    tensors: &[HostTensor],
    rounds: usize,
) -> Result<Shares, Diagnostics> {
    let mut rounds_of: HashMap<String, Vec<[f64; 2]>> = HashMap::new();
    let mut whole = vec![];
    for round in 0..=rounds {
        let first = usual.run(tensors)?;
        let second = tried.run(tensors)?;
        if round == 0 {
            continue;
        }
        for (title, ns) in second.by_contraction {
            if let Some(usual) = first.by_contraction.get(&title) {
                rounds_of.entry(title).or_default().push([*usual, ns]);
            }
        }
        whole.push([first.whole, second.whole]);
    }
    let by_contraction = rounds_of.into_iter().map(|(title, times)| (title, share(&times))).collect();
    Ok(Shares { whole: share(&whole), by_contraction })
}

/// Of rounds with the usual time and the other one each.
fn share(rounds: &[[f64; 2]]) -> Share {
    let usual_ns = median(rounds.iter().map(|[usual, _]| *usual).collect());
    Share { usual_ns, share: median(rounds.iter().map(|[usual, tried]| tried / usual.max(1.0)).collect()) }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(1.0)
}
