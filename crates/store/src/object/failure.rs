//! Failures of a server or the network, in one line and without credentials.
//!
//! Error responses of S3 quote what was signed, and clients quote the address. A user needs only
//! the status, the server's own error code and the name of the value.
//!
//! What our transport finds has a type, [`ExchangeFailure`], and the client's errors have their
//! variants. The status, the body and the address of a refused request have to be read from the
//! text of the client's error, because `object_store` does not export the type that has them; one
//! test asks a real client for such an error.

use std::time::Duration;

use object_store::Error;
use object_store::client::{HttpError, HttpErrorKind};
use zarrix_codec::memory::Refused;

use super::bucket::Bucket;
use crate::error::{Refusal, StoreError};

/// Longest part of a server's message that is quoted.
const LONGEST: usize = 300;

/// How the client's text names the status of a response.
const STATUS: &str = "status code: ";

/// A failure of an exchange that the client above has no variant for. It is among the sources of
/// the client's error.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum ExchangeFailure {
    #[error("the response has more than {0} bytes")]
    TooLong(u64),
    /// A complete response that is not what was asked for.
    #[error("the server's answer {0}")]
    NotAnAnswer(String),
    #[error(
        "no credentials were given, and this machine has no metadata service that gives any; pass \
         them in storage_options or the environment, or anon=True for public data"
    )]
    NoCredentials,
    /// The program's function gave no credentials.
    #[error("{reason}")]
    Credentials { reason: String, is_late: bool },
}

impl From<ExchangeFailure> for HttpError {
    fn from(failure: ExchangeFailure) -> Self {
        Self::new(HttpErrorKind::Unknown, failure)
    }
}

/// The error of an operation on the value `name` of `bucket`; its reason contains none of `secrets`.
pub(super) fn failed(
    bucket: &Bucket,
    secrets: &[String],
    operation: &'static str,
    name: &str,
    error: &Error,
) -> StoreError {
    if let Some(refused) = source_of::<Refused>(error) {
        return StoreError::memory(name)(*refused);
    }
    let text = error.to_string();
    let exchange = source_of::<ExchangeFailure>(error);
    let refusal = match (error, exchange) {
        (Error::PermissionDenied { .. } | Error::Unauthenticated { .. }, _) => Refusal::Denied,
        (Error::NotFound { .. }, _) => Refusal::Missing,
        (_, Some(ExchangeFailure::Credentials { is_late: true, .. })) => Refusal::TimedOut,
        (_, Some(ExchangeFailure::NoCredentials | ExchangeFailure::Credentials { .. })) => {
            Refusal::Denied
        }
        _ if is_missing_bucket(error) => Refusal::Missing,
        (_, Some(ExchangeFailure::TooLong(_))) => Refusal::TooLong,
        (_, Some(ExchangeFailure::NotAnAnswer(_))) => Refusal::Failed,
        _ => match transport_kind(error) {
            Some(HttpErrorKind::Timeout) => Refusal::TimedOut,
            Some(_) => Refusal::Unreachable,
            None => Refusal::Failed,
        },
    };
    let reason = match (exchange, refusal) {
        (Some(ExchangeFailure::Credentials { reason, .. }), _) => reason.clone(),
        (Some(ExchangeFailure::TooLong(_) | ExchangeFailure::NotAnAnswer(_)), _) => {
            innermost(error)
        }
        (_, Refusal::TimedOut | Refusal::Unreachable) => {
            format!("{} to {}: {}", in_short(&text), host(&text), innermost(error))
        }
        _ => in_short(&text),
    };
    let reason = without_secrets(&reason, secrets);
    StoreError::Remote { operation, path: bucket.url(name), refusal, reason }
}

fn without_secrets(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, "***"))
}

/// The scheme, host and port of the request, which may not be the intended ones.
fn host(text: &str) -> String {
    let asked = text.split_whitespace().find_map(|word| word.split_once("://"));
    let Some((scheme, rest)) = asked else { return "the server".to_owned() };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    let host = rest[..end].rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}")
}

/// The message of the operating system.
fn innermost(error: &Error) -> String {
    let mut last: &dyn std::error::Error = error;
    while let Some(source) = last.source() {
        last = source;
    }
    in_short(&last.to_string())
}

/// Whether the bucket itself is missing, and not only a value; its values then do not read as
/// absent. The name of a value, which is in the text, too, does not count.
fn is_missing_bucket(error: &Error) -> bool {
    let text = error.to_string();
    let Some((_, answer)) = text.split_once(STATUS) else { return false };
    match tag(answer, "Code") {
        Some(code) => matches!(code, "NoSuchBucket" | "ContainerNotFound"),
        // Google's JSON.
        None => answer.contains("The specified bucket does not exist"),
    }
}

