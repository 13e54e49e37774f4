//! `fuzz [--seconds N] [--only onnx|text|package]`: damaged models, program texts and packages.
//! Bar: no panic, no hang, no end of the process.  Each target has N seconds (60) on two processes.
//!
//! An input is a function of the target, a stream's seed and a number, so that what ended a process is made again
//! here; it is made smaller and left in `target/fuzz`. Mutations know the formats: protobuf fields, tokens of text,
//! numbers in a package's JSON, with checksums repaired.

mod corpus;
mod mutate;
mod protobuf;
mod subject;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use tegula_automation::commits::Part;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::{Shell, own_program};
use tegula_automation::workspace;
use tegula_testkit::random::Rng;

use crate::in_process::{guarded, keep_panics};
use corpus::Corpus;
use subject::Target;

/// Processes a target.
const STREAMS: u64 = 2;

/// An input takes milliseconds; one that takes this long hangs.
const HANG: Duration = Duration::from_secs(15);

/// Address space of a process: more is a lack of memory, which an input must not cause.
const MEMORY_KIB: u64 = 6 << 20;

/// Distinct findings a stream before it ends.
const ENOUGH: usize = 10;

/// Runs that making an input smaller may take.
const ATTEMPTS: usize = 500;

pub fn run(args: &[String]) -> Result<Outcome> {
    let value = |flag: &str| args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1));
    if let Some(target) = value("--worker") {
        let seed = value("--seed").context("a worker has a seed")?.parse()?;
        return worker(Target::by_name(target)?, seed, value("--note").map(PathBuf::from));
    }
    if let Some(file) = value("--one") {
        let target = Target::by_name(value("--only").context("`--one FILE` needs `--only TARGET`")?)?;
        subject::run(target, &fs::read(file).with_context(|| format!("cannot read {file}"))?);
        return Ok(Outcome::pass());
    }
    let seconds: u64 =
        value("--seconds").map_or(Ok(60), |text| text.parse()).context("`--seconds` is no number")?;
    let only = value("--only").map(|name| Target::by_name(name)).transpose()?;
    let seed = match value("--seed") {
        Some(text) => text.parse().context("`--seed` is no number")?,
        None => SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_nanos() as u64),
    };
    println!("seed {seed}");
    let mut findings = vec![];
    let mut executions = 0;
    let targets = Target::ALL.into_iter().filter(|target| only.is_none_or(|only| only == *target));
    for target in Part::asked(args)?.take(targets) {
        let (runs, found) = fuzz(target, Duration::from_secs(seconds), seed)?;
        println!("{:8} {runs} inputs, {} findings", target.name(), found.len());
        ensure!(runs > 0, "no input of target `{}` was run", target.name());
        executions += runs;
        findings.extend(found);
    }
    for finding in &findings {
        println!("FINDING {finding}");
    }
    Ok(Outcome::pass_if(findings.is_empty())
        .with("seconds", seconds)
        .with("inputs", executions)
        .with("findings", findings.len()))
}

/// A stream's process and its note: the number of the input it is at, then what it found.
struct Stream {
    child: Child,
    seed: u64,
    note: PathBuf,
    at: u64,
    since: Instant,
    runs: u64,
}

/// Gives the number of inputs and a line for each finding.
fn fuzz(target: Target, time: Duration, seed: u64) -> Result<(u64, Vec<String>)> {
    let folder = workspace::target().join("fuzz").join(target.name());
    fs::create_dir_all(&folder)?;
    let end = Instant::now() + time;
    let mut runs = 0;
    let mut findings = vec![];
    let mut streams =
        (0..STREAMS).map(|i| start(target, seed.wrapping_add(i), &folder)).collect::<Result<Vec<_>>>()?;
    let mut next_seed = seed.wrapping_add(STREAMS);
    while Instant::now() < end && !streams.is_empty() && findings.len() < ENOUGH {
        std::thread::sleep(Duration::from_millis(200));
        let mut live = vec![];
        for mut stream in streams {
            let at = read_note(&stream.note);
            if at != stream.at {
                (stream.at, stream.since, stream.runs) = (at, Instant::now(), at);
            }
            let ended = stream.child.try_wait()?;
            let hangs = stream.since.elapsed() > HANG;
            if ended.is_none() && !hangs {
                live.push(stream);
                continue;
            }
            // Harmless where the process has ended.
            let _ = stream.child.kill();
            let _ = stream.child.wait();
            runs += stream.runs;
            let how = ended.map_or("hangs".to_string(), |status| status.to_string());
            findings.push(found(target, &stream, &how, &folder)?);
            live.push(start(target, next_seed, &folder)?);
            next_seed = next_seed.wrapping_add(1);
        }
        streams = live;
    }
    for mut stream in streams {
        let _ = stream.child.kill();
        let _ = stream.child.wait();
        runs += read_note(&stream.note);
        // Between the last look and the end.
        let _ = fs::remove_file(&stream.note);
    }
    Ok((runs, findings))
}

