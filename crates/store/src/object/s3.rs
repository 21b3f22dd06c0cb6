//! Requests of S3 that the client above does not have: object versions, copies under conditions, and
//! the settings of a bucket.

use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use http::{HeaderName, Method, StatusCode};
use http_body_util::BodyExt;
use object_store::aws::{
    AmazonS3Builder, AmazonS3ConfigKey, AwsAuthorizer, AwsCredential, AwsCredentialProvider,
};
use object_store::client::{HttpClient, HttpConnector, HttpRequest, HttpRequestBody};
use object_store::{ClientConfigKey, ClientOptions};

use super::backoff::pause;
use super::bucket::Bucket;
use super::connect::terms;
use super::credentials::{Credentials, Typed};
use super::pace::Pace;
use super::transport::Connector;
use crate::error::{Refusal, Result, StoreError};

/// A bucket of S3, for requests that are signed here.
pub(super) struct S3 {
    bucket: Bucket,
    http: HttpClient,
    /// The address of the bucket.
    address: String,
    region: String,
    credentials: AwsCredentialProvider,
    /// The same, if they expire.
    expiring: Option<Arc<Credentials>>,
    is_signed: bool,
}

/// A complete answer.
pub(super) struct Answer {
    pub status: StatusCode,
    pub body: String,
}

impl S3 {
    pub(super) fn new(
        bucket: &Bucket,
        pace: &Arc<Pace>,
        expiring: Option<&Arc<Credentials>>,
    ) -> Result<Self> {
        let failed = |error: object_store::Error| bucket.invalid(&error.to_string());
        let connector = || -> Result<Connector> {
            let (pace, response_timeout) = (Arc::clone(pace), bucket.response_timeout()?);
            Ok(Connector { pace, response_timeout, terms: terms(bucket, expiring)? })
        };
        let client = ClientOptions::new().with_timeout_disabled();
        let mut builder = AmazonS3Builder::new()
            .with_bucket_name(&bucket.name)
            .with_client_options(client.clone())
            .with_http_connector(connector()?);
        if let Some(expiring) = expiring {
            builder = builder.with_credentials(Typed::<AwsCredential>::new(expiring));
        }
        for (name, value) in bucket.service_options() {
            let key: AmazonS3ConfigKey = name
                .parse()
                .map_err(|_| bucket.invalid(&format!("there is no option {name:?}")))?;
            builder = builder.with_config(key, value);
        }
        let is_set = |key| builder.get_config_value(&key).is_some_and(|value| value == "true");
        let value = |key| builder.get_config_value(&key);
        let region = value(AmazonS3ConfigKey::Region).unwrap_or_else(|| "us-east-1".to_owned());
        let is_virtual = is_set(AmazonS3ConfigKey::VirtualHostedStyleRequest);
        let name = &bucket.name;
        let address = match (value(AmazonS3ConfigKey::Endpoint), is_virtual) {
            (Some(endpoint), true) => endpoint.trim_end_matches('/').to_owned(),
            (Some(endpoint), false) => format!("{}/{name}", endpoint.trim_end_matches('/')),
            (None, true) => format!("https://{name}.s3.{region}.amazonaws.com"),
            (None, false) => format!("https://s3.{region}.amazonaws.com/{name}"),
        };
        let is_signed = !is_set(AmazonS3ConfigKey::SkipSignature);
        let allows_http = is_set(AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp));
        let http = connector()?.connect(&client.with_allow_http(allows_http)).map_err(failed)?;
        let credentials = Arc::clone(builder.build().map_err(failed)?.credentials());
        let (bucket, expiring) = (bucket.clone(), expiring.cloned());
        Ok(Self { bucket, http, address, region, credentials, expiring, is_signed })
    }

    /// Sends a request about the value `name`, or about the bucket if it is empty, until the server
    /// answers it or the time is over.
    pub(super) async fn ask(
        &self,
        operation: &'static str,
        method: Method,
        name: &str,
        query: &[(&str, &str)],
        headers: &[(HeaderName, String)],
    ) -> Result<Answer> {
        let until = Instant::now() + self.bucket.timeout()?;
        let slash = if name.is_empty() { "" } else { "/" };
        let mut address = format!("{}{slash}{}", self.address, encoded(name, true));
        for (index, (key, value)) in query.iter().enumerate() {
            let mark = if index == 0 { '?' } else { '&' };
            let _ = write!(address, "{mark}{key}={}", encoded(value, false));
        }
        let most = self.bucket.max_retries()?;
        let mut turn = 0;
        loop {
            let problem = match self.once(&method, &address, headers).await {
                Ok(answer) if !is_passing(answer.status) => return Ok(answer),
                Ok(answer) => (Refusal::Failed, told(&answer)),
                Err((refusal, reason)) => (refusal, reason),
            };
            if turn >= most || Instant::now() > until || problem.0 == Refusal::Denied {
                return Err(self.failed(operation, name, problem.0, &problem.1));
            }
            tokio::time::sleep(pause(turn)).await;
            turn += 1;
        }
    }

    /// The error of an answer that says no.
    pub(super) fn refused(
        &self,
        operation: &'static str,
        name: &str,
        answer: &Answer,
    ) -> StoreError {
        let refusal = match answer.status {
            StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => Refusal::Denied,
            StatusCode::NOT_FOUND => Refusal::Missing,
            _ => Refusal::Failed,
        };
        self.failed(operation, name, refusal, &told(answer))
    }

    fn failed(
        &self,
        operation: &'static str,
        name: &str,
        refusal: Refusal,
        reason: &str,
    ) -> StoreError {
        let mut secrets = self.bucket.secrets();
        secrets.extend(self.expiring.iter().flat_map(|expiring| expiring.secrets()));
        let hidden = |text: String, secret: &String| text.replace(secret, "***");
        let reason = secrets.iter().fold(reason.to_owned(), hidden);
        StoreError::Remote { operation, path: self.bucket.url(name), refusal, reason }
    }

    async fn once(
        &self,
        method: &Method,
        address: &str,
        headers: &[(HeaderName, String)],
    ) -> std::result::Result<Answer, (Refusal, String)> {
        let failed = |error: &dyn std::fmt::Display| (Refusal::Failed, error.to_string());
        let mut request = http::Request::builder().method(method).uri(address);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let body = HttpRequestBody::empty();
        let mut request: HttpRequest = request.body(body).map_err(|error| failed(&error))?;
        if self.is_signed {
            let credential = self.credentials.get_credential().await;
            let credential = credential.map_err(|error| (Refusal::Denied, error.to_string()))?;
            AwsAuthorizer::new(&credential, "s3", &self.region)
                .try_authorize(&mut request, None)
                .map_err(|error| failed(&error))?;
        }
        let unreachable = |error: &dyn std::fmt::Display| (Refusal::Unreachable, error.to_string());
        let response = self.http.execute(request).await.map_err(|error| unreachable(&error))?;
        let status = response.status();
        let body = response.into_body().collect().await.map_err(|error| unreachable(&error))?;
        let body = String::from_utf8_lossy(&body.to_bytes()).into_owned();
        Ok(Answer { status, body })
    }
}

