//! Boxes of strided memory, the copies between them, and the memory of large results. Elements are
//! moved by no other room.

pub(crate) mod convert;
pub(crate) mod copy;
#[cfg(target_arch = "x86_64")]
pub(crate) mod copy_nontemporal;
pub(crate) mod floats;
pub(crate) mod resampling;
pub(crate) mod results;
pub(crate) mod strides;
pub(crate) mod turns;