fn start(target: Target, seed: u64, folder: &Path) -> Result<Stream> {
    let note = folder.join(format!("note_{seed}"));
    fs::write(&note, 0u64.to_le_bytes())?;
    let arguments = format!("fuzz --worker {} --seed {seed} --note {}", target.name(), note.display());
    let child = limited(&arguments)?.start_silent()?;
    Ok(Stream { child, seed, note, at: u64::MAX, since: Instant::now(), runs: 0 })
}

/// This program under a limit of address space.
fn limited(arguments: &str) -> Result<Shell> {
    let exe = own_program()?;
    let script = format!("ulimit -v {MEMORY_KIB}; exec {} {arguments}", exe.display());
    Ok(Shell::new("sh").args(["-c", &script]))
}

fn read_note(note: &Path) -> u64 {
    match fs::read(note) {
        Ok(bytes) if bytes.len() >= 8 => {
            u64::from_le_bytes(bytes[..8].try_into().expect("invariant: eight bytes"))
        }
        _ => 0,
    }
}

/// Makes the input again, makes it smaller, leaves it in a file.
fn found(target: Target, stream: &Stream, how: &str, folder: &Path) -> Result<String> {
    let corpus = Corpus::load(target)?;
    let input = input(&corpus, target, stream.seed, stream.at);
    let message = panic_note(&stream.note).unwrap_or_else(|| how.to_string());
    let trial = folder.join("trial");
    let still = |bytes: &[u8]| -> Result<bool> {
        fs::write(&trial, bytes)?;
        let finished = limited(&format!("fuzz --only {} --one {}", target.name(), trial.display()))?
            .finish(Some(HANG))?;
        Ok(finished.code() != Some(0))
    };
    let small = if still(&input)? { smaller(input, &still)? } else { input };
    let file = folder.join(format!("finding_{}_{}", stream.seed, stream.at));
    fs::write(&file, &small)?;
    let line: Vec<&str> = message.lines().take(3).collect();
    Ok(format!("{} ({} bytes in {}): {}", target.name(), small.len(), file.display(), line.join(" | ")))
}

/// Drops chunks while the failure stays.
fn smaller(mut input: Vec<u8>, still: &dyn Fn(&[u8]) -> Result<bool>) -> Result<Vec<u8>> {
    let mut attempts = ATTEMPTS;
    let mut chunk = input.len() / 2;
    let end = Instant::now() + Duration::from_secs(40);
    while chunk > 0 {
        let mut at = 0;
        while at < input.len() && attempts > 0 && Instant::now() < end {
            attempts -= 1;
            let without = [&input[..at], &input[(at + chunk).min(input.len())..]].concat();
            if still(&without)? {
                input = without;
            } else {
                at += chunk;
            }
        }
        chunk /= 2;
    }
    Ok(input)
}

fn panic_note(note: &Path) -> Option<String> {
    let bytes = fs::read(note).ok()?;
    (bytes.len() > 8).then(|| String::from_utf8_lossy(&bytes[8..]).into_owned())
}

/// Input `number` of a stream: itself a function of both, so that none needs those before it.
fn input(corpus: &Corpus, target: Target, seed: u64, number: u64) -> Vec<u8> {
    let mut rng = Rng::new(seed ^ number.wrapping_mul(0xD129_0DD5_8D7A_6F5D));
    mutate::any(&mut rng, target, corpus)
}

/// Runs inputs until killed; a panic ends the process after it is noted.
fn worker(target: Target, seed: u64, note: Option<PathBuf>) -> Result<Outcome> {
    keep_panics();
    let note = note.context("a worker has a note")?;
    let file = fs::OpenOptions::new().write(true).open(&note)?;
    let corpus = Corpus::load(target)?;
    for number in 1.. {
        write_at_start(&file, number)?;
        let bytes = input(&corpus, target, seed, number);
        if let Err(message) = guarded(|| subject::run(target, &bytes)) {
            fs::write(&note, [&number.to_le_bytes()[..], message.as_bytes()].concat())?;
            bail!("{message}");
        }
    }
    Ok(Outcome::pass())
}

#[cfg(unix)]
fn write_at_start(file: &fs::File, number: u64) -> Result<()> {
    use std::os::unix::fs::FileExt;
    Ok(file.write_all_at(&number.to_le_bytes(), 0)?)
}

#[cfg(not(unix))]
fn write_at_start(mut file: &fs::File, number: u64) -> Result<()> {
    use std::io::{Seek, Write};
    file.rewind()?;
    Ok(file.write_all(&number.to_le_bytes())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An input is made again from its stream and number; the search for a smaller one keeps what fails.
    #[test]
    fn findings_are_made_again_and_smaller() {
        let corpus =
            Corpus { items: vec![b"\"a.b\"() : () -> ()".to_vec()], words: vec!["i32".into(), "(".into()] };
        let made = |number| input(&corpus, Target::Text, 9, number);
        assert_eq!(made(4), made(4));
        assert!((0..20).any(|number| made(number) != made(number + 1)));
        let fails = |bytes: &[u8]| -> Result<bool> { Ok(bytes.contains(&b'x') && bytes.contains(&b'y')) };
        assert_eq!(smaller(b"abcxdefghiyjkl".to_vec(), &fails).expect("no error"), b"xy");
    }
}
