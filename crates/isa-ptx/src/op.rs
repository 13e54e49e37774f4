//! All instructions: one struct each in the files below, and the closed enum of them.
//! A struct's fields are the parts of the opcode, then the operands, in the order of the text.

mod async_copy;
mod atomic;
mod barrier;
mod bulk;
mod control;
mod convert;
mod float;
mod integer;
mod logic;
mod matrix;
mod mbarrier;
mod memory;
mod warp;
mod wgmma;

pub use async_copy::*;
pub use atomic::*;
pub use barrier::*;
pub use bulk::*;
pub use control::*;
pub use convert::*;
pub use float::*;
pub use integer::*;
pub use logic::*;
pub use matrix::*;
pub use mbarrier::*;
pub use memory::*;
pub use warp::*;
pub use wgmma::*;

use crate::form::{Form, Visitor};
use crate::target::Needs;

/// Declares the enum, the way from a struct to it, and the table of empty forms.
macro_rules! op_enum {
    ($($name:ident)*) => {
        /// An instruction without its guard.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Op { $($name($name)),* }

        $(impl From<$name> for Op {
            fn from(op: $name) -> Op {
                Op::$name(op)
            }
        })*

        impl Op {
            /// Every kind of instruction, by mnemonic; fields are those of `Default`.
            pub fn kinds() -> Vec<(&'static str, Op)> {
                vec![$(($name::MNEMONIC, Op::$name($name::default()))),*]
            }

            /// How the opcode begins.
            pub fn mnemonic(&self) -> &'static str {
                match self { $(Op::$name(_) => $name::MNEMONIC),* }
            }

            /// The name of its struct.
            pub fn kind(&self) -> &'static str {
                match self { $(Op::$name(_) => stringify!($name)),* }
            }

            /// Walks the parts after the mnemonic.
            pub fn form<V: Visitor>(&mut self, v: &mut V) {
                match self { $(Op::$name(op) => op.form(v)),* }
            }

            /// What the language forbids though the fields say it. Errors: the rule that is broken.
            pub fn check(&self) -> Result<(), &'static str> {
                match self { $(Op::$name(op) => op.check()),* }
            }

            /// The least version and target.
            pub fn needs(&self) -> Needs {
                match self { $(Op::$name(op) => op.needs()),* }
            }
        }
    };
}

op_enum! {
    Add Sub Mul MulWide Mad MadWide Div Rem Abs Neg Min Max Dp4a Popc Clz Brev Bfind Bfe Bfi
    And Or Xor Not Lop3 Shl Shr Shf Prmt Selp Setp
    MovSpecial Mov MovAddress PackHalves UnpackHalves PackWords UnpackWords PackQuarters UnpackQuarters
    FAdd FSub FMul Fma FDiv FAbs FNeg FMin FMax Rcp Sqrt Rsqrt Sin Cos Lg2 Ex2 Tanh Testp Copysign
    Cvt CvtTf32 CvtHalves CvtF8 CvtF8FromHalves CvtHalvesFromF8 CvtPackBytes CvtPackHalves
    Ld LdNc St StAsync Prefetch PrefetchTensormap ApplyPriority Discard
    CreatePolicyFractional CreatePolicyRange Cvta CvtaSymbol CvtaTo Isspacep Mapa GetCtaRank
    Atom Red AtomExch AtomCas
    CpAsyncCa CpAsyncCg CpAsyncCommitGroup CpAsyncWaitGroup CpAsyncWaitAll CpAsyncMbarrierArrive
    BulkLoad BulkToPeer BulkStore BulkReduce BulkReduceToPeer BulkPrefetch
    TensorLoad TensorStore TensorReduce TensorPrefetch BulkCommitGroup BulkWaitGroup
    TensormapReplace TensormapCpFenceProxy
    Ldmatrix Stmatrix Movmatrix Mma
    WgmmaFence WgmmaCommitGroup WgmmaWaitGroup Wgmma WgmmaRegisters
    MbarrierInit MbarrierInval MbarrierExpectTx MbarrierCompleteTx MbarrierArrive MbarrierArriveExpectTx
    MbarrierArriveNoComplete MbarrierArriveDrop MbarrierTestWait MbarrierTestWaitParity MbarrierTryWait
    MbarrierTryWaitParity MbarrierPendingCount
    BarrierSync BarrierArrive BarrierRedPopc BarrierRed BarWarpSync ClusterArrive ClusterWait
    Fence FenceMbarrierInit FenceProxyAsync FenceProxyAlias FenceProxyTensormapRelease FenceProxyTensormapAcquire
    Shfl Vote Ballot MatchAny MatchAll Redux Activemask Elect
    Bra Ret Exit Trap Nanosleep GriddepLaunchDependents GriddepWait SetmaxnregInc SetmaxnregDec
}