fn is_passing(status: StatusCode) -> bool {
    status.is_server_error() && status != StatusCode::NOT_IMPLEMENTED
        || matches!(status.as_u16(), 408 | 429)
}

fn told(answer: &Answer) -> String {
    let code = element(&answer.body, "Code").unwrap_or_default();
    let message = element(&answer.body, "Message").unwrap_or_default();
    format!("{}: {code}: {message}", answer.status).trim_end_matches([':', ' ']).to_owned()
}

/// A name as it is in an address; `keeps_slashes` for a path.
pub(super) fn encoded(text: &str, keeps_slashes: bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if is_plain || keeps_slashes && byte == b'/' {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// The text of the first element of this name, without entities.
pub(super) fn element(text: &str, name: &str) -> Option<String> {
    let rest = text.split_once(&format!("<{name}>"))?.1;
    Some(plain(rest.split_once(&format!("</{name}>"))?.0))
}

/// The content of every element of these names, in their order, with the name.
pub(super) fn elements<'a, 'n>(text: &'a str, names: &[&'n str]) -> Vec<(&'n str, &'a str)> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let begin = |name: &'n str| Some((rest.find(&format!("<{name}>"))?, name));
        let Some((start, name)) = names.iter().filter_map(|name| begin(name)).min() else { break };
        let inside = &rest[start + name.len() + 2..];
        let Some((content, after)) = inside.split_once(&format!("</{name}>")) else { break };
        found.push((name, content));
        rest = after;
    }
    found
}

/// Text with the entities of XML replaced by what they stand for.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        plain.push_str(before);
        let Some((entity, tail)) = after.split_once(';') else {
            plain.push('&');
            rest = after;
            continue;
        };
        let number = entity.strip_prefix('#').and_then(|digits| match digits.strip_prefix('x') {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => digits.parse().ok(),
        });
        match (entity, number.and_then(char::from_u32)) {
            ("amp", _) => plain.push('&'),
            ("lt", _) => plain.push('<'),
            ("gt", _) => plain.push('>'),
            ("quot", _) => plain.push('"'),
            ("apos", _) => plain.push('\''),
            (_, Some(letter)) => plain.push(letter),
            _ => {
                plain.push('&');
                plain.push_str(entity);
                plain.push(';');
            }
        }
        rest = tail;
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_found_in_their_order_and_without_entities() {
        let text = "<R><V><K>a&amp;b</K></V><D><K>c</K></D><V><K>&#x64;&#101;</K></V></R>";
        let found: Vec<_> = elements(text, &["V", "D"])
            .into_iter()
            .map(|(name, inside)| (name, element(inside, "K").unwrap_or_default()))
            .collect();
        let expected = [("V", "a&b"), ("D", "c"), ("V", "de")];
        assert_eq!(found, expected.map(|(name, key)| (name, key.to_owned())));
        assert_eq!(plain("a & b &unknown; &quot;"), "a & b &unknown; \"");
    }

    #[test]
    fn names_are_encoded_for_an_address() {
        assert_eq!(encoded("a/b c\u{e9}+", true), "a/b%20c%C3%A9%2B");
        assert_eq!(encoded("a/b", false), "a%2Fb");
    }
}
