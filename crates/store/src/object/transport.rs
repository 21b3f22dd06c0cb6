//! One HTTP exchange: within the budget and the time limit, complete or an error.
//!
//! The client above signs, retries and names errors. It cannot detect a body that is shorter than
//! its header says, a server that stalls, or a whole value sent instead of a range. So this module
//! makes the exchange from its first byte to its last: the client gets a complete response in
//! memory, and everything else is an error that it may retry. We rejected streaming bodies: values
//! are decoded as a whole, so decoding would not begin before the end.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use http::header::{CONTENT_LENGTH, CONTENT_RANGE, HOST, RANGE, RETRY_AFTER, SERVER};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use http_body_util::BodyExt;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
    ReqwestConnector,
};
use tokio::time::timeout;
use zarrix_codec::memory::{Grow, with_room};

use super::answers::{Expected, Most};
use super::budget;
use super::failure::{ExchangeFailure, interrupted, late, no_memory, perhaps_passing};
use super::pace::Pace;
use super::pages::ListsByFolder;
use super::redirect::{Terms, WithHeaders};
use crate::process::trace;

/// The slowest rate that does not count as a dead connection, on top of the time limit of a
/// response.
pub const LEAST_BYTES_PER_S: u64 = 64 << 10;
/// Bytes that are read of an error response.
const ERROR_BYTES: u64 = 1 << 20;
/// Longest page of a listing, and longest response that is not a value; S3 sends about 1 MiB.
const LISTING_BYTES: u64 = 256 << 20;
/// Longest pause that a server may ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// Time limit of a machine's own metadata service; most machines have none.
const METADATA_TIME: Duration = Duration::from_secs(2);

/// Makes clients whose exchanges go through this module.
#[derive(Debug)]
pub(super) struct Connector {
    pub pace: Arc<Pace>,
    /// How long one exchange may make no progress.
    pub response_timeout: Duration,
    pub terms: Terms,
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        // Set here, since no other provider may be set: the first connection would panic without
        // one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let inner = ReqwestConnector::default().connect(options)?;
        let with_headers = WithHeaders::new(&self.terms).map_err(|error| {
            object_store::Error::Generic { store: "HTTP", source: Box::new(error) }
        })?;
        let (pace, response_timeout) = (Arc::clone(&self.pace), self.response_timeout);
        Ok(HttpClient::new(Transport { inner, with_headers, pace, response_timeout }))
    }
}

/// Whether a server of this name lists the folder `a/` before the value `a-b`.
fn is_by_folder(server: &HeaderValue) -> bool {
    server.as_bytes().starts_with(b"SeaweedFS")
}

#[derive(Debug)]
struct Transport {
    inner: HttpClient,
    with_headers: Option<WithHeaders>,
    pace: Arc<Pace>,
    response_timeout: Duration,
}

#[async_trait]
impl HttpService for Transport {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        if is_metadata_service(&request) {
            return self.ask_metadata_service(request).await;
        }
        if let Some(client) = &self.with_headers {
            // Before the permit: the function that is called for them may send requests itself.
            client.add_expiring(&mut request).await?;
        }
        let pause = {
            let asked = trace::now();
            let _permit = budget::permit().await;
            let response = self.exchange(request, asked).await?;
            match pause(&response) {
                None => return Ok(response),
                Some(pause) => (pause, response),
            }
        };
        tokio::time::sleep(pause.0).await;
        Ok(pause.1)
    }
}

