//! The schedule level as text: `verify/*.mlir` break the rules named, `run/*.mlir` run in the interpreter.
//!
//! A run's first line gives the argument block from word 1 and the work range: `// args: f32[1 2 3] i32x4 7 range: 0 1`
//! is a buffer with three numbers, one of four zeros, and the size 7. The blessed text is the buffers afterwards, or
//! the fault. `BLESS=1` accepts the actual texts.

use std::path::Path;
use tegula_base::DType;
use tegula_ir::{
    PrintOptions, Program, ScalarOp, parse_program, print_program, scalar::eval::eval, verify_program,
};
use tegula_package::{Memory, OutOfBounds, PortableExecutor};
use tegula_target_cpu::exec::{Executable, Portable, VecMemory, decode, encode};
use tegula_target_cpu::math::expand;
use tegula_target_cpu::schedule::{Builder, CpuFunc, CpuOp, Elem, IndexOp, LoopLevel, builder::At};

const RULE: &str = "// -----\n";

fn check(folder: &str, run: impl Fn(&str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schedule").join(folder);
    let entries = std::fs::read_dir(folder).expect("the folder of cases");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("readable folder").path()).collect();
    paths.sort();
    let mut failures = vec![];
    for path in paths {
        let text = std::fs::read_to_string(&path).expect("readable case");
        let (input, blessed) = text.split_once(RULE).unwrap_or((&text, ""));
        let actual: String = run(input).lines().map(|line| format!("// {line}\n")).collect();
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&path, format!("{input}{RULE}{actual}")).expect("writable case");
        } else if actual != blessed {
            failures.push(format!("{}\n--- blessed\n{blessed}--- actual\n{actual}", path.display()));
        }
    }
    assert!(failures.is_empty(), "{}\nBLESS=1 accepts the actual texts", failures.join("\n"));
}

#[test]
fn verify() {
    check("verify", |input| match parse_program::<CpuOp>(input, None) {
        Err(errors) => errors.to_string(),
        Ok(program) => {
            assert!(
                Executable::new(program.entry()).is_err(),
                "the executor refuses what `verify` refuses\n{input}"
            );
            verify_program(&program).expect_err("a broken rule").to_string()
        }
    });
}

