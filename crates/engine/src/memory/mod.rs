//! Boxes of strided memory, and the copies between them. Elements are moved by no other room.

pub(crate) mod convert;
pub(crate) mod copy;
#[cfg(target_arch = "x86_64")]
pub(crate) mod copy_nontemporal;
pub(crate) mod floats;
pub(crate) mod strides;
