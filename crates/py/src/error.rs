//! Converts engine errors into the classes of `zarrix._errors`, or into the `OSError` of their
//! errno.

use std::error::Error;

use pyo3::exceptions::{
    PyConnectionError, PyException, PyFileNotFoundError, PyMemoryError, PyOSError,
    PyPermissionError, PyRuntimeError, PyTimeoutError, PyValueError,
};
use pyo3::prelude::*;
use zarrix_codec::CodecError;
use zarrix_codec::memory::Refused;
use zarrix_engine::EngineError;
use zarrix_store::{Refusal, StoreError};

use crate::callback;

/// `zarrix._errors.<class>(message)`.
pub fn named(py: Python<'_>, class: &str, message: &str) -> PyErr {
    match py
        .import("zarrix._errors")
        .and_then(|errors| callback::call(&errors.getattr(class)?, (message,)))
    {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// The error of the Python codec `name` for `bytes` bytes.
///
/// If memory was refused, the error says nothing about those bytes.
pub fn from_codec(name: &str, bytes: usize, error: PyErr) -> CodecError {
    let no_memory = callback::attached(|py| Ok(error.is_instance_of::<PyMemoryError>(py)));
    if no_memory.unwrap_or_default() {
        return CodecError::Memory(Refused { bytes });
    }
    CodecError::Foreign { codec: name.to_owned(), source: Box::new(error) }
}

/// The Python exception inside `source`, if it caused the failure.
fn python_error(py: Python<'_>, source: &(dyn Error + 'static)) -> Option<PyErr> {
    source.downcast_ref::<PyErr>().map(|error| error.clone_ref(py))
}

pub fn from_store(py: Python<'_>, error: &StoreError) -> PyErr {
    if error.is_out_of_memory() {
        return PyMemoryError::new_err(error.to_string());
    }
    match error {
        StoreError::Io { path, source, .. } => match source.raw_os_error() {
            Some(errno) => {
                let reason = source.to_string();
                let reason = reason.split(" (os error").next().unwrap_or(&reason).to_string();
                PyOSError::new_err((errno, reason, path.clone()))
            }
            None => PyOSError::new_err(error.to_string()),
        },
        StoreError::Remote { operation, path, refusal, reason } => {
            let message = format!("cannot {operation} {path}: {reason}");
            match refusal {
                Refusal::Denied => PyPermissionError::new_err(message),
                Refusal::Missing => PyFileNotFoundError::new_err(message),
                Refusal::TimedOut => PyTimeoutError::new_err(message),
                Refusal::Unreachable => PyConnectionError::new_err(message),
                Refusal::TooLong => PyOSError::new_err(format!(
                    "{message}; config.max_chunk_bytes (ZARRIX_MAX_CHUNK_BYTES) says how long a \
                     value on a server may be"
                )),
                Refusal::Failed => PyOSError::new_err(message),
            }
        }
        StoreError::Interrupted => crate::interrupt::raised(),
        StoreError::InvalidKey { .. } => named(py, "InvalidKeyError", &error.to_string()),
        StoreError::ReadOnly { .. } => named(py, "ReadOnlyError", &error.to_string()),
        StoreError::Corrupt { .. } => named(py, "CorruptChunkError", &error.to_string()),
        StoreError::TooLong { .. } => {
            let message = format!(
                "{error}; the limit is config.max_document_bytes (ZARRIX_MAX_DOCUMENT_BYTES), and \
                 16 times that for a change of consolidated metadata; raise it if this is intended"
            );
            named(py, "MetadataError", &message)
        }
        StoreError::Unconditional { .. } => named(py, "NotAtomicError", &error.to_string()),
        StoreError::VersionLost { .. } => named(py, "VersionLostError", &error.to_string()),
        StoreError::Busy { .. } => named(py, "StoreBusyError", &error.to_string()),
        StoreError::Closed { .. } => PyValueError::new_err(error.to_string()),
        StoreError::Damaged { .. } => named(py, "CorruptStoreError", &error.to_string()),
        StoreError::Foreign { source, .. } => python_error(py, source.as_ref())
            .unwrap_or_else(|| PyRuntimeError::new_err(error.to_string())),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}

/// The error of a chunk whose Python codec raised: the exception is its cause, unless it is an
/// exit.
fn from_chunk(py: Python<'_>, message: &str, source: &CodecError, class: &str) -> PyErr {
    let (CodecError::Foreign { source, .. } | CodecError::ForeignEncode { source, .. }) = source
    else {
        return named(py, class, message);
    };
    match python_error(py, source.as_ref()) {
        Some(cause) if cause.is_instance_of::<PyException>(py) => {
            let raised = named(py, class, message);
            raised.set_cause(py, Some(cause));
            raised
        }
        Some(exit) => exit,
        None => named(py, class, message),
    }
}

pub fn from_engine(py: Python<'_>, error: &EngineError) -> PyErr {
    from_array(py, error, "")
}

/// The error of an array; `place` names it and its store.
pub fn from_array(py: Python<'_>, error: &EngineError, place: &str) -> PyErr {
    let message = if place.is_empty() { error.to_string() } else { format!("{place}: {error}") };
    if error.is_out_of_memory() {
        return PyMemoryError::new_err(message);
    }
    match error {
        // Limits in Python apply to documents, those of the engine to chunks.
        EngineError::Store(StoreError::TooLong { .. } | StoreError::Corrupt { .. }) => {
            named(py, "CorruptChunkError", &message)
        }
        EngineError::Store(error) => from_store(py, error),
        EngineError::CorruptChunk { source, .. } => {
            from_chunk(py, &message, source, "CorruptChunkError")
        }
        EngineError::Codec { source: CodecError::Unsupported { .. }, .. } => {
            named(py, "UnknownCodecError", &message)
        }
        EngineError::Codec { source: CodecError::Lossy { .. }, .. } => {
            named(py, "LossyWriteError", &message)
        }
        EngineError::Codec { source, .. } => from_chunk(py, &message, source, "CodecError"),
        EngineError::Layout { .. } | EngineError::Configuration(_) => {
            named(py, "MetadataError", &message)
        }
        EngineError::Gone { .. } => named(py, "ArrayNotFoundError", &message),
        EngineError::MissingChunk { .. } => named(py, "ChunkNotFoundError", &message),
        EngineError::Caller(source) => {
            python_error(py, source.as_ref()).unwrap_or_else(|| PyRuntimeError::new_err(message))
        }
        EngineError::Selection(_) => named(py, "SelectionError", &error.to_string()),
        _ => PyRuntimeError::new_err(message),
    }
}
