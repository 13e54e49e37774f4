//! `onnx [--all] [--only PREFIX] [--bless]`: the node cases of the onnx package through the CPU target,
//! every input given at run time.  Without `--all`: the core cases of `data/onnx_core.txt`.
//! `data/onnx_refused.txt` lists the refused cases with reasons; it is exact: a case that leaves or enters fails
//! the check until `--bless` rewrites it.  Cases of `data/open_rows.txt` are known to miss the suite's tolerance; they
//! must stay within the share listed there.
//! Bar: core >= 1,150 pass, none wrong, none crashed.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tegula_testkit::onnx_suite::{self, Verdict};

use crate::catalog::Catalog;
use crate::in_process::{self, best_class, guarded};
use crate::open_rows::{self, OpenRows};
use crate::outcome::Outcome;
use crate::refusals::Refusals;
use crate::shell::Shell;
use crate::worker_pool::{self, Answer};
use crate::{python, workspace};

const CORE_BAR: usize = 1150;
const N_WORKERS: usize = 2;
const CASE_LIMIT: Duration = Duration::from_secs(20);

pub fn run(args: &[String]) -> Result<Outcome> {
    if args.iter().any(|arg| arg == "--worker") {
        return worker();
    }
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let only = args.iter().position(|arg| arg == "--only").and_then(|at| args.get(at + 1));
    let folder = generate()?;
    let cases = onnx_suite::load_cases(&folder).map_err(anyhow::Error::msg)?;
    let core: Vec<String> = lines_of("onnx_core.txt")?;
    let every = has("--all") || only.is_some();
    let mut names = if every { cases.keys().cloned().collect() } else { core.clone() };
    if let Some(prefix) = only {
        names.retain(|name: &String| name.starts_with(prefix.as_str()));
    }
    ensure!(!names.is_empty(), "no case is called `{}...`", only.map_or("", String::as_str));
    let verdicts = judge(names)?;

    let count = |wanted: fn(&Verdict) -> bool| verdicts.values().filter(|verdict| wanted(verdict)).count();
    let mut listed = OpenRows::of("onnx")?;
    let (open, wrong) = compare_with_list(&verdicts, &mut listed);
    let unseen = if has("--all") && only.is_none() { listed.unseen() } else { vec![] };
    for name in &unseen {
        println!("data/open_rows.txt lists `{name}`, which is no case");
    }
    let crashed = count(|verdict| matches!(verdict, Verdict::Crashed(_)));
    let core_pass = core.iter().filter(|name| verdicts.get(*name) == Some(&Verdict::Pass)).count();
    for (name, verdict) in &verdicts {
        if let Verdict::Crashed(reason) = verdict {
            println!("crashed  {name}: {reason}");
        }
    }
    let record = Refusals::of("onnx_refused.txt", "onnx --all --bless")?;
    let refused = verdicts.iter().map(|(name, verdict)| (name.clone(), refusal(verdict))).collect();
    let unrecorded = if has("--bless") { record.bless(refused)? } else { record.differing(&refused) };
    let enough = only.is_some() || core_pass >= CORE_BAR;
    Ok(Outcome::pass_if(wrong + crashed + unrecorded + unseen.len() == 0 && enough)
        .with("cases", verdicts.len())
        .with("pass", count(|verdict| *verdict == Verdict::Pass))
        .with("core_pass", format!("{core_pass}/{}", core.len()))
        .with("open", open)
        .with("wrong", wrong + unseen.len())
        .with("crashed", crashed)
        .with("refused", count(|verdict| matches!(verdict, Verdict::Refused(_))))
        .with("unrecorded", unrecorded))
}

fn refusal(verdict: &Verdict) -> Option<String> {
    match verdict {
        Verdict::Refused(reason) => Some(reason.clone()),
        Verdict::Pass | Verdict::Wrong { .. } | Verdict::Crashed(_) => None,
    }
}

/// How many cases are wrong as listed, and how many otherwise; prints both.
fn compare_with_list(verdicts: &BTreeMap<String, Verdict>, listed: &mut OpenRows) -> (usize, usize) {
    let (mut open, mut wrong) = (0, 0);
    for (name, verdict) in verdicts {
        let (share, reason) = match verdict {
            Verdict::Pass => (0.0, ""),
            Verdict::Wrong { reason, share: Some(share) } => (*share, reason.as_str()),
            Verdict::Wrong { reason, share: None } => (f64::INFINITY, reason.as_str()),
            Verdict::Refused(_) | Verdict::Crashed(_) => continue,
        };
        match listed.judge(name, share) {
            open_rows::Verdict::Holds => {}
            open_rows::Verdict::Open(why) => {
                println!("open     {name}: {why}");
                open += 1;
            }
            open_rows::Verdict::Fails(why) => {
                println!("wrong    {name}: {why}; {reason}");
                wrong += 1;
            }
        }
    }
    (open, wrong)
}

/// Where the cases lie.
pub fn folder() -> PathBuf {
    workspace::target().join("onnx-node")
}

/// The cases' folder; made once for each version of the generator and of the onnx package.
pub fn generate() -> Result<PathBuf> {
    let folder = folder();
    python::run_once("onnx_node_cases.py", &Catalog::load()?, &folder)?;
    Ok(folder)
}

fn judge(names: Vec<String>) -> Result<BTreeMap<String, Verdict>> {
    let verdicts = Mutex::new(BTreeMap::new());
    let exe = std::env::current_exe().context("cannot find this program's own file")?;
    let start = || Shell::new(&exe).args(["onnx", "--worker"]);
    let record = |name: String, answer: Answer| {
        let verdict = match answer {
            Answer::Line(line) => serde_json::from_str(&line)
                .unwrap_or_else(|error| Verdict::Crashed(format!("the worker said `{line}`: {error}"))),
            Answer::TimedOut => Verdict::Crashed(format!("no end within {} s", CASE_LIMIT.as_secs())),
            Answer::Died(end) => Verdict::Crashed(end),
        };
        verdicts.lock().expect("invariant: no thread panics with the verdicts").insert(name, verdict);
    };
    worker_pool::run_jobs(names, N_WORKERS, CASE_LIMIT, &start, &record)?;
    Ok(verdicts.into_inner().expect("invariant: no thread panics with the verdicts"))
}

/// Answers each case name on stdin with its verdict as one line of JSON. Compiles and runs in this process: what
/// ends it ends one case, and the pool starts another.
fn worker() -> Result<Outcome> {
    let folder = folder();
    let cases = onnx_suite::load_cases(&folder).map_err(anyhow::Error::msg)?;
    in_process::keep_panics();
    for line in io::stdin().lock().lines() {
        let verdict = match cases.get(line?.trim()) {
            Some(case) => guarded(|| onnx_suite::run_case(&folder, case, &in_process::runner(best_class())))
                .unwrap_or_else(Verdict::Crashed),
            None => Verdict::Crashed("no such case".to_string()),
        };
        println!("{}", serde_json::to_string(&verdict)?);
        io::stdout().flush()?;
    }
    Ok(Outcome::pass())
}

fn lines_of(name: &str) -> Result<Vec<String>> {
    let path = workspace::data(name);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_string).collect())
}
