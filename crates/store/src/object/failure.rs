//! Failures of a server or the network, in one line and without credentials.
//!
//! Error responses of S3 quote what was signed, and clients quote the address. A user needs only
//! the status, the server's own error code and the name of the value.

use std::time::Duration;

use object_store::Error;
use object_store::client::{HttpError, HttpErrorKind};
use zarrix_codec::memory::Refused;

use super::bucket::Bucket;
use crate::error::{Refusal, StoreError};

/// Longest part of a server's message that is quoted.
const LONGEST: usize = 300;

/// First words of the message about a response that is too long.
const TOO_LONG: &str = "the response has more than";
/// First words of the message about a response that answers something else.
const NO_ANSWER: &str = "the server's answer";
pub(super) const NO_CREDENTIALS: &str = "no credentials were given, and this machine has no metadata service that gives \
                              any; pass them in storage_options or the environment, or anon=True for public data";

/// The error of an operation on the value `name` of `bucket`; its reason contains none of `secrets`.
pub(super) fn failed(
    bucket: &Bucket,
    secrets: &[String],
    operation: &'static str,
    name: &str,
    error: &Error,
) -> StoreError {
    if let Some(refused) = refused_memory(error) {
        return StoreError::memory(name)(refused);
    }
    let text = error.to_string();
    let refusal = match error {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => Refusal::Denied,
        Error::NotFound { .. } => Refusal::Missing,
        _ if text.contains(NO_CREDENTIALS) => Refusal::Denied,
        _ if is_missing_bucket(error) => Refusal::Missing,
        _ if innermost(error).starts_with(TOO_LONG) => Refusal::TooLong,
        _ if innermost(error).starts_with(NO_ANSWER) => Refusal::Failed,
        _ => match transport_kind(error) {
            Some(HttpErrorKind::Timeout) => Refusal::TimedOut,
            Some(_) => Refusal::Unreachable,
            None => Refusal::Failed,
        },
    };
    let mut reason = in_short(&text);
    if matches!(refusal, Refusal::TimedOut | Refusal::Unreachable) {
        reason = format!("{reason} to {}: {}", host(&text), innermost(error));
    }
    let own = innermost(error);
    if own.starts_with(TOO_LONG) || own.starts_with(NO_ANSWER) {
        reason = own;
    }
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
/// absent.
fn is_missing_bucket(error: &Error) -> bool {
    let text = error.to_string();
    ["NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist"]
        .iter()
        .any(|words| text.contains(words))
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
    error.to_string().split_once("status code: ")?.1.get(..3)?.parse().ok()
}

/// Whether an operation failed for reasons unrelated to it, and may succeed later.
pub(super) fn is_passing(error: &Error) -> bool {
    match status_of(error) {
        Some(status) => status >= 500 || matches!(status, 408 | 409 | 429),
        None => transport_kind(error).is_some(),
    }
}

fn refused_memory(error: &Error) -> Option<Refused> {
    let sources = std::iter::successors(std::error::Error::source(error), |error| error.source());
    sources.filter_map(|error| error.downcast_ref::<Refused>().copied()).next()
}

fn transport_kind(error: &Error) -> Option<HttpErrorKind> {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if let Some(error) = error.downcast_ref::<HttpError>() {
            return Some(error.kind());
        }
        source = error.source();
    }
    None
}

/// The essential part of a client's message: its last words, or status, code and message of the
/// server.
fn in_short(text: &str) -> String {
    let tag = |name: &str| {
        let begin = text.split_once(&format!("<{name}>"))?.1;
        Some(begin.split_once(&format!("</{name}>"))?.0)
    };
    let status = text.split_once("status code: ").map(|(_, rest)| rest);
    let status = status.and_then(|rest| rest.split([':', '\n']).next()).map(str::trim);
    let words = match (status, tag("Code"), tag("Message")) {
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

pub(super) fn too_long(most: u64) -> HttpError {
    let problem = format!("{TOO_LONG} {most} bytes");
    HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(problem))
}

/// The error of a complete response that is not what was asked for.
pub(super) fn not_an_answer(problem: &str) -> HttpError {
    let problem = format!("{NO_ANSWER} {problem}");
    HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(problem))
}

pub fn late(what: &str, waited: Duration) -> HttpError {
    let problem = format!("{what} for {:.1} s", waited.as_secs_f64());
    HttpError::new(
        HttpErrorKind::Timeout,
        std::io::Error::new(std::io::ErrorKind::TimedOut, problem),
    )
}

/// The error of refused memory; [`failed`] finds it among its sources.
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
    use super::{host, in_short};

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
