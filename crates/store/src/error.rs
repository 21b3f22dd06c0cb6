//! What a store can answer instead of bytes, by what the caller does next.

use zarrix_codec::memory::Refused;

/// The result of a store call.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Why a remote server failed, by what the caller does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The credentials do not allow it, or there are none.
    Denied,
    /// The bucket does not exist.
    Missing,
    /// There was no whole answer in time.
    TimedOut,
    /// There is no connection, or none that lasts.
    Unreachable,
    /// The answer is longer than is read of a server.
    TooLong,
    /// The server says that it failed.
    Failed,
}

/// Why a store could not do what it was asked.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The key breaks the grammar; nothing was touched.
    #[error("key {key:?} is not allowed: {reason}")]
    InvalidKey {
        /// The key as given.
        key: String,
        /// The rule it breaks.
        reason: &'static str,
    },
    /// The operating system refused.
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
    /// A server, or the way to it, failed for good; the reason holds no credentials.
    #[error("{operation} {path}: {reason}")]
    Remote {
        /// The operation: "read", "write", "list", ...
        operation: &'static str,
        /// The address of the value.
        path: String,
        /// What kind of failure it is.
        refusal: Refusal,
        /// What the server or the system said.
        reason: String,
    },
    /// The system refused memory for a value.
    #[error("key {key:?}: {source}")]
    Memory {
        /// The key.
        key: String,
        /// How much was asked for.
        #[source]
        source: Refused,
    },
    /// The caller was asked to stop while it waited for an answer.
    #[error("interrupted while waiting for a store")]
    Interrupted,
    /// The store can only be read.
    #[error("the store is read-only: cannot write {key:?}")]
    ReadOnly {
        /// The key.
        key: String,
    },
    /// A value that the store keeps in a container (a zip archive) is not what it should be.
    #[error("key {key:?}: {reason}")]
    Corrupt {
        /// The key.
        key: String,
        /// What is wrong, with the figures.
        reason: String,
    },
    /// A value is longer than it makes sense, and is not decoded to find out how it goes on.
    #[error("key {key:?}: {bytes} bytes are declared, at most {most} can be")]
    TooLong {
        /// The key.
        key: String,
        /// How long it says that it is.
        bytes: u64,
        /// The most that was asked for.
        most: u64,
    },
    /// The container of all values is damaged, or none.
    #[error("{path:?}: {reason}")]
    Damaged {
        /// Where it is.
        path: String,
        /// What is wrong.
        reason: String,
    },
    /// Another writer holds what only one can write to.
    #[error(
        "{path:?} is being written by another process, and only one can write to it at a time; \
         read it, or try again when that one has closed it"
    )]
    Busy {
        /// Where it is.
        path: String,
    },
    /// The handle was closed.
    #[error("the store {path:?} is closed: open it again to write to it")]
    Closed {
        /// Where it is.
        path: String,
    },
    /// A store that lives outside this crate failed; the source is its own error.
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

    /// What makes an error of refused memory for the value of `key`.
    pub(crate) fn memory(key: &str) -> impl Fn(Refused) -> Self {
        move |source| Self::Memory { key: key.to_owned(), source }
    }

    /// The error of a read of `range` in a value of `size` bytes.
    pub(crate) fn beyond_end(key: &str, range: &std::ops::Range<u64>, size: u64) -> Self {
        let (start, end) = (range.start, range.end);
        let problem = format!("bytes {start}..{end} were wanted of a value of {size} bytes");
        let source = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, problem);
        Self::Io { operation: "read", path: key.to_owned(), source }
    }
}
