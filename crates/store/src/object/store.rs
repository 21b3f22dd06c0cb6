//! A store behind HTTP.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{ObjectStoreExt, PutPayload};
use zarrix_codec::memory::copied;

use super::backoff::pause;
use super::bucket::{Bucket, Service};
use super::cache::CacheCounts;
use super::client::{Client, Requested};
use super::conditions::Outcome;
use super::listed::ServerListing;
use super::names::unique_name;
use super::remote;

use crate::error::{Refusal, Result, StoreError};
use crate::generation::Generation;
use crate::key::{check_key, check_prefix};
use crate::listing::moved::moved_keys;
use crate::lock::files::LockFiles;
use crate::lock::table::KeyLock;
use crate::store::{Change, Changing, Durability, Edge, Fetched, Listing, Request, Store, Update};
use crate::tagged::{Condition, ConditionalPut, Cursor, ListedValue, PutOutcome, Tagged};

/// Values of one call that are copied or deleted at one time.
const CHANGES: usize = 32;
/// How often a change is retried because another writer was faster; each time is progress of that
/// writer.
const TURNS: u32 = 10_000;

/// A path in a bucket.
#[derive(Clone)]
pub struct ObjectStore {
    bucket: Arc<Bucket>,
    prefix: String,
    id: String,
    /// Locks among the processes of one machine, for servers without conditional writes.
    locks: Option<Arc<LockFiles>>,
}

impl std::fmt::Debug for ObjectStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "ObjectStore({})", self.id)
    }
}

impl ObjectStore {
    /// The store below `prefix`, names joined by `/`; empty for the whole bucket.
    ///
    /// # Errors
    /// An option that the service does not have, or an invalid value. No request is sent.
    pub fn new(bucket: Bucket, prefix: &str) -> Result<Self> {
        check_prefix(prefix)?;
        let (id, bucket) = (bucket.id(prefix), remote::shared(bucket));
        remote::client(&bucket)?;
        let locks = bucket.locks().map(|folder| Arc::new(LockFiles::new(folder)));
        Ok(Self { bucket, prefix: prefix.to_owned(), id, locks })
    }

    /// The address of the bucket, for messages.
    #[must_use]
    pub fn url(&self) -> String {
        self.bucket.url(&self.prefix)
    }

    /// Counts of this process for the cache of the bucket; `None` without a cache.
    ///
    /// # Errors
    /// The runtime of a process that has just begun cannot be started.
    pub fn cache_counts(&self) -> Result<Option<CacheCounts>> {
        Ok(self.client()?.cache.as_ref().map(|cache| cache.counts()))
    }

    pub(super) fn client(&self) -> Result<Arc<Client>> {
        remote::client(&self.bucket)
    }

    /// The name of `key` in the bucket.
    pub(super) fn name(&self, key: &str) -> String {
        match (self.prefix.is_empty(), key.is_empty()) {
            (true, _) => key.to_owned(),
            (false, true) => self.prefix.clone(),
            (false, false) => format!("{}/{key}", self.prefix),
        }
    }

    /// Runs `request` with the client and the name of `key`.
    fn ask<T, F>(&self, key: &str, request: impl FnOnce(Arc<Client>, String) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        check_key(key)?;
        remote::wait(request(self.client()?, self.name(key)))?
    }

    pub(super) fn writable(&self, key: &str) -> Result<()> {
        if self.bucket.service == Service::Http || self.bucket.is_frozen() {
            return Err(StoreError::ReadOnly { key: self.bucket.url(&self.name(key)) });
        }
        Ok(())
    }

    /// Name in the bucket and length of every value below `prefix`.
    fn list(&self, prefix: &str) -> Result<Vec<(Path, u64)>> {
        check_prefix(prefix)?;
        let (client, name) = (self.client()?, self.name(prefix));
        remote::wait(async move { client.list(&name).await })?
    }

