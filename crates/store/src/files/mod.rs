//! Files and directories, as used by local stores, archives and the response cache of remote
//! stores.

pub(crate) mod directory;
pub(crate) mod outside;
pub(crate) mod partial;
pub(crate) mod paths;
