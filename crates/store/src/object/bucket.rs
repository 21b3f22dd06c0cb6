//! The address of a remote store, and the options that open it; `connect` makes a client from
//! these.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use super::protocol::Protocol;
use super::source::CredentialSource;
use crate::error::{Result, StoreError};

/// How long a request is retried, if the options do not say.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Longest time without progress of one exchange before it is abandoned and retried.
pub(super) const RESPONSE_TIMEOUT: Duration = Duration::from_secs(20);
/// Options with these names are ours; all others belong to the service.
const TIMEOUT_OPTION: &str = "timeout";
const RETRIES_OPTION: &str = "max_retries";
pub(super) const HEADER_OPTION: &str = "header:";
pub(super) const CACHE_OPTION: &str = "cache";
pub(super) const CACHE_BYTES_OPTION: &str = "cache_bytes";
const FROZEN_OPTION: &str = "frozen";
const LOCKS_OPTION: &str = "locks";
/// Options of the services that name another server instead of the service's own.
const ENDPOINT_OPTIONS: [&str; 3] = ["aws_endpoint", "google_base_url", "azure_endpoint"];

/// The kinds of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// Amazon's S3, and servers that speak its protocol.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
    Azure,
    /// Any web server; read-only.
    Http,
    /// A server whose protocol another crate speaks.
    Other(&'static Protocol),
}

/// A bucket of a service, with the options that open it; some of them are secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Bucket {
    /// The kind of server.
    pub service: Service,
    /// The bucket or container; of a web server, its scheme, host and port; of a file system, the
    /// host and port of its namenode.
    pub name: String,
    /// The options under the service's own names.
    pub options: BTreeMap<String, String>,
    /// The function that returns credentials, if they expire.
    pub credentials: Option<CredentialSource>,
}

impl std::fmt::Debug for Bucket {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.url(""))
    }
}

impl Hash for Bucket {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.service, &self.name).hash(state);
    }
}

impl Bucket {
    /// The name of the value `name` for messages; it contains no option.
    #[must_use]
    pub fn url(&self, name: &str) -> String {
        let scheme = match self.service {
            Service::S3 => "s3://",
            Service::Gcs => "gs://",
            Service::Azure => "az://",
            Service::Http => "",
            Service::Other(protocol) => protocol.scheme,
        };
        let slash = if name.is_empty() { "" } else { "/" };
        format!("{scheme}{}{slash}{name}", self.name)
    }

    /// Whether the server is the service's own, and not another one with the same protocol.
    pub(super) fn is_the_services_own(&self) -> bool {
        !matches!(self.service, Service::Http | Service::Other(_))
            && !ENDPOINT_OPTIONS.iter().any(|name| self.options.contains_key(*name))
    }

    /// Equal for two buckets with the same values.
    pub(super) fn id(&self, name: &str) -> String {
        let names = ENDPOINT_OPTIONS.iter().chain(&["account_name"]);
        let server: Vec<&str> =
            names.filter_map(|name| Some(self.options.get(*name)?.as_str())).collect();
        format!("{} {}", server.join(" "), self.url(name)).trim_start().to_owned()
    }

    /// The strings that must not appear in any message.
    pub(super) fn secrets(&self) -> Vec<String> {
        let is_public = |name: &str| {
            [
                "region", "endpoint", "base_url", "timeout", "retries", "http", "style", "skip",
                "cache",
            ]
            .iter()
            .any(|word| name.contains(word))
                || name == "account_name"
        };
        let has_any = match self.service {
            Service::Other(protocol) => protocol.has_secret_options,
            _ => true,
        };
        let secrets = self.options.iter().filter(|(name, _)| has_any && !is_public(name));
        secrets.map(|(_, value)| value.clone()).filter(|value| value.len() >= 4).collect()
    }

    pub(super) fn invalid(&self, reason: &str) -> StoreError {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, reason);
        StoreError::Io { operation: "open", path: self.url(""), source }
    }

    /// How long a request is retried.
    pub(super) fn timeout(&self) -> Result<Duration> {
        let Some(text) = self.options.get(TIMEOUT_OPTION) else { return Ok(TIMEOUT) };
        let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 86_400.0);
        let seconds = seconds.ok_or_else(|| self.invalid("timeout is a number of seconds"))?;
        Ok(Duration::from_secs_f64(seconds))
    }

    /// Whether the user has promised that no value changes; its value does not matter.
    pub(super) fn is_frozen(&self) -> bool {
        self.options.contains_key(FROZEN_OPTION)
    }

    /// The folder of lock files that all processes of a user share.
    pub(super) fn locks(&self) -> Option<&Path> {
        self.options.get(LOCKS_OPTION).map(Path::new)
    }

    pub(super) fn max_retries(&self) -> Result<u32> {
        let text = self.options.get(RETRIES_OPTION).map_or("20", String::as_str);
        text.parse().map_err(|_| self.invalid("max_retries is a number"))
    }

    /// How long one exchange may make no progress.
    pub(super) fn response_timeout(&self) -> Result<Duration> {
        Ok(RESPONSE_TIMEOUT.min(self.timeout()?))
    }

    /// The options that belong to the service and not to us.
    pub(super) fn service_options(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_ours = |name: &str| {
            [
                TIMEOUT_OPTION,
                RETRIES_OPTION,
                CACHE_OPTION,
                CACHE_BYTES_OPTION,
                FROZEN_OPTION,
                LOCKS_OPTION,
            ]
            .contains(&name)
                || name.starts_with(HEADER_OPTION)
        };
        let options = self.options.iter().filter(move |(name, _)| !is_ours(name));
        options.map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
