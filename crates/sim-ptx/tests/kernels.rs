//! Small kernels against plain Rust: tails, loops that diverge, shared memory, shuffles, copies, products.

use crate::common;

use common::{Buffers, at, launch, noise, param, run, special};
use tegula_isa_ptx::mma::{MmaShape, MmaType};
use tegula_isa_ptx::modifiers::*;
use tegula_isa_ptx::op::*;
use tegula_isa_ptx::types::*;
use tegula_isa_ptx::{EntryBuilder, Module, Operand, ParamType, Reg, RegList, Special};
use tegula_package::{PtxExecutor, PtxKernel, PtxLaunch};
use tegula_sim_ptx::{Launch, Options, Simulator};

fn list(regs: &[Reg]) -> RegList {
    regs.iter().copied().collect()
}

fn load(b: &mut EntryBuilder, space: StateSpace, ty: MemoryType, address: tegula_isa_ptx::Address) -> Reg {
    let d = b.fresh(ty.class());
    b.emit(Ld { space, ty, d: list(&[d]), address, ..Ld::default() });
    d
}

fn store(b: &mut EntryBuilder, space: StateSpace, ty: MemoryType, address: tegula_isa_ptx::Address, a: Reg) {
    b.emit(St { space, ty, a: list(&[a]), address, ..St::default() });
}

/// `base + index * size`.
fn element(b: &mut EntryBuilder, base: Reg, index: Reg, size: u32) -> Reg {
    let d = b.b64();
    b.emit(MadWide { ty: NarrowInt::U32, d, a: index.into(), b: Operand::u32(size), c: base.into() });
    d
}

/// ctaid.x * ntid.x + tid.x
fn global_index(b: &mut EntryBuilder) -> Reg {
    let [tid, cta, n] = [Special::TidX, Special::CtaidX, Special::NtidX].map(|s| special(b, s));
    let d = b.b32();
    b.emit(Mad { part: MulPart::Lo, ty: IntType::U32, d, a: cta.into(), b: n.into(), c: tid.into() });
    d
}

/// z = 2 x + y; `guarded`: for indices below n only.
fn saxpy(guarded: bool) -> tegula_isa_ptx::Entry {
    let mut b = EntryBuilder::new("saxpy");
    let [x, y, z, n] = ["x", "y", "z", "n"].map(|name| param(&mut b, name));
    let i = global_index(&mut b);
    let done = b.label();
    if guarded {
        let (p, n32) = (b.pred(), b.b32());
        let unused = b.b32();
        b.emit(UnpackWords { parts: list(&[n32, unused]), a: n });
        b.emit(Setp {
            cmp: Compare::Ge,
            ty: CompareType::U32,
            p,
            a: i.into(),
            b: n32.into(),
            ..Setp::default()
        });
        b.branch_if(p, done);
    }
    let [xa, ya, za] = [x, y, z].map(|base| element(&mut b, base, i, 4));
    let (xv, yv) = (
        load(&mut b, StateSpace::Global, MemoryType::F32, at(xa, 0)),
        load(&mut b, StateSpace::Global, MemoryType::F32, at(ya, 0)),
    );
    let d = b.b32();
    b.emit(Fma { ty: FloatType::F32, d, a: xv.into(), b: Operand::f32(2.0), c: yv.into(), ..Fma::default() });
    store(&mut b, StateSpace::Global, MemoryType::F32, at(za, 0), d);
    b.place(done, "done");
    b.emit(Ret {});
    b.finish()
}

#[test]
fn a_grid_with_a_tail_writes_what_it_should() {
    let memory = Buffers::default();
    let (x, y) = (noise(150, 1), noise(150, 2));
    let [xa, ya, za] = [&x, &y, &vec![0.0; 150]].map(|values| memory.add_f32(values));
    let counters = launch(&saxpy(true), 3, 64, &[xa, ya, za, 150], &memory).unwrap();
    let wanted: Vec<f32> = x.iter().zip(&y).map(|(x, y)| x.mul_add(2.0, *y)).collect();
    assert_eq!(memory.f32s(za), wanted);
    // 150 elements of 4 bytes, 3 arrays.
    assert_eq!(counters.global_bytes, 1800);
    assert_eq!(counters.global_sectors, 3 * 19);
}

