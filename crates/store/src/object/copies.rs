//! Copies that the server makes, under conditions: of one version of the source, and to a key that is
//! free, if the caller wants that.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::{HeaderName, Method, StatusCode};
use object_store::{CopyMode, CopyOptions, Error, ObjectStoreExt};

use super::bucket::Service;
use super::client::Client;
use super::conditions::{IGNORED, KEPT, Outcome, UNKNOWN, Version, probe_beside};
use super::failure::{is_absent, is_passing};
use super::response::{quoted, tag, unquoted};
use super::s3::{element, encoded};
use crate::error::{Result, StoreError};
use crate::tagged::PutOutcome;

const SOURCE: HeaderName = HeaderName::from_static("x-amz-copy-source");
const SOURCE_MATCH: HeaderName = HeaderName::from_static("x-amz-copy-source-if-match");
const UNLESS: HeaderName = HeaderName::from_static("if-none-match");

/// What a copy is made of, and what it may replace.
#[derive(Clone, Debug, Default)]
pub(super) struct CopyTerms {
    /// The tag that the source must have.
    pub tag: Option<String>,
    /// The version of the source, in a bucket that keeps them.
    pub version: Option<String>,
    /// Whether a value under the new name is replaced.
    pub replaces: bool,
}

impl Client {
    /// Copies the value `from` to `to`; refused if the source is absent or another version, or if
    /// the name is taken.
    pub(super) async fn copy_if(
        &self,
        from: &str,
        to: &str,
        terms: &CopyTerms,
    ) -> Result<PutOutcome> {
        if self.bucket.service == Service::S3 {
            return self.copy_on_s3(from, to, terms).await;
        }
        let (source, target) = (self.path(from)?, self.path(to)?);
        // Both services give each version a tag of its own: what has the tag before and after the
        // copy had it meanwhile.
        if !self.has_tag(from, terms.tag.as_deref()).await? {
            return Ok(PutOutcome::Refused);
        }
        let mode = if terms.replaces { CopyMode::Overwrite } else { CopyMode::Create };
        let options = CopyOptions { mode, ..CopyOptions::default() };
        match self.store.copy_opts(&source, &target, options).await {
            Ok(()) => {}
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => {
                return Ok(PutOutcome::Refused);
            }
            Err(error) if is_absent(&error) => return Ok(PutOutcome::Refused),
            Err(error) if is_passing(&error) => {
                return Ok(PutOutcome::Unclear(self.failed("copy", to, &error).to_string()));
            }
            Err(error) => return Err(self.failed("copy", to, &error)),
        }
        if !self.has_tag(from, terms.tag.as_deref()).await? {
            return Ok(PutOutcome::Unclear("the source changed during the copy".to_owned()));
        }
        let made = self.head_tagged(to).await?;
        Ok(PutOutcome::Stored(made.map(|(_, tag)| tag).unwrap_or_default()))
    }

    /// Whether the server refuses a copy of another version, and one to a name that is taken;
    /// detected beside `name` on the first call.
    pub(super) async fn keeps_copies(&self, name: &str) -> Result<bool> {
        match (self.bucket.service, self.copies.load(Ordering::Relaxed)) {
            (Service::Gcs | Service::Azure, _) => Ok(true),
            (Service::S3, UNKNOWN) => {
                let kept = self.try_copies(name).await?;
                self.copies.store(if kept { KEPT } else { IGNORED }, Ordering::Relaxed);
                Ok(kept)
            }
            (_, known) => Ok(known == KEPT),
        }
    }

    async fn try_copies(&self, name: &str) -> Result<bool> {
        let probes = [probe_beside(name), probe_beside(name), probe_beside(name)];
        let [source, taken, free] = &probes;
        let mut tag = String::new();
        for probe in [taken, source] {
            let value = Bytes::from_static(b"zarrix");
            match self.put_if(probe, value, &Version::default(), "probe").await? {
                Outcome::Done(stored) => tag = stored,
                Outcome::Beaten => return Ok(false),
                Outcome::Unclear(error) => return Err(error),
            }
        }
        let mut kept = true;
        // No value has this tag.
        let other = String::from("00000000000000000000000000000000");
        let cases = [(taken, &tag, false), (free, &other, false), (free, &tag, true)];
        for (target, tag, is_made) in cases {
            let terms = CopyTerms { tag: Some(tag.clone()), ..CopyTerms::default() };
            kept &= match self.copy_if(source, target, &terms).await {
                Ok(PutOutcome::Stored(_)) => is_made,
                Ok(PutOutcome::Refused) => !is_made,
                // A server without such copies.
                Ok(PutOutcome::Unclear(_)) | Err(StoreError::Remote { .. }) => false,
                Err(error) => return Err(error),
            };
        }
        for probe in &probes {
            match self.store.delete(&self.path(probe)?).await {
                // A user who may not delete leaves a few bytes that no listing shows.
                Ok(()) | Err(Error::NotFound { .. } | Error::PermissionDenied { .. }) => {}
                Err(error) => return Err(self.failed("delete", probe, &error)),
            }
        }
        Ok(kept)
    }

    async fn has_tag(&self, name: &str, wanted: Option<&str>) -> Result<bool> {
        let Some(wanted) = wanted else { return Ok(true) };
        let found = self.store.head(&self.path(name)?).await.map(|meta| tag(&meta));
        Ok(self.unless_absent("look at", name, found)?.is_some_and(|found| found == wanted))
    }

    async fn copy_on_s3(&self, from: &str, to: &str, terms: &CopyTerms) -> Result<PutOutcome> {
        const OPERATION: &str = "copy";
        let s3 = self.s3(OPERATION)?;
        let mut source = format!("{}/{}", self.bucket.name, encoded(from, true));
        if let Some(version) = &terms.version {
            source = format!("{source}?versionId={}", encoded(version, false));
        }
        let mut headers = vec![(SOURCE, source)];
        headers.extend(terms.tag.as_deref().map(|tag| (SOURCE_MATCH, quoted(tag))));
        if !terms.replaces {
            headers.push((UNLESS, "*".to_owned()));
        }
        let answer = s3.ask(OPERATION, Method::PUT, to, &[], &headers).await?;
        match answer.status {
            status if status.is_success() => {
                let tag = element(&answer.body, "ETag").unwrap_or_default();
                Ok(PutOutcome::Stored(unquoted(&tag).to_owned()))
            }
            StatusCode::PRECONDITION_FAILED => Ok(PutOutcome::Refused),
            StatusCode::NOT_FOUND => Ok(PutOutcome::Refused),
            StatusCode::CONFLICT => Ok(PutOutcome::Unclear(answer.body)),
            _ => Err(s3.refused(OPERATION, to, &answer)),
        }
    }
}
