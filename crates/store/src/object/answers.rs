//! Answers with status 200 that are failures: services begin them before they know the outcome.
//!
//! The client above takes each element of a document for optional. It would read an `<Error>`, or
//! the page of a proxy, as an empty listing or as a deletion without a failure, and a page without
//! the token of the next one as the last. Whether an answer is what was asked for is decided here.

use http::{HeaderMap, Method, StatusCode, Uri};
use object_store::client::HttpRequest;

use super::failure::ExchangeFailure;

/// Attached to a request for a value: the most bytes to accept. One byte more is read.
#[derive(Clone, Copy, Debug)]
pub struct Most(pub u64);

/// How much of a document is looked at for its first element.
const PROLOGUE_BYTES: usize = 4096;

/// What the body of a successful answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// A value, which may have any bytes.
    Value,
    /// Anything but an error.
    Outcome,
    /// A document whose first element has this name.
    Document(&'static str),
    /// A page of a listing, which says whether another one follows.
    Page,
}

impl Expected {
    pub fn of(request: &HttpRequest) -> Self {
        if request.extensions().get::<Most>().is_some() {
            return Self::Value;
        }
        Self::of_parts(request.method(), request.uri(), request.headers())
    }

    fn of_parts(method: &Method, uri: &Uri, headers: &HeaderMap) -> Self {
        let asks = |name: &str, value: Option<&str>| {
            let pairs = uri.query().unwrap_or_default().split('&');
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .any(|(key, given)| key == name && value.is_none_or(|value| given == value))
        };
        match method.as_str() {
            "GET" if asks("list-type", Some("2")) => Self::Page,
            "GET" if asks("comp", Some("list")) => Self::Document("EnumerationResults"),
            "POST" if asks("delete", None) => Self::Document("DeleteResult"),
            "POST" if asks("uploadId", None) => Self::Document("CompleteMultipartUploadResult"),
            "PUT" if headers.contains_key("x-amz-copy-source") => {
                Self::Document("CopyObjectResult")
            }
            "PROPFIND" => Self::Document("multistatus"),
            _ => Self::Outcome,
        }
    }

    /// The status of an answer: its own, or that of the error in its body.
    pub fn check(self, status: StatusCode, body: &[u8]) -> Result<StatusCode, ExchangeFailure> {
        if self == Self::Value || !status.is_success() {
            return Ok(status);
        }
        let root = root_of(body);
        if root == Some("Error") {
            return Ok(status_of_error(body));
        }
        let name = match self {
            Self::Value | Self::Outcome => return Ok(status),
            Self::Document(name) => name,
            Self::Page => "ListBucketResult",
        };
        if root != Some(name) {
            let found = root.map_or_else(|| "no XML".to_owned(), |root| format!("<{root}>"));
            let problem = format!("is {found}, and not <{name}>");
            return Err(ExchangeFailure::NotAnAnswer(problem));
        }
        let text = |name| element(body, name).unwrap_or_default();
        if self == Self::Page
            && text("IsTruncated").eq_ignore_ascii_case("true")
            && text("NextContinuationToken").is_empty()
        {
            let problem =
                "is a page of a listing that says that more follow, without the token of the next";
            return Err(ExchangeFailure::NotAnAnswer(problem.to_owned()));
        }
        Ok(status)
    }
}

/// The status with which a service tells this error if it knows it before it answers.
fn status_of_error(body: &[u8]) -> StatusCode {
    match element(body, "Code").unwrap_or_default() {
        "AccessDenied" | "SignatureDoesNotMatch" | "InvalidAccessKeyId" => StatusCode::FORBIDDEN,
        "NoSuchBucket" => StatusCode::NOT_FOUND,
        "PreconditionFailed" => StatusCode::PRECONDITION_FAILED,
        "InternalError" | "SlowDown" | "ServiceUnavailable" | "RequestTimeout"
        | "OperationAborted" => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::BAD_REQUEST,
    }
}

