//! Credentials that expire: one call of the program's function at a time, before they end.
//!
//! The first request waits for the first credentials. New ones are fetched before the old ones end,
//! while requests go on with the old ones; if that fails, it is tried again, and requests fail only
//! when the old ones have ended. A server may also refuse credentials that have not ended by our
//! clock. `renewing` then asks for others, once, and repeats the request.
//!
//! The function runs on a thread of its own ([`callers`](super::callers)) while no lock is held. A
//! client, and with it this state, belongs to one process: a forked child calls the function itself.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use async_trait::async_trait;
use http::{HeaderMap, HeaderName, HeaderValue};
use object_store::aws::AwsCredential;
use object_store::azure::{AzureAccessKey, AzureCredential};
use object_store::client::CredentialProvider;
use object_store::gcp::GcpCredential;
use tokio::sync::watch;

use super::bucket::{Bucket, Service};
use super::callers;
use super::failure::{ExchangeFailure, Verdict};
use super::names::random;
use super::source::{CredentialSource, Fresh};
use crate::error::Result;

/// Longest time of one call of the function.
const LIMIT: Duration = Duration::from_secs(60);
/// Credentials are replaced this long before their end, or a tenth of their life if that is more,
/// but never before three quarters of their life.
const MARGIN: Duration = Duration::from_secs(60);
/// The age from which a refusal may mean that the server counts the end differently.
const OLD: Duration = Duration::from_secs(60);
/// Credentials that are refused at once are wrong, and not old.
const NEW: Duration = Duration::from_secs(1);
/// Longest pause after a failed call while the old credentials are good.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Calls that may hang beyond the limit before no further one is made.
const MOST_HANGING: usize = 3;

/// What a client signs a request with.
#[derive(Clone)]
pub(super) enum Credential {
    S3(Arc<AwsCredential>),
    Gcs(Arc<GcpCredential>),
    Azure(Arc<AzureCredential>),
    Headers(Arc<HeaderMap>),
}

impl Credential {
    fn new(
        service: Service,
        values: &BTreeMap<String, String>,
    ) -> std::result::Result<Self, String> {
        let get = |name: &str| values.get(name).cloned();
        let need = |name: &str| get(name).ok_or_else(|| format!("has no {name:?}"));
        Ok(match service {
            Service::S3 => Self::S3(Arc::new(AwsCredential {
                key_id: need("key")?,
                secret_key: need("secret")?,
                token: get("token"),
            })),
            Service::Gcs => Self::Gcs(Arc::new(GcpCredential { bearer: need("token")? })),
            Service::Azure => Self::Azure(Arc::new(match (get("sas"), get("bearer")) {
                (Some(sas), _) => AzureCredential::SASToken(pairs(&sas)),
                (None, Some(bearer)) => AzureCredential::BearerToken(bearer),
                (None, None) => AzureCredential::AccessKey(
                    AzureAccessKey::try_new(&need("key")?)
                        .map_err(|_| "has a \"key\" that is not base64".to_owned())?,
                ),
            })),
            Service::Http => Self::Headers(Arc::new(headers(values)?)),
            Service::Other(_) => return Err("is for a service that takes none".to_owned()),
        })
    }
}

