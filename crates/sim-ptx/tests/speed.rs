//! How fast the simulator is, printed (`--nocapture`), with floors far below what an idle core does.

use crate::common;

use std::sync::OnceLock;
use std::time::Instant;

use common::{Buffers, run};
use tegula_sim_ptx::{Launch, Options};

/// A loop of plain arithmetic.
const LOOP: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry spin(.param .u64 out)
{
    .reg .pred %p<1>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd0, [out];
    mov.u32 %r0, %tid.x;
    mov.b32 %r1, 0;
    mov.b32 %r2, 0x3f800000;
    mad.wide.u32 %rd1, %r0, 4, %rd0;
again:
    mad.lo.u32 %r3, %r0, %r1, 7;
    xor.b32 %r4, %r3, %r0;
    fma.rn.f32 %r2, %r2, 0f3f000000, 0f3f800000;
    add.f32 %r5, %r2, 0f3fc00000;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p0, %r1, 2000;
    @%p0 bra again;
    st.global.u32 [%rd1], %r5;
    ret;
}
";

/// A loop of stores and loads with barriers.
const SHARED: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry shared(.param .u64 out)
{
    .reg .pred %p<1>;
    .reg .b32 %r<8>;
    .shared .align 16 .b8 buffer[1024];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, buffer;
    mad.lo.u32 %r2, %r0, 4, %r1;
    xor.b32 %r3, %r0, 255;
    mad.lo.u32 %r3, %r3, 4, %r1;
    mov.b32 %r4, 0;
again:
    st.shared.u32 [%r2], %r4;
    barrier.sync.aligned 0;
    ld.shared.u32 %r5, [%r3];
    barrier.sync.aligned 0;
    add.u32 %r4, %r4, %r5;
    xor.b32 %r6, %r4, %r0;
    add.u32 %r6, %r6, 5;
    sub.u32 %r4, %r4, %r5;
    add.u32 %r4, %r4, 1;
    setp.lt.u32 %p0, %r4, 500;
    @%p0 bra again;
    ret;
}
";

/// A loop of products.
const PRODUCTS: &str = "
.version 7.0
.target sm_80
.address_size 64
.visible .entry products(.param .u64 out)
{
    .reg .pred %p<1>;
    .reg .b32 %r<16>;
    .reg .b64 %rd<1>;
    mov.b32 %r0, 0;
    mov.b32 %r1, 0x3f803f80;
    mov.b32 %r2, 0;
    mov.b32 %r3, 0;
    mov.b32 %r4, 0;
    mov.b32 %r5, 0;
again:
    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r2, %r3, %r4, %r5}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r2, %r3, %r4, %r5};
    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r2, %r3, %r4, %r5}, {%r1, %r1, %r1, %r1}, {%r1, %r1}, {%r2, %r3, %r4, %r5};
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p0, %r0, 2000;
    @%p0 bra again;
    ret;
}
";

/// Wide products of a warpgroup.
fn group_products() -> String {
    let sums: Vec<String> = (0..128).map(|i| format!("%r{}", i + 8)).collect();
    let sums = sums.join(", ");
    format!(
        "
.version 8.0
.target sm_90a
.address_size 64
.visible .entry group(.param .u64 out)
.reqntid 128, 1, 1
{{
    .reg .pred %p<2>;
    .reg .b32 %r<136>;
    .reg .b64 %rd<4>;
    .shared .align 1024 .b8 buffer[40960];
    mov.u32 %r0, buffer;
    mov.u32 %r1, %tid.x;
    mad.lo.u32 %r2, %r1, 320, %r0;
    mov.b32 %r4, 0;
    mov.b32 %r3, 0;
fill:
    st.shared.u32 [%r2], %r4;
    add.u32 %r2, %r2, 4;
    add.u32 %r3, %r3, 4;
    setp.lt.u32 %p0, %r3, 320;
    @%p0 bra fill;
    fence.proxy.async.shared::cta;
    barrier.sync.aligned 0;
    shr.u32 %r0, %r0, 4;
    mov.b32 %r1, 0;
    mov.b64 %rd0, {{%r0, %r1}};
    or.b64 %rd0, %rd0, 0x4000004000010000;
    add.u64 %rd1, %rd0, 512;
    mov.b32 %r3, 0;
again:
    setp.ne.u32 %p1, %r3, 0;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{{sums}}}, %rd0, %rd1, %p1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p0, %r3, 200;
    @%p0 bra again;
    ret;
}}
"
    )
}

fn timed(text: &str, block: u32, options: Options) -> (tegula_sim_ptx::Counters, f64) {
    let module = tegula_isa_ptx::parse(text, "speed").unwrap_or_else(|errors| panic!("{errors}"));
    let memory = Buffers::default();
    let params = memory.add(vec![0; 4096]).to_le_bytes().to_vec();
    let launch = Launch { grid: [1; 3], block: [block, 1, 1], params, options, ..Launch::default() };
    let start = core_seconds();
    let counters = run(&module.entries[0], &launch, &memory).unwrap();
    (counters, core_seconds() - start)
}

/// Time that this thread has had a core; where the system does not say, time since the test began.
fn core_seconds() -> f64 {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    let wall = BEGIN.get_or_init(Instant::now).elapsed().as_secs_f64();
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let on_core = stat.and_then(|stat| stat.split(' ').next()?.parse::<u64>().ok());
    on_core.map_or(wall, |nanoseconds| nanoseconds as f64 / 1e9)
}

#[test]
fn speed() {
    let (counters, seconds) = timed(LOOP, 256, Options::default());
    let plain = counters.lane_instructions as f64 / seconds / 1e6;
    let (counters, seconds) = timed(PRODUCTS, 128, Options::default());
    let warp = counters.matrix_macs as f64 / seconds / 1e9;
    let (counters, seconds) = timed(&group_products(), 128, Options::default());
    let group = counters.matrix_macs as f64 / seconds / 1e9;
    let options = Options { races: true, ..Options::default() };
    let (counters, seconds) = timed(SHARED, 256, options);
    let checked = counters.lane_instructions as f64 / seconds / 1e6;
    let found = format!(
        "{plain:.0} M lane instructions/s, {checked:.0} with races (one of 5 an access), \
         {warp:.2} G MAC/s in mma, {group:.2} in wgmma"
    );
    println!("{found}");
    assert!(plain > 20.0 && checked > 2.0 && warp > 0.3 && group > 0.3, "{found}");
}
