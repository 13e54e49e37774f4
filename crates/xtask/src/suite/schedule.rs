//! Runs rows as processes, longest first, on as many processors as there are; a row that times something has all of them.
//! What a row prints goes to a file, and is printed whole when it has ended, unless no other runs beside it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

use tegula_automation::cpu_time;
use tegula_automation::shell::Shell;
use tegula_automation::workspace;

/// A process to be run.
pub struct Task {
    pub title: String,
    pub program: PathBuf,
    pub args: Vec<String>,
    pub env: Vec<(&'static str, String)>,
    pub cores: usize,
    /// Nothing may run beside it.
    pub alone: bool,
    /// Where what it prints is kept.
    pub log: PathBuf,
}

/// What became of a task.
pub struct Ended {
    pub code: Option<i32>,
    pub output: String,
    /// Seconds.
    pub wall: f64,
    pub cpu: f64,
}

struct Running {
    task: usize,
    child: Child,
    began: Instant,
}

/// How often ended processes are looked for.
const PAUSE: Duration = Duration::from_millis(20);

/// Runs the tasks in their order as far as there is room on `cores` processors; tells of each when it has ended.
pub fn run(tasks: &[Task], cores: usize, mut ended: impl FnMut(usize, Ended) -> Result<()>) -> Result<()> {
    if let [only] = tasks {
        return ended(0, stream(only)?);
    }
    let mut waiting: Vec<usize> = (0..tasks.len()).filter(|task| !tasks[*task].alone).collect();
    waiting.extend((0..tasks.len()).filter(|task| tasks[*task].alone));
    let mut running: Vec<Running> = Vec::new();
    while !waiting.is_empty() || !running.is_empty() {
        let mut free = cores.saturating_sub(running.iter().map(|one| tasks[one.task].cores.min(cores)).sum());
        while let Some(at) = next(tasks, &waiting, free, cores, running.is_empty()) {
            let task = waiting.remove(at);
            println!("==== {} begins", tasks[task].title);
            running.push(Running { task, child: start(&tasks[task])?, began: Instant::now() });
            free = if tasks[task].alone { 0 } else { free.saturating_sub(tasks[task].cores.min(cores)) };
        }
        thread::sleep(PAUSE);
        let mut live = Vec::new();
        for mut one in running {
            let Some(cpu) = cpu_time::if_ended(&mut one.child)? else {
                live.push(one);
                continue;
            };
            let task = &tasks[one.task];
            let wall = one.began.elapsed().as_secs_f64();
            let code = one.child.wait()?.code();
            let output = String::from_utf8_lossy(&fs::read(&task.log)?).into_owned();
            println!("\n==== {}\n{}", task.title, output.trim_end());
            ended(one.task, Ended { code, output, wall, cpu })?;
        }
        running = live;
    }
    Ok(())
}

/// The place among the waiting of the next task that may start.
fn next(tasks: &[Task], waiting: &[usize], free: usize, cores: usize, is_quiet: bool) -> Option<usize> {
    let fits = |task: &usize| match &tasks[*task] {
        task if task.alone => is_quiet && free == cores,
        task => task.cores.min(cores) <= free,
    };
    // What has the machine alone comes last, so that no processor waits for it.
    waiting.iter().position(fits)
}

/// Seconds from the first row's start to the last one's end, where each is given its seconds and the processors that it keeps
/// busy, and all start in this order as [`run`] starts them.
pub fn span(rows: &[(f64, usize)], cores: usize) -> f64 {
    let mut waiting: Vec<(f64, usize)> =
        rows.iter().map(|(seconds, wide)| (*seconds, (*wide).min(cores))).collect();
    let mut running: Vec<(f64, usize)> = Vec::new();
    let mut now = 0.0;
    loop {
        let mut free = cores - running.iter().map(|(_, wide)| wide).sum::<usize>();
        while let Some(at) = waiting.iter().position(|(_, wide)| *wide <= free) {
            let (seconds, wide) = waiting.remove(at);
            running.push((now + seconds, wide));
            free -= wide;
        }
        let Some(next) = running.iter().map(|(end, _)| *end).min_by(f64::total_cmp) else { return now };
        now = next;
        running.retain(|(end, _)| *end > now);
    }
}

fn command(task: &Task) -> Command {
    let mut command = Command::new(&task.program);
    command.args(&task.args).envs(task.env.iter().map(|(name, value)| (name, value)));
    command.current_dir(workspace::root()).stdin(Stdio::null());
    command
}

fn start(task: &Task) -> Result<Child> {
    let log = create(&task.log)?;
    let both = log.try_clone()?;
    command(task).stdout(log).stderr(both).spawn().with_context(|| format!("cannot start {}", task.title))
}

fn create(file: &Path) -> Result<File> {
    File::create(file).with_context(|| format!("cannot write {}", file.display()))
}

/// A task by itself: what it prints is passed on as it comes.
fn stream(task: &Task) -> Result<Ended> {
    println!("\n==== {}", task.title);
    let (began, before) = (Instant::now(), cpu_time::of_children());
    let mut shell = Shell::new(&task.program).args(&task.args);
    for (name, value) in &task.env {
        shell = shell.env(name, value);
    }
    let streamed = shell.stream()?;
    let cpu = cpu_time::of_children() - before;
    Ok(Ended {
        code: streamed.code,
        output: streamed.lines.join("\n"),
        wall: began.elapsed().as_secs_f64(),
        cpu,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(folder: &Path, name: &str, script: &str, cores: usize, alone: bool) -> Task {
        Task {
            title: name.to_string(),
            program: "sh".into(),
            args: vec!["-c".to_string(), script.to_string()],
            env: vec![],
            cores,
            alone,
            log: folder.join(format!("{name}.log")),
        }
    }

    #[test]
    fn tasks_share_processors_but_for_those_alone() {
        let folder = workspace::target().join("checks/schedule-test");
        fs::create_dir_all(&folder).unwrap();
        let beside = folder.join("beside");
        let _ = fs::remove_file(&beside);
        let marks = format!("touch {0}; sleep 0.3; rm {0}", beside.display());
        let looks = format!("test ! -e {} && echo quiet", beside.display());
        let tasks = [
            task(&folder, "times", &looks, 1, true),
            task(&folder, "one", &marks, 1, false),
            task(&folder, "wide", "echo wide >&2; exit 3", 9, false),
        ];
        let mut seen = Vec::new();
        run(&tasks, 2, |task, ended| {
            seen.push((task, ended.code, ended.output.trim().to_string()));
            Ok(())
        })
        .unwrap();
        let want = [(1, Some(0), ""), (2, Some(3), "wide"), (0, Some(0), "quiet")];
        assert_eq!(seen, want.map(|(task, code, text)| (task, code, text.to_string())));
    }

    #[test]
    fn a_schedule_fills_what_is_free() {
        assert_eq!(span(&[], 2), 0.0);
        assert_eq!(span(&[(5.0, 2), (3.0, 1), (3.0, 1), (1.0, 1)], 2), 9.0);
        // A wide row waits, and a narrow one goes past it.
        assert_eq!(span(&[(4.0, 1), (2.0, 2), (3.0, 1)], 2), 6.0);
    }

    #[test]
    fn time_of_a_row_is_its_own() {
        let folder = workspace::target().join("checks/schedule-test");
        fs::create_dir_all(&folder).unwrap();
        let work = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let tasks = [task(&folder, "works", work, 1, false), task(&folder, "waits", "sleep 0.3", 1, false)];
        let mut cpu = [0.0; 2];
        run(&tasks, 2, |task, ended| {
            cpu[task] = ended.cpu;
            Ok(())
        })
        .unwrap();
        if cfg!(target_os = "linux") {
            assert!(cpu[0] > cpu[1], "{cpu:?}");
        }
    }
}
