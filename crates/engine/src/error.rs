//! The errors of an engine call, by what the caller does next.

use zarrix_codec::CodecError;
use zarrix_codec::memory::Refused;
use zarrix_store::StoreError;

/// The result of an engine call.
pub type Result<T> = std::result::Result<T, EngineError>;

/// The result of a codec, before the chunk that it worked on is named.
pub(crate) type CodecResult<T> = std::result::Result<T, CodecError>;

/// Why a call failed.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The stored bytes of a chunk do not decode to what the metadata declares.
    #[error("chunk {key:?} is corrupt: {source} (of {stored_bytes} stored bytes)")]
    CorruptChunk {
        /// Key of the chunk in its store.
        key: String,
        /// Length of the stored value.
        stored_bytes: usize,
        /// The codec's error.
        #[source]
        source: CodecError,
    },
    /// A codec could not encode, or failed outside the engine.
    #[error("chunk {key:?}: {source}")]
    Codec {
        /// Key of the chunk in its store.
        key: String,
        /// The codec's error.
        #[source]
        source: CodecError,
    },
    /// A chunk is not stored, and the layout says that it should be.
    #[error("chunk {key:?} is not stored, and read_missing_chunks is off")]
    MissingChunk {
        /// Key of the chunk in its store.
        key: String,
    },
    /// An array was deleted or moved since it was opened.
    #[error(
        "the array is gone: {document:?} is not stored any more in {store}; it was deleted or moved \
         since it was opened, or what it lies in is no longer mounted"
    )]
    Gone {
        /// Key of its metadata document.
        document: String,
        /// The store's name.
        store: String,
    },
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The layout document contradicts itself.
    #[error("layout key {key:?}: {reason}")]
    Layout {
        /// The key whose value is wrong.
        key: &'static str,
        /// The value and what is allowed.
        reason: String,
    },
    /// A codec configuration in the layout is not valid.
    #[error(transparent)]
    Configuration(#[from] CodecError),
    /// The system refused memory for something other than a chunk.
    #[error(transparent)]
    Memory(#[from] Refused),
    /// A call touches more chunks than are planned at once.
    #[error(
        "the call touches {chunks} chunks or more, and at most {most} are planned at once; divide it"
    )]
    TooManyChunks {
        /// How many it touches, at least.
        chunks: u64,
        /// The limit.
        most: u64,
    },
    /// A callback of the caller failed.
    #[error("{0}")]
    Caller(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The selection, or the buffer for it, does not fit the array.
    #[error("{0}")]
    Selection(String),
    /// The caller cancelled the call.
    #[error("interrupted")]
    Interrupted,
    /// A defect: a task panicked. No partly written value remains.
    #[error("internal error while working on a chunk: {0}")]
    Panicked(String),
}

impl EngineError {
    /// Whether the system refused memory, which says nothing about what is stored.
    #[must_use]
    pub fn is_out_of_memory(&self) -> bool {
        match self {
            Self::Memory(_)
            | Self::TooManyChunks { .. }
            | Self::Configuration(CodecError::Memory(_)) => true,
            Self::CorruptChunk { source, .. } | Self::Codec { source, .. } => {
                matches!(source, CodecError::Memory(_))
            }
            Self::Store(source) => source.is_out_of_memory(),
            _ => false,
        }
    }

    /// Whether stored bytes are damaged or missing, which another window of the array may not
    /// notice.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        let is_damage = match self {
            Self::CorruptChunk { .. } | Self::MissingChunk { .. } => true,
            Self::Store(source) => {
                matches!(source, StoreError::Corrupt { .. } | StoreError::TooLong { .. })
            }
            _ => false,
        };
        is_damage && !self.is_out_of_memory()
    }

    /// The key of the chunk that it is about, if it names one.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::CorruptChunk { key, .. }
            | Self::Codec { key, .. }
            | Self::MissingChunk { key }
            | Self::Store(StoreError::Corrupt { key, .. } | StoreError::TooLong { key, .. }) => {
                Some(key)
            }
            _ => None,
        }
    }
}

/// An error of the layout document, at `key`.
pub(crate) fn fault(key: &'static str, reason: impl Into<String>) -> EngineError {
    EngineError::Layout { key, reason: reason.into() }
}

/// An error of decoding, with the key of the chunk.
///
/// A header that asks for a codec that we lack is far more likely damaged than new.
pub(crate) fn corrupt(key: &str, stored_bytes: usize, source: CodecError) -> EngineError {
    match source {
        CodecError::Corrupt { .. }
        | CodecError::Unsupported { .. }
        | CodecError::Foreign { .. } => {
            EngineError::CorruptChunk { key: key.to_string(), stored_bytes, source }
        }
        source => failed(key, source),
    }
}

/// An error of encoding, with the key of the chunk.
pub(crate) fn failed(key: &str, source: CodecError) -> EngineError {
    match source {
        CodecError::Interrupted => EngineError::Interrupted,
        source => EngineError::Codec { key: key.to_string(), source },
    }
}