    /// The key of a name in the bucket.
    fn key<'a>(&self, path: &'a Path) -> &'a str {
        self.key_of(path.as_ref())
    }

    pub(super) fn key_of<'a>(&self, name: &'a str) -> &'a str {
        name.strip_prefix(&self.prefix).map_or(name, |rest| rest.trim_start_matches('/'))
    }

    fn delete_all(&self, names: Vec<Path>) -> Result<u64> {
        let (client, count) = (self.client()?, names.len() as u64);
        remote::wait(async move {
            let names = stream::iter(names.into_iter().map(Ok)).boxed();
            let mut deleted = client.store.delete_stream(names);
            while let Some(name) = deleted.next().await {
                match name {
                    Ok(_) | Err(object_store::Error::NotFound { .. }) => {}
                    Err(error) => return Err(client.failed("delete below", "", &error)),
                }
            }
            Ok(count)
        })?
    }
}

impl Store for ObjectStore {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_inline(&self) -> bool {
        false
    }

    fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>> {
        self.get_at_most_into(key, u64::MAX, dst)
    }

    fn get_at_most_into(
        &self,
        key: &str,
        most: u64,
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        dst.clear();
        let got =
            self.ask(key, move |client, name| async move { client.get(&name, most).await })?;
        Ok(got.map(|got| {
            *dst = Vec::from(got.bytes);
            got.generation
        }))
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        dst.clear();
        let ranges = ranges.to_vec();
        let got =
            self.ask(key, |client, name| async move { client.get_ranges(&name, &ranges).await })?;
        Ok(got.map(|(bytes, generation, _)| {
            *dst = bytes;
            generation
        }))
    }

    fn get_edge_into(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        dst.clear();
        let got =
            self.ask(key, move |client, name| async move { client.get_edge(&name, edge).await })?;
        Ok(got.map(|got| {
            *dst = Vec::from(got.bytes);
            (got.generation, got.total)
        }))
    }

