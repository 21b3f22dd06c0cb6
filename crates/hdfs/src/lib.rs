//! A native client of HDFS: the namenode's calls and the datanodes' blocks.
//!
//! It is a crate of its own because it brings 32 others; a build without it lacks native HDFS and
//! nothing else. No crate below depends on it: [`HDFS`] is a [`Protocol`] of the store crate, which
//! the caller that opens an `hdfs://` URL passes to it.

mod failure;
mod io;
mod options;
mod retry;
mod store;

use zarrix_store::protocol::Protocol;

/// Hadoop's distributed file system.
pub static HDFS: Protocol = Protocol {
    scheme: "hdfs://",
    name: "HDFS",
    // The user's name and properties of Hadoop, which are in files that anyone may read.
    has_secret_options: false,
    connect: store::connect,
};
