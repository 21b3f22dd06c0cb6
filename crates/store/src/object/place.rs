//! Where a remote store is, and what opens it.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};

use super::cache::Cache;
use super::hdfs::{Hdfs, Patience, Terms};
use super::pace::Pace;
use super::redirect;
use super::transport::Connector;
use crate::{Result, StoreError};

/// How long a request goes on being repeated, where the options do not say.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Longest that one exchange stands still before it is given up and repeated.
const PATIENCE: Duration = Duration::from_secs(20);
/// Options with these names are ours; all others are the service's.
const TIMEOUT_OPTION: &str = "timeout";
const RETRIES_OPTION: &str = "max_retries";
const HEADER_OPTION: &str = "header:";
const CACHE_OPTION: &str = "cache";
const CACHE_BYTES_OPTION: &str = "cache_bytes";
const ALLOW_HTTP_OPTION: &str = "allow_http";
const LOCKS_OPTION: &str = "locks";
/// What a cache may take of the disk, where the options do not say.
const CACHE_BYTES: u64 = 10 << 30;
/// Of HDFS; its other options are properties of Hadoop by their own names.
const USER_OPTION: &str = "user";
const REPLICATION_OPTION: &str = "replication";
/// Namenodes that are asked one after the other before a request counts as failed.
const FAILOVERS: u32 = 3;
/// Options of the services that name another server than their own.
const ENDPOINT_OPTIONS: [&str; 3] = ["aws_endpoint", "google_base_url", "azure_endpoint"];

/// The kinds of servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Service {
    /// Amazon's S3, and what speaks its protocol.
    S3,
    /// Google Cloud Storage.
    Gcs,
    /// Azure Blob Storage.
    Azure,
    /// Any web server; its values are only read.
    Http,
    /// Hadoop's distributed file system.
    Hdfs,
}

/// A client, and the same as a file system where it is one.
type Connected = (Arc<dyn ObjectStore>, Option<Arc<Hdfs>>);

/// A bucket of a service, with the options that open it, some of them secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// The kind of server.
    pub service: Service,
    /// Bucket or container; of a web server, its scheme, host and port; of a file system, host and
    /// port of its namenode.
    pub bucket: String,
    /// By the service's own names.
    pub options: BTreeMap<String, String>,
}

impl std::fmt::Debug for Place {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.url(""))
    }
}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.service, &self.bucket).hash(state);
    }
}

impl Place {
    /// What a person calls the value of `name`; no option is in it.
    #[must_use]
    pub fn url(&self, name: &str) -> String {
        let scheme = match self.service {
            Service::S3 => "s3://",
            Service::Gcs => "gs://",
            Service::Azure => "az://",
            Service::Http => "",
            Service::Hdfs => "hdfs://",
        };
        let slash = if name.is_empty() { "" } else { "/" };
        format!("{scheme}{}{slash}{name}", self.bucket)
    }

    /// Whether the server is the one that the service is named after, and no other of its kind.
    pub(super) fn is_the_services_own(&self) -> bool {
        !matches!(self.service, Service::Http | Service::Hdfs)
            && !ENDPOINT_OPTIONS.iter().any(|name| self.options.contains_key(*name))
    }

    /// Equal for two places that hold the same values, whoever opens them.
    pub(super) fn id(&self, name: &str) -> String {
        let names = ENDPOINT_OPTIONS.iter().chain(&["account_name"]);
        let server: Vec<&str> =
            names.filter_map(|name| Some(self.options.get(*name)?.as_str())).collect();
        format!("{} {}", server.join(" "), self.url(name)).trim_start().to_owned()
    }