/// The parameters of a signature; their values are decoded already.
fn pairs(sas: &str) -> Vec<(String, String)> {
    let parts = sas.trim_start_matches('?').split('&').filter_map(|part| part.split_once('='));
    parts.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// A value, and the parts of it that a server may quote: a token after its scheme, a signature.
fn parts(value: &str) -> impl Iterator<Item = String> {
    let words = value.split([' ', '&', '=']).filter(move |word| word.len() >= 8 && *word != value);
    let whole = Some(value).filter(|value| value.len() >= 4);
    whole.into_iter().chain(words).map(str::to_owned)
}

fn headers(values: &BTreeMap<String, String>) -> std::result::Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in values {
        let invalid = |_| "has a header that HTTP does not allow".to_owned();
        let header = HeaderName::try_from(name).map_err(|_| ()).map_err(invalid)?;
        let mut value = HeaderValue::try_from(value).map_err(|_| ()).map_err(invalid)?;
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

struct Held {
    credential: Credential,
    /// The number of the call that returned it.
    number: u64,
    received: Instant,
    due: Option<SystemTime>,
    expires: Option<SystemTime>,
    secrets: Vec<String>,
}

impl Held {
    fn new(service: Service, number: u64, fresh: Fresh) -> std::result::Result<Self, String> {
        let now = SystemTime::now();
        let life = fresh.expires.map(|end| end.duration_since(now));
        let life = life.transpose().map_err(|past| {
            format!(
                "expired {:.0} s ago by the clock of this machine",
                past.duration().as_secs_f64()
            )
        })?;
        let due = life.map(|life| {
            let margin = MARGIN.max(life / 10).min(life / 4);
            // Many processes that began together do not ask together.
            now + life - margin.mul_f64(1.0 + (random() % 1024) as f64 / 1024.0 / 5.0)
        });
        let credential = Credential::new(service, &fresh.values)?;
        let secrets = fresh.values.values().flat_map(|value| parts(value)).collect();
        let received = Instant::now();
        Ok(Self { credential, number, received, due, expires: fresh.expires, secrets })
    }

    fn has_ended(&self, now: SystemTime) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }
}

struct Flight {
    number: u64,
    until: Instant,
}

#[derive(Default)]
struct Calls {
    held: Option<Held>,
    flight: Option<Flight>,
    /// The number of the last call.
    last: u64,
    /// The last call that failed, since there was no success.
    failure: Option<(u64, ExchangeFailure)>,
    /// No call before then, as long as the old credentials are good.
    pause: Option<Instant>,
    hanging: usize,
    /// The credentials before; an answer to a request may still quote them.
    old_secrets: Vec<String>,
}

/// What a request for credentials does next.
enum Step {
    Use(Credential),
    Wait(u64, Instant),
    Fail(ExchangeFailure),
}

/// The credentials of one client.
pub(super) struct Credentials {
    source: CredentialSource,
    service: Service,
    limit: Duration,
    state: Mutex<Calls>,
    changes: watch::Sender<u64>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Credentials({})", self.source.name())
    }
}

impl Credentials {
    /// `None` if the bucket has no function.
    pub(super) fn of(bucket: &Bucket) -> Result<Option<Arc<Self>>> {
        let Some(source) = bucket.credentials.clone() else { return Ok(None) };
        let limit = LIMIT.min(bucket.timeout()?);
        let (state, changes) = (Mutex::default(), watch::Sender::new(0));
        Ok(Some(Arc::new(Self { source, service: bucket.service, limit, state, changes })))
    }

    fn state(&self) -> MutexGuard<'_, Calls> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What must not appear in any message.
    pub(super) fn secrets(&self) -> Vec<String> {
        let state = self.state();
        let held = state.held.iter().flat_map(|held| &held.secrets);
        held.chain(&state.old_secrets).cloned().collect()
    }

    /// The number of the credentials that a request would use now; zero if there are none.
    pub(super) fn number(&self) -> u64 {
        self.state().held.as_ref().map_or(0, |held| held.number)
    }

    /// Credentials with a number above `least` that have not ended.
    async fn get(self: &Arc<Self>, least: u64) -> std::result::Result<Credential, ExchangeFailure> {
        let mut waited = None;
        loop {
            let mut changes = self.changes.subscribe();
            match self.step(least, waited) {
                Step::Use(credential) => return Ok(credential),
                Step::Fail(failure) => return Err(failure),
                Step::Wait(number, until) => {
                    waited.get_or_insert(number);
                    let _ = tokio::time::timeout_at(until.into(), changes.changed()).await;
                }
            }
        }
    }

    fn step(self: &Arc<Self>, least: u64, waited: Option<u64>) -> Step {
        let (now, clock) = (Instant::now(), SystemTime::now());
        let mut state = self.state();
        if let Some(flight) = state.flight.take_if(|flight| flight.until <= now) {
            state.hanging += 1;
            state.failure = Some((flight.number, self.late()));
        }
        if let Some(held) = &state.held
            && held.number > least
            && !held.has_ended(clock)
        {
            let credential = held.credential.clone();
            let is_due = held.due.is_some_and(|due| due <= clock);
            if is_due && state.flight.is_none() && state.pause.is_none_or(|end| end <= now) {
                // If no thread starts, the next request tries again.
                let _ = self.begin(&mut state, now);
            }
            return Step::Use(credential);
        }
        if let Some(flight) = &state.flight {
            return Step::Wait(flight.number, flight.until);
        }
        if let Some((number, failure)) = &state.failure
            && waited.is_some_and(|waited| waited <= *number)
        {
            return Step::Fail(failure.clone());
        }
        match self.begin(&mut state, now) {
            Ok((number, until)) => Step::Wait(number, until),
            Err(failure) => Step::Fail(failure),
        }
    }

