//! The caller's headers, and redirects that must not carry them to another server.
//!
//! On a redirect to another host, the HTTP client drops `Authorization` and `Cookie`, but forwards
//! every other header, such as an API key. So the client does not get the caller's headers: this
//! module adds them to each request, with a client that follows no redirect. A redirect within the
//! server is followed with the headers. A redirect to another server is followed by the plain
//! client without them.

use std::sync::Arc;
use std::time::Duration;

use http::header::{HOST, HeaderValue, LOCATION};
use http::{HeaderMap, StatusCode};
use object_store::client::{
    HttpClient, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
};
use reqwest::Url;

use super::credentials::Credentials;
use super::failure::perhaps_passing;

/// The same limit as the client's own.
const MOST_REDIRECTS: usize = 10;

/// The terms on which connections for requests with the caller's headers are opened.
#[derive(Clone, Debug)]
pub(super) struct Terms {
    pub headers: HeaderMap,
    /// More headers, which expire.
    pub credentials: Option<Arc<Credentials>>,
    pub agent: HeaderValue,
    pub connect_timeout: Duration,
    pub idle_timeout: Duration,
    pub allow_http: bool,
}

/// The headers of a request that expire.
#[derive(Clone)]
struct Expiring(Arc<HeaderMap>);

/// A client that adds the caller's headers.
#[derive(Debug)]
pub(super) struct WithHeaders {
    headers: HeaderMap,
    credentials: Option<Arc<Credentials>>,
    client: HttpClient,
}

impl WithHeaders {
    /// `None` if the caller gave no headers.
    pub(super) fn new(terms: &Terms) -> reqwest::Result<Option<Self>> {
        if terms.headers.is_empty() && terms.credentials.is_none() {
            return Ok(None);
        }
        let client = reqwest::Client::builder()
            .user_agent(terms.agent.clone())
            .connect_timeout(terms.connect_timeout)
            .pool_idle_timeout(terms.idle_timeout)
            .https_only(!terms.allow_http)
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        let (headers, credentials) = (terms.headers.clone(), terms.credentials.clone());
        Ok(Some(Self { headers, credentials, client: HttpClient::new(client) }))
    }

    /// Gives `request` the headers that expire, with which [`execute`](Self::execute) sends it.
    pub(super) async fn add_expiring(&self, request: &mut HttpRequest) -> Result<(), HttpError> {
        if let Some(credentials) = &self.credentials {
            let headers = credentials.headers().await?;
            request.extensions_mut().insert(Expiring(headers));
        }
        Ok(())
    }

    /// Sends `request` with the headers; a redirect to another server is requested through `plain`.
    pub(super) async fn execute(
        &self,
        request: HttpRequest,
        plain: &HttpClient,
    ) -> Result<HttpResponse, HttpError> {
        let mut left = MOST_REDIRECTS;
        let mut request = request;
        let expiring = request.extensions().get::<Expiring>().cloned();
        let expiring = expiring.map_or_else(Arc::default, |expiring| expiring.0);
        loop {
            let again = again(&request);
            for (name, value) in self.headers.iter().chain(expiring.iter()) {
                request.headers_mut().insert(name.clone(), value.clone());
            }
            let here = request.uri().to_string();
            let response = self.client.execute(request).await.map_err(perhaps_passing)?;
            let (Some(target), Some(mut next)) = (target(&here, &response)?, again) else {
                return Ok(response);
            };
            if left == 0 {
                return Err(refused(format!("more than {MOST_REDIRECTS} redirects")));
            }
            left -= 1;
            let is_same_server =
                Url::parse(&here).is_ok_and(|here| here.origin() == target.origin());
            *next.uri_mut() =
                target.as_str().parse().map_err(|_| refused(NOT_AN_ADDRESS.to_owned()))?;
            next.headers_mut().remove(HOST);
            if !is_same_server {
                return plain.execute(next).await.map_err(perhaps_passing);
            }
            request = next;
        }
    }
}

const NOT_AN_ADDRESS: &str = "the target of the redirect is not an HTTP address";

/// A copy of the request; `None` if it has a body, which is not sent twice.
fn again(request: &HttpRequest) -> Option<HttpRequest> {
    if !request.body().is_empty() {
        return None;
    }
    let mut copy = HttpRequest::new(HttpRequestBody::empty());
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.version_mut() = request.version();
    *copy.headers_mut() = request.headers().clone();
    *copy.extensions_mut() = request.extensions().clone();
    Some(copy)
}

/// The target of a redirect of a request to `here`; `None` without a redirect.
fn target(here: &str, response: &HttpResponse) -> Result<Option<Url>, HttpError> {
    let is_redirect = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let Some(location) = response.headers().get(LOCATION).filter(|_| is_redirect) else {
        return Ok(None);
    };
    let target = location.to_str().ok().and_then(|to| Url::parse(here).ok()?.join(to).ok());
    match target.filter(|target| matches!(target.scheme(), "http" | "https")) {
        Some(target) => Ok(Some(target)),
        None => Err(refused(NOT_AN_ADDRESS.to_owned())),
    }
}

/// A permanent error: a retry would give the same.
fn refused(problem: String) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, std::io::Error::other(problem))
}