/// Whether an error says that nothing is stored, which is a valid result.
pub(super) fn is_absent(error: &Error) -> bool {
    match error {
        Error::NotFound { .. } => !is_missing_bucket(error),
        // Status 410: a web server says that the value is permanently gone.
        error => status_of(error) == Some(410),
    }
}

/// The HTTP status that an error is about.
pub(super) fn status_of(error: &Error) -> Option<u16> {
    error.to_string().split_once(STATUS)?.1.get(..3)?.parse().ok()
}

/// Whether an operation failed for reasons unrelated to it, and may succeed later.
pub(super) fn is_passing(error: &Error) -> bool {
    match status_of(error) {
        Some(status) => status >= 500 || matches!(status, 408 | 409 | 429),
        None => transport_kind(error).is_some(),
    }
}

/// What an error says about the credentials of its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// They have ended.
    Expired,
    /// They may not do this, or they have ended: some servers say no more.
    Denied,
    /// Nothing.
    Other,
}

impl Verdict {
    pub(super) fn is_refusal(self) -> bool {
        self != Self::Other
    }
}

pub(super) fn verdict(error: &Error) -> Verdict {
    let Some(status @ (400 | 401 | 403)) = status_of(error) else { return Verdict::Other };
    let text = error.to_string();
    match (status, tag(&text, "Code")) {
        (401, _) => Verdict::Expired,
        (_, Some(code)) if code.starts_with("ExpiredToken") => Verdict::Expired,
        (403, _) | (_, Some("InvalidToken" | "TokenRefreshRequired")) => Verdict::Denied,
        // The answer to HEAD has no body that would say more.
        (_, None) if text.trim_end().ends_with("400 Bad Request:") => Verdict::Expired,
        _ => Verdict::Other,
    }
}

/// The source of this type that an error has.
fn source_of<E: std::error::Error + 'static>(error: &Error) -> Option<&E> {
    let sources = std::iter::successors(std::error::Error::source(error), |error| error.source());
    sources.filter_map(|error| error.downcast_ref()).next()
}

fn transport_kind(error: &Error) -> Option<HttpErrorKind> {
    source_of::<HttpError>(error).map(HttpError::kind)
}

/// The text of the first element of this name.
fn tag<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let begin = text.split_once(&format!("<{name}>"))?.1;
    Some(begin.split_once(&format!("</{name}>"))?.0)
}

/// The essential part of a client's message: its last words, or status, code and message of the
/// server.
fn in_short(text: &str) -> String {
    let status = text.split_once(STATUS).map(|(_, rest)| rest);
    let status = status.and_then(|rest| rest.split([':', '\n']).next()).map(str::trim);
    let words = match (status, tag(text, "Code"), tag(text, "Message")) {
        (Some(status), Some(code), message) => {
            format!("{status}: {code}: {}", message.unwrap_or_default())
        }
        (Some(status), None, _) => {
            let body = text.split_once(status).map_or("", |(_, rest)| rest);
            format!("{status}{body}")
        }
        (None, _, _) => text.rsplit(" - ").next().unwrap_or(text).to_owned(),
    };
    let words = words.trim().trim_end_matches([':', ' ', '.']).split_whitespace();
    let words = words.map(without_query).collect::<Vec<_>>().join(" ");
    words.chars().take(LONGEST).collect()
}

/// Without the query of an address, which may hold a signature, and the password before its host.
fn without_query(word: &str) -> &str {
    let address = word.find("://").is_some();
    let end = if address { word.find('?').unwrap_or(word.len()) } else { word.len() };
    let word = &word[..end];
    match (word.find("://"), word.find('@')) {
        (Some(_), Some(at)) => &word[at + 1..],
        _ => word,
    }
}

pub fn late(what: &str, waited: Duration) -> HttpError {
    let problem = format!("{what} for {:.1} s", waited.as_secs_f64());
    HttpError::new(
        HttpErrorKind::Timeout,
        std::io::Error::new(std::io::ErrorKind::TimedOut, problem),
    )
}

/// The error of refused memory, which is among the sources of the client's error.
pub(super) fn no_memory(refused: Refused) -> HttpError {
    HttpError::new(HttpErrorKind::Decode, refused)
}

pub(super) fn interrupted(problem: String) -> HttpError {
    let error = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, problem);
    HttpError::new(HttpErrorKind::Interrupted, error)
}

