//! Names of values on a server.

use object_store::path::Path;

use crate::key::PARTIAL;
use crate::sys;

/// A name that no other change of any process has.
pub fn unique_name() -> String {
    format!("{:016x}", random())
}

/// A random number from the system: forked children would share the state of a generator.
pub(super) fn random() -> u64 {
    let mut bytes = [0; 8];
    sys::random(&mut bytes);
    u64::from_le_bytes(bytes)
}

/// Whether a name is that of a value, and not of one that is being written.
pub(super) fn is_value(path: &Path) -> bool {
    !path.as_ref().ends_with(PARTIAL)
}
