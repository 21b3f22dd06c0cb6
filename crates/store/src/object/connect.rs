//! Clients for a bucket, each on top of our transport.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey, AwsCredential};
use object_store::azure::{AzureConfigKey, AzureCredential, MicrosoftAzureBuilder};
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::list::PaginatedListStore;
use object_store::{BackoffConfig, ClientConfigKey, ClientOptions, ObjectStore, RetryConfig};

use super::bucket::{
    Bucket, CACHE_BYTES_OPTION, CACHE_OPTION, HEADER_OPTION, RESPONSE_TIMEOUT, Service,
};
use super::cache::Cache;
use super::credentials::{Credentials, Typed};
use super::pace::Pace;
use super::protocol::{FileSystem, Limits, Terms};
use super::redirect;
use super::renewing::Renewing;
use super::transport::Connector;
use crate::error::Result;

const ALLOW_HTTP_OPTION: &str = "allow_http";
/// Disk space of a cache in bytes, if the options do not say.
const CACHE_BYTES: u64 = 10 << 30;

/// A client, and its optional abilities.
pub(super) struct Connected {
    pub store: Arc<dyn ObjectStore>,
    /// The same client, if the server moves and removes directories as a whole.
    pub tree: Option<Arc<dyn FileSystem>>,
    /// The same client, if listings come in pages.
    pub pages: Option<Arc<dyn PaginatedListStore>>,
    /// Its credentials, if they expire.
    pub credentials: Option<Arc<Credentials>>,
}

impl Connected {
    fn paged<S: ObjectStore + PaginatedListStore>(
        store: Arc<S>,
        credentials: Option<Arc<Credentials>>,
    ) -> Self {
        let Some(credentials) = credentials else {
            let pages = Some(Arc::clone(&store) as _);
            return Self { store, tree: None, pages, credentials: None };
        };
        let store = Arc::new(Renewing::new(store, Arc::clone(&credentials)));
        let pages = Some(Arc::clone(&store) as _);
        Self { store, tree: None, pages, credentials: Some(credentials) }
    }
}

/// A client for the bucket; no connection is made yet.
pub(super) fn connect(bucket: &Bucket, pace: &Arc<Pace>) -> Result<Connected> {
    let response_timeout = bucket.response_timeout()?;
    let credentials = Credentials::of(bucket)?;
    let (terms, retry) = (terms(bucket, credentials.as_ref())?, retry(bucket)?);
    let client = ClientOptions::new()
        .with_user_agent(terms.agent.clone())
        .with_timeout_disabled()
        .with_connect_timeout(terms.connect_timeout)
        .with_pool_idle_timeout(terms.idle_timeout);
    let connector = Connector { pace: Arc::clone(pace), response_timeout, terms };
    let options = bucket.service_options();
    let unknown = |name: &str| bucket.invalid(&format!("there is no option {name:?}"));
    let failed = |error: object_store::Error| bucket.invalid(&error.to_string());
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
        ($builder:expr, $key:ty, $credential:ty) => {{
            let mut builder = $builder;
            if let Some(credentials) = &credentials {
                builder = builder.with_credentials(Typed::<$credential>::new(credentials));
            }
            Connected::paged(build!(builder, $key), credentials)
        }};
    }
    Ok(match bucket.service {
        Service::S3 => {
            let builder = AmazonS3Builder::new().with_bucket_name(&bucket.name);
            build!(builder, AmazonS3ConfigKey, AwsCredential)
        }
        Service::Gcs => {
            let builder = GoogleCloudStorageBuilder::new().with_bucket_name(&bucket.name);
            build!(builder, GoogleConfigKey, GcpCredential)
        }
        Service::Azure => {
            let builder = MicrosoftAzureBuilder::new().with_container_name(&bucket.name);
            build!(builder, AzureConfigKey, AzureCredential)
        }
        Service::Http => {
            let store = build!(HttpBuilder::new().with_url(&bucket.name), ClientConfigKey);
            let store: Arc<dyn ObjectStore> = match &credentials {
                Some(credentials) => Arc::new(Renewing::new(store, Arc::clone(credentials))),
                None => store,
            };
            Connected { store, tree: None, pages: None, credentials }
        }
        Service::Other(protocol) => {
            let tree = (protocol.connect)(further(bucket, pace)?);
            let tree = tree.map_err(|reason| bucket.invalid(&reason))?;
            let store = Arc::clone(&tree) as _;
            Connected { store, tree: Some(tree), pages: None, credentials: None }
        }
    })
}

/// The folder of cached responses, if the options name one.
pub(super) fn cache(bucket: &Bucket) -> Result<Option<Cache>> {
    let Some(folder) = bucket.options.get(CACHE_OPTION) else { return Ok(None) };
    let bytes = bucket.options.get(CACHE_BYTES_OPTION).map(|text| text.parse());
    let bytes = bytes.unwrap_or(Ok(CACHE_BYTES));
    let bytes = bytes.map_err(|_| bucket.invalid("cache_bytes is a number of bytes"))?;
    Cache::new(folder, bytes).map(Some).map_err(|reason| bucket.invalid(&reason))
}

/// The terms on which to open a server whose protocol another crate speaks.
fn further(bucket: &Bucket, pace: &Arc<Pace>) -> Result<Terms> {
    let limits = Limits {
        total: bucket.timeout()?,
        attempt: bucket.response_timeout()?,
        retries: bucket.max_retries()?,
    };
    let options = bucket.service_options();
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
    Ok(Terms { url: bucket.url(""), options, limits, pace: Arc::clone(pace) })
}

fn retry(bucket: &Bucket) -> Result<RetryConfig> {
    let max_retries = bucket.max_retries()? as usize;
    let (init_backoff, max_backoff) = (Duration::from_millis(50), Duration::from_secs(5));
    let backoff = BackoffConfig { init_backoff, max_backoff, base: 2.0 };
    Ok(RetryConfig { backoff, max_retries, retry_timeout: bucket.timeout()? })
}

/// The terms on which to open connections for requests with the caller's headers.
pub(super) fn terms(
    bucket: &Bucket,
    credentials: Option<&Arc<Credentials>>,
) -> Result<redirect::Terms> {
    let mut headers = HeaderMap::new();
    for (name, value) in &bucket.options {
        let Some(name) = name.strip_prefix(HEADER_OPTION) else { continue };
        let name = HeaderName::try_from(name).map_err(|_| bucket.invalid("a header's name"))?;
        let value = HeaderValue::try_from(value);
        headers.insert(name, value.map_err(|_| bucket.invalid("a header's value"))?);
    }
    let is_http = bucket.service == Service::Http;
    Ok(redirect::Terms {
        headers,
        credentials: credentials.filter(|_| is_http).cloned(),
        agent: HeaderValue::from_static(concat!("zarrix/", env!("CARGO_PKG_VERSION"))),
        connect_timeout: RESPONSE_TIMEOUT.min(Duration::from_secs(5)).min(bucket.timeout()?),
        idle_timeout: Duration::from_secs(30),
        allow_http: bucket.options.get(ALLOW_HTTP_OPTION).is_some_and(|value| value == "true"),
    })
}