    /// What must not appear in any message.
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
        let has_any = self.service != Service::Hdfs;
        let secrets = self.options.iter().filter(|(name, _)| has_any && !is_public(name));
        secrets.map(|(_, value)| value.clone()).filter(|value| value.len() >= 4).collect()
    }

    fn invalid(&self, reason: &str) -> StoreError {
        let source = std::io::Error::new(std::io::ErrorKind::InvalidInput, reason);
        StoreError::Io { operation: "open", path: self.url(""), source }
    }

    /// How long a request goes on being repeated.
    pub(super) fn timeout(&self) -> Result<Duration> {
        let Some(text) = self.options.get(TIMEOUT_OPTION) else { return Ok(TIMEOUT) };
        let seconds = text.parse().ok().filter(|seconds| *seconds > 0.0 && *seconds <= 86_400.0);
        let seconds = seconds.ok_or_else(|| self.invalid("timeout is a number of seconds"))?;
        Ok(Duration::from_secs_f64(seconds))
    }

    /// The folder of answers that is to be used, if one is.
    pub(super) fn cache(&self) -> Result<Option<Cache>> {
        let Some(folder) = self.options.get(CACHE_OPTION) else { return Ok(None) };
        let bytes = self.options.get(CACHE_BYTES_OPTION).map(|text| text.parse());
        let bytes = bytes.unwrap_or(Ok(CACHE_BYTES));
        let bytes = bytes.map_err(|_| self.invalid("cache_bytes is a number of bytes"))?;
        Cache::new(folder, bytes).map(Some).map_err(|reason| self.invalid(&reason))
    }

    /// The folder of lock files that all processes of a user share.
    pub(super) fn locks(&self) -> Option<&Path> {
        self.options.get(LOCKS_OPTION).map(Path::new)
    }

    fn max_retries(&self) -> Result<u32> {
        let text = self.options.get(RETRIES_OPTION).map_or("20", String::as_str);
        text.parse().map_err(|_| self.invalid("max_retries is a number"))
    }

    /// How long one exchange may stand still.
    fn patience(&self) -> Result<Duration> {
        Ok(PATIENCE.min(self.timeout()?))
    }

    /// What opens the file system; options that are not ours are properties of Hadoop.
    fn hdfs(&self, pace: &Arc<Pace>) -> Result<Hdfs> {
        let patience = Patience {
            whole: self.timeout()?,
            attempt: self.patience()?,
            retries: self.max_retries()?,
        };
        let silence = patience.attempt.as_millis().to_string();
        let mut terms = Terms {
            url: self.url(""),
            user: None,
            replication: None,
            // The crate's own patience: as long as ours, and so that ours decides what comes then.
            properties: vec![
                ("dfs.client.socket-timeout".to_owned(), silence),
                ("dfs.client.failover.max.attempts".to_owned(), FAILOVERS.to_string()),
                ("dfs.client.failover.sleep.base.millis".to_owned(), "50".to_owned()),
            ],
            patience,
        };
        for (name, value) in &self.options {
            match name.as_str() {
                TIMEOUT_OPTION | RETRIES_OPTION | CACHE_OPTION | CACHE_BYTES_OPTION
                | LOCKS_OPTION => {}
                USER_OPTION => terms.user = Some(value.clone()),
                REPLICATION_OPTION => {
                    let copies = value.parse().ok().filter(|copies| (1..=512).contains(copies));
                    let copies = copies.ok_or_else(|| self.invalid("replication is from 1 to 512"));
                    terms.replication = Some(copies?);
                }
                property => terms.properties.push((property.to_owned(), value.clone())),
            }
        }
        Hdfs::new(terms, pace).map_err(|error| self.invalid(&error.to_string()))
    }

    fn retry(&self) -> Result<RetryConfig> {
        let max_retries = self.max_retries()? as usize;
        let (init_backoff, max_backoff) = (Duration::from_millis(50), Duration::from_secs(5));
        let backoff = BackoffConfig { init_backoff, max_backoff, base: 2.0 };
        Ok(RetryConfig { backoff, max_retries, retry_timeout: self.timeout()? })
    }

    /// What opens connections for requests with the caller's headers.
    fn terms(&self) -> Result<redirect::Terms> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.options {
            let Some(name) = name.strip_prefix(HEADER_OPTION) else { continue };
            let name = HeaderName::try_from(name).map_err(|_| self.invalid("a header's name"))?;
            let value = HeaderValue::try_from(value);
            headers.insert(name, value.map_err(|_| self.invalid("a header's value"))?);
        }
        Ok(redirect::Terms {
            headers,
            agent: HeaderValue::from_static(concat!("zarrix/", env!("CARGO_PKG_VERSION"))),
            connect_timeout: PATIENCE.min(Duration::from_secs(5)).min(self.timeout()?),
            idle_timeout: Duration::from_secs(30),
            allow_http: self.options.get(ALLOW_HTTP_OPTION).is_some_and(|value| value == "true"),
        })
    }

    /// A client for the bucket; no connection is made yet.
    pub(super) fn connect(&self, pace: &Arc<Pace>) -> Result<Connected> {
        let patience = self.patience()?;
        let (terms, retry) = (self.terms()?, self.retry()?);
        let client = ClientOptions::new()
            .with_user_agent(terms.agent.clone())
            .with_timeout_disabled()
            .with_connect_timeout(terms.connect_timeout)
            .with_pool_idle_timeout(terms.idle_timeout);
        let connector = Connector { pace: Arc::clone(pace), patience, terms };
        let ours = |name: &str| {
            [TIMEOUT_OPTION, RETRIES_OPTION, CACHE_OPTION, CACHE_BYTES_OPTION].contains(&name)
                || name.starts_with(HEADER_OPTION)
        };
        let options = self.options.iter().filter(|(name, _)| !ours(name));
        let unknown = |name: &str| self.invalid(&format!("there is no option {name:?}"));
        let failed = |error: object_store::Error| self.invalid(&error.to_string());
        macro_rules! build {
            ($builder:expr, $key:ty) => {{
                let mut builder = $builder
                    .with_client_options(client)
                    .with_retry(retry)
                    .with_http_connector(connector);
                for (name, value) in options {
                    let key: $key = name.parse().map_err(|_| unknown(name))?;
                    builder = builder.with_config(key, value);
                }
                Arc::new(builder.build().map_err(failed)?)
            }};
        }
        let store: Arc<dyn ObjectStore> = match self.service {
            Service::S3 => {
                build!(AmazonS3Builder::new().with_bucket_name(&self.bucket), AmazonS3ConfigKey)
            }
            Service::Gcs => build!(
                GoogleCloudStorageBuilder::new().with_bucket_name(&self.bucket),
                GoogleConfigKey
            ),
            Service::Azure => build!(
                MicrosoftAzureBuilder::new().with_container_name(&self.bucket),
                AzureConfigKey
            ),
            Service::Hdfs => {
                let hdfs = Arc::new(self.hdfs(pace)?);
                return Ok((Arc::clone(&hdfs) as Arc<dyn ObjectStore>, Some(hdfs)));
            }
            Service::Http => build!(HttpBuilder::new().with_url(&self.bucket), ClientConfigKey),
        };
        Ok((store, None))
    }
}