#[test]
fn an_access_outside_names_the_instruction_and_the_lane() {
    let memory = Buffers::default();
    let a = memory.add_f32(&[0.0; 150]);
    let error = launch(&saxpy(false), 3, 64, &[a, a, a, 150], &memory).unwrap_err();
    assert!(
        error.contains(
            "`ld.global.f32 %r4, [%rd4]` (instruction 11 of $L0 in `saxpy`), CTA (2, 0, 0), warp 0: lane 22"
        ),
        "{error}"
    );
    assert!(error.contains("sim-out-of-bounds"), "{error}");
}

#[test]
fn lanes_that_loop_differently_meet_again() {
    // The steps of the Collatz sequence from tid + 1, then a sum over the warp by shuffles.
    let mut b = EntryBuilder::new("collatz");
    let out = param(&mut b, "out");
    let tid = special(&mut b, Special::TidX);
    let (x, steps, bit, odd, one) = (b.b32(), b.b32(), b.b32(), b.pred(), b.pred());
    b.emit(Add { ty: IntType2::U32, d: x, a: tid.into(), b: Operand::u32(1), ..Add::default() });
    b.emit(Mov { ty: LogicType::B32, d: steps, a: Operand::u32(0) });
    let (again, even, next, done) = (b.label(), b.label(), b.label(), b.label());
    b.place(again, "again");
    b.emit(Setp {
        cmp: Compare::Eq,
        ty: CompareType::U32,
        p: one,
        a: x.into(),
        b: Operand::u32(1),
        ..Setp::default()
    });
    b.branch_if(one, done);
    b.emit(Add { ty: IntType2::U32, d: steps, a: steps.into(), b: Operand::u32(1), ..Add::default() });
    b.emit(And { ty: LogicType::B32, d: bit, a: x.into(), b: Operand::u32(1) });
    b.emit(Setp {
        cmp: Compare::Ne,
        ty: CompareType::U32,
        p: odd,
        a: bit.into(),
        b: Operand::u32(0),
        ..Setp::default()
    });
    b.branch_if(!tegula_isa_ptx::Predicate::from(odd), even);
    b.emit(Mad {
        ty: IntType::U32,
        d: x,
        a: x.into(),
        b: Operand::u32(3),
        c: Operand::u32(1),
        ..Mad::default()
    });
    b.branch(next);
    b.place(even, "even");
    b.emit(Shr { ty: ShiftRightType::U32, d: x, a: x.into(), b: Operand::u32(1) });
    b.place(next, "next");
    b.branch(again);
    b.place(done, "done");
    let mut sum = steps;
    for distance in [16, 8, 4, 2, 1] {
        let (other, d) = (b.b32(), b.b32());
        b.emit(Shfl {
            mode: ShuffleMode::Bfly,
            d: other,
            p: None,
            a: sum.into(),
            b: Operand::u32(distance),
            clamp: Operand::u32(31),
            mask: Operand::u32(u32::MAX),
        });
        b.emit(Add { ty: IntType2::U32, d, a: sum.into(), b: other.into(), ..Add::default() });
        sum = d;
    }
    let pair = b.b64();
    b.emit(PackWords { d: pair, parts: list(&[steps, sum]) });
    let address = element(&mut b, out, tid, 8);
    store(&mut b, StateSpace::Global, MemoryType::B64, at(address, 0), pair);
    b.emit(Ret {});
    let memory = Buffers::default();
    let out = memory.add_u32(&[0; 128]);
    launch(&b.finish(), 1, 64, &[out], &memory).unwrap();
    let steps = |mut x: u32| {
        let mut n = 0;
        while x != 1 {
            x = if x % 2 == 1 { 3 * x + 1 } else { x / 2 };
            n += 1;
        }
        n
    };
    let all: Vec<u32> = (1..=64).map(steps).collect();
    let wanted: Vec<u32> = (0..64).flat_map(|i| [all[i], all[i / 32 * 32..][..32].iter().sum()]).collect();
    assert_eq!(memory.u32s(out), wanted);
}

