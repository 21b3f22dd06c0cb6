//! Where a remote store is, and what opens it.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};

use super::cache::Cache;
use super::pace::Pace;
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
/// What a cache may take of the disk, where the options do not say.
const CACHE_BYTES: u64 = 10 << 30;
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
}

/// A bucket of a service, with the options that open it, some of them secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// The kind of server.
    pub service: Service,
    /// Bucket or container; of a web server, its scheme, host and port.
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
        };
        let slash = if name.is_empty() { "" } else { "/" };
        format!("{scheme}{}{slash}{name}", self.bucket)
    }

    /// Whether the server is the one that the service is named after, and no other of its kind.
    pub(super) fn is_the_services_own(&self) -> bool {
        self.service != Service::Http
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
        let secrets = self.options.iter().filter(|(name, _)| !is_public(name));
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
        Ok(Some(Cache::new(folder, bytes)))
    }

    fn retry(&self) -> Result<RetryConfig> {
        let text = self.options.get(RETRIES_OPTION).map_or("20", String::as_str);
        let max_retries = text.parse().map_err(|_| self.invalid("max_retries is a number"))?;
        let (init_backoff, max_backoff) = (Duration::from_millis(50), Duration::from_secs(5));
        let backoff = BackoffConfig { init_backoff, max_backoff, base: 2.0 };
        Ok(RetryConfig { backoff, max_retries, retry_timeout: self.timeout()? })
    }

    fn client_options(&self) -> Result<ClientOptions> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.options {
            let Some(name) = name.strip_prefix(HEADER_OPTION) else { continue };
            let name = HeaderName::try_from(name).map_err(|_| self.invalid("a header's name"))?;
            let value = HeaderValue::try_from(value);
            headers.insert(name, value.map_err(|_| self.invalid("a header's value"))?);
        }
        Ok(ClientOptions::new()
            .with_default_headers(headers)
            .with_user_agent(HeaderValue::from_static(concat!(
                "zarrix/",
                env!("CARGO_PKG_VERSION")
            )))
            .with_timeout_disabled()
            .with_connect_timeout(PATIENCE.min(Duration::from_secs(5)).min(self.timeout()?))
            .with_pool_idle_timeout(Duration::from_secs(30)))
    }

    /// A client for the bucket; no connection is made yet.
    pub(super) fn connect(&self, pace: &Arc<Pace>) -> Result<Arc<dyn ObjectStore>> {
        let patience = PATIENCE.min(self.timeout()?);
        let connector = Connector { pace: Arc::clone(pace), patience };
        let (client, retry) = (self.client_options()?, self.retry()?);
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
        Ok(match self.service {
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
            Service::Http => build!(HttpBuilder::new().with_url(&self.bucket), ClientConfigKey),
        })
    }
}
