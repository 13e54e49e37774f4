//! The devices of a package: what its buffers lie on and its images run on.
//!
//! Device 0, the *home*, holds inputs and outputs: the processor, or of a package for GPUs the card. Kernels reach what
//! lies on the others by transfers alone.

use crate::manifest::{About, MachineId};
use serde::{Deserialize, Serialize};

/// A device's number in its package.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeviceId(pub u32);

impl DeviceId {
    pub const HOME: DeviceId = DeviceId(0);

    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// Left out in files.
    pub(crate) fn is_home(&self) -> bool {
        *self == DeviceId::HOME
    }
}

impl std::fmt::Display for DeviceId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A device beside the home.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageDevice {
    /// For messages: `npu` ...
    pub name: String,
    /// What its images were compiled for.
    pub machine: MachineId,
}

impl About {
    pub fn device_count(&self) -> usize {
        1 + self.devices.len()
    }

    /// The machine that a device is; `None` when the package has no such device.
    pub fn machine_of(&self, device: DeviceId) -> Option<&MachineId> {
        match device.index().checked_sub(1) {
            None => Some(&self.machine),
            Some(index) => self.devices.get(index).map(|device| &device.machine),
        }
    }

    /// A device in a message.
    pub fn device_name(&self, device: DeviceId) -> String {
        match device.index().checked_sub(1).and_then(|index| self.devices.get(index)) {
            Some(facts) => format!("device {device} (`{}`)", facts.name),
            None => format!("device {device}"),
        }
    }
}
