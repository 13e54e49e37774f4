//! Which instruction set extensions compiled kernels use: by the decoder's own table, never more than their machine has; and
//! products by the one that machines of one tier may have or not.

use crate::program;
use crate::programs;

use program::program;
use tegula_base::DType;
use tegula_driver::predict::{Programs, planned};
use tegula_driver::{CompileOptions, Compiled, PassCx};
use tegula_machine::Machine;
use tegula_package::Package;
use tegula_tensor::TensorProgram;

/// What the kernels of a program compiled for a class use, all together.
fn used(program: &TensorProgram, class: &str) -> Vec<String> {
    let options = CompileOptions::new(Machine::class(class).unwrap());
    let compiled =
        tegula_driver::compile::compile_program(program.clone(), "test", &options, None, &mut PassCx::new());
    let Compiled { package, .. } = compiled.unwrap_or_else(|found| panic!("{found}"));
    let package = Package::parse(package.unwrap().to_bytes()).unwrap();
    let mut programs = Programs::default();
    let mut used = std::collections::BTreeSet::new();
    for launch in planned(&package).unwrap() {
        // Refuses code that has more than its machine.
        let kernel = programs.of(&package, launch.kernel).unwrap().expect("machine code");
        used.extend(kernel.features.iter().cloned());
    }
    used.into_iter().collect()
}

#[test]
fn pairs_of_bf16_are_multiplied_where_the_processor_has_the_instruction() {
    let product = program(|b| {
        let (x, w) = (b.arg(DType::BF16, [16, 64]), b.arg(DType::BF16, [64, 48]));
        Ok(vec![b.matmul(x, w, DType::F32)?])
    });
    for class in ["zen4", "zen5", "sapphire-rapids", "avx512-bf16-generic"] {
        assert!(used(&product, class).contains(&"avx512bf16".to_string()), "{class}");
    }
    for class in ["ice-lake-server", "avx512-generic"] {
        let used = used(&product, class);
        assert!(used.contains(&"avx512f".to_string()), "{class}: {used:?}");
        assert!(!used.contains(&"avx512bf16".to_string()), "{class}: {used:?}");
    }
    for class in ["avx2-generic", "skylake-x"] {
        assert!(used(&product, class).iter().all(|name| !name.starts_with("avx512")), "{class}");
    }
}

#[test]
fn bytes_are_multiplied_by_fours_where_the_processor_has_the_instruction() {
    let product = program(|b| {
        let (x, w) = (b.arg(DType::U8, [16, 64]), b.arg(DType::I8, [64, 48]));
        Ok(vec![b.matmul(x, w, DType::I32)?])
    });
    let classes = [
        ("avx2-generic", None),
        ("avx2-vnni-generic", Some("avxvnni")),
        ("zen5", Some("avx512vnni")),
        ("ice-lake-server", Some("avx512vnni")),
    ];
    for (class, expected) in classes {
        let used = used(&product, class);
        let found: Vec<&str> = used.iter().map(String::as_str).filter(|name| name.contains("vnni")).collect();
        assert_eq!(found, Vec::from_iter(expected), "{class}: {used:?}");
    }
}

/// Pairs and what stands for them: rows of an odd and an even number of steps, and a single column.
#[test]
fn products_of_bf16_are_those_of_the_evaluator() {
    for (k, n) in [(64, 48), (33, 40), (7, 1), (1, 17)] {
        let product = program(|b| {
            let (x, w) = (b.arg(DType::BF16, [9, k]), b.arg(DType::BF16, [k, n]));
            Ok(vec![b.matmul(x, w, DType::F32)?])
        });
        // Quarters of small whole numbers: every order of sums is exact.
        let numbers = |rows: i64, columns: i64| {
            let values = (0..rows * columns).map(|i| ((i * 37 % 31) - 15) as f64 / 4.0);
            let shape = [rows as usize, columns as usize];
            tegula_testkit::random::data::from_reals(DType::BF16, &shape, &values.collect::<Vec<f64>>())
        };
        programs::check(&product, &[numbers(9, k), numbers(k, n)]);
    }
}