    fn fetch(&self, requests: &[Request<'_>], sink: &mut dyn FnMut(usize, Result<Fetched>)) {
        let client = match self.client() {
            Ok(client) => client,
            Err(error) => return sink(0, Err(error)),
        };
        let begin = |(position, request): (usize, &Request<'_>)| {
            let (client, name) = (Arc::clone(&client), self.name(request.key));
            let (allowed, part) = (check_key(request.key), Requested::of(request.part));
            async move {
                let found = match allowed {
                    Ok(()) => client.fetch(&name, part).await,
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

    fn is_remote(&self) -> bool {
        true
    }

    fn gap(&self) -> Option<u64> {
        self.client().ok().map(|client| client.gap())
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        let found = self.ask(key, |client, name| async move { client.head(&name).await })?;
        Ok(found.map(|(_, size)| size))
    }

    fn reads_value_once(&self) -> bool {
        true
    }

    fn put(&self, key: &str, value: &[u8], _: Durability) -> Result<()> {
        self.writable(key)?;
        let payload = PutPayload::from(copied(value).map_err(StoreError::memory(key))?);
        self.ask(key, |client, name| async move {
            let put = client.store.put(&client.path(&name)?, payload).await;
            put.map(|_| ()).map_err(|error| client.failed("write", &name, &error))
        })
    }

    /// Threads of this process take turns; the version shows writes of other processes.
    fn update(
        &self,
        update: Update<'_>,
        old: &mut Vec<u8>,
        new: &mut Vec<u8>,
        change: &mut Changing<'_>,
    ) -> Result<()> {
        let Update { anchor, key, most, durability } = update;
        self.writable(key)?;
        let _lock = self.lock(anchor, key)?;
        let mut tried = Vec::new();
        let (mut last, mut is_unclear) = (None, false);
        let until = Instant::now() + self.bucket.timeout()?;
        for turn in 0..TURNS {
            let (value, version) =
                self.ask(
                    key,
                    move |client, name| async move { client.get_version(&name, most).await },
                )?;
            // If versions carry no change names, an equal value shows that the change was made.
            let is_made = is_unclear && value.as_deref() == Some(new.as_slice());
            if is_made || version.has_any(&tried) {
                return Ok(());
            }
            let is_there = value.is_some();
            *old = value.map(Vec::from).unwrap_or_default();
            match change(is_there.then_some(old.as_slice()), new) {
                Change::Keep => return Ok(()),
                Change::Delete if !is_there => return Ok(()),
                Change::Delete => return self.delete(key, durability).map(|_| ()),
                Change::Put => {}
            }
            let (value, own) = (Bytes::copy_from_slice(new), unique_name());
            tried.push(own.clone());
            let put = self.ask(key, |client, name| async move {
                client.put_if(&name, value, &version, &own).await
            })?;
            is_unclear = matches!(put, Outcome::Unclear(_));
            match put {
                Outcome::Done(_) => return Ok(()),
                Outcome::Unclear(error) if Instant::now() > until => return Err(error),
                Outcome::Unclear(error) => last = Some(error),
                Outcome::Beaten => {}
            }
            remote::wait(async move { tokio::time::sleep(pause(turn)).await })?;
        }
        Err(last.unwrap_or_else(|| StoreError::Remote {
            operation: "write",
            path: self.bucket.url(&self.name(key)),
            refusal: Refusal::Failed,
            reason: format!("other writers were faster {TURNS} times"),
        }))
    }

    fn updates_by_deleting(&self) -> bool {
        false
    }

    fn keeps_conditions(&self, key: &str) -> Result<bool> {
        self.writable(key)?;
        self.ask(key, |client, name| async move { client.keeps_conditions(&name).await })
    }

    fn put_if(
        &self,
        update: Update<'_>,
        value: &[u8],
        put: ConditionalPut<'_>,
    ) -> Result<PutOutcome> {
        self.writable(update.key)?;
        let value = Bytes::from(copied(value).map_err(StoreError::memory(update.key))?);
        let (changes, own) = (put.changes.to_owned(), put.name.to_owned());
        let (is_always, tag) = match put.condition {
            Condition::Always => (true, None),
            Condition::Absent => (false, None),
            Condition::Tag(tag) => (false, Some(tag.to_owned())),
        };
        self.ask(update.key, move |client, name| async move {
            let condition = match &tag {
                Some(tag) => Condition::Tag(tag),
                None if is_always => Condition::Always,
                None => Condition::Absent,
            };
            client.put_under(&name, value, condition, &changes, &own).await
        })
    }

    fn head(&self, key: &str) -> Result<Option<ListedValue>> {
        let found = self.ask(key, |client, name| async move { client.head_tagged(&name).await })?;
        Ok(found.map(|(size, tag)| ListedValue { key: key.to_owned(), size, tag }))
    }

    fn get_tagged(&self, key: &str, most: u64, dst: &mut Vec<u8>) -> Result<Option<Tagged>> {
        dst.clear();
        let (value, version) = self
            .ask(key, move |client, name| async move { client.get_version(&name, most).await })?;
        *dst = value.map(Vec::from).unwrap_or_default();
        Ok(version.told())
    }

    fn list_page(&self, cursor: &mut Cursor) -> Result<Vec<ListedValue>> {
        check_prefix(&cursor.prefix)?;
        let (client, name) = (self.client()?, self.name(&cursor.prefix));
        let after = match cursor.after.as_str() {
            "" => String::new(),
            after => self.name(after),
        };
        let state = cursor.state.take().and_then(|state| state.downcast::<ServerListing>().ok());
        let (listed, mut page) = remote::wait(async move {
            let mut listed = match state {
                Some(listed) => listed,
                None => Box::new(client.begin_listing(&name, &after).await?),
            };
            let page = client.next_page(&name, &mut listed).await?;
            Ok::<_, StoreError>((listed, page))
        })??;
        for entry in &mut page {
            entry.key = self.key_of(&entry.key).to_owned();
        }
        cursor.is_done = page.is_empty();
        if let Some(last) = page.last() {
            cursor.after.clone_from(&last.key);
        }
        cursor.state = Some(listed);
        Ok(page)
    }

    fn delete(&self, key: &str, _: Durability) -> Result<bool> {
        self.writable(key)?;
        let top = self.prefix.clone();
        self.ask(key, |client, name| async move {
            if client.head(&name).await?.is_none() {
                return Ok(false);
            }
            match client.store.delete(&client.path(&name)?).await {
                Ok(()) => client.prune(&name, &top).await.map(|()| true),
                Err(object_store::Error::NotFound { .. }) => Ok(false),
                Err(error) => Err(client.failed("delete", &name, &error)),
            }
        })
    }

    fn delete_prefix(&self, prefix: &str, _: Durability) -> Result<u64> {
        let doomed = self.list(prefix)?;
        if let Some((first, _)) = doomed.first() {
            self.writable(self.key(first))?;
        }
        let (client, name, top) = (self.client()?, self.name(prefix), self.prefix.clone());
        if client.tree.is_some() {
            remote::wait(async move { client.delete_tree(&name, &top).await })??;
            return Ok(doomed.len() as u64);
        }
        self.delete_all(doomed.into_iter().map(|(path, _)| path).collect())
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        let mut keys: Vec<String> =
            self.list(prefix)?.iter().map(|(path, _)| self.key(path).to_owned()).collect();
        keys.sort_unstable();
        Ok(keys)
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        let (client, name) = (self.client()?, self.name(prefix));
        remote::wait(async move { client.list_names(&name).await })?
    }

    fn list_dirs(&self, prefixes: &[String]) -> Result<Vec<Listing>> {
        let client = self.client()?;
        prefixes.iter().try_for_each(|prefix| check_prefix(prefix))?;
        let mut listings: Vec<Result<Listing>> = Vec::new();
        listings.resize_with(prefixes.len(), || Ok(Listing::default()));
        let requests = prefixes.iter().enumerate().map(|(position, prefix)| {
            let (client, name) = (Arc::clone(&client), self.name(prefix));
            async move { (position, client.list_names(&name).await) }
        });
        remote::wait_for_all(requests, client.width(), &mut |(position, listing)| {
            let is_over = listing.is_err();
            listings[position] = listing;
            is_over
        })?;
        listings.into_iter().collect()
    }

    fn size_prefix(&self, prefix: &str) -> Result<u64> {
        Ok(self.list(prefix)?.iter().map(|(_, size)| size).sum())
    }

    fn rename_prefix(&self, source: &str, target: &str, _: Durability) -> Result<()> {
        self.writable(target)?;
        let moved = moved_keys(self, source, target, |key| self.bucket.url(&self.name(key)))?;
        let (from, to) = (self.name(source), self.name(target));
        let client = self.client()?;
        if client.tree.is_some() {
            let top = self.prefix.clone();
            return remote::wait(async move { client.move_tree(&from, &to, &top).await })?;
        }
        let names: Vec<Path> = moved.iter().map(|key| Path::from(self.name(key))).collect();
        let doomed = names.clone();
        remote::wait(async move {
            let copy = |name: Path| {
                let (client, rest) = (Arc::clone(&client), &name.as_ref()[from.len()..]);
                let copy = format!("{to}{rest}");
                async move {
                    let copied = client.store.copy(&name, &client.path(&copy)?).await;
                    copied.map_err(|error| client.failed("write", &copy, &error))
                }
            };
            stream::iter(names).map(copy).buffer_unordered(CHANGES).try_collect::<()>().await
        })??;
        self.delete_all(doomed).map(|_| ())
    }

    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        check_key(anchor)?;
        check_key(key)?;
        match &self.locks {
            Some(locks) => locks.lock(&self.name(anchor), &self.name(key)),
            None => KeyLock::in_process(&self.id, anchor, key),
        }
    }
}
