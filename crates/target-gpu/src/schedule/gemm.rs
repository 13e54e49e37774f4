//! The product of two matrices as a schedule: one warpgroup brings blocks, two multiply; clusters of two share B.
//! Source of the numbers: CUTLASS's and DeepGEMM's kernels for sm_90 use the same tiles, stages and register budgets.

use tegula_isa_ptx::mma::WgmmaType;
use tegula_isa_ptx::types::PackedHalf;
use tegula_package::MapElement;

use super::{
    Axis, Channel, ChannelId, Part, Product, ProductId, Role, Schedule, Step, Store, StoreId, Tensor,
    TileOrder, TileScheduler,
};
use crate::encoding::MapSize;
use crate::layout::{SharedLayout, Swizzle};

/// Types of the factors and of the result; sums are f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GemmType {
    BF16,
    F16,
}

/// Sizes of the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GemmShape {
    /// Elements of a CTA's tile, and of a block of k.
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub stages: u32,
    /// CTAs of a cluster.
    pub cluster: u32,
    /// Warpgroups that multiply.
    pub consumers: u32,
}

impl GemmShape {
    /// 128x256x64, four stages, clusters of two.
    pub const LARGE: GemmShape = GemmShape { m: 128, n: 256, k: 64, stages: 4, cluster: 2, consumers: 2 };
}

/// Bytes of an element.
const ELEMENT: u32 = 2;
/// Columns of a slice of the result: the rows of one 128-byte panel.
const SLICE: u32 = 64;
/// Registers of a thread that only starts copies, and of one that multiplies: 168 a thread are there for 384 threads.
const PRODUCER_REGISTERS: u32 = 40;
const CONSUMER_REGISTERS: u32 = 232;
/// Rows of cluster tiles in a band: 8 x 256 rows of A and the columns of a wave fit L2.
const BAND: u32 = 8;
/// Words of the argument block: function table, A, B, C, then m, n, k.
const WORDS: u32 = 7;
const A_WORD: usize = 1;
const B_WORD: usize = 2;
const C_WORD: usize = 3;

/// `c[m, n] = a[m, k] b[n, k]`, all with neighbours along their last dim; k and n multiples of 8.
/// Argument words: 0 unused, the addresses of `a`, `b`, `c`, then m, n, k.
pub fn gemm(name: &str, ty: GemmType, shape: GemmShape) -> Schedule {
    let panel = |rows, columns| SharedLayout::panels(&[rows, columns], ELEMENT, 1, 0, Swizzle::B128);
    let part = |rows, axis, tensor, shared| Part {
        layout: panel(rows, shape.k),
        axes: vec![axis, Axis::K],
        order: vec![1, 0],
        tensor,
        shared,
    };
    let blocks = ChannelId(0);
    let shared = shape.cluster > 1;
    let channel = Channel {
        name: "blocks",
        depth: shape.stages,
        parts: vec![part(shape.m, Axis::M, 0, false), part(shape.n, Axis::N, 1, shared)],
    };
    let slice = panel(64, SLICE);
    let (mma, to) = match ty {
        GemmType::BF16 => (WgmmaType::F32BF16, PackedHalf::BF16x2),
        GemmType::F16 => (WgmmaType::F32F16, PackedHalf::F16x2),
    };
    let put = |part| Step::Put { channel: blocks, part };
    let release = |behind| Step::Release { channel: blocks, behind };
    let produce = Step::EachTile(vec![Step::EachBlock(vec![Step::Acquire(blocks), put(0), put(1)])]);
    let multiply =
        vec![Step::Get(blocks), Step::Multiply(ProductId(0)), Step::AwaitProducts { pending: 1 }, release(1)];
    let consume = Step::EachTile(vec![
        Step::EachBlock(multiply),
        Step::AwaitProducts { pending: 0 },
        release(0),
        Step::Store(StoreId(0)),
    ]);
    Schedule {
        name: name.to_string(),
        arg_words: WORDS,
        cluster: shape.cluster,
        tiles: TileScheduler {
            order: TileOrder::Grouped { rows: BAND },
            m: shape.m,
            n: shape.n,
            k: shape.k,
            m_word: 4,
            n_word: 5,
            k_word: 6,
        },
        tensors: vec![tensor(ty, A_WORD, 4, 6), tensor(ty, B_WORD, 5, 6), tensor(ty, C_WORD, 4, 5)],
        channels: vec![channel],
        products: vec![Product { channel: blocks, left: 0, right: 1, ty: mma }],
        stores: vec![Store { product: ProductId(0), to, slice, depth: 2, tensor: 2 }],
        roles: vec![
            Role { name: "produce", warpgroups: 1, registers: PRODUCER_REGISTERS, steps: vec![produce] },
            Role {
                name: "consume",
                warpgroups: shape.consumers,
                registers: CONSUMER_REGISTERS,
                steps: vec![consume],
            },
        ],
    }
}

/// A matrix of `rows` by `columns` (words of the argument block).
fn tensor(ty: GemmType, address_word: usize, rows: usize, columns: usize) -> Tensor {
    let word = |word, factor| MapSize::Word { word, factor };
    Tensor {
        element: match ty {
            GemmType::BF16 => MapElement::BF16,
            GemmType::F16 => MapElement::F16,
        },
        address_word,
        dims: vec![word(columns, 1), word(rows, 1)],
        strides: vec![word(columns, u64::from(ELEMENT))],
    }
}
