//! The errors of stores, by what the caller does next.

use zarrix_codec::memory::Refused;

/// The result of a store call.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Why a remote server failed, by what the caller does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The credentials do not allow the operation, or there are none.
    Denied,
    /// The bucket does not exist.
    Missing,
    /// No complete response arrived in time.
    TimedOut,
    /// No connection could be made, or every connection broke.
    Unreachable,
    /// The response is longer than the limit for a server.
    TooLong,
    /// The server reported a failure.
    Failed,
}

/// Why a store operation failed.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The key breaks the grammar; nothing was changed.
    #[error("key {key:?} is not allowed: {reason}")]
    InvalidKey {
        /// The key as given.
        key: String,
        /// The rule it breaks.
        reason: &'static str,
    },
    /// The operating system returned an error.
    #[error("{operation} {path:?}: {source}")]
    Io {
        /// The operation: "read", "write", "list", ...
        operation: &'static str,
        /// The key or path.
        path: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// A server or the network failed for good; the reason contains no credentials.
    #[error("{operation} {path}: {reason}")]
    Remote {
        /// The operation: "read", "write", "list", ...
        operation: &'static str,
        /// The address of the value.
        path: String,
        /// The kind of failure.
        refusal: Refusal,
        /// The message of the server or the system.
        reason: String,
    },
    /// The system refused memory for a value.
    #[error("key {key:?}: {source}")]
    Memory {
        /// The key.
        key: String,
        /// How much memory was requested.
        #[source]
        source: Refused,
    },
    /// The caller was interrupted while it waited for a response.
    #[error("interrupted while waiting for a store")]
    Interrupted,
    /// The store is read-only.
    #[error("the store is read-only: cannot write {key:?}")]
    ReadOnly {
        /// The key.
        key: String,
    },
    /// A value that the store keeps in a container (a zip archive) is damaged.
    #[error("key {key:?}: {reason}")]
    Corrupt {
        /// The key.
        key: String,
        /// What is wrong, with the figures.
        reason: String,
    },
    /// A value is longer than its limit, and is not decoded.
    #[error("key {key:?}: {bytes} bytes are declared, at most {most} can be")]
    TooLong {
        /// The key.
        key: String,
        /// The declared length.
        bytes: u64,
        /// The limit.
        most: u64,
    },
    /// The container of all values is damaged, or is not a container.
    #[error("{path:?}: {reason}")]
    Damaged {
        /// Its path or address.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// Another writer holds a container that allows only one.
    #[error(
        "{path:?} is being written by another process, and only one can write to it at a time; \
         read it, or try again when that one has closed it"
    )]
    Busy {
        /// Its path.
        path: String,
    },
    /// The handle was closed.
    #[error("the store {path:?} is closed: open it again to write to it")]
    Closed {
        /// Its path.
        path: String,
    },
    /// The store cannot put a value under a condition; nothing was changed.
    #[error(
        "cannot write {path:?} under a condition: the store has no tags, or its server ignores \
         conditional writes, so that a change of another writer could be lost"
    )]
    Unconditional {
        /// The key or address of the value.
        path: String,
    },
    /// A version of a value is gone; what is stored now is never read in its place.
    #[error("the version {version:?} of {path} is gone: {reason}")]
    VersionLost {
        /// The address of the value.
        path: String,
        /// The name that the server gave the version.
        version: String,
        /// How that was found out.
        reason: String,
    },
    /// A store outside of this crate failed; the source is its own error.
    #[error("store failed at {key:?}: {source}")]
    Foreign {
        /// The key.
        key: String,
        /// The error it raised.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StoreError {
    /// Whether the system refused memory, to this process or for it.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        match self {
            Self::Memory { .. } => true,
            Self::Io { source, .. } => source.kind() == std::io::ErrorKind::OutOfMemory,
            _ => false,
        }
    }

    /// Makes the error of refused memory for the value of `key`.
    pub(crate) fn memory(key: &str) -> impl Fn(Refused) -> Self {
        move |source| Self::Memory { key: key.to_owned(), source }
    }

    /// The error of a put under a condition that nothing checks.
    pub(crate) fn unconditional(path: &str) -> Self {
        Self::Unconditional { path: path.to_owned() }
    }

    /// The error of a read of `range` in a value of `size` bytes.
    pub(crate) fn beyond_end(key: &str, range: &std::ops::Range<u64>, size: u64) -> Self {
        let (start, end) = (range.start, range.end);
        let problem = format!("bytes {start}..{end} were requested of a value of {size} bytes");
        let source = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, problem);
        Self::Io { operation: "read", path: key.to_owned(), source }
    }
}
