//! Atomic changes of a value: a put succeeds only if the value is still the version that was read.
//!
//! Servers compare tags (`If-Match`, `If-None-Match: *`). If two writers read one version, the
//! second is told to read again. A response can get lost, though, and a retry then conflicts with
//! its own first attempt. So every such put carries a unique name, and the names of the last
//! changes are stored with the value. A writer that finds its own name knows that its change was
//! made. Without names it would make its change twice, and an append would leave a hole.
//!
//! Some servers ignore conditions and accept every put. This is detected once, with a probe key
//! that no program uses, before the first change relies on conditions. The cloud services
//! themselves honour conditions.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use object_store::{
    Attribute, Attributes, Error, GetOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions,
    PutPayload, PutResult, UpdateVersion,
};

use super::answers::Most;
use super::bucket::Service;
use super::client::Client;
use super::failure::{is_absent, is_passing, status_of};
use super::names::unique_name;
use super::response::{quoted, tag as tag_of, unquoted};
use crate::error::{Refusal, Result, StoreError};
use crate::key::PARTIAL;
use crate::process::notice;
use crate::tagged::{Condition, PutOutcome, Tagged};

/// The metadata field with the names of a value's last changes; every service allows this name.
const CHANGES: &str = "zarrixchanges";
/// How many other changes may follow a change before its writer checks whether it was made.
const KEPT_CHANGES: usize = 16;

/// States of [`Client::conditions`].
pub(super) const UNKNOWN: u8 = 0;
pub(super) const KEPT: u8 = 1;
pub(super) const IGNORED: u8 = 2;

/// A version of a value, or the absence of one.
#[derive(Debug, Default)]
pub(super) struct Version {
    tag: Option<UpdateVersion>,
    changes: Vec<String>,
}

impl Version {
    /// The version that has this tag in a header, with the names of its last changes.
    fn tagged(tag: Option<UpdateVersion>, changes: &str) -> Self {
        Self { tag, changes: changes.split_whitespace().map(ToOwned::to_owned).collect() }
    }

    /// This version as callers of the store have it; `None` for the absence of one.
    pub(super) fn told(&self) -> Option<Tagged> {
        let tag = self.tag.as_ref()?.e_tag.as_deref().map(unquoted).unwrap_or_default();
        Some(Tagged { tag: tag.to_owned(), changes: self.changes.join(" ") })
    }

    /// Whether this version includes a change with one of `names`.
    pub(super) fn has_any(&self, names: &[String]) -> bool {
        names.iter().any(|name| self.changes.contains(name))
    }
}

/// The result of a conditional put.
pub(super) enum Outcome {
    /// The value is stored, and has this tag.
    Done(String),
    /// Another writer was faster.
    Beaten,
    /// The result is unknown; the error is reported if this is the last attempt.
    Unclear(crate::error::StoreError),
}

impl Client {
    /// The value of `name` with its version; of a value longer than `most`, the first `most + 1`
    /// bytes.
    pub(super) async fn get_version(
        &self,
        name: &str,
        most: u64,
    ) -> Result<(Option<Bytes>, Version)> {
        let mut options = GetOptions::default();
        options.extensions.insert(Most(most));
        let path = self.path(name)?;
        let found = async {
            let result = self.store.get_opts(&path, options).await?;
            let tag = UpdateVersion {
                e_tag: result.meta.e_tag.clone(),
                version: result.meta.version.clone(),
            };
            let changes = result.attributes.get(&Attribute::Metadata(CHANGES.into()));
            let version = Version::tagged(Some(tag), changes.map_or("", AsRef::as_ref));
            Ok((Some(result.bytes().await?), version))
        };
        match found.await {
            Ok(found) => Ok(found),
            Err(error) if is_absent(&error) => Ok((None, Version::default())),
            Err(error) => Err(self.failed("read", name, &error)),
        }
    }

