//! Special registers.

use crate::key::keys;
use crate::target::{Needs, Target};
use crate::types::AddressType;

keys! {
    /// A register that only the machine writes.
    Special {
        TidX = "%tid.x", TidY = "%tid.y", TidZ = "%tid.z",
        NtidX = "%ntid.x", NtidY = "%ntid.y", NtidZ = "%ntid.z",
        CtaidX = "%ctaid.x", CtaidY = "%ctaid.y", CtaidZ = "%ctaid.z",
        NctaidX = "%nctaid.x", NctaidY = "%nctaid.y", NctaidZ = "%nctaid.z",
        Laneid = "%laneid", Warpid = "%warpid", Nwarpid = "%nwarpid", Smid = "%smid", Nsmid = "%nsmid",
        /// The lanes equal to, below, above this one, as a mask.
        LanemaskEq = "%lanemask_eq", LanemaskLt = "%lanemask_lt", LanemaskLe = "%lanemask_le",
        LanemaskGt = "%lanemask_gt", LanemaskGe = "%lanemask_ge",
        Clock = "%clock", ClockHi = "%clock_hi", Clock64 = "%clock64",
        /// Nanoseconds.
        Globaltimer = "%globaltimer", GlobaltimerLo = "%globaltimer_lo", GlobaltimerHi = "%globaltimer_hi",
        /// Bytes that the launch gave to `.extern` shared memory.
        DynamicSmemSize = "%dynamic_smem_size",
        /// Bytes of shared memory of the CTA.
        TotalSmemSize = "%total_smem_size",
        Gridid = "%gridid",
        ClusteridX = "%clusterid.x", ClusteridY = "%clusterid.y", ClusteridZ = "%clusterid.z",
        NclusteridX = "%nclusterid.x", NclusteridY = "%nclusterid.y", NclusteridZ = "%nclusterid.z",
        /// Place of the CTA in its cluster.
        ClusterCtaidX = "%cluster_ctaid.x", ClusterCtaidY = "%cluster_ctaid.y", ClusterCtaidZ = "%cluster_ctaid.z",
        ClusterNctaidX = "%cluster_nctaid.x", ClusterNctaidY = "%cluster_nctaid.y",
        ClusterNctaidZ = "%cluster_nctaid.z",
        /// Place of the CTA in its cluster as one number: what multicast masks and `mapa` mean.
        ClusterCtarank = "%cluster_ctarank",
        ClusterNctarank = "%cluster_nctarank",
    }
}

impl Special {
    pub fn ty(self) -> AddressType {
        match self {
            Special::Clock64 | Special::Globaltimer | Special::Gridid => AddressType::U64,
            _ => AddressType::U32,
        }
    }

    /// Those of clusters need sm_90.
    pub fn needs(self) -> Needs {
        Needs::new(Target::Sm90, 7, 8).when(self >= Special::ClusteridX)
    }
}