    /// Begins a call of the function.
    fn begin(
        self: &Arc<Self>,
        state: &mut Calls,
        now: Instant,
    ) -> std::result::Result<(u64, Instant), ExchangeFailure> {
        if state.hanging >= MOST_HANGING {
            return Err(self.late());
        }
        let (number, until) = (state.last + 1, now + self.limit);
        let this = Arc::clone(self);
        callers::run(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| this.source.call()));
            this.finish(number, outcome.unwrap_or_else(|_| Err("panicked".to_owned())));
        })
        .map_err(|error| self.failed(&format!("could not be called: {error}")))?;
        state.last = number;
        state.flight = Some(Flight { number, until });
        Ok((number, until))
    }

    fn finish(&self, number: u64, outcome: std::result::Result<Fresh, String>) {
        let outcome = outcome.and_then(|fresh| {
            Held::new(self.service, number, fresh)
                .map_err(|problem| format!("returned a credential that {problem}"))
        });
        let mut state = self.state();
        match state.flight.take_if(|flight| flight.number == number) {
            Some(_) => {}
            None => state.hanging = state.hanging.saturating_sub(1),
        }
        match outcome {
            Ok(held) if number > state.held.as_ref().map_or(0, |held| held.number) => {
                let old = state.held.replace(held);
                state.old_secrets = old.map(|old| old.secrets).unwrap_or_default();
                (state.failure, state.pause) = (None, None);
            }
            Ok(_) => {}
            Err(problem) => {
                let left = state.held.as_ref().and_then(|held| held.expires);
                let left = left.and_then(|end| end.duration_since(SystemTime::now()).ok());
                state.pause =
                    Some(Instant::now() + left.unwrap_or_default().min(4 * LONGEST_PAUSE) / 4);
                state.failure = Some((number, self.failed(&problem)));
            }
        }
        drop(state);
        self.changes.send_replace(number);
    }

    /// Whether the credentials are others now, so that a request which `verdict` is about can be
    /// repeated; `used` is what [`number`](Self::number) was before it.
    ///
    /// # Errors
    /// The credentials had ended, and there are no new ones.
    pub(super) async fn renewed(
        self: &Arc<Self>,
        used: u64,
        verdict: Verdict,
    ) -> std::result::Result<bool, ExchangeFailure> {
        let (number, is_renewed_now) = {
            let state = self.state();
            let Some(held) = &state.held else { return Ok(false) };
            let age = held.received.elapsed();
            let is_old = age > OLD || held.has_ended(SystemTime::now());
            let renews = match verdict {
                Verdict::Other => return Ok(false),
                Verdict::Expired => age >= NEW,
                Verdict::Denied => is_old,
            };
            (held.number, renews)
        };
        if used != 0 && number != used {
            return Ok(true);
        }
        if !is_renewed_now {
            return Ok(false);
        }
        match (self.get(number).await, verdict) {
            (Ok(_), _) => Ok(true),
            (Err(failure), Verdict::Expired) => Err(failure),
            (Err(_), _) => Ok(false),
        }
    }

    fn late(&self) -> ExchangeFailure {
        let reason = format!(
            "{} has not returned within {:.0} s",
            self.source.name(),
            self.limit.as_secs_f64().ceil()
        );
        ExchangeFailure::Credentials { reason, is_late: true }
    }

    fn failed(&self, problem: &str) -> ExchangeFailure {
        let reason = format!("{} {problem}", self.source.name());
        ExchangeFailure::Credentials { reason, is_late: false }
    }

    /// The headers for a request to a web server.
    pub(super) async fn headers(
        self: &Arc<Self>,
    ) -> std::result::Result<Arc<HeaderMap>, ExchangeFailure> {
        match self.get(0).await? {
            Credential::Headers(headers) => Ok(headers),
            _ => Ok(Arc::default()),
        }
    }
}

macro_rules! provides {
    ($credential:ty, $variant:path) => {
        #[async_trait]
        impl CredentialProvider for Typed<$credential> {
            type Credential = $credential;

            async fn get_credential(&self) -> object_store::Result<Arc<$credential>> {
                match self.credentials.get(0).await {
                    Ok($variant(credential)) => Ok(credential),
                    Ok(_) => Err(generic("is for another service".to_owned().into())),
                    Err(failure) => Err(generic(Box::new(failure))),
                }
            }
        }
    };
}

/// [`Credentials`] of one type.
pub(super) struct Typed<C> {
    credentials: Arc<Credentials>,
    kind: std::marker::PhantomData<fn() -> C>,
}

impl<C> Typed<C> {
    pub(super) fn new(credentials: &Arc<Credentials>) -> Arc<Self> {
        Arc::new(Self { credentials: Arc::clone(credentials), kind: std::marker::PhantomData })
    }
}

