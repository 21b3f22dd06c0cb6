//! Further kinds of servers, whose protocols other crates speak.
//!
//! Such a crate has an [`ObjectStore`] of its own, and names it in a [`Protocol`]. This crate knows
//! none of them: who opens a store passes the protocol in its `Service`.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use object_store::path::Path;
use object_store::{ObjectStore, Result};

use super::pace::Pace;

/// A kind of server, told from others by its scheme.
#[derive(Debug)]
pub struct Protocol {
    /// Begins its addresses, as `hdfs://` does.
    pub scheme: &'static str,
    /// What a person calls it.
    pub name: &'static str,
    /// Whether values of its options must not appear in messages.
    pub has_secret_options: bool,
    /// Makes a client, or says why the options do not allow that. No connection is made yet.
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

/// What opens a server.
#[derive(Clone, Debug)]
pub struct Terms {
    /// Scheme, host and port.
    pub url: String,
    /// Options by the server's own names.
    pub options: Vec<(String, String)>,
    /// How long its calls may take.
    pub limits: Limits,
    /// Where latency and speed are noted.
    pub pace: Arc<Pace>,
}

/// How long a call may take, and how often it is made.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How long a call goes on being repeated.
    pub total: Duration,
    /// How long one attempt may stand still.
    pub attempt: Duration,
    /// How often it is repeated.
    pub retries: u32,
}

/// A server with directories, which are moved and removed as a whole, and without conditional writes.
#[async_trait]
pub trait FileSystem: ObjectStore {
    /// Removes everything below `name`, each directory there at once.
    async fn delete_below(&self, name: &Path) -> Result<()>;

    /// Removes the directories above `name` that hold nothing any more, up to `top` and not `top`.
    async fn prune(&self, name: &Path, top: &str) -> Result<()>;

    /// Moves the file or directory `from` to `to`, where nothing is.
    async fn move_tree(&self, from: &Path, to: &Path) -> Result<()>;
}