/// Each thread writes its number to shared memory and reads that of the thread across the CTA.
fn reverse(threads: u32, n_at_barrier: Option<u32>) -> tegula_isa_ptx::Entry {
    let mut b = EntryBuilder::new("reverse");
    let out = param(&mut b, "out");
    let buffer = b.shared("buffer", 16, Some(4 * threads));
    let (tid, base, to, from, twin) = (special(&mut b, Special::TidX), b.b32(), b.b32(), b.b32(), b.b32());
    b.emit(MovAddress { ty: AddressType::U32, d: base, symbol: buffer.into() });
    b.emit(Mad {
        ty: IntType::U32,
        d: to,
        a: tid.into(),
        b: Operand::u32(4),
        c: base.into(),
        ..Mad::default()
    });
    store(&mut b, StateSpace::Shared, MemoryType::U32, at(to, 0), tid);
    b.emit(BarrierSync { aligned: true, id: Operand::u32(1), threads: n_at_barrier.map(Operand::u32) });
    b.emit(Sub { ty: IntType::U32, d: twin, a: Operand::u32(threads - 1), b: tid.into(), ..Sub::default() });
    b.emit(Mad {
        ty: IntType::U32,
        d: from,
        a: twin.into(),
        b: Operand::u32(4),
        c: base.into(),
        ..Mad::default()
    });
    let value = load(&mut b, StateSpace::Shared, MemoryType::U32, at(from, 0));
    let address = element(&mut b, out, tid, 4);
    store(&mut b, StateSpace::Global, MemoryType::U32, at(address, 0), value);
    b.emit(Exit {});
    b.finish()
}

#[test]
fn warps_meet_at_barriers() {
    for seed in [None, Some(1), Some(2)] {
        let memory = Buffers::default();
        let out = memory.add_u32(&[0; 96]);
        let options = Options { seed, ..Options::default() };
        let params = out.to_le_bytes().to_vec();
        let launch = Launch { grid: [1; 3], block: [96, 1, 1], params, options, ..Launch::default() };
        run(&reverse(96, Some(96)), &launch, &memory).unwrap();
        assert_eq!(memory.u32s(out), (0..96).rev().collect::<Vec<u32>>());
    }
}

#[test]
fn a_barrier_that_is_never_full_is_named_with_who_waits() {
    let memory = Buffers::default();
    let out = memory.add_u32(&[0; 64]);
    let error = launch(&reverse(64, Some(96)), 1, 64, &[out], &memory).unwrap_err();
    assert!(error.contains("sim-deadlock"), "{error}");
    assert!(
        error.contains(
            "warp 1 waits at barrier 1, where 64 of 96 threads have arrived, at `barrier.sync.aligned 1, 96`"
        ),
        "{error}"
    );
}

#[test]
fn what_was_never_written_is_not_read() {
    let mut b = EntryBuilder::new("unwritten");
    let (r, d) = (b.b32(), b.b32());
    b.emit(Add { ty: IntType2::U32, d, a: r.into(), b: Operand::u32(1), ..Add::default() });
    let error = launch(&b.finish(), 1, 32, &[], &Buffers::default()).unwrap_err();
    assert!(error.contains("lane 0 reads %r0, which was never written"), "{error}");

    let mut b = EntryBuilder::new("unwritten");
    let buffer = b.shared("buffer", 16, Some(64));
    let base = b.b32();
    b.emit(MovAddress { ty: AddressType::U32, d: base, symbol: buffer.into() });
    let _ = load(&mut b, StateSpace::Shared, MemoryType::U32, at(base, 60));
    let error = launch(&b.finish(), 1, 32, &[], &Buffers::default()).unwrap_err();
    assert!(error.contains("reads shared memory that was never written, at 0x43c"), "{error}");
}

/// Copies 16 bytes a thread to shared memory and out again.
fn through_shared(waits: bool) -> tegula_isa_ptx::Entry {
    let mut b = EntryBuilder::new("copy");
    let [from, to, n] = ["from", "to", "n"].map(|name| param(&mut b, name));
    let buffer = b.shared("buffer", 16, None);
    let (tid, base, slot) = (special(&mut b, Special::TidX), b.b32(), b.b32());
    let (n32, top) = (b.b32(), b.b32());
    b.emit(UnpackWords { parts: list(&[n32, top]), a: n });
    b.emit(MovAddress { ty: AddressType::U32, d: base, symbol: buffer.into() });
    b.emit(Mad {
        ty: IntType::U32,
        d: slot,
        a: tid.into(),
        b: Operand::u32(16),
        c: base.into(),
        ..Mad::default()
    });
    let source = element(&mut b, from, tid, 16);
    b.emit(CpAsyncCg {
        d: at(slot, 0),
        a: at(source, 0),
        source_size: Some(n32.into()),
        ..CpAsyncCg::default()
    });
    b.emit(CpAsyncCommitGroup {});
    if waits {
        b.emit(CpAsyncWaitGroup { groups: 0 });
    }
    let parts: Vec<Reg> = (0..4).map(|_| b.b32()).collect();
    b.emit(Ld {
        space: StateSpace::Shared,
        ty: MemoryType::U32,
        d: list(&parts),
        address: at(slot, 0),
        ..Ld::default()
    });
    let target = element(&mut b, to, tid, 16);
    b.emit(St {
        space: StateSpace::Global,
        ty: MemoryType::U32,
        a: list(&parts),
        address: at(target, 0),
        ..St::default()
    });
    b.finish()
}