impl<C> std::fmt::Debug for Typed<C> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.credentials.fmt(formatter)
    }
}

provides!(AwsCredential, Credential::S3);
provides!(GcpCredential, Credential::Gcs);
provides!(AzureCredential, Credential::Azure);

/// The client's error of a failed call.
pub(super) fn generic(source: Box<dyn std::error::Error + Send + Sync>) -> object_store::Error {
    object_store::Error::Generic { store: "credentials", source }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    fn fresh(life: Option<Duration>) -> Fresh {
        let values = [("token".to_owned(), "a-secret token-of-it".to_owned())].into();
        Fresh { values, expires: life.map(|life| SystemTime::now() + life) }
    }

    /// Credentials of a function that counts its calls, and fails where `fails` says so.
    fn credentials(fails: fn(u64) -> bool) -> (Arc<Credentials>, Arc<AtomicU64>) {
        let calls = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&calls);
        let call = move || {
            let number = counted.fetch_add(1, Ordering::SeqCst) + 1;
            if fails(number) { Err("failed".to_owned()) } else { Ok(fresh(None)) }
        };
        let source = CredentialSource::new(1, "the function".to_owned(), call);
        let (name, options) = ("b".to_owned(), BTreeMap::new());
        let bucket = Bucket { service: Service::Gcs, name, options, credentials: Some(source) };
        (Credentials::of(&bucket).unwrap().unwrap(), calls)
    }

    fn run<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(future)
    }

    fn age(credentials: &Credentials, age: Duration) {
        credentials.state().held.as_mut().unwrap().received =
            Instant::now().checked_sub(age).unwrap();
    }

    #[test]
    fn credentials_are_due_before_their_end_and_after_two_thirds_of_their_life() {
        for (life_s, least_s, most_s) in
            [(2, 1.39, 1.51), (100, 69.9, 75.1), (3600, 3167.9, 3240.1), (900, 791.9, 810.1)]
        {
            let life = Duration::from_secs(life_s);
            let held = Held::new(Service::Gcs, 1, fresh(Some(life))).ok().unwrap();
            let due = held.due.unwrap().duration_since(SystemTime::now()).unwrap().as_secs_f64();
            assert!((least_s..most_s).contains(&due), "{life_s}: {due}");
        }
        assert!(Held::new(Service::Gcs, 1, fresh(None)).ok().unwrap().due.is_none());
    }

    #[test]
    fn a_refusal_fetches_others_once_if_they_can_be_old() {
        let (credentials, calls) = credentials(|_| false);
        run(async {
            assert_eq!(credentials.renewed(0, Verdict::Expired).await.ok(), Some(false));
            credentials.get(0).await.ok().unwrap();
            let mut expected = 1;
            for (verdict, old, renews) in [
                (Verdict::Expired, Duration::ZERO, false),
                (Verdict::Expired, NEW, true),
                (Verdict::Denied, NEW, false),
                (Verdict::Denied, OLD + NEW, true),
                (Verdict::Other, OLD + NEW, false),
            ] {
                age(&credentials, old);
                let used = credentials.number();
                assert_eq!(credentials.renewed(used, verdict).await.ok(), Some(renews));
                expected += u64::from(renews);
                assert_eq!(calls.load(Ordering::SeqCst), expected, "{verdict:?} {old:?}");
                // Others that used the same ones do not fetch again.
                if renews {
                    assert_eq!(credentials.renewed(used, verdict).await.ok(), Some(true));
                    assert_eq!(calls.load(Ordering::SeqCst), expected);
                }
            }
        });
    }

    #[test]
    fn a_function_that_fails_after_a_refusal_leaves_the_old_ones() {
        let (credentials, _) = credentials(|number| number > 1);
        run(async {
            credentials.get(0).await.ok().unwrap();
            age(&credentials, OLD + NEW);
            assert_eq!(credentials.renewed(1, Verdict::Denied).await.ok(), Some(false));
            let failure = credentials.renewed(1, Verdict::Expired).await.err().unwrap();
            assert_eq!(failure.to_string(), "the function failed");
            assert!(credentials.get(0).await.is_ok());
        });
    }

    #[test]
    fn a_value_and_its_words_are_secrets() {
        let (credentials, _) = credentials(|_| false);
        run(async { credentials.get(0).await.ok().unwrap() });
        assert_eq!(credentials.secrets(), ["a-secret token-of-it", "a-secret", "token-of-it"]);
    }
}
