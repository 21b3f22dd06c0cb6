//! Further kinds of servers, whose protocols other crates speak.
//!
//! Such a crate has an [`ObjectStore`] of its own, and names it in a [`Protocol`]. This crate knows
//! none of them: the caller that opens a store passes the protocol in its `Service`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use object_store::path::Path;
use object_store::{ObjectStore, Result};

use super::pace::Pace;

/// A kind of server, identified by its scheme.
#[derive(Debug)]
pub struct Protocol {
    /// The scheme of its addresses, as in `hdfs://`.
    pub scheme: &'static str,
    /// Its name in messages.
    pub name: &'static str,
    /// Whether values of its options must not appear in messages.
    pub has_secret_options: bool,
    /// Makes a client, or says why the options do not allow it. No connection is made yet.
    pub connect: fn(Terms) -> std::result::Result<Arc<dyn FileSystem>, String>,
}

impl PartialEq for Protocol {
    fn eq(&self, other: &Self) -> bool {
        self.scheme == other.scheme
    }
}

impl Eq for Protocol {}

impl std::hash::Hash for Protocol {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.scheme.hash(state);
    }
}

/// The terms on which a server is opened.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Scheme, host and port.
    pub url: String,
    /// Options under the server's own names.
    pub options: Vec<(String, String)>,
    /// How long its calls may take.
    pub limits: Limits,
    /// Records latency and speed.
    pub pace: Arc<Pace>,
}

/// How long a call may take, and how often it may be retried.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long a call is retried.
    pub total: Duration,
    /// How long one attempt may make no progress.
    pub attempt: Duration,
    /// The number of retries.
    pub retries: u32,
}

/// A server with directories that are moved and removed as a whole, but without conditional writes.
#[async_trait]
pub trait FileSystem: ObjectStore {
    /// Removes everything below `name`; each directory there in one call.
    async fn delete_below(&self, name: &Path) -> Result<()>;

    /// Removes empty directories above `name`, up to `top`, which stays.
    async fn prune(&self, name: &Path, top: &str) -> Result<()>;

    /// Moves the file or directory `from` to the free name `to`.
    async fn move_tree(&self, from: &Path, to: &Path) -> Result<()>;
}