impl Transport {
    /// `asked` is when the caller began to wait for its permit, if calls are traced.
    async fn exchange(
        &self,
        request: HttpRequest,
        asked: Option<Instant>,
    ) -> Result<HttpResponse, HttpError> {
        let mut traced = asked.map(|asked| Exchange::new(&request, asked));
        let is_get = request.method() == Method::GET;
        let has_body = request.method() != Method::HEAD;
        let range = request.headers().get(RANGE).cloned();
        let most = request.extensions().get::<Most>().map(|most| most.0);
        let expected = Expected::of(&request);
        let sent = hyper::body::Body::size_hint(request.body()).lower();
        let response_timeout =
            self.response_timeout + Duration::from_secs(sent / LEAST_BYTES_PER_S);
        let (begun, under_way) = (Instant::now(), self.pace.begin());
        let answer = timeout(response_timeout, self.send(request)).await;
        let answer = answer.map_err(|_| late("no response", response_timeout))?;
        let (mut parts, body) = answer?.into_parts();
        traced.iter_mut().for_each(|traced| traced.answered = Instant::now());
        if is_get && parts.status.is_success() {
            self.pace.answered(&under_way, begun.elapsed());
        }
        if !has_body {
            return Ok(HttpResponse::from_parts(parts, body));
        }
        let begun = Instant::now();
        let bound = Bound::of(parts.status, range.as_ref().filter(|_| is_get), most);
        let mut bytes = self.collect(body, declared(&parts.headers), bound).await?;
        self.pace.received(bytes.len() as u64, begun.elapsed());
        traced.iter_mut().for_each(|traced| traced.bytes += bytes.len() as u64);
        parts.status = expected.check(parts.status, &bytes)?;
        if is_get && let Some(range) = range {
            match parts.status {
                StatusCode::OK => cut(&range, &mut parts, &mut bytes),
                // Some servers answer with a partial response for an empty value.
                StatusCode::PARTIAL_CONTENT if bytes.is_empty() => {
                    parts.status = StatusCode::RANGE_NOT_SATISFIABLE;
                }
                StatusCode::PARTIAL_CONTENT => check_range(&parts.headers, bytes.len() as u64)?,
                _ => {}
            }
        }
        if parts.headers.get(SERVER).is_some_and(is_by_folder) {
            parts.extensions.insert(ListsByFolder);
        }
        if !parts.headers.contains_key(CONTENT_LENGTH) {
            parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len() as u64));
        }
        Ok(HttpResponse::from_parts(parts, HttpResponseBody::from(bytes)))
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        match &self.with_headers {
            Some(client) => client.execute(request, &self.inner).await,
            None => self.inner.execute(request).await.map_err(perhaps_passing),
        }
    }

    /// The body, if it is complete; `bound` says how to treat a longer one.
    async fn collect(
        &self,
        mut body: HttpResponseBody,
        declared: Option<u64>,
        bound: Bound,
    ) -> Result<Vec<u8>, HttpError> {
        let Bound { most, is_enough } = bound;
        let enough = most.saturating_add(1);
        // A header is only a claim: the memory that is allocated in advance is bounded.
        let expected = declared.unwrap_or(0).min(enough).min(64 << 20);
        let mut bytes = with_room(expected as usize).map_err(no_memory)?;
        let begun = Instant::now();
        loop {
            let frame = timeout(self.response_timeout, body.frame()).await;
            let Some(frame) =
                frame.map_err(|_| late("the response stalled", self.response_timeout))?
            else {
                break;
            };
            let frame =
                frame.map_err(|error| interrupted(format!("the response was cut off: {error}")))?;
            let Ok(data) = frame.into_data() else { continue };
            bytes.append_slice(&data).map_err(no_memory)?;
            if bytes.len() as u64 > most {
                if !is_enough {
                    return Err(ExchangeFailure::TooLong(most).into());
                }
                bytes.truncate(enough as usize);
                return Ok(bytes);
            }
            let due =
                self.response_timeout + Duration::from_secs(bytes.len() as u64 / LEAST_BYTES_PER_S);
            if begun.elapsed() > due {
                return Err(late("the response trickled in", begun.elapsed()));
            }
        }
        match declared {
            Some(declared) if bytes.len() as u64 != declared => {
                let had = bytes.len();
                Err(interrupted(format!("the response has {had} of {declared} bytes")))
            }
            _ => Ok(bytes),
        }
    }

    /// Called if there are no credentials; gives up at once if no response comes.
    async fn ask_metadata_service(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let answer = timeout(METADATA_TIME, self.inner.execute(request)).await;
        match answer {
            Ok(Ok(response)) => Ok(response),
            _ => Err(ExchangeFailure::NoCredentials.into()),
        }
    }
}

/// One exchange in a trace, from when its permit was asked for until this is dropped.
struct Exchange {
    name: &'static str,
    path: String,
    asked: Instant,
    answered: Instant,
    bytes: u64,
}

impl Exchange {
    fn new(request: &HttpRequest, asked: Instant) -> Self {
        let name = match request.method().as_str() {
            "GET" => "GET",
            "HEAD" => "HEAD",
            "PUT" => "PUT",
            "POST" => "POST",
            "DELETE" => "DELETE",
            _ => "other",
        };
        let bytes = hyper::body::Body::size_hint(request.body()).lower();
        // The query may have a signature.
        let path = request.uri().path().to_owned();
        Self { name, path, asked, answered: asked, bytes }
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        trace::exchanged(self.name, &self.path, (self.asked, self.answered), self.bytes);
    }
}

