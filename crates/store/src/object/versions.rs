//! Versions of objects in buckets that keep them: listings with the version of each value, reads of
//! one version, and the settings of the bucket. S3, and servers that speak its protocol.

use std::ops::Range;
use std::sync::Arc;

use futures_util::future::try_join_all;
use http::{Method, StatusCode};
use object_store::{GetOptions, GetRange};

use super::answers::Most;
use super::bucket::Service;
use super::cache::Question;
use super::client::{Client, Requested};
use super::failure::{is_absent, status_of};
use super::names::is_value;
use super::response::{Received, unquoted};
use super::s3::{S3, element, elements};
use crate::error::{Refusal, Result, StoreError};
use crate::ranges::coalesce_ranges;
use crate::store::Fetched;
use crate::tagged::{ListedValue, ListedVersion};

/// A version of a value, and what it is known by.
pub(super) struct Wanted {
    pub name: String,
    pub version: String,
    pub tag: String,
    pub size: u64,
}

/// Where a listing of versions goes on.
#[derive(Default)]
pub(super) struct VersionMarker {
    pub key: String,
    version: String,
    pub is_done: bool,
}

impl Client {
    /// The requests of S3; an error for other services.
    pub(super) fn s3(&self, operation: &'static str) -> Result<Arc<S3>> {
        if self.bucket.service != Service::S3 {
            return Err(self.unsupported(operation, "zarrix lists versions of objects only on S3"));
        }
        if let Some(known) = self.s3.get() {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(S3::new(&self.bucket, &self.pace, self.credentials.as_ref())?);
        Ok(Arc::clone(self.s3.get_or_init(|| made)))
    }

    fn unsupported(&self, operation: &'static str, reason: &str) -> StoreError {
        let (path, reason) = (self.bucket.url(""), reason.to_owned());
        StoreError::Remote { operation, path, refusal: Refusal::Failed, reason }
    }

    /// Whether the bucket keeps the versions of its values.
    pub(super) async fn keeps_versions(&self) -> Result<bool> {
        const OPERATION: &str = "read the versioning of";
        let s3 = self.s3(OPERATION)?;
        let answer = s3.ask(OPERATION, Method::GET, "", &[("versioning", "")], &[]).await?;
        if !answer.status.is_success() {
            return Err(s3.refused(OPERATION, "", &answer));
        }
        Ok(element(&answer.body, "Status").is_some_and(|status| status == "Enabled"))
    }

    /// The lifecycle rules of the bucket, as XML; `None` without any.
    pub(super) async fn lifecycle(&self) -> Result<Option<String>> {
        const OPERATION: &str = "read the lifecycle rules of";
        let s3 = self.s3(OPERATION)?;
        let answer = s3.ask(OPERATION, Method::GET, "", &[("lifecycle", "")], &[]).await?;
        let code = element(&answer.body, "Code").unwrap_or_default();
        match answer.status {
            status if status.is_success() => Ok(Some(answer.body)),
            StatusCode::NOT_FOUND if code == "NoSuchLifecycleConfiguration" => Ok(None),
            _ => Err(s3.refused(OPERATION, "", &answer)),
        }
    }

    /// The latest versions of values below `name`, and earlier ones if wanted, from `marker` on:
    /// those of one answer, in the order of their names. Deletions are left out.
    pub(super) async fn list_versions(
        &self,
        name: &str,
        marker: &mut VersionMarker,
        has_earlier: bool,
    ) -> Result<Vec<ListedVersion>> {
        const OPERATION: &str = "list the versions of";
        let s3 = self.s3(OPERATION)?;
        let prefix = if name.is_empty() { String::new() } else { format!("{name}/") };
        let mut query = vec![("versions", ""), ("max-keys", "1000"), ("prefix", prefix.as_str())];
        if !marker.key.is_empty() {
            query.push(("key-marker", &marker.key));
        }
        if !marker.version.is_empty() {
            query.push(("version-id-marker", &marker.version));
        }
        query.sort_unstable();
        let answer = s3.ask(OPERATION, Method::GET, "", &query, &[]).await?;
        let body = &answer.body;
        let says = |name| element(body, name).unwrap_or_default();
        if !answer.status.is_success() {
            return Err(s3.refused(OPERATION, name, &answer));
        }
        // An answer that was cut off would end the listing early.
        if !body.contains("<ListVersionsResult") || !body.contains("</ListVersionsResult>") {
            return Err(self.unsupported(OPERATION, "the server's answer does not list versions"));
        }
        let (key, version) = (says("NextKeyMarker"), says("NextVersionIdMarker"));
        let has_more = says("IsTruncated").eq_ignore_ascii_case("true");
        let is_behind = key < marker.key || (key == marker.key && version == marker.version);
        if has_more && is_behind {
            return Err(self.unsupported(OPERATION, "the listing would never end"));
        }
        let after = std::mem::replace(&mut marker.key, key);
        (marker.version, marker.is_done) = (version, !has_more);
        let rows = elements(body, &["Version"]).into_iter();
        let rows = rows.filter_map(|(_, inside)| row(inside, has_earlier));
        // Earlier versions of one value may be in two answers.
        let is_new = |row: &ListedVersion| has_earlier || row.entry.key > after;
        let is_below = |row: &ListedVersion| row.entry.key.starts_with(&prefix);
        Ok(rows.filter(|row| is_new(row) && is_below(row)).collect())
    }

    /// The wanted part of one version of a value.
    pub(super) async fn fetch_version(&self, of: &Wanted, part: Requested) -> Result<Fetched> {
        let Requested::Ranges(ranges) = part else {
            let got = self.get_version_part(of, None).await?;
            return Ok(Fetched::Bytes(Vec::from(got.bytes), got.generation, got.total));
        };
        let asked = ranges.iter().filter(|range| range.start < range.end).cloned().collect();
        let runs = coalesce_ranges(asked, self.gap());
        let parts = runs.iter().map(|run| self.get_version_part(of, Some(run.clone())));
        let parts: Vec<Received> = try_join_all(parts).await?;
        let Some(first) = parts.first() else {
            return Err(self.unsupported("read a version of", "no bytes were asked for"));
        };
        let bytes = self.cut(&of.name, &ranges, &runs, &parts)?;
        Ok(Fetched::Bytes(bytes, first.generation, first.total))
    }

    async fn get_version_part(&self, of: &Wanted, range: Option<Range<u64>>) -> Result<Received> {
        let path = self.path(&of.name)?;
        let range = range.map(GetRange::Bounded);
        // A version does not change, so that a cached answer needs no question to the server.
        let id = format!("{}?versionId={}", self.bucket.id(&of.name), of.version);
        let question = Question::new(&id, range.as_ref());
        if let Some(cache) = &self.cache
            && let Some(kept) = cache.get(&question).await
            && unquoted(&kept.tag) == of.tag
        {
            cache.confirmed(&kept);
            return Ok(kept.got);
        }
        let version = Some(of.version.clone());
        let mut options = GetOptions { range, version, ..GetOptions::default() };
        options.extensions.insert(Most(of.size));
        let (tag, got) = match self.get_got(&path, options).await {
            Ok(got) => got,
            Err(error) if is_absent(&error) || matches!(status_of(&error), Some(400 | 405)) => {
                return Err(self.lost(of, "the server has it no more"));
            }
            Err(error) => return Err(self.failed("read a version of", &of.name, &error)),
        };
        let tag = tag.unwrap_or_default();
        if unquoted(&tag) != of.tag || got.total != of.size {
            let sent = format!("{} bytes with the tag {:?}", got.total, unquoted(&tag));
            let stored = format!("{} bytes with the tag {:?}", of.size, of.tag);
            return Err(self.lost(of, &format!("the server sends {sent}, and it had {stored}")));
        }
        if let Some(cache) = &self.cache {
            cache.answered(false);
            cache.put(question, tag, &got).await;
        }
        Ok(got)
    }

    fn lost(&self, of: &Wanted, reason: &str) -> StoreError {
        let (path, version) = (self.bucket.url(&of.name), of.version.clone());
        StoreError::VersionLost { path, version, reason: reason.to_owned() }
    }
}

/// The row of a `<Version>`; only of the latest one of a value, unless earlier ones are wanted.
fn row(inside: &str, has_earlier: bool) -> Option<ListedVersion> {
    let says = |name| element(inside, name).unwrap_or_default();
    let key = says("Key");
    let is_latest = says("IsLatest").eq_ignore_ascii_case("true");
    if !(is_latest || has_earlier)
        || key.ends_with('/')
        || !is_value(&object_store::path::Path::parse(&key).ok()?)
    {
        return None;
    }
    let (tag, size) = (says("ETag"), says("Size").parse().ok()?);
    let entry = ListedValue { key, size, tag: unquoted(&tag).to_owned() };
    Some(ListedVersion { entry, version: says("VersionId") })
}