#[test]
fn copies_are_there_after_the_wait_and_not_before() {
    let data: Vec<u32> = (0..128).map(|i| i * 7 + 1).collect();
    let go = |waits: bool, bytes: u64| {
        let memory = Buffers::default();
        let (from, to) = (memory.add_u32(&data), memory.add_u32(&[9; 128]));
        let params = [from, to, bytes].iter().flat_map(|word| word.to_le_bytes()).collect();
        let options = Options { seed: Some(7), ..Options::default() };
        let launch = Launch { grid: [1; 3], block: [32, 1, 1], dynamic_shared: 512, params, options };
        run(&through_shared(waits), &launch, &memory).map(|_| memory.u32s(to))
    };
    assert_eq!(go(true, 16).unwrap(), data);
    let cut: Vec<u32> = data.iter().enumerate().map(|(i, v)| if i % 4 < 3 { *v } else { 0 }).collect();
    assert_eq!(go(true, 12).unwrap(), cut);
    assert!(go(false, 16).unwrap_err().contains("never written"));
}

#[test]
fn a_product_through_ldmatrix_and_mma_is_the_matrix_product() {
    // a: 16x16 bf16 by rows, b: 8x16 (n by k) by rows, d: 16x8 f32.
    let mut b = EntryBuilder::new("product");
    let [a, bm, d] = ["a", "b", "d"].map(|name| param(&mut b, name));
    let sa = b.shared("sa", 16, Some(512));
    let sb = b.shared("sb", 16, Some(256));
    let tid = special(&mut b, Special::TidX);
    let copy = |b: &mut EntryBuilder, from: Reg, to: tegula_isa_ptx::SharedId, bytes: u32| {
        let (base, slot) = (b.b32(), b.b32());
        b.emit(MovAddress { ty: AddressType::U32, d: base, symbol: to.into() });
        b.emit(Mad {
            ty: IntType::U32,
            d: slot,
            a: tid.into(),
            b: Operand::u32(bytes),
            c: base.into(),
            ..Mad::default()
        });
        let source = element(b, from, tid, bytes);
        b.emit(CpAsyncCa { d: at(slot, 0), a: at(source, 0), size: bytes, ..CpAsyncCa::default() });
        base
    };
    let (base_a, base_b) = (copy(&mut b, a, sa, 16), copy(&mut b, bm, sb, 8));
    b.emit(CpAsyncWaitAll {});
    b.emit(BarWarpSync { mask: Operand::u32(u32::MAX) });
    // Lane l gives row l % 16, k half l / 16.
    let (row, half, row_a, row_b) = (b.b32(), b.b32(), b.b32(), b.b32());
    b.emit(And { ty: LogicType::B32, d: row, a: tid.into(), b: Operand::u32(15) });
    b.emit(Shr { ty: ShiftRightType::U32, d: half, a: tid.into(), b: Operand::u32(4) });
    b.emit(Mad {
        ty: IntType::U32,
        d: row_a,
        a: row.into(),
        b: Operand::u32(32),
        c: base_a.into(),
        ..Mad::default()
    });
    b.emit(Mad {
        ty: IntType::U32,
        d: row_a,
        a: half.into(),
        b: Operand::u32(16),
        c: row_a.into(),
        ..Mad::default()
    });
    let fa: Vec<Reg> = (0..4).map(|_| b.b32()).collect();
    b.emit(Ldmatrix { d: list(&fa), address: at(row_a, 0), ..Ldmatrix::default() });
    let (n, khalf) = (b.b32(), b.b32());
    b.emit(And { ty: LogicType::B32, d: n, a: tid.into(), b: Operand::u32(7) });
    b.emit(Bfe { ty: WideInt::U32, d: khalf, a: tid.into(), pos: Operand::u32(3), len: Operand::u32(1) });
    b.emit(Mad {
        ty: IntType::U32,
        d: row_b,
        a: n.into(),
        b: Operand::u32(32),
        c: base_b.into(),
        ..Mad::default()
    });
    b.emit(Mad {
        ty: IntType::U32,
        d: row_b,
        a: khalf.into(),
        b: Operand::u32(16),
        c: row_b.into(),
        ..Mad::default()
    });
    let fb: Vec<Reg> = (0..2).map(|_| b.b32()).collect();
    b.emit(Ldmatrix { d: list(&fb), address: at(row_b, 0), ..Ldmatrix::default() });
    let sums: Vec<Reg> = (0..4).map(|_| b.b32()).collect();
    for sum in &sums {
        b.emit(Mov { ty: LogicType::B32, d: *sum, a: Operand::u32(0) });
    }
    b.emit(Mma {
        shape: MmaShape::M16N8K16,
        ty: MmaType::F32BF16,
        d: list(&sums),
        a: list(&fa),
        b: list(&fb),
        c: list(&sums),
        ..Mma::default()
    });
    // Row l / 4 (+ 8), columns 2 (l % 4) and the next: 8 bytes at l * 8 (+ 256).
    let target = element(&mut b, d, tid, 8);
    for (half, pair) in sums.chunks(2).enumerate() {
        let address = at(target, 256 * half as i32);
        b.emit(St {
            space: StateSpace::Global,
            ty: MemoryType::F32,
            a: list(pair),
            address,
            ..St::default()
        });
    }
    let entry = b.finish();

    let bf16 = |values: &[f32]| values.iter().map(|v| (v.to_bits() >> 16) as u16).collect::<Vec<u16>>();
    let widen = |bits: &[u16]| bits.iter().map(|b| f32::from_bits((*b as u32) << 16)).collect::<Vec<f32>>();
    let (av, bv) = (bf16(&noise(256, 3)), bf16(&noise(128, 4)));
    let memory = Buffers::default();
    let (aa, ba, da) = (memory.add_u16(&av), memory.add_u16(&bv), memory.add_f32(&[0.0; 128]));
    let counters = launch(&entry, 1, 32, &[aa, ba, da], &memory).unwrap();
    let (av, bv) = (widen(&av), widen(&bv));
    for (at, got) in memory.f32s(da).into_iter().enumerate() {
        let (i, j) = (at / 8, at % 8);
        let wanted: f64 = (0..16).map(|k| av[16 * i + k] as f64 * bv[16 * j + k] as f64).sum();
        assert!((got as f64 - wanted).abs() < 1e-5, "({i}, {j}): {got} for {wanted}");
    }
    assert_eq!(counters.matrix_macs, 2048);
    // Rows of 32 bytes: 8 of them lie in 2 rounds of the banks twice over.
    assert!(counters.bank_conflicts > 0);
}

