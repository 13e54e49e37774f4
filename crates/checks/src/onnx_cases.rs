//! Cases of the onnx package through the CPU target, in worker processes: what `onnx`, `onnx-open` and `onnx-more` share.
//! A suite is a folder of cases that a script writes, a list of the refused ones and a verb whose `--worker` answers.
//! The list is exact: a case that leaves or enters fails the check until `--bless` rewrites it, and so does a row whose case
//! is none.  Cases of
//! `data/open_rows.txt` are known to miss the suite's tolerance; they must stay within the share listed there.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use anyhow::{Result, ensure};
use tegula_automation::catalog::Catalog;
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::{Shell, own_program};
use tegula_automation::{python, workspace};
use tegula_testkit::onnx_suite::{self, Case, Verdict};

use crate::in_process::{self, guarded, is_simulated};
use crate::open_rows::{self, OpenRows};
use crate::refusals::Refusals;
use crate::worker_pool::{self, Answer};

const N_WORKERS: usize = 2;

pub struct Suite {
    /// The verb, and the check in `data/open_rows.txt`.
    pub verb: &'static str,
    /// The folder under `target/`.
    pub folder: &'static str,
    /// The script that writes the folder, then those that it imports.
    pub scripts: &'static [&'static str],
    /// The list of refused cases in `data/`, and how to rewrite it.
    pub refused: &'static str,
    pub bless: &'static str,
    /// A case that takes longer counts as crashed.
    pub limit: Duration,
    /// Whether code that this processor has no instructions for is run on the simulator, or left out.
    pub simulates: bool,
}

/// The verdicts of some cases, and how many are not as the lists say.
pub struct Judged {
    pub verdicts: BTreeMap<String, Verdict>,
    pub open: usize,
    pub wrong: usize,
    pub crashed: usize,
    pub unrecorded: usize,
}

impl Judged {
    pub fn passed(&self) -> usize {
        self.verdicts.values().filter(|verdict| **verdict == Verdict::Pass).count()
    }

    /// Whether every case passes or is as the lists say.
    pub fn is_as_listed(&self) -> bool {
        self.wrong + self.crashed + self.unrecorded == 0
    }

    pub fn add_to(&self, outcome: Outcome) -> Outcome {
        let refused = self.verdicts.values().filter(|verdict| matches!(verdict, Verdict::Refused(_)));
        outcome
            .with("open", self.open)
            .with("wrong", self.wrong)
            .with("crashed", self.crashed)
            .with("refused", refused.count())
            .with("unrecorded", self.unrecorded)
    }
}

impl Suite {
    /// The verb, where it takes `[--only PREFIX] [--bless]` and asks that `bar` of all cases pass.
    pub fn check(&self, args: &[String], bar: usize) -> Result<Outcome> {
        let has = |flag: &str| args.iter().any(|arg| arg == flag);
        if has("--worker") {
            return self.worker();
        }
        let only = args.iter().position(|arg| arg == "--only").and_then(|at| args.get(at + 1));
        self.generate()?;
        let mut names: Vec<String> = self.cases()?.into_keys().collect();
        names.retain(|name| only.is_none_or(|prefix| name.starts_with(prefix.as_str())));
        let part = Part::asked(args)?;
        names = part.take(names);
        ensure!(!names.is_empty(), "no case is called `{}...`", only.map_or("", String::as_str));
        let judged = self.judge(names, has("--bless"), only.is_none() && part.is_whole())?;
        let enough = only.is_some() || !part.is_whole() || judged.passed() >= bar;
        let outcome = Outcome::pass_if(judged.is_as_listed() && enough)
            .with("cases", judged.verdicts.len())
            .with("pass", judged.passed())
            .with(if self.simulates { "simulated" } else { "classes_left_out" }, in_process::simulated());
        Ok(judged.add_to(outcome))
    }

