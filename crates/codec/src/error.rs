//! The errors of codecs, by what the caller does next.

use crate::memory::Refused;

/// The result of a codec call.
pub type Result<T> = std::result::Result<T, CodecError>;

/// Why bytes could not be decoded or encoded.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// The stored bytes are not what this codec writes, or decode to another size than declared.
    #[error("{codec}: {reason}")]
    Corrupt {
        /// Name of the codec that noticed.
        codec: &'static str,
        /// What is wrong, with numbers.
        reason: String,
    },
    /// The stored bytes need something that this build does not have.
    #[error("{codec}: {reason}")]
    Unsupported {
        /// Name of the codec.
        codec: &'static str,
        /// What is missing.
        reason: String,
    },
    /// The configuration in the metadata is not valid.
    #[error("codec {codec:?}: {reason}")]
    Configuration {
        /// Name as the metadata has it.
        codec: String,
        /// The key, the value, and what is allowed.
        reason: String,
    },
    /// Valid bytes could not be encoded (a value out of the codec's range, a library error).
    #[error("{codec}: {reason}")]
    Encode {
        /// Name of the codec.
        codec: &'static str,
        /// The library's error.
        reason: String,
    },
    /// A part of a chunk was to be replaced, and encoding would change the rest of it.
    #[error(
        "{codec} is lossy: to replace a part of a chunk would change its other elements, too; write \
         whole chunks, or allow it by config.lossy_writes = \"reencode\""
    )]
    Lossy {
        /// Name of the codec.
        codec: String,
    },
    /// The system refused memory: nothing is wrong with the bytes.
    #[error(transparent)]
    Memory(#[from] Refused),
    /// The poll of the scratch cancelled the call: nothing is wrong with the bytes.
    #[error("interrupted")]
    Interrupted,
    /// A codec that lives outside this crate failed; the source is its own error.
    #[error("{codec}: {source}")]
    Foreign {
        /// Name of the codec.
        codec: String,
        /// The error that the outside codec raised.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// As [`CodecError::Foreign`], while it encoded: nothing is wrong with what is stored.
    #[error("{codec}: {source}")]
    ForeignEncode {
        /// Name of the codec.
        codec: String,
        /// The error that the outside codec raised.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl CodecError {
    /// Whether the call and not the bytes caused it: another attempt may succeed.
    pub fn is_of_the_call(&self) -> bool {
        matches!(self, Self::Interrupted | Self::Memory(_))
    }

    /// Bytes that cannot be what `codec` wrote.
    pub fn corrupt(codec: &'static str, reason: impl Into<String>) -> Self {
        Self::Corrupt { codec, reason: reason.into() }
    }

    /// The same error, of a codec that was encoding.
    pub(crate) fn while_encoding(self) -> Self {
        match self {
            Self::Foreign { codec, source } => Self::ForeignEncode { codec, source },
            other => other,
        }
    }
}
