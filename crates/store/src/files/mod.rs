//! Files and directories, as local stores, archives and the cache of remote ones use them.

pub(crate) mod directory;
pub(crate) mod partial;
pub(crate) mod paths;
