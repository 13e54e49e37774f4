//! Compiles the kernels of a program, each distinct one once.
//!
//! Two launches are one kernel when their regions are equal op for op, with equal types and layouts of operands
//! and results. Beside the program's own kernels there are small ones that control flow needs: the trip count of
//! a loop as data, and the number of rounds done.

use crate::kernel_signature::Signatures;
use crate::regions::compile_region;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tegula_backend::{Code, Codegen, Launches, Targets};
use tegula_base::{DType, Diagnostic, Diagnostics, Dim, HashMap, Shape};
use tegula_ir::{ConstStore, OpId, RegionId, ScalarOp};
use tegula_tensor::{Builder, KernelClass, TensorFunc, TensorOp, TensorProgram, TensorType};

/// A kernel that control flow needs.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Helper {
    /// `() -> i64[1]`: the size.
    Size(Dim),
    /// `(i64) -> i64`: one more.
    Next,
}

/// The distinct kernels, and which one each op is.
#[derive(Clone, Debug)]
pub struct Kernels {
    pub(super) list: Vec<Launches>,
    pub(super) of_op: HashMap<OpId, usize>,
    pub(super) of_helper: HashMap<Helper, usize>,
}

impl Kernels {
    /// The number of distinct ones.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The code of each launch.
    pub fn codes(&self) -> impl Iterator<Item = &Code> {
        self.list.iter().flat_map(|kernel| kernel.list.iter().map(|launch| &launch.compiled.code))
    }

    /// What is said of kernels, with the node that each is named after, in the program's order: why one is computed as
    /// it is, and what the target did otherwise.
    pub fn remarks<'a>(
        &'a self,
        func: &'a TensorFunc,
    ) -> impl Iterator<Item = (Option<&'a Arc<str>>, &'a String)> {
        func.walk().into_iter().flat_map(move |op| {
            let kernel = self.of_op.get(&op).map(|index| &self.list[*index]);
            let node = func.op(op).location.as_ref();
            kernel.into_iter().flat_map(remarks).map(move |remark| (node, remark))
        })
    }
}

/// What is said of a kernel: why it is computed so, and what its launches do otherwise than asked.
fn remarks(kernel: &Launches) -> impl Iterator<Item = &String> {
    kernel.reasons.iter().chain(kernel.list.iter().flat_map(|launch| &launch.compiled.remarks))
}

/// One kernel to compile.
struct Request<'a> {
    func: std::borrow::Cow<'a, TensorFunc>,
    op: OpId,
    name: String,
}

/// Compiles the entry function's kernels on `threads` threads, with the same result for any number.
/// Errors: internal ones, all kernels' together.
pub fn compile_kernels(
    program: &TensorProgram,
    targets: Targets,
    threads: usize,
) -> Result<Kernels, Diagnostics> {
    let func = program.entry();
    let mut wanted = Wanted::default();
    wanted.region(func, func.body())?;
    let list = compile_all(&wanted.requests, program, targets, threads)?;
    Ok(Kernels { list, of_op: wanted.of_op, of_helper: wanted.of_helper })
}

/// The entry function's distinct kernels, by the first op that is each, and the names that they are compiled under.
/// Errors: internal.
pub fn distinct_kernels(program: &TensorProgram) -> Result<Vec<(OpId, String)>, Diagnostics> {
    let func = program.entry();
    let mut wanted = Wanted::default();
    wanted.region(func, func.body())?;
    let of_program =
        wanted.requests.iter().filter(|request| matches!(request.func, std::borrow::Cow::Borrowed(_)));
    Ok(of_program.map(|request| (request.op, request.name.clone())).collect())
}

/// What a function's kernels and loops ask for.
#[derive(Default)]
struct Wanted<'a> {
    requests: Vec<Request<'a>>,
    signatures: Signatures<'a>,
    /// By its signature: the kernel's index.
    known: HashMap<Vec<u32>, usize>,
    of_op: HashMap<OpId, usize>,
    of_helper: HashMap<Helper, usize>,
}

impl<'a> Wanted<'a> {
    fn region(&mut self, func: &'a TensorFunc, region: RegionId) -> Result<(), Diagnostics> {
        for &op in func.ops_in(region) {
            match func.kind(op) {
                TensorOp::Kernel { class } => {
                    let signature = self.signatures.of(func, op, &[]);
                    let index = match self.known.get(signature) {
                        Some(index) => *index,
                        None => {
                            let index = self.requests.len();
                            self.known.insert(signature.to_vec(), index);
                            let name = format!("{}_{index}", class.name());
                            self.requests.push(Request { func: std::borrow::Cow::Borrowed(func), op, name });
                            index
                        }
                    };
                    self.of_op.insert(op, index);
                    continue;
                }
                TensorOp::Loop { trip, .. } => {
                    self.helper(Helper::Size(trip.clone()))?;
                    self.helper(Helper::Next)?;
                }
                _ => {}
            }
            for &inner in func.regions_of(op) {
                self.region(func, inner)?;
            }
        }
        Ok(())
    }