    /// Where the cases lie.
    pub fn folder(&self) -> PathBuf {
        workspace::target().join(self.folder)
    }

    pub fn cases(&self) -> Result<BTreeMap<String, Case>> {
        onnx_suite::load_cases(&self.folder()).map_err(anyhow::Error::msg)
    }

    /// Writes the folder; once for each version of the scripts and of the onnx package.
    pub fn generate(&self) -> Result<()> {
        python::run_once(self.scripts, &Catalog::load()?, &self.folder())
    }

    /// Runs the cases, prints what is not as listed, and rewrites the list of refused ones where asked to.
    /// `whole`: these are all cases, so that a listed one that is none of them counts as wrong.
    pub fn judge(&self, names: Vec<String>, bless: bool, whole: bool) -> Result<Judged> {
        let verdicts = self.verdicts(names)?;
        let mut listed = OpenRows::of(self.verb)?;
        let (open, mut wrong) = compare_with_list(&verdicts, &mut listed);
        for name in listed.unseen().into_iter().filter(|_| whole) {
            println!("data/open_rows.txt lists `{name}`, which is no case");
            wrong += 1;
        }
        let mut crashed = 0;
        for (name, verdict) in &verdicts {
            if let Verdict::Crashed(reason) = verdict {
                println!("crashed  {name}: {reason}");
                crashed += 1;
            }
        }
        let record = Refusals::of(self.refused, self.bless)?;
        let refused = verdicts.iter().map(|(name, verdict)| (name.clone(), refusal(verdict))).collect();
        let all = self.cases()?;
        let is_case = |name: &str| all.contains_key(name);
        let unrecorded =
            if bless { record.bless(refused, is_case)? } else { record.differing(&refused, is_case) };
        Ok(Judged { verdicts, open, wrong, crashed, unrecorded })
    }

    fn verdicts(&self, names: Vec<String>) -> Result<BTreeMap<String, Verdict>> {
        let verdicts = Mutex::new(BTreeMap::new());
        let exe = own_program()?;
        let start = || Shell::new(&exe).args([self.verb, "--worker"]);
        let record = |name: String, answer: Answer| {
            let verdict = match answer {
                Answer::Line(line) => serde_json::from_str(&line)
                    .unwrap_or_else(|error| Verdict::Crashed(format!("the worker said `{line}`: {error}"))),
                Answer::TimedOut => Verdict::Crashed(format!("no end within {} s", self.limit.as_secs())),
                Answer::Died(end) => Verdict::Crashed(end),
            };
            verdicts.lock().expect("invariant: no thread panics with the verdicts").insert(name, verdict);
        };
        worker_pool::run_jobs(names, N_WORKERS, self.limit, &start, &record)?;
        Ok(verdicts.into_inner().expect("invariant: no thread panics with the verdicts"))
    }

    /// Answers each case name on stdin with its verdict as one line of JSON, that of code for every tier. Compiles and runs
    /// in this process: what ends it ends one case, and the pool starts another.
    pub fn worker(&self) -> Result<Outcome> {
        let folder = self.folder();
        let cases = self.cases()?;
        in_process::keep_panics();
        for line in io::stdin().lock().lines() {
            let verdict = match cases.get(line?.trim()) {
                Some(case) => {
                    let classes = in_process::classes().into_iter();
                    let mut verdicts =
                        classes.filter(|class| self.simulates || !is_simulated(class)).map(|class| {
                            guarded(|| onnx_suite::run_case(&folder, case, &in_process::runner(class)))
                                .unwrap_or_else(Verdict::Crashed)
                        });
                    // The first that does not pass.
                    verdicts.find(|verdict| *verdict != Verdict::Pass).unwrap_or(Verdict::Pass)
                }
                None => Verdict::Crashed("no such case".to_string()),
            };
            println!("{}", serde_json::to_string(&verdict)?);
            io::stdout().flush()?;
        }
        Ok(Outcome::pass())
    }
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