/// The name of the first element of a document, without its namespace.
fn root_of(body: &[u8]) -> Option<&str> {
    let body = &body[..body.len().min(PROLOGUE_BYTES)];
    let text = body.utf8_chunks().next()?.valid();
    let mut rest = text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
    loop {
        let inside = rest.strip_prefix('<')?;
        let end = match inside.as_bytes().first()? {
            b'?' => "?>",
            b'!' if inside.starts_with("!--") => "-->",
            b'!' => ">",
            _ => {
                let name = inside.split(['>', '/', ' ', '\t', '\r', '\n']).next()?;
                return Some(name.rsplit(':').next().unwrap_or(name));
            }
        };
        rest = inside.split_once(end)?.1.trim_start();
    }
}

/// The text of the first element of this name. Names of values cannot have one in them: in XML, `<`
/// is escaped.
fn element<'a>(body: &'a [u8], name: &str) -> Option<&'a str> {
    let text = std::str::from_utf8(body).ok()?;
    let rest = text.split_once(&format!("<{name}>"))?.1;
    Some(rest.split_once('<')?.0.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ERROR: &[u8] = b"<?xml version=\"1.0\"?>\n<Error><Code>SlowDown</Code></Error>";

    fn asked(method: &str, uri: &'static str) -> Expected {
        let method = Method::from_bytes(method.as_bytes()).unwrap_or_default();
        Expected::of_parts(&method, &Uri::from_static(uri), &HeaderMap::new())
    }

    fn checked(expected: Expected, body: &[u8]) -> Option<u16> {
        expected.check(StatusCode::OK, body).ok().map(|status| status.as_u16())
    }

    #[test]
    fn the_first_element_is_found_behind_what_may_precede_it() {
        for (text, name) in [
            ("<a/>", Some("a")),
            ("\u{feff}<?xml version='1.0'?><!DOCTYPE x>\n<!-- > --><n:a x='1'>", Some("a")),
            ("", None),
            ("{\"error\": 1}", None),
            ("<?xml", None),
            ("<!-- <a>", None),
        ] {
            assert_eq!(root_of(text.as_bytes()), name, "{text}");
        }
    }

    #[test]
    fn an_error_in_the_body_is_the_status_of_every_answer_but_a_value() {
        for (method, uri) in [
            ("GET", "http://h/b?list-type=2"),
            ("GET", "http://h/b?restype=container&comp=list"),
            ("POST", "http://h/b?delete"),
            ("POST", "http://h/b/k?uploadId=1"),
            ("PUT", "http://h/b/k"),
            ("PROPFIND", "http://h/b/"),
        ] {
            assert_eq!(checked(asked(method, uri), ERROR), Some(503), "{method} {uri}");
        }
        assert_eq!(checked(Expected::Value, ERROR), Some(200));
        let denied = b"<Error><Code>AccessDenied</Code></Error>";
        assert_eq!(checked(Expected::Outcome, denied), Some(403));
    }

    #[test]
    fn a_page_that_is_not_the_last_has_the_token_of_the_next() {
        for (inside, status) in [
            ("<IsTruncated>false</IsTruncated>", Some(200)),
            ("", Some(200)),
            ("<IsTruncated>true</IsTruncated>", None),
            ("<IsTruncated>true</IsTruncated><NextContinuationToken/>", None),
            (
                "<IsTruncated> true </IsTruncated><NextContinuationToken></NextContinuationToken>",
                None,
            ),
            (
                "<NextContinuationToken>x</NextContinuationToken><IsTruncated>true</IsTruncated>",
                Some(200),
            ),
        ] {
            let page = format!("<ListBucketResult xmlns='x'>{inside}</ListBucketResult>");
            assert_eq!(checked(Expected::Page, page.as_bytes()), status, "{inside}");
        }
        assert_eq!(checked(Expected::Page, b"<html></html>"), None);
        assert_eq!(checked(Expected::Page, b""), None);
    }
}