    /// Puts the value of `name` if it is still `version`; the change is named `change`.
    pub(super) async fn put_if(
        &self,
        name: &str,
        value: Bytes,
        version: &Version,
        change: &str,
    ) -> Result<Outcome> {
        let mode = match &version.tag {
            _ if !self.keeps_conditions(name).await? => PutMode::Overwrite,
            None => PutMode::Create,
            Some(tag) => PutMode::Update(tag.clone()),
        };
        let kept = version.changes.len().saturating_sub(KEPT_CHANGES - 1);
        let names: Vec<&str> =
            version.changes[kept..].iter().map(String::as_str).chain([change]).collect();
        let mut attributes = Attributes::new();
        attributes.insert(Attribute::Metadata(CHANGES.into()), names.join(" ").into());
        let options = PutOptions { mode, attributes, ..PutOptions::default() };
        let path = self.path(name)?;
        let put = self.store.put_opts(&path, PutPayload::from_bytes(value), options).await;
        match self.outcome(name, put) {
            // The version that was read is gone; if the bucket is missing, the next read reports
            // that.
            Err(StoreError::Remote { refusal: Refusal::Missing, .. }) if version.tag.is_some() => {
                Ok(Outcome::Beaten)
            }
            put => put,
        }
    }

    fn outcome(&self, name: &str, put: object_store::Result<PutResult>) -> Result<Outcome> {
        match put {
            Ok(put) => Ok(Outcome::Done(put.e_tag.as_deref().map_or("", unquoted).to_owned())),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(Outcome::Beaten),
            Err(error) if is_passing(&error) => {
                Ok(Outcome::Unclear(self.failed("write", name, &error)))
            }
            Err(error) => Err(self.failed("write", name, &error)),
        }
    }

    /// Puts the value of `name` under the condition of a caller of the store.
    ///
    /// A refusal may be due to the first attempt of this put, whose answer was lost: the value then
    /// has the name of the put.
    pub(super) async fn put_under(
        &self,
        name: &str,
        value: Bytes,
        condition: Condition<'_>,
        changes: &str,
        change: &str,
    ) -> Result<PutOutcome> {
        if condition != Condition::Always && !self.keeps_conditions(name).await? {
            return Err(StoreError::unconditional(&self.bucket.url(name)));
        }
        let put = match condition {
            Condition::Always => self.overwrite(name, value, change).await?,
            Condition::Absent => self.put_if(name, value, &Version::default(), change).await?,
            Condition::Tag(tag) => {
                let Some(tag) = self.header_of(name, tag).await? else {
                    return Ok(PutOutcome::Refused);
                };
                self.put_if(name, value, &Version::tagged(Some(tag), changes), change).await?
            }
        };
        let otherwise = match put {
            Outcome::Done(tag) => return Ok(PutOutcome::Stored(tag)),
            Outcome::Beaten => PutOutcome::Refused,
            Outcome::Unclear(error) => PutOutcome::Unclear(error.to_string()),
        };
        let own = [change.to_owned()];
        match self.get_version(name, 0).await {
            Ok((_, version)) if version.has_any(&own) => {
                Ok(PutOutcome::Stored(version.told().unwrap_or_default().tag))
            }
            Err(error) if otherwise == PutOutcome::Refused => {
                Ok(PutOutcome::Unclear(error.to_string()))
            }
            _ => Ok(otherwise),
        }
    }

    async fn overwrite(&self, name: &str, value: Bytes, change: &str) -> Result<Outcome> {
        let mut attributes = Attributes::new();
        attributes.insert(Attribute::Metadata(CHANGES.into()), change.to_owned().into());
        let options = PutOptions { attributes, ..PutOptions::default() };
        let path = self.path(name)?;
        self.outcome(name, self.store.put_opts(&path, value.into(), options).await)
    }

