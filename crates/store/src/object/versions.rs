//! Versions of objects in buckets that keep them: listings with the version of each value, reads of
//! one version, and the settings of the bucket. S3, and servers that speak its protocol.

use std::sync::Arc;

use futures_util::future::try_join_all;
use http::{Method, StatusCode};
use object_store::{GetOptions, GetRange};

use super::answers::Most;
use super::bucket::Service;
use super::client::{Client, Requested};
use super::names::is_value;
use super::response::{Received, unquoted};
use super::s3::{S3, element, elements};
use crate::error::{Refusal, Result, StoreError};
use crate::ranges::coalesce_ranges;
use crate::store::{Edge, Fetched};
use crate::tagged::{ListedValue, ListedVersion};

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

    /// The latest versions of values below `name`, from `marker` on: those of one answer, in the
    /// order of their names. A value whose latest version is its deletion is left out.
    pub(super) async fn list_versions(
        &self,
        name: &str,
        marker: &mut VersionMarker,
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
        if !body.contains("<ListVersionsResult") {
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
        let rows = elements(body, &["Version"]).into_iter().filter_map(|(_, inside)| row(inside));
        let is_new = |row: &ListedVersion| row.entry.key > after;
        Ok(rows.filter(is_new).collect())
    }

    /// The wanted part of one version of a value.
    pub(super) async fn fetch_version(
        &self,
        name: &str,
        version: &str,
        wanted: Requested,
    ) -> Result<Fetched> {
        let ranges = match wanted {
            Requested::AtMost(most) => {
                let got = self.get_version_part(name, version, None, most).await?;
                return Ok(whole(got));
            }
            Requested::Edge(edge) => {
                let range = match edge {
                    Edge::First(bytes) => GetRange::Bounded(0..bytes),
                    Edge::Last(bytes) => GetRange::Suffix(bytes),
                };
                let got = self.get_version_part(name, version, Some(range), u64::MAX).await?;
                return Ok(whole(got));
            }
            Requested::Ranges(ranges) => ranges,
        };
        let asked = ranges.iter().filter(|range| range.start < range.end).cloned().collect();
        let runs = coalesce_ranges(asked, self.gap());
        if runs.is_empty() {
            return Ok(whole(self.get_version_part(name, version, None, 0).await?));
        }
        let parts = runs.iter().map(|run| {
            self.get_version_part(name, version, Some(GetRange::Bounded(run.clone())), u64::MAX)
        });
        let parts: Option<Vec<Received>> = try_join_all(parts).await?.into_iter().collect();
        let Some(parts) = parts else { return Ok(Fetched::Absent) };
        let bytes = self.cut(name, &ranges, &runs, &parts)?;
        Ok(Fetched::Bytes(bytes, parts[0].generation, parts[0].total))
    }

    async fn get_version_part(
        &self,
        name: &str,
        version: &str,
        range: Option<GetRange>,
        most: u64,
    ) -> Result<Option<Received>> {
        let version = Some(version.to_owned());
        let mut options = GetOptions { range, version, ..GetOptions::default() };
        options.extensions.insert(Most(most));
        let found = self.get_got(&self.path(name)?, options).await.map(|(_, got)| got);
        self.unless_absent("read a version of", name, found)
    }
}

fn whole(got: Option<Received>) -> Fetched {
    match got {
        Some(got) => Fetched::Bytes(Vec::from(got.bytes), got.generation, got.total),
        None => Fetched::Absent,
    }
}

/// The row of a `<Version>`, if it is the latest one of a value.
fn row(inside: &str) -> Option<ListedVersion> {
    let says = |name| element(inside, name).unwrap_or_default();
    let key = says("Key");
    let is_latest = says("IsLatest").eq_ignore_ascii_case("true");
    if !is_latest || key.ends_with('/') || !is_value(&object_store::path::Path::parse(&key).ok()?) {
        return None;
    }
    let (tag, size) = (says("ETag"), says("Size").parse().ok()?);
    let entry = ListedValue { key, size, tag: unquoted(&tag).to_owned() };
    Some(ListedVersion { entry, version: says("VersionId") })
}