    fn helper(&mut self, helper: Helper) -> Result<(), Diagnostics> {
        if let std::collections::hash_map::Entry::Vacant(entry) = self.of_helper.entry(helper) {
            let (func, op) = helper_kernel(entry.key()).map_err(Diagnostic::internal)?;
            let name = format!("loop_{}", self.requests.len());
            self.requests.push(Request { func: std::borrow::Cow::Owned(func), op, name });
            entry.insert(self.requests.len() - 1);
        }
        Ok(())
    }
}

/// Threads that compile at most, whatever is asked for: each takes memory, and a system refuses too many.
const MAX_THREADS: usize = 256;

/// Threads that compile `kernels`, the calling one included.
fn workers(asked: usize, kernels: usize) -> usize {
    asked.min(kernels).min(MAX_THREADS)
}

/// Compiles in any order on several threads; results and errors come in the order of the requests.
fn compile_all(
    requests: &[Request],
    program: &TensorProgram,
    targets: Targets,
    threads: usize,
) -> Result<Vec<Launches>, Diagnostics> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<Option<Result<Launches, Diagnostic>>>> =
        Mutex::new((0..requests.len()).map(|_| None).collect());
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(request) = requests.get(index) else { break };
            let result = compile(request, program, targets);
            let mut results = results.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            results[index] = Some(result);
        }
    };
    let helpers = workers(threads, requests.len()).saturating_sub(1);
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(work);
        }
        work();
    });
    let results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    let mut errors = Diagnostics::default();
    let mut list = Vec::with_capacity(requests.len());
    for result in results {
        match result {
            Some(Ok(kernel)) => list.push(kernel),
            Some(Err(error)) => errors.push(error),
            None => errors.push(Diagnostic::internal("a kernel was not compiled")),
        }
    }
    errors.into_result(list)
}

fn compile(request: &Request, program: &TensorProgram, targets: Targets) -> Result<Launches, Diagnostic> {
    let (func, op, symbols) = (&*request.func, request.op, &program.symbols);
    let TensorOp::Kernel { class } = *func.kind(op) else {
        return Err(Diagnostic::internal("only kernels are compiled"));
    };
    let target = targets.of(class);
    match target.codegen() {
        Codegen::Kernels(codegen) => codegen.compile(&request.name, func, op, symbols),
        Codegen::Graph(codegen) => {
            compile_region(&request.name, func, op, &program.consts, symbols, target, codegen)
        }
    }
}

fn helper_kernel(helper: &Helper) -> Result<(TensorFunc, OpId), String> {
    let mut func = TensorFunc::new("helper");
    let mut consts = ConstStore::default();
    let body = func.body();
    let scalar = TensorType::scalar(DType::I64);
    let operands = match helper {
        Helper::Size(_) => vec![],
        Helper::Next => vec![func.add_arg(body, scalar.clone())],
    };
    let result = match helper {
        Helper::Size(_) => TensorType::new(DType::I64, [1]),
        Helper::Next => scalar.clone(),
    };
    let kind = TensorOp::Kernel { class: KernelClass::Map };
    let op = func.push_op(body, kind, &operands, [result], None);
    let region = func.regions_of(op)[0];
    let mut b = Builder::new(&mut func, &mut consts).at(region, None);
    let value = match helper {
        Helper::Size(dim) => b.sizes(std::slice::from_ref(dim))?,
        Helper::Next => {
            let count = b.func.add_arg(region, scalar);
            let one = b.splat_int(DType::I64, Shape::scalar(), 1)?;
            b.emit(TensorOp::Elementwise { f: ScalarOp::Add }, &[count, one])?
        }
    };
    b.op(TensorOp::Yield {}, &[value])?;
    Ok((func, op))
}

#[cfg(test)]
mod tests {
    use super::workers;

    #[test]
    fn threads_are_as_many_as_asked_for_kernels_and_a_cap() {
        let cases = [(1, 9, 1), (4, 9, 4), (9, 4, 4), (usize::MAX, 10_000, 256), (300, 300, 256), (8, 0, 0)];
        for (asked, kernels, expected) in cases {
            assert_eq!(workers(asked, kernels), expected, "{asked} threads for {kernels} kernels");
        }
    }
}
