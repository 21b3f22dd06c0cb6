//! What a bucket that keeps versions can do beyond a store: list them, read one, and copy one.

use std::sync::{Arc, Mutex, PoisonError};

use super::client::{Client, Requested};
use super::copies::CopyTerms;
use super::remote;
use super::store::ObjectStore;
use super::versions::{VersionMarker, Wanted};
use crate::error::{Result, StoreError};
use crate::key::{check_key, check_prefix};
use crate::store::{Fetched, Part};
use crate::tagged::{ListedVersion, PutOutcome};

/// A request for a part of one version of a value.
#[derive(Clone, Copy, Debug)]
pub struct VersionRequest<'a> {
    /// The key.
    pub key: &'a str,
    /// The name that the server gave the version.
    pub version: &'a str,
    /// The tag that it must have.
    pub tag: &'a str,
    /// The length that it must have.
    pub size: u64,
    /// The requested part of its value.
    pub part: Part<'a>,
}

/// Versions of the values below a prefix, a page at a time, in the order of keys.
pub struct VersionPages {
    store: ObjectStore,
    prefix: String,
    /// Whether earlier versions are listed, too, the latest one of a value first.
    has_earlier: bool,
    marker: Mutex<VersionMarker>,
}

impl VersionPages {
    /// The next page, which may be empty; `None` after the last one.
    ///
    /// # Errors
    /// The service does not list versions, or refuses.
    pub fn next_page(&self) -> Result<Option<Vec<ListedVersion>>> {
        let mut marker = self.marker.lock().unwrap_or_else(PoisonError::into_inner);
        if marker.is_done {
            return Ok(None);
        }
        let (client, name) = (self.store.client()?, self.store.name(&self.prefix));
        let (mut moved, has_earlier) = (std::mem::take(&mut *marker), self.has_earlier);
        let (page, moved) = remote::wait(async move {
            let page = client.list_versions(&name, &mut moved, has_earlier).await;
            (page, moved)
        })?;
        *marker = moved;
        let mut page = page?;
        for row in &mut page {
            row.entry.key = self.store.key_of(&row.entry.key).to_owned();
        }
        page.retain(|row| check_key(&row.entry.key).is_ok());
        Ok(Some(page))
    }
}

impl ObjectStore {
    /// The versions below `prefix`: the latest of each value, and all earlier ones if wanted.
    ///
    /// # Errors
    /// The prefix is not one that stores accept.
    pub fn version_pages(&self, prefix: &str, has_earlier: bool) -> Result<VersionPages> {
        check_prefix(prefix)?;
        let (store, prefix) = (self.clone(), prefix.to_owned());
        Ok(VersionPages { store, prefix, has_earlier, marker: Mutex::default() })
    }

    /// Whether the bucket keeps versions of its values.
    ///
    /// # Errors
    /// The service has no such setting, or refuses to tell it.
    pub fn keeps_versions(&self) -> Result<bool> {
        let client = self.client()?;
        remote::wait(async move { client.keeps_versions().await })?
    }

    /// The rules by which the bucket deletes values and versions, as XML of S3; `None` without any.
    ///
    /// # Errors
    /// As [`keeps_versions`](Self::keeps_versions).
    pub fn lifecycle(&self) -> Result<Option<String>> {
        let client = self.client()?;
        remote::wait(async move { client.lifecycle().await })?
    }

    /// Passes the result of each request to `sink` with its position, in any order. A version that
    /// is gone is an error, and so is another one in its place.
    pub fn fetch_versions(
        &self,
        requests: &[VersionRequest<'_>],
        sink: &mut dyn FnMut(usize, Result<Fetched>),
    ) {
        let client: Arc<Client> = match self.client() {
            Ok(client) => client,
            Err(error) => return sink(0, Err(error)),
        };
        let begin = |(position, request): (usize, &VersionRequest<'_>)| {
            let (client, name) = (Arc::clone(&client), self.name(request.key));
            let (allowed, part) = (check_key(request.key), Requested::of(request.part));
            let (version, tag) = (request.version.to_owned(), request.tag.to_owned());
            let wanted = Wanted { name, version, tag, size: request.size };
            async move {
                let found = match allowed {
                    Ok(()) => client.fetch_version(&wanted, part).await,
                    Err(error) => Err(error),
                };
                (position, found)
            }
        };
        let requests = requests.iter().enumerate().map(begin);
        let answered = remote::wait_for_all(requests, client.width(), &mut |(position, found)| {
            let is_over = matches!(found, Err(StoreError::Remote { .. }));
            sink(position, found);
            is_over
        });
        if let Err(error) = answered {
            sink(0, Err(error));
        }
    }

    /// Whether the server keeps the conditions of [`copy_if`](Self::copy_if) for copies to names
    /// beside `key`.
    ///
    /// # Errors
    /// The server refuses.
    pub fn keeps_copies(&self, key: &str) -> Result<bool> {
        check_key(key)?;
        self.writable(key)?;
        let (client, name) = (self.client()?, self.name(key));
        remote::wait(async move { client.keeps_copies(&name).await })?
    }

    /// Lets the server copy the value of `from` to `to`, if it has this tag; refused if not, or if
    /// `to` has a value that is not to be replaced.
    ///
    /// # Errors
    /// The server refuses, or the store is read-only.
    pub fn copy_if(
        &self,
        from: &str,
        to: &str,
        (tag, version, replaces): (Option<String>, Option<String>, bool),
    ) -> Result<PutOutcome> {
        check_key(from)?;
        check_key(to)?;
        self.writable(to)?;
        let (client, from, to) = (self.client()?, self.name(from), self.name(to));
        let terms = CopyTerms { tag, version, replaces };
        remote::wait(async move { client.copy_if(&from, &to, &terms).await })?
    }
}