/// An invalid response is not final, but the client would not retry it.
pub(super) fn perhaps_passing(error: HttpError) -> HttpError {
    match error.kind() {
        HttpErrorKind::Unknown | HttpErrorKind::Decode => {
            HttpError::new(HttpErrorKind::Interrupted, error)
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use async_trait::async_trait;
    use object_store::aws::AmazonS3Builder;
    use object_store::client::{
        HttpClient, HttpConnector, HttpRequest, HttpResponse, HttpResponseBody, HttpService,
    };
    use object_store::{ClientOptions, ObjectStoreExt, RetryConfig};

    use super::*;

    /// A server that gives every request the same answer: a status and a body, or a failure.
    #[derive(Clone, Debug)]
    struct Server(std::result::Result<(u16, &'static str), ExchangeFailure>);

    #[async_trait]
    impl HttpService for Server {
        async fn call(&self, _: HttpRequest) -> std::result::Result<HttpResponse, HttpError> {
            let (status, body) = self.0.clone()?;
            let body = HttpResponseBody::from(body.as_bytes().to_vec());
            Ok(http::Response::builder().status(status).body(body).unwrap())
        }
    }

    impl HttpConnector for Server {
        fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
            Ok(HttpClient::new(self.clone()))
        }
    }

    /// The error of a client of `server` that asks for the value `name`.
    fn error_of(server: Server, name: &str) -> Error {
        let client = AmazonS3Builder::new()
            .with_bucket_name("b")
            .with_endpoint("http://h:9")
            .with_allow_http(true)
            .with_skip_signature(true)
            .with_retry(RetryConfig { max_retries: 0, ..RetryConfig::default() })
            .with_http_connector(server)
            .build()
            .unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_time().build().unwrap();
        runtime.block_on(client.get(&name.into())).unwrap_err()
    }

    #[test]
    fn the_text_of_the_client_has_the_status_the_address_and_the_answer() {
        for (status, code) in [(400, "Odd"), (404, "NoSuchKey"), (410, "Gone"), (503, "SlowDown")] {
            let answer = format!("<Error><Code>{code}</Code><Message>m</Message></Error>");
            let error = error_of(Server(Ok((status, answer.leak()))), "k");
            assert_eq!(status_of(&error), Some(status), "{error}");
            assert_eq!(host(&error.to_string()), "http://h:9", "{error}");
            let reason = in_short(&error.to_string());
            assert!(reason.starts_with(&status.to_string()), "{reason}");
            assert!(reason.ends_with(&format!(": {code}: m")), "{reason}");
            assert_eq!(is_absent(&error), matches!(status, 404 | 410), "{error}");
            assert_eq!(is_passing(&error), status == 503, "{error}");
        }
    }

    #[test]
    fn a_bucket_is_missing_by_the_code_of_the_answer_and_not_by_the_name_of_a_value() {
        for (answer, is_missing) in [
            ("<Error><Code>NoSuchBucket</Code></Error>", true),
            ("<Error><Code>ContainerNotFound</Code></Error>", true),
            (r#"{"error": {"message": "The specified bucket does not exist."}}"#, true),
            ("<Error><Code>NoSuchKey</Code><Key>NoSuchBucket</Key></Error>", false),
            ("", false),
        ] {
            let error = error_of(Server(Ok((404, answer))), "NoSuchBucket");
            assert_eq!(is_missing_bucket(&error), is_missing, "{error}");
            assert_eq!(is_absent(&error), !is_missing, "{error}");
        }
    }

    #[test]
    fn a_failure_of_our_transport_keeps_its_type_in_the_error_of_the_client() {
        let error = error_of(Server(Err(ExchangeFailure::TooLong(5))), "k");
        let failure = source_of::<ExchangeFailure>(&error);
        assert!(matches!(failure, Some(ExchangeFailure::TooLong(5))), "{error:?}");
        assert_eq!(innermost(&error), "the response has more than 5 bytes");
        assert_eq!((status_of(&error), is_absent(&error)), (None, false));
    }

    #[test]
    fn a_servers_answer_is_told_by_its_code_and_message_only() {
        let text = "The operation lacked the necessary privileges: Error performing GET \
            http://127.0.0.1:9000/b/k?X-Amz-Signature=abc in 2ms - Server returned non-2xx status \
            code: 403 Forbidden: <?xml?><Error><Code>SignatureDoesNotMatch</Code><Message>No</Message>\
            <StringToSign>SECRET</StringToSign></Error>";
        assert_eq!(in_short(text), "403 Forbidden: SignatureDoesNotMatch: No");
        let text = "Generic S3 error: Error performing GET http://h/b?sig=1 in 1ms, after 2 retries, \
            max_retries: 2, retry_timeout: 1s  - HTTP error: error sending request";
        assert_eq!(in_short(text), "HTTP error: error sending request");
        assert_eq!(host(text), "http://h");
        assert_eq!(host("at https://me:pw@h:1/b?sig=1"), "https://h:1");
        let text = "Error performing PUT http://h/b in 1s - Server returned non-2xx status code: 503 \
            Service Unavailable: come back";
        assert_eq!(in_short(text), "503 Service Unavailable: come back");
    }
}