#[test]
fn run() {
    check("run", |input| {
        let func = decode(input.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{input}"));
        assert_eq!(encode(&decode(&encode(&func)).expect("printed text parses")), encode(&func));
        run_case(input, &Executable::new(&func).expect("verified functions flatten"))
    });
}

fn run_case(input: &str, kernel: &Executable) -> String {
    let first =
        input.lines().next().and_then(|line| line.strip_prefix("// args: ")).expect("a line of arguments");
    let (words, range) = first.split_once("range: ").expect("a work range");
    let range: Vec<u64> = range.split_whitespace().map(|n| n.parse().expect("a number")).collect();
    let memory = VecMemory::new();
    let (mut args, mut buffers) = (vec![0], vec![]);
    let mut rest = words.trim();
    while !rest.is_empty() {
        let end =
            rest.find('[').filter(|i| !rest[..*i].contains(' ')).map(|_| rest.find(']').expect("a `]`") + 1);
        let (word, after) = rest.split_at(end.or_else(|| rest.find(' ')).unwrap_or(rest.len()));
        rest = after.trim_start();
        let Some((dtype, bytes)) = buffer(word) else {
            args.push(word.parse::<i64>().expect("a size") as u64);
            continue;
        };
        args.push(memory.add(bytes));
        buffers.push((dtype, *args.last().expect("just pushed")));
    }
    let scratch = memory.add(vec![0; 256]);
    let outcome = match kernel.run(&args, scratch, range[0], range[1], &memory) {
        Ok(()) => String::new(),
        // Addresses are the memory's own affair.
        Err(fault) => format!("fault in `tgc.{}`: {} bytes\n", fault.name, fault.access.len),
    };
    let shown = buffers.into_iter().map(|(dtype, at)| {
        let numbers: Vec<String> =
            memory.bytes(at).chunks_exact(dtype.size()).map(|b| number(dtype, b).to_string()).collect();
        format!("{dtype}[{}]\n", numbers.join(" "))
    });
    shown.chain([outcome]).collect()
}

/// `f32[1 2]` or `f32x2`.
fn buffer(word: &str) -> Option<(DType, Vec<u8>)> {
    if let Some((dtype, numbers)) = word.strip_suffix(']').and_then(|word| word.split_once('[')) {
        let dtype: DType = dtype.parse().expect("a dtype");
        let to_bits = |text: &str| {
            let value: f64 = text.parse().expect("a number");
            eval(ScalarOp::Cast { to: dtype, saturate: true }, &[DType::F64], &[value.to_bits()])
        };
        let bytes =
            numbers.split_whitespace().flat_map(|n| to_bits(n).to_le_bytes()[..dtype.size()].to_vec());
        return Some((dtype, bytes.collect()));
    }
    let (dtype, count) = word.split_once('x')?;
    let dtype: DType = dtype.parse().expect("a dtype");
    Some((dtype, vec![0; dtype.size() * count.parse::<usize>().expect("a count")]))
}

fn number(dtype: DType, bytes: &[u8]) -> f64 {
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    f64::from_bits(eval(
        ScalarOp::Cast { to: DType::F64, saturate: true },
        &[dtype],
        &[u64::from_le_bytes(word)],
    ))
}

/// Index arithmetic as `i128` gives it, within the range where nothing wraps.
#[test]
fn index_arithmetic() {
    let numbers = [-9, -8, -3, -1, 0, 1, 2, 3, 7, 8, 1000];
    for a in numbers {
        for b in numbers {
            let floor = |a: i64, b: i64| if b == 0 { 0 } else { (a as f64 / b as f64).floor() as i64 };
            assert_eq!(IndexOp::FloorDiv.eval(a, b), floor(a, b), "{a} floordiv {b}");
            let rest = if b == 0 { 0 } else { a - b * floor(a, b) };
            assert_eq!(IndexOp::Mod.eval(a, b), rest, "{a} mod {b}");
        }
    }
    assert_eq!(IndexOp::FloorDiv.eval(i64::MIN, -1), i64::MIN);
    assert_eq!(IndexOp::Mod.eval(i64::MIN, -1), 0);
}

/// What the builder folds and shares, and that a whole kernel goes through text and the package's door.
#[test]
fn the_builder_folds_and_shares() {
    let mut b = Builder::new("axpy");
    let (lo, hi, x, y) = (b.begin(), b.end(), b.arg(1), b.arg(2));
    let zero = b.index(0);
    assert_eq!(b.add(x, zero), x);
    let [two, three] = [b.index(2), b.index(3)];
    assert_eq!(b.mul(two, three), b.index(6));
    let a = b.add_const(x, 8);
    assert_eq!(b.add_const(a, -8), x);
    b.for_(lo, hi, 4, LoopLevel::L1, &[], |b, i, _| {
        let left = b.sub(hi, i);
        let at = At::new(x).indexed(i, 4).count(left);
        let v = b.load_at(DType::F32, 4, at);
        let half = b.f32(4, 0.5);
        assert_eq!(half, b.f32(4, 0.5));
        let v = expand(b, ScalarOp::Mul, &[DType::F32; 2], &[v, half]);
        b.store_at(DType::F32, v, At::new(y).indexed(i, 4).count(left));
        vec![]
    });
    let func = b.finish();
    verify_program(&Program::new(func.clone())).expect("built functions verify");
    let text = print_program(&Program::new(func.clone()), &PrintOptions::WHOLE);
    assert_eq!(text.as_bytes(), encode(&func));
    let kernel = Portable.prepare(&encode(&func)).expect("a kernel");
    let memory = VecMemory::new();
    let input = memory.add([1f32, 2.0, 3.0, 4.0, 5.0].iter().flat_map(|x| x.to_le_bytes()).collect());
    let output = memory.add(vec![0; 20]);
    kernel.run(&[0, input, output], 0, &memory, 0, 5).expect("in bounds");
    let got: Vec<f32> = memory.bytes(output).chunks_exact(4).map(|b| number(DType::F32, b) as f32).collect();
    assert_eq!(got, [0.5, 1.0, 1.5, 2.0, 2.5]);
    assert!(kernel.run(&[0, input, output], 0, &memory, 0, 6).is_err());
    assert!(kernel.run(&[0, input], 0, &memory, 0, 5).is_err(), "an argument is missing");
}

/// Memory of a run that somebody stopped.
struct Stopped;

impl Memory for Stopped {
    fn read(&self, _: u64, _: &mut [u8]) -> Result<(), OutOfBounds> {
        Ok(())
    }

    fn write(&self, _: u64, _: &[u8]) -> Result<(), OutOfBounds> {
        Ok(())
    }

    fn is_stopped(&self) -> bool {
        true
    }
}

#[test]
fn a_stopped_run_leaves_its_loops() {
    let mut b = Builder::new("endless");
    let (zero, end, out) = (b.index(0), b.index(i64::MAX), b.arg(1));
    b.for_(zero, end, 1, LoopLevel::L1, &[], |b, _, _| {
        let one = b.i32(4, 1);
        b.store(DType::I32, one, out, 0);
        vec![]
    });
    let kernel = Portable.prepare(&encode(&b.finish())).expect("a kernel");
    assert_eq!(kernel.run(&[0, 64], 0, &Stopped, 0, 1), Ok(()));
}

#[test]
fn bytes_that_are_no_kernel() {
    for bytes in
        [&b""[..], b"\xff\xfe", b"\"tgc.func\"() : () -> ()", b"\"tgc.func\"() ({}) : () -> ()", b"garbage ("]
    {
        assert!(Portable.prepare(bytes).is_err(), "{:?}", String::from_utf8_lossy(bytes));
    }
}

/// Branches give values of both sides.
#[test]
fn branches_are_built_with_their_results() {
    let mut b = Builder::new("branch");
    let (n, out) = (b.arg(1), b.arg(2));
    let values = b.if_(
        n,
        |b| vec![b.i32(2, 5)],
        |b| {
            let n = b.arg(1);
            vec![b.splat(Elem::I32, 2, n)]
        },
    );
    b.store(DType::I32, values[0], out, 0);
    let func = b.finish();
    verify_program(&Program::new(func.clone())).expect("built functions verify");
    let kernel = Executable::new(&func).expect("well formed");
    for (n, expected) in [(0u64, 0), (3, 5)] {
        let memory = VecMemory::new();
        let out = memory.add(vec![1; 8]);
        kernel.run(&[0, n, out], 0, 0, 1, &memory).expect("in bounds");
        assert_eq!(number(DType::I32, &memory.bytes(out)[..4]) as i64, expected);
    }
}

/// A vector is loaded once until something is written, or a branch begins or ends.
#[test]
fn loads_are_shared_until_a_write() {
    let mut b = Builder::new("loads");
    let (x, n) = (b.arg(1), b.arg(2));
    let load = |b: &mut Builder| b.load(DType::I32, 2, x, 8);
    let first = load(&mut b);
    assert_eq!(first, load(&mut b));
    assert_ne!(first, b.load(DType::F32, 2, x, 8));
    b.store(DType::I32, first, x, 0);
    let second = load(&mut b);
    assert_ne!(first, second);
    let inside = b.if_(n, |b| vec![load(b)], |b| vec![load(b)]);
    b.store(DType::I32, inside[0], x, 0);
    let loads = |func: &CpuFunc| {
        let ops = func.walk();
        ops.iter().filter(|op| matches!(func.kind(**op), CpuOp::Load { .. })).count()
    };
    assert_eq!(loads(&b.finish()), 5);
}
