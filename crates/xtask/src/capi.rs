//! `capi [--blocks N] [--seed S]`: the C interface as a program in C has it, with the header that is checked in: against
//! the shared library and the static one, under valgrind where it is installed, with N random argument blocks (200,000),
//! and with the bad requests of `bad-input`.
//! Bar: the header compiles without warnings as C11 and C++17, every program ends well, memory is read and freed rightly,
//! each bad request is refused in the command's words. That the header is current is a test of `unit`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use tegula_automation::catalog::Catalog;
use tegula_automation::fetch::fetch;
use tegula_automation::outcome::Outcome;
use tegula_automation::shell::{Shell, have};
use tegula_automation::tegula_cli::Tegula;
use tegula_automation::{valgrind, workspace};

use crate::bad_input::requests::{Request, Requests};
use crate::npy::Npy;

/// A real model beside the small one.
const MODEL: &str = "magika";
/// Random blocks under valgrind, which is some fifty times slower.
const WATCHED_BLOCKS: u64 = 2000;
const STRICT: [&str; 7] = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-pedantic", "-O1"];

/// Where sources, libraries and what is made of them lie.
struct Places {
    sources: PathBuf,
    include: PathBuf,
    libraries: PathBuf,
    folder: PathBuf,
    small_model: PathBuf,
}

pub fn run(args: &[String]) -> Result<Outcome> {
    let value = |flag: &str| args.iter().position(|arg| arg == flag).and_then(|at| args.get(at + 1));
    let blocks: u64 =
        value("--blocks").map_or(Ok(200_000), |text| text.parse()).context("`--blocks` is no number")?;
    let seed: u64 = match value("--seed") {
        Some(text) => text.parse().context("`--seed` is no number")?,
        None => SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_nanos() as u64),
    };
    println!("seed {seed}");
    ensure!(have("cc"), "cc is missing: install a C compiler (Debian, Ubuntu: apt-get install gcc)");
    workspace::build_library("tegula-capi")?;
    let face = workspace::root().join("crates/capi");
    let places = Places {
        sources: face.join("tests/c"),
        include: face.join("include"),
        libraries: workspace::built(),
        folder: workspace::target().join("capi"),
        small_model: workspace::root().join("crates/tegula/models/double.onnx"),
    };
    fs::create_dir_all(&places.folder)?;
    let model = fetch(&Catalog::load()?, MODEL)?;
    let shared = |name: &str| places.build(name, name, &["-ltegula_capi"]);
    let static_library = places.libraries.join("libtegula_capi.a").display().to_string();
    let programs = [shared("face")?, places.build("face", "face_static", &[&static_library, "-ldl", "-lm"])?];
    let blocks_program = shared("blocks")?;

    let mut failed = 0;
    for program in &programs {
        failed +=
            places.fails(Shell::new(program).arg(&places.small_model).arg(&places.folder).arg(&model))?;
    }
    let numbers = |count: u64| [seed.to_string(), count.to_string()];
    let drawn = Shell::new(&blocks_program).arg(&places.small_model).arg(&places.folder);
    failed += places.fails(drawn.args(numbers(blocks)))?;
    let is_watched = valgrind::is_installed();
    if is_watched {
        let watch = |program: &Path| watched(program).arg(&places.small_model).arg(&places.folder);
        failed += places.fails(watch(&programs[0]))?;
        failed += places.fails(watch(&blocks_program).args(numbers(WATCHED_BLOCKS)))?;
    }
    let is_cpp = have("c++");
    if is_cpp {
        failed += places.fails(places.as_cpp())?;
    }
    let requests = Requests::prepare(&Tegula::build()?, &places.folder.join("files"))?;
    let ask = shared("ask")?;
    let otherwise = requests.said_otherwise(|request| asking(&ask, request, &requests.folder))?;
    Ok(Outcome::pass_if(failed == 0 && otherwise == 0)
        .with("failed", failed)
        .with("blocks", blocks)
        .with("valgrind", is_watched)
        .with("cpp", is_cpp)
        .with("bad_requests", requests.list.len())
        .with("said_otherwise", otherwise))
}

impl Places {
    /// A program of that source.
    fn build(&self, source: &str, name: &str, libraries: &[&str]) -> Result<PathBuf> {
        let program = self.folder.join(name);
        let rpath = format!("-Wl,-rpath,{}", self.libraries.display());
        Shell::new("cc")
            .args(STRICT)
            .arg("-I")
            .arg(&self.include)
            .arg(self.sources.join(format!("{source}.c")))
            .arg("-o")
            .arg(&program)
            .arg("-L")
            .arg(&self.libraries)
            .args(libraries)
            .args(["-lpthread", &rpath])
            .run()?;
        Ok(program)
    }

    /// The header read as C++.
    fn as_cpp(&self) -> Shell {
        Shell::new("c++")
            .args(["-std=c++17", "-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only", "-x", "c++"])
            .arg(self.include.join("tegula.h"))
            .arg("-Wno-pragma-once-outside-header")
    }

    /// 1 where the command does not end well.
    fn fails(&self, command: Shell) -> Result<usize> {
        let streamed = command.stream()?;
        if streamed.code != Some(0) {
            println!("FAIL: status {:?}", streamed.code);
        }
        Ok(usize::from(streamed.code != Some(0)))
    }
}

fn watched(program: &Path) -> Shell {
    let strict = ["-q", "--error-exitcode=9", "--leak-check=full", "--show-leak-kinds=definite"];
    Shell::new("valgrind").args(strict).arg("--errors-for-leak-kinds=definite").arg(program)
}

/// The request in the words of `ask`, whose inputs are raw files.
fn asking(ask: &Path, request: &Request, folder: &Path) -> Result<Shell> {
    let command = Shell::new(ask).arg(request.file);
    let Some((name, npy)) = request.input else { return Ok(command) };
    let tensor = Npy::read(&folder.join(npy))?;
    let raw = folder.join(npy).with_extension("raw");
    fs::write(&raw, &tensor.bytes)?;
    // ONNX's numbers.
    let dtype = match tensor.descr.as_str() {
        "<f4" => 1,
        "<f8" => 11,
        other => anyhow::bail!("{npy} is of `{other}`"),
    };
    let command = command.args([name, &dtype.to_string()]).arg(&raw);
    Ok(command.args(tensor.shape.iter().map(usize::to_string)))
}
