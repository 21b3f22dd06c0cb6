//! The errors of HDFS as errors of stores: absent, denied, transient, final.

use std::io;

use hdfs_native::HdfsError;
use object_store::Error;
use object_store::client::{HttpError, HttpErrorKind};
use zarrix_codec::memory::Refused;

/// The name of the file system in errors and messages.
pub(crate) const STORE: &str = "HDFS";
/// Exceptions of the server, by the last part of their class: nothing is stored at a path.
const ABSENT: [&str; 2] = ["FileNotFoundException", "ParentNotDirectoryException"];
const DENIED: [&str; 4] = [
    "AccessControlException",
    "AuthorizationException",
    "SaslException",
    "SecretManager$InvalidToken",
];
/// The server is about to start or to stop, or waits for its datanodes.
const PASSING: [&str; 6] = [
    "StandbyException",
    "RetriableException",
    "SafeModeException",
    "NotReplicatedYetException",
    "RetryStartFileException",
    "ObserverRetryOnActiveException",
];
/// Part of the message of a plain `IOException` while datanodes are missing.
const NO_DATANODES: &str = "could only be written to";

/// Why a call failed.
#[derive(Debug)]
pub(crate) enum Fault {
    Hdfs(HdfsError),
    /// Already an error of stores.
    Told(Error),
    /// The value was replaced while it was read or written.
    Changed,
    /// No complete response within the time limit.
    Late(HttpError),
}

impl From<HdfsError> for Fault {
    fn from(error: HdfsError) -> Self {
        Self::Hdfs(error)
    }
}

impl From<Refused> for Fault {
    fn from(error: Refused) -> Self {
        Self::Told(Error::Generic { store: STORE, source: Box::new(error) })
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        Self::Told(error)
    }
}

fn class(error: &HdfsError) -> Option<&str> {
    match error {
        HdfsError::RPCError(class, _) | HdfsError::FatalRPCError(class, _) => {
            class.rsplit('.').next()
        }
        _ => None,
    }
}

/// Whether an error says that nothing is stored, which is a valid result.
pub(crate) fn is_absent(error: &HdfsError) -> bool {
    matches!(error, HdfsError::FileNotFound(_))
        || class(error).is_some_and(|class| ABSENT.contains(&class))
}

fn is_denied(error: &HdfsError) -> bool {
    matches!(
        error,
        HdfsError::SASLError(_) | HdfsError::GSSAPIError(..) | HdfsError::NoSASLMechanism
    ) || class(error).is_some_and(|class| DENIED.contains(&class))
}

impl Fault {
    /// The error of a range that begins after the end of a value of `size` bytes, in the terms of
    /// HTTP.
    pub(crate) fn beyond_end(size: u64) -> Self {
        let reason = format!("status code: 416 Range Not Satisfiable: the value has {size} bytes");
        Self::Told(Error::Generic { store: STORE, source: reason.into() })
    }

    /// The error of a listing that begins again.
    pub(crate) fn endless(path: &str) -> Self {
        let reason = format!("the listing would never end: the server sent {path:?} twice");
        Self::Told(Error::Generic { store: STORE, source: reason.into() })
    }

    /// Whether a retry may succeed.
    pub(crate) fn is_passing(&self) -> bool {
        match self {
            Self::Changed | Self::Late(_) => true,
            Self::Told(_) => false,
            Self::Hdfs(error) => match error {
                HdfsError::IOError(_)
                | HdfsError::DataTransferError(_)
                | HdfsError::BlocksNotFound(_)
                | HdfsError::ChecksumError
                | HdfsError::OperationFailed(_)
                | HdfsError::FatalRPCError(..) => !is_denied(error),
                HdfsError::RPCError(_, message) => {
                    class(error).is_some_and(|class| PASSING.contains(&class))
                        || message.contains(NO_DATANODES)
                }
                _ => false,
            },
        }
    }

    /// The error of a call on `path`.
    pub(crate) fn at(self, path: &str) -> Error {
        let error = match self {
            Self::Told(error) => return error,
            Self::Late(error) => return Error::Generic { store: STORE, source: Box::new(error) },
            Self::Changed => {
                return passing("it was replaced each time that it was read or written");
            }
            Self::Hdfs(error) => error,
        };
        let path = path.to_owned();
        let reason = in_short(&error);
        match &error {
            error if is_absent(error) => Error::NotFound { path, source: reason.into() },
            HdfsError::AlreadyExists(_) => Error::AlreadyExists { path, source: reason.into() },
            error if is_denied(error) => Error::PermissionDenied { path, source: reason.into() },
            HdfsError::IOError(_) | HdfsError::DataTransferError(_) => passing(&reason),
            _ => Error::Generic { store: STORE, source: reason.into() },
        }
    }
}

fn passing(reason: &str) -> Error {
    let error = HttpError::new(HttpErrorKind::Interrupted, io::Error::other(reason.to_owned()));
    Error::Generic { store: STORE, source: Box::new(error) }
}

/// The first line; the rest is a stack trace of the server.
fn in_short(error: &HdfsError) -> String {
    let text = match error {
        HdfsError::RPCError(_, message) | HdfsError::FatalRPCError(_, message) => message.clone(),
        // The message lists all datanodes with many details of each.
        HdfsError::DataTransferError(message) if message.starts_with("All DataNodes failed") => {
            "no datanode with the block responds".to_owned()
        }
        other => other.to_string(),
    };
    let kind = class(error).map_or_else(String::new, |class| format!("{class}: "));
    format!("{kind}{}", text.lines().next().unwrap_or_default().trim())
}