/// How much of a response is read, however much the server sends.
#[derive(Clone, Copy, Debug)]
struct Bound {
    most: u64,
    /// Whether the first `most + 1` bytes of a longer body are a valid response, rather than an
    /// error.
    is_enough: bool,
}

impl Bound {
    /// The bound of a response to a request for `range`, or for a value of at most `most` bytes.
    fn of(status: StatusCode, range: Option<&HeaderValue>, most: Option<u64>) -> Self {
        let least = |most: u64| most.min(budget::most_answer_bytes());
        if !status.is_success() {
            // Error responses are quoted only in part.
            return Self { most: ERROR_BYTES, is_enough: true };
        }
        let part = range.filter(|_| status == StatusCode::PARTIAL_CONTENT);
        if let Some(part) = part.and_then(|part| wanted(part.to_str().ok()?, u64::MAX)) {
            return Self { most: least(part.end - part.start), is_enough: false };
        }
        match most {
            Some(u64::MAX) => Self { most: budget::most_answer_bytes(), is_enough: false },
            Some(most) => Self { most, is_enough: true },
            None => Self { most: least(LISTING_BYTES), is_enough: false },
        }
    }
}

/// Whether a request goes to the address of a cloud's metadata service for machines.
fn is_metadata_service(request: &HttpRequest) -> bool {
    let host = request.uri().host().or_else(|| request.headers().get(HOST)?.to_str().ok());
    host.is_some_and(|host| {
        matches!(
            host,
            "169.254.169.254" | "metadata" | "metadata.google.internal" | "[fd00:ec2::254]"
        )
    })
}

fn declared(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

/// The pause that an overloaded server asks for.
fn pause(response: &HttpResponse) -> Option<Duration> {
    if !matches!(response.status(), StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS)
    {
        return None;
    }
    let seconds: u64 = response.headers().get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_PAUSE))
}

/// Extracts the requested range from a whole value, sent by a server that ignores ranges.
fn cut(range: &HeaderValue, parts: &mut http::response::Parts, bytes: &mut Vec<u8>) {
    let total = bytes.len() as u64;
    match range.to_str().ok().and_then(|range| wanted(range, total)) {
        Some(part) if part.start < part.end => {
            bytes.truncate(part.end as usize);
            bytes.drain(..part.start as usize);
            let text = format!("bytes {}-{}/{total}", part.start, part.end - 1);
            if let Ok(text) = HeaderValue::try_from(text) {
                parts.headers.insert(CONTENT_RANGE, text);
            }
            parts.status = StatusCode::PARTIAL_CONTENT;
        }
        _ => {
            bytes.clear();
            parts.status = StatusCode::RANGE_NOT_SATISFIABLE;
        }
    }
    parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len() as u64));
}

/// The bytes that `bytes=a-b` or `bytes=-n` means in a value of `total` bytes.
fn wanted(range: &str, total: u64) -> Option<Range<u64>> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    if first.is_empty() {
        let suffix: u64 = last.parse().ok()?;
        return Some(total.saturating_sub(suffix)..total);
    }
    let end = if last.is_empty() { total } else { last.parse::<u64>().ok()?.checked_add(1)? };
    Some(first.parse().ok()?..end.min(total))
}

/// Refuses a response whose body is not as long as the range that it declares.
fn check_range(headers: &HeaderMap, had: u64) -> Result<(), HttpError> {
    let said = headers.get(CONTENT_RANGE).and_then(|value| value.to_str().ok());
    let length = said.and_then(|said| {
        let (first, last) = said.strip_prefix("bytes ")?.split_once('/')?.0.split_once('-')?;
        let (first, last): (u64, u64) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        last.checked_add(1)?.checked_sub(first)
    });
    match length {
        Some(length) if length != had => {
            Err(interrupted(format!("the response has {had} of the {length} bytes of its range")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::wanted;

    #[test]
    fn ranges_are_read_as_a_server_would() {
        assert_eq!(wanted("bytes=2-4", 10), Some(2..5));
        assert_eq!(wanted("bytes=2-40", 10), Some(2..10));
        assert_eq!(wanted("bytes=7-", 10), Some(7..10));
        assert_eq!(wanted("bytes=-3", 10), Some(7..10));
        assert_eq!(wanted("bytes=-30", 10), Some(0..10));
        assert_eq!(wanted("bytes=0-18446744073709551615", 10), None);
        assert_eq!(wanted("items=0-1", 10), None);
    }
}