    /// What a request has to send for a tag; `None` if the value has another one. Google compares
    /// generations, which no listing has.
    async fn header_of(&self, name: &str, tag: &str) -> Result<Option<UpdateVersion>> {
        if self.bucket.service != Service::Gcs {
            return Ok(Some(UpdateVersion { e_tag: Some(quoted(tag)), version: None }));
        }
        match self.store.head(&self.path(name)?).await {
            Ok(meta) if tag_of(&meta) == tag => {
                Ok(Some(UpdateVersion { e_tag: meta.e_tag, version: meta.version }))
            }
            Ok(_) => Ok(None),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.failed("look at", name, &error)),
        }
    }

    /// Whether this server honours conditions; detected beside `name` on the first call.
    pub(super) async fn keeps_conditions(&self, name: &str) -> Result<bool> {
        match self.conditions.load(Ordering::Relaxed) {
            UNKNOWN if self.bucket.is_the_services_own() => return Ok(true),
            UNKNOWN => {}
            known => return Ok(known == KEPT),
        }
        if let Service::Other(protocol) = self.bucket.service {
            if self.conditions.swap(IGNORED, Ordering::Relaxed) == UNKNOWN {
                notice::keep(
                    notice::NoticeKind::LostUpdate,
                    format!(
                        "{} has no conditional writes: if two machines, or users, change parts of one \
                     chunk of {}, or one document, at the same moment, one change can be lost. \
                     Processes of one user on one machine are safe",
                        protocol.name,
                        self.bucket.url("")
                    ),
                );
            }
            return Ok(false);
        }
        let probe = probe_beside(name);
        let kept = self.try_conditions(&probe).await?;
        let new = if kept { KEPT } else { IGNORED };
        if self.conditions.swap(new, Ordering::Relaxed) == UNKNOWN && !kept {
            notice::keep(
                notice::NoticeKind::LostUpdate,
                format!(
                    "the server of {} ignores conditional writes: if two processes change parts of one \
                 chunk, or one document, at the same moment, one change can be lost. Threads of \
                 one process are safe",
                    self.bucket.url("")
                ),
            );
        }
        Ok(kept)
    }

    async fn try_conditions(&self, probe: &str) -> Result<bool> {
        let path = self.path(probe)?;
        let put = |mode| {
            let options = PutOptions { mode, ..PutOptions::default() };
            self.store.put_opts(&path, PutPayload::from_static(b"zarrix"), options)
        };
        let refused = |put: &object_store::Result<_>| match put {
            Ok(_) => Some(false),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Some(true),
            // A server that reports that it does not support conditions.
            Err(error) if matches!(status_of(error), Some(400 | 501)) => Some(false),
            Err(_) => None,
        };
        let made = put(PutMode::Create).await;
        let mut kept = match &made {
            Ok(_) => true,
            Err(error) if matches!(status_of(error), Some(400 | 501)) => false,
            Err(error) => return Err(self.failed("write", probe, error)),
        };
        if kept {
            let other = UpdateVersion {
                e_tag: Some("\"zarrix\"".to_owned()),
                version: Some("1".to_owned()),
            };
            for again in [PutMode::Create, PutMode::Update(other)] {
                let answer = put(again).await;
                kept &= match (refused(&answer), answer) {
                    (Some(refused), _) => refused,
                    (None, Err(error)) => return Err(self.failed("write", probe, &error)),
                    (None, Ok(_)) => false,
                };
            }
        }
        match self.store.delete(&path).await {
            // A user who may write but not delete leaves a few bytes that no listing shows.
            Ok(()) | Err(Error::NotFound { .. } | Error::PermissionDenied { .. }) => Ok(kept),
            Err(error) => Err(self.failed("delete", probe, &error)),
        }
    }
}

/// A name beside `name` that no listing of a store shows.
pub(super) fn probe_beside(name: &str) -> String {
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let slash = if folder.is_empty() { "" } else { "/" };
    format!("{folder}{slash}.zarrix-{}{PARTIAL}", unique_name())
}