#[test]
fn the_door_runs_any_part_of_the_grid() {
    let mut b = EntryBuilder::new("units");
    b.directives().reqntid = Some([32, 1, 1]);
    let args = b.param("args", ParamType::Bytes { align: 8, size: 16 });
    let begin = b.param("begin", ParamType::Scalar(Scalar::U64));
    let (out, first) = (b.b64(), b.b64());
    for (d, address) in [(out, tegula_isa_ptx::Address::from(args).plus(8)), (first, begin.into())] {
        b.emit(Ld { space: StateSpace::Param, ty: MemoryType::U64, d: list(&[d]), address, ..Ld::default() });
    }
    let (low, high, unit, p) = (b.b32(), b.b32(), b.b32(), b.pred());
    b.emit(UnpackWords { parts: list(&[low, high]), a: first });
    let (cta, tid) = (special(&mut b, Special::CtaidX), special(&mut b, Special::TidX));
    b.emit(Add { ty: IntType2::U32, d: unit, a: cta.into(), b: low.into(), ..Add::default() });
    b.emit(Setp {
        cmp: Compare::Eq,
        ty: CompareType::U32,
        p,
        a: tid.into(),
        b: Operand::u32(0),
        ..Setp::default()
    });
    let address = element(&mut b, out, unit, 4);
    b.emit_if(
        p,
        St {
            space: StateSpace::Global,
            ty: MemoryType::U32,
            a: list(&[unit]),
            address: at(address, 0),
            ..St::default()
        },
    );
    let module = Module { target: Default::default(), entries: vec![b.finish()] };
    let text = tegula_isa_ptx::print(&module).unwrap();
    let kernel = Simulator::default().prepare(&PtxKernel { text, launch: PtxLaunch::default() }).unwrap();
    let memory = Buffers::default();
    let out = memory.add_u32(&[77; 8]);
    kernel.run(&[0, out], 0, &memory, 2, 5).unwrap();
    assert_eq!(memory.u32s(out), [77, 77, 2, 3, 4, 77, 77, 77]);
    assert!(kernel.run(&[0, out], 0, &memory, 5, 9).unwrap_err().contains("`@%p0 st.global.u32"));
    assert!(kernel.run(&[0], 0, &memory, 0, 1).unwrap_err().contains("shorter"));
}
