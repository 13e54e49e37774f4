//! Modifiers of instructions: closed sets of words.

use crate::form::Place;
use crate::key::{Key, keys};
use crate::types::Scalar;

keys! {
    /// Rounding of a result to a float.
    Round {
        /// To nearest, ties to even.
        Rn = "rn",
        /// Towards zero.
        Rz = "rz",
        /// Towards minus infinity.
        Rm = "rm",
        /// Towards plus infinity.
        Rp = "rp",
    }

    /// Rounding of a conversion.
    ConvertRound {
        Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp",
        /// To an integral value: nearest even.
        Rni = "rni",
        Rzi = "rzi", Rmi = "rmi", Rpi = "rpi",
    }

    /// Rounding of tf32: to nearest with ties away from zero, to nearest even, towards zero.
    Tf32Round { Rna = "rna", Rn = "rn", Rz = "rz" }

    /// Rounding of two values at once.
    PackRound { Rn = "rn", Rz = "rz" }

    /// How exactly to divide.
    DivRound { Approx = "approx", Full = "full", Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp" }

    /// How exactly to take a reciprocal or a root.
    ApproxRound { Approx = "approx", Rn = "rn", Rz = "rz", Rm = "rm", Rp = "rp" }

    /// Which half of an integer product.
    MulPart { Lo = "lo", Hi = "hi" }

    /// A comparison. `Equ` and those after it hold for NaN too; `Lo` and its like are unsigned.
    Compare {
        Eq = "eq", Ne = "ne", Lt = "lt", Le = "le", Gt = "gt", Ge = "ge",
        Lo = "lo", Ls = "ls", Hi = "hi", Hs = "hs",
        Equ = "equ", Neu = "neu", Ltu = "ltu", Leu = "leu", Gtu = "gtu", Geu = "geu",
        /// Neither is NaN.
        Num = "num",
        /// One is NaN.
        Nan = "nan",
    }

    /// Combines a comparison with a predicate.
    BoolOp { And = "and", Or = "or", Xor = "xor" }

    /// What `testp` asks.
    FloatTest {
        Finite = "finite", Infinite = "infinite", Number = "number",
        NotANumber = "notanumber", Normal = "normal", Subnormal = "subnormal",
    }

    /// What a shift by more than the width does.
    ShiftMode {
        /// Shifts by at most 32.
        Clamp = "clamp",
        /// Shifts by the amount modulo 32.
        Wrap = "wrap",
    }

    Direction { Left = "l", Right = "r" }

    /// How `prmt` picks bytes where its selector is not general.
    PermuteMode { F4e = "f4e", B4e = "b4e", Rc8 = "rc8", Ecl = "ecl", Ecr = "ecr", Rc16 = "rc16" }

    /// Who is ordered: the CTA, its cluster (sm_90), the GPU, or the whole system.
    Scope { Cta = "cta", Cluster = "cluster", Gpu = "gpu", Sys = "sys" }

    /// A state space; `Generic` is not written.
    StateSpace {
        Generic = "", Global = "global", Shared = "shared", SharedCta = "shared::cta", SharedCluster = "shared::cluster",
        Param = "param", Const = "const", Local = "local",
    }

    /// Spaces that `cvta` and `isspacep` name.
    WindowSpace {
        Global = "global", Shared = "shared", SharedCta = "shared::cta", SharedCluster = "shared::cluster",
        Local = "local", Param = "param",
    }

    /// Caching of a load. `Lu` is last use, `Cv` fetches again.
    LoadCache { Ca = "ca", Cg = "cg", Cs = "cs", Lu = "lu", Cv = "cv" }

    /// Caching of a store.
    StoreCache { Wb = "wb", Cg = "cg", Cs = "cs", Wt = "wt" }

    /// Priority in L1.
    L1Eviction {
        Normal = "L1::evict_normal", Unchanged = "L1::evict_unchanged", First = "L1::evict_first",
        Last = "L1::evict_last", NoAllocate = "L1::no_allocate",
    }

    /// How much of the neighbourhood L2 fetches, in bytes.
    L2Prefetch { B64 = "L2::64B", B128 = "L2::128B", B256 = "L2::256B" }

    /// Priority in L2.
    L2Priority {
        Last = "L2::evict_last", Normal = "L2::evict_normal", First = "L2::evict_first",
        Unchanged = "L2::evict_unchanged",
    }

    /// Priority in L2 of what the first one leaves.
    L2Secondary { First = "L2::evict_first", Unchanged = "L2::evict_unchanged" }

    CacheLevel { L1 = "L1", L2 = "L2" }

    /// Spaces that `prefetch` names; `Generic` is not written.
    PrefetchSpace { Generic = "", Global = "global", Local = "local" }

    /// Where a tensor map stands; `Generic` is not written.
    TensormapSpace { Generic = "", Param = "param" }

    /// What `mapa` takes; `Generic` is not written.
    MapaSpace { Generic = "", SharedCluster = "shared::cluster" }

    /// What an atomic operation does. Halves are added without flushing.
    AtomicOp {
        Add = "add", AddNoftz = "add.noftz", Min = "min", Max = "max", Inc = "inc", Dec = "dec",
        And = "and", Or = "or", Xor = "xor",
    }

    /// What a reduction into a tensor does.
    TensorOp {
        Add = "add", Min = "min", Max = "max", Inc = "inc", Dec = "dec", And = "and", Or = "or", Xor = "xor",
    }

    /// What a bulk reduction into global memory does, and to what.
    BulkReduction {
        AddNoftzF16 = "add.noftz.f16", AddNoftzBF16 = "add.noftz.bf16", AddF32 = "add.f32", AddF64 = "add.f64",
        AddU32 = "add.u32", AddS32 = "add.s32", AddU64 = "add.u64",
        MinF16 = "min.f16", MaxF16 = "max.f16", MinBF16 = "min.bf16", MaxBF16 = "max.bf16",
        MinU32 = "min.u32", MaxU32 = "max.u32", MinS32 = "min.s32", MaxS32 = "max.s32",
        MinU64 = "min.u64", MaxU64 = "max.u64", MinS64 = "min.s64", MaxS64 = "max.s64",
        IncU32 = "inc.u32", DecU32 = "dec.u32",
        AndB32 = "and.b32", OrB32 = "or.b32", XorB32 = "xor.b32",
        AndB64 = "and.b64", OrB64 = "or.b64", XorB64 = "xor.b64",
    }

    /// What a bulk reduction into a peer's shared memory does, and to what.
    PeerReduction {
        AddU32 = "add.u32", AddS32 = "add.s32", AddU64 = "add.u64",
        MinU32 = "min.u32", MaxU32 = "max.u32", MinS32 = "min.s32", MaxS32 = "max.s32",
        IncU32 = "inc.u32", DecU32 = "dec.u32", AndB32 = "and.b32", OrB32 = "or.b32", XorB32 = "xor.b32",
    }

    /// Spaces of atomic operations; `Generic` is not written.
    AtomicSpace {
        Generic = "", Global = "global", Shared = "shared", SharedCta = "shared::cta",
        SharedCluster = "shared::cluster",
    }

    /// Shared memory of this CTA.
    LocalShared { Shared = "shared", Cta = "shared::cta" }

    /// Where an mbarrier stands: here, or with a peer.
    MbarrierSpace { Shared = "shared", Cta = "shared::cta", Cluster = "shared::cluster" }

    /// Where a bulk load goes. `Cta` needs version 8.6.
    BulkDestination { Cluster = "shared::cluster", Cta = "shared::cta" }

    /// How many dimensions a tensor map has.
    TensorRank { D1 = "1d", D2 = "2d", D3 = "3d", D4 = "4d", D5 = "5d" }

    /// How a box is taken from a tensor.
    LoadMode { Tile = "tile", Im2col = "im2col" }

    /// How a box is put into a tensor.
    StoreMode { Tile = "tile", Im2col = "im2col_no_offs" }

    /// A field of a tensor map.
    TensormapField {
        GlobalAddress = "global_address", Rank = "rank", BoxDim = "box_dim", GlobalDim = "global_dim",
        GlobalStride = "global_stride", ElementStride = "element_stride", Elemtype = "elemtype",
        InterleaveLayout = "interleave_layout", SwizzleMode = "swizzle_mode", FillMode = "fill_mode",
    }

    /// Where the tensor map stands that is changed; `Generic` is not written.
    TensormapReplaceSpace { Generic = "", Global = "global", SharedCta = "shared::cta" }

    /// What the proxy fence is about; `All` is not written.
    ProxySpace { All = "", Global = "global", SharedCta = "shared::cta", SharedCluster = "shared::cluster" }

    /// Order of an arrival at the cluster's barrier; unwritten, it releases.
    ClusterArriveOrder { Default = "", Release = "release", Relaxed = "relaxed" }

    /// Where a shuffle takes its value from.
    ShuffleMode { Up = "up", Down = "down", Bfly = "bfly", Idx = "idx" }

    VoteMode { All = "all", Any = "any", Uni = "uni" }

    /// What `redux.sync` does.
    ReduxOp { Add = "add", Min = "min", Max = "max", And = "and", Or = "or", Xor = "xor" }

    /// Whether a barrier asks for all or any.
    BarrierRedOp { And = "and", Or = "or" }
}

/// Declares an order of memory accesses: words alone, and words with a scope.
macro_rules! orders {
    ($( $(#[$doc:meta])* $name:ident
        [ $( $(#[$pdoc:meta])* $plain:ident = $ptext:literal ),* ]
        [ $( $(#[$sdoc:meta])* $scoped:ident = $cta:literal $cluster:literal $gpu:literal $sys:literal ),* ]
    )*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $( $(#[$pdoc])* $plain, )* $( $(#[$sdoc])* $scoped(Scope) ),* }

        impl Default for $name {
            fn default() -> $name {
                $name::all()[0]
            }
        }

        impl $name {
            /// Among whom; `None` where it is not said.
            pub fn scope(self) -> Option<Scope> {
                match self {
                    $( $name::$plain => None, )*
                    $( $name::$scoped(scope) => Some(scope) ),*
                }
            }
        }

        impl Key for $name {
            fn all() -> &'static [$name] {
                &[
                    $( $name::$plain, )*
                    $( $name::$scoped(Scope::Cta), $name::$scoped(Scope::Cluster),
                       $name::$scoped(Scope::Gpu), $name::$scoped(Scope::Sys) ),*
                ]
            }

            fn text(self) -> &'static str {
                match self {
                    $( $name::$plain => $ptext, )*
                    $( $name::$scoped(scope) => match scope {
                        Scope::Cta => $cta,
                        Scope::Cluster => $cluster,
                        Scope::Gpu => $gpu,
                        Scope::Sys => $sys,
                    } ),*
                }
            }
        }
    )* };
}

orders! {
    /// Order of a load, and among whom.
    LoadOrder
        [Weak = "", Volatile = "volatile"]
        [
            Relaxed = "relaxed.cta" "relaxed.cluster" "relaxed.gpu" "relaxed.sys",
            Acquire = "acquire.cta" "acquire.cluster" "acquire.gpu" "acquire.sys"
        ]

    /// Order of a store, and among whom.
    StoreOrder
        [Weak = "", Volatile = "volatile"]
        [
            Relaxed = "relaxed.cta" "relaxed.cluster" "relaxed.gpu" "relaxed.sys",
            Release = "release.cta" "release.cluster" "release.gpu" "release.sys"
        ]

    /// Order of an atomic operation, and among whom; unwritten, it is relaxed among the GPU's threads.
    AtomicOrder
        [Default = ""]
        [
            Relaxed = "relaxed.cta" "relaxed.cluster" "relaxed.gpu" "relaxed.sys",
            Acquire = "acquire.cta" "acquire.cluster" "acquire.gpu" "acquire.sys",
            Release = "release.cta" "release.cluster" "release.gpu" "release.sys",
            AcqRel = "acq_rel.cta" "acq_rel.cluster" "acq_rel.gpu" "acq_rel.sys"
        ]

    /// Order of a reduction, which gives nothing back.
    ReductionOrder
        [Default = ""]
        [
            Relaxed = "relaxed.cta" "relaxed.cluster" "relaxed.gpu" "relaxed.sys",
            Release = "release.cta" "release.cluster" "release.gpu" "release.sys"
        ]

    /// Order of a fence, and among whom.
    FenceOrder
        []
        [
            AcqRel = "acq_rel.cta" "acq_rel.cluster" "acq_rel.gpu" "acq_rel.sys",
            /// Sequentially consistent.
            Sc = "sc.cta" "sc.cluster" "sc.gpu" "sc.sys"
        ]
}

keys! {
    /// Order of an arrival; unwritten, it releases among the CTA's threads. Written cluster scope costs fences on the
    /// card; it is needed only where peers read what ordinary stores wrote.
    ArriveOrder { Default = "", ReleaseCta = "release.cta", ReleaseCluster = "release.cluster" }

    /// Order of a wait; unwritten, it acquires among the CTA's threads.
    WaitOrder { Default = "", AcquireCta = "acquire.cta", AcquireCluster = "acquire.cluster" }

    /// Order of a change of the bytes that a phase waits for.
    TxOrder { RelaxedCta = "relaxed.cta", RelaxedCluster = "relaxed.cluster" }
}

impl TensorRank {
    pub fn count(self) -> usize {
        self as usize + 1
    }
}

impl TensormapField {
    /// The type word: `b64` for the address and strides, else `b32`.
    pub fn width(self) -> &'static str {
        if self.ty() == Scalar::B64 { "b64" } else { "b32" }
    }

    pub fn ty(self) -> Scalar {
        match self {
            TensormapField::GlobalAddress | TensormapField::GlobalStride => Scalar::B64,
            _ => Scalar::B32,
        }
    }

    /// Whether there is one for each dimension.
    pub fn has_ordinal(self) -> bool {
        use TensormapField::*;
        matches!(self, BoxDim | GlobalDim | GlobalStride | ElementStride)
    }

    /// How many values it has, where it is one of a list and must be an immediate.
    pub fn choices(self) -> Option<u64> {
        match self {
            TensormapField::Elemtype => Some(16),
            TensormapField::InterleaveLayout => Some(3),
            TensormapField::SwizzleMode => Some(5),
            TensormapField::FillMode => Some(2),
            _ => None,
        }
    }
}

impl StateSpace {
    pub fn place(self) -> Place {
        match self {
            StateSpace::Generic | StateSpace::Global | StateSpace::Const | StateSpace::Local => Place::Window,
            StateSpace::Shared | StateSpace::SharedCta | StateSpace::SharedCluster => Place::Shared,
            StateSpace::Param => Place::Param,
        }
    }
}

impl AtomicSpace {
    pub fn place(self) -> Place {
        match self {
            AtomicSpace::Generic | AtomicSpace::Global => Place::Window,
            AtomicSpace::Shared | AtomicSpace::SharedCta | AtomicSpace::SharedCluster => Place::Shared,
        }
    }
}

impl PrefetchSpace {
    pub fn place(self) -> Place {
        Place::Window
    }
}

impl TensormapSpace {
    pub fn place(self) -> Place {
        match self {
            TensormapSpace::Generic => Place::Window,
            TensormapSpace::Param => Place::Param,
        }
    }
}

impl TensormapReplaceSpace {
    pub fn place(self) -> Place {
        match self {
            TensormapReplaceSpace::Generic | TensormapReplaceSpace::Global => Place::Window,
            TensormapReplaceSpace::SharedCta => Place::Shared,
        }
    }
}
