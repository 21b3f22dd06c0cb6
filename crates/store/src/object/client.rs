//! A process's client for one bucket, and its requests.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::sync::{Arc, OnceLock};

use futures_util::TryStreamExt;
use futures_util::future::try_join_all;
use object_store::list::PaginatedListStore;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore, ObjectStoreExt};
use zarrix_codec::memory::with_room;

use super::answers::Most;
use super::bucket::{Bucket, Service};
use super::cache::{Cache, Question};
use super::connect::{self, Connected};
use super::credentials::Credentials;
use super::failure::{self, is_absent, status_of};
use super::frozen::{Frozen, Known};
use super::names::is_value;
use super::pace::Pace;
use super::pages;
use super::protocol::FileSystem;
use super::response::{Received, generation, tag};
use super::s3::S3;
use crate::error::{Result, StoreError};
use crate::generation::Generation;
use crate::ranges::{READ_ATTEMPTS, coalesce_ranges};
use crate::store::{Edge, Fetched, Listing, Part};

/// The connections to a server, and the facts known about it.
pub(super) struct Client {
    pub bucket: Bucket,
    pub store: Arc<dyn ObjectStore>,
    /// The same client, if the server moves and removes directories as a whole.
    pub tree: Option<Arc<dyn FileSystem>>,
    pub pages: Option<Arc<dyn PaginatedListStore>>,
    /// What is known about the server's conditional writes (`conditions.rs`).
    pub conditions: AtomicU8,
    /// What is known about the conditions of its copies (`copies.rs`).
    pub copies: AtomicU8,
    /// Whether its listings are known to be in another order than that of the names' bytes.
    pub lists_by_folder: AtomicBool,
    secrets: Vec<String>,
    /// Only if they expire.
    pub credentials: Option<Arc<Credentials>>,
    pub cache: Option<Arc<Cache>>,
    /// Only if nothing changes.
    frozen: Option<Frozen>,
    pub pace: Arc<Pace>,
    /// For requests that the client has not.
    pub s3: OnceLock<Arc<S3>>,
}

/// A [`Part`] that lives as long as its request.
pub(super) enum Requested {
    AtMost(u64),
    Ranges(Vec<Range<u64>>),
    Edge(Edge),
}

impl Requested {
    pub(super) fn of(part: Part<'_>) -> Self {
        match part {
            Part::AtMost(most) => Self::AtMost(most),
            Part::Ranges(ranges) => Self::Ranges(ranges.to_vec()),
            Part::Edge(edge) => Self::Edge(edge),
        }
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Client({:?})", self.bucket)
    }
}

impl Client {
    pub(super) fn new(bucket: &Bucket) -> Result<Self> {
        let pace = Arc::new(Pace::default());
        let Connected { store, tree, pages, credentials } = connect::connect(bucket, &pace)?;
        let (conditions, secrets) = (AtomicU8::default(), bucket.secrets());
        let cache = connect::cache(bucket)?.map(Arc::new);
        let (bucket, frozen) = (bucket.clone(), bucket.is_frozen().then(Frozen::default));
        Ok(Self {
            bucket,
            store,
            tree,
            pages,
            conditions,
            copies: AtomicU8::default(),
            lists_by_folder: AtomicBool::default(),
            secrets,
            credentials,
            cache,
            frozen,
            pace,
            s3: OnceLock::new(),
        })
    }

    pub(super) fn path(&self, name: &str) -> Result<Path> {
        Path::parse(name).map_err(|_| StoreError::InvalidKey {
            key: name.to_owned(),
            reason: "object stores allow no control characters in a name",
        })
    }

    /// The error of an operation on the value `name`.
    pub(super) fn failed(
        &self,
        operation: &'static str,
        name: &str,
        error: &object_store::Error,
    ) -> StoreError {
        let expiring = self.credentials.iter().flat_map(|credentials| credentials.secrets());
        let secrets: Vec<String> = self.secrets.iter().cloned().chain(expiring).collect();
        failure::failed(&self.bucket, &secrets, operation, name, error)
    }

    async fn ask(&self, path: &Path, options: GetOptions) -> object_store::Result<Received> {
        let Some(frozen) = &self.frozen else { return self.ask_cached(path, options).await };
        let name = path.as_ref();
        if frozen.value(name).is_some_and(|known| known.is_none()) {
            let source = "it was absent, and nothing changes".into();
            return Err(object_store::Error::NotFound { path: name.to_owned(), source });
        }
        let found = self.ask_cached(path, options).await;
        match &found {
            Ok(got) => frozen.note_value(name, Some((got.generation, got.total))),
            Err(error) if is_absent(error) => frozen.note_value(name, None),
            Err(_) => {}
        }
        found
    }

    /// A response of the server, or a cached one.
    async fn ask_cached(
        &self,
        path: &Path,
        mut options: GetOptions,
    ) -> object_store::Result<Received> {
        let Some(cache) = &self.cache else { return Ok(self.get_got(path, options).await?.1) };
        let question = Question::new(&self.bucket.id(path.as_ref()), options.range.as_ref());
        let is_range = options.range.is_some();
        let kept = cache.get(&question).await;
        let is_valid = |frozen: &Frozen| frozen.is_valid(question.text());
        let kept = match kept {
            Some(kept) if self.frozen.as_ref().is_some_and(is_valid) => {
                cache.confirmed(&kept);
                return Ok(kept.got);
            }
            kept => kept,
        };
        if let Some(range) = &options.range
            && let Some(part) = self.cached_part(path, range).await
        {
            return Ok(part);
        }
        options.if_none_match = kept.as_ref().map(|kept| kept.tag.clone());
        let (tag, got) = match (self.get_got(path, options).await, kept) {
            (Err(object_store::Error::NotModified { .. }), Some(kept)) => {
                cache.confirmed(&kept);
                self.frozen.iter().for_each(|frozen| frozen.note_valid(question.text()));
                return Ok(kept.got);
            }
            (found, kept) => {
                cache.answered(kept.is_some());
                found?
            }
        };
        // A weak tag does not guarantee the same bytes, and a truncated value is not complete.
        if let Some(tag) = tag.filter(|tag| !tag.starts_with("W/"))
            && (is_range || got.bytes.len() as u64 == got.total)
        {
            self.frozen.iter().for_each(|frozen| frozen.note_valid(question.text()));
            cache.put(question, tag, &got).await;
        }
        Ok(got)
    }

    /// A part of a value that does not change, and that is cached as a whole.
    async fn cached_part(&self, path: &Path, range: &GetRange) -> Option<Received> {
        let (frozen, cache) = (self.frozen.as_ref()?, self.cache.as_ref()?);
        let whole = Question::new(&self.bucket.id(path.as_ref()), None);
        if !frozen.is_valid(whole.text()) {
            return None;
        }
        let kept = cache.get(&whole).await?;
        // The server says what is wrong with a range beyond the end.
        let range = range.as_range(kept.got.bytes.len() as u64).ok()?;
        cache.confirmed(&kept);
        let bytes = kept.got.bytes.slice(range.start as usize..range.end as usize);
        Some(Received { bytes, ..kept.got })
    }

    /// Sends a request; returns the tag of the version, and the result.
    pub(super) async fn get_got(
        &self,
        path: &Path,
        options: GetOptions,
    ) -> object_store::Result<(Option<String>, Received)> {
        let result = self.store.get_opts(path, options).await?;
        let (generation, total) = (generation(&result.meta), result.meta.size);
        let tag = result.meta.e_tag.clone();
        Ok((tag, Received { bytes: result.bytes().await?, generation, total }))
    }

    pub(super) fn unless_absent<T>(
        &self,
        operation: &'static str,
        name: &str,
        found: object_store::Result<T>,
    ) -> Result<Option<T>> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(self.failed(operation, name, &error)),
        }
    }

    /// The value of `name`; of a value longer than `most`, the first `most + 1` bytes.
    pub(super) async fn get(&self, name: &str, most: u64) -> Result<Option<Received>> {
        let mut options = GetOptions::default();
        options.extensions.insert(Most(most));
        let found = self.ask(&self.path(name)?, options).await;
        self.unless_absent("read", name, found)
    }

    /// What is known about a value that does not change.
    fn known(&self, name: &str) -> Option<Known> {
        self.frozen.as_ref()?.value(name)
    }

    /// Generation and length of a value, without its bytes.
    pub(super) async fn head(&self, name: &str) -> Result<Option<(Generation, u64)>> {
        if let Some(known) = self.known(name) {
            return Ok(known);
        }
        let path = self.path(name)?;
        let found = self.store.head(&path).await.map(|meta| (generation(&meta), meta.size));
        let found = self.unless_absent("look at", name, found)?;
        self.frozen.iter().for_each(|frozen| frozen.note_value(name, found));
        Ok(found)
    }

    /// Length and tag of a value, without its bytes.
    pub(super) async fn head_tagged(&self, name: &str) -> Result<Option<(u64, String)>> {
        let found = self.store.head(&self.path(name)?).await.map(|meta| (meta.size, tag(&meta)));
        self.unless_absent("look at", name, found)
    }

    /// One end of the value of `name`, or all of a shorter value.
    pub(super) async fn get_edge(&self, name: &str, edge: Edge) -> Result<Option<Received>> {
        let range = match edge {
            Edge::Last(_) if self.bucket.service == Service::Azure => {
                // The server ignores suffix ranges; if the value grows meanwhile, the request is
                // repeated.
                let Some((_, total)) = self.head(name).await? else { return Ok(None) };
                if total == 0 {
                    return self.get(name, 0).await;
                }
                GetRange::Bounded(edge.range(total))
            }
            Edge::First(bytes) => GetRange::Bounded(0..bytes),
            Edge::Last(bytes) => GetRange::Suffix(bytes),
        };
        match self.ask(&self.path(name)?, ranged(range)).await {
            // An empty value has no valid range.
            Err(error) if status_of(&error) == Some(416) => self.get(name, 0).await,
            found => self.unless_absent("read", name, found),
        }
    }

    /// The wanted ranges of one version of `name`, concatenated; close ranges are coalesced.
    pub(super) async fn get_ranges(
        &self,
        name: &str,
        ranges: &[Range<u64>],
    ) -> Result<Option<(Vec<u8>, Generation, u64)>> {
        let wanted = ranges.iter().filter(|range| range.start < range.end).cloned().collect();
        let runs = coalesce_ranges(wanted, self.pace.gap());
        if runs.is_empty() {
            let Some((generation, total)) = self.head(name).await? else { return Ok(None) };
            return match ranges.iter().find(|range| range.end > total) {
                Some(range) => Err(StoreError::beyond_end(name, range, total)),
                None => Ok(Some((Vec::new(), generation, total))),
            };
        }
        for _ in 0..READ_ATTEMPTS {
            let parts = try_join_all(runs.iter().map(|run| self.get_run(name, run))).await?;
            let parts: Option<Vec<Received>> = parts.into_iter().collect();
            let Some(parts) = parts else { return Ok(None) };
            let generation = parts[0].generation;
            if parts.iter().all(|part| part.generation == generation) {
                let bytes = self.cut(name, ranges, &runs, &parts)?;
                return Ok(Some((bytes, generation, parts[0].total)));
            }
        }
        Err(StoreError::replaced(self.bucket.url(name)))
    }

    /// The wanted part of the value of `name`.
    pub(super) async fn fetch(&self, name: &str, wanted: Requested) -> Result<Fetched> {
        let found = match wanted {
            Requested::AtMost(most) => self.get(name, most).await?,
            Requested::Edge(edge) => self.get_edge(name, edge).await?,
            Requested::Ranges(ranges) => {
                return Ok(match self.get_ranges(name, &ranges).await? {
                    Some((bytes, generation, total)) => Fetched::Bytes(bytes, generation, total),
                    None => Fetched::Absent,
                });
            }
        };
        Ok(match found {
            Some(got) => Fetched::Bytes(Vec::from(got.bytes), got.generation, got.total),
            None => Fetched::Absent,
        })
    }

    /// Every value below `name`, with its length.
    pub(super) async fn list(&self, name: &str) -> Result<Vec<(Path, u64)>> {
        let path = self.path(name)?;
        let path = (!name.is_empty()).then_some(&path);
        let all: object_store::Result<Vec<ObjectMeta>> = match &self.pages {
            Some(pages) => pages::list(pages.as_ref(), path, false).await.map(|all| all.objects),
            None => self.store.list(path).try_collect().await,
        };
        let all = all.map_err(|error| self.failed("list", name, &error))?;
        let values = all.into_iter().filter(|meta| is_value(&meta.location));
        Ok(values.map(|meta| (meta.location, meta.size)).collect())
    }

    /// The names directly below `name`.
    pub(super) async fn list_names(&self, name: &str) -> Result<Listing> {
        let path = self.path(name)?;
        let path = (!name.is_empty()).then_some(&path);
        let found = match &self.pages {
            Some(pages) => pages::list(pages.as_ref(), path, true).await,
            None => self.store.list_with_delimiter(path).await,
        };
        let found = found.map_err(|error| self.failed("list", name, &error))?;
        let last = |path: &Path| path.filename().map(ToOwned::to_owned);
        let keys = found.objects.iter().map(|meta| &meta.location).filter(|path| is_value(path));
        let mut listing = Listing {
            keys: keys.filter_map(last).collect(),
            prefixes: found.common_prefixes.iter().filter_map(last).collect(),
        };
        listing.keys.sort_unstable();
        listing.prefixes.sort_unstable();
        Ok(listing)
    }

    /// Removes everything below `name`, and then empty parent directories, up to `top`.
    pub(super) async fn delete_tree(&self, name: &str, top: &str) -> Result<()> {
        let Some(tree) = &self.tree else { return Ok(()) };
        let deleted = tree.delete_below(&self.path(name)?).await;
        deleted.map_err(|error| self.failed("delete below", name, &error))?;
        self.prune(name, top).await
    }

    /// Moves the value or directory `from` to the free name `to` atomically.
    pub(super) async fn move_tree(&self, from: &str, to: &str, top: &str) -> Result<()> {
        let Some(tree) = &self.tree else { return Ok(()) };
        let moved = tree.move_tree(&self.path(from)?, &self.path(to)?).await;
        moved.map_err(|error| self.failed("rename", from, &error))?;
        self.prune(from, top).await
    }

    /// Removes empty directories above `name`, up to `top`; buckets have no directories.
    pub(super) async fn prune(&self, name: &str, top: &str) -> Result<()> {
        let Some(tree) = &self.tree else { return Ok(()) };
        let pruned = tree.prune(&self.path(name)?, top).await;
        pruned.map_err(|error| self.failed("delete", name, &error))
    }

    /// Ranges with at most this gap in bytes between them are coalesced.
    pub(super) fn gap(&self) -> u64 {
        self.pace.gap()
    }

    /// How many responses of one call may be in flight or in memory.
    pub(super) fn width(&self) -> usize {
        self.pace.width()
    }

    async fn get_run(&self, name: &str, run: &Range<u64>) -> Result<Option<Received>> {
        match self.ask(&self.path(name)?, ranged(GetRange::Bounded(run.clone()))).await {
            Err(error) if status_of(&error) == Some(416) => match self.head(name).await? {
                Some((_, total)) => Err(StoreError::beyond_end(name, run, total)),
                None => Ok(None),
            },
            found => self.unless_absent("read", name, found),
        }
    }

    pub(super) fn cut(
        &self,
        name: &str,
        ranges: &[Range<u64>],
        runs: &[Range<u64>],
        parts: &[Received],
    ) -> Result<Vec<u8>> {
        let length: u64 = ranges.iter().map(|range| range.end - range.start).sum();
        let mut bytes = with_room(length as usize).map_err(StoreError::memory(name))?;
        for range in ranges.iter().filter(|range| range.start < range.end) {
            let after = runs.partition_point(|run| run.start <= range.start);
            let (run, part) = (&runs[after - 1], &parts[after - 1]);
            let (begin, end) = (range.start - run.start, range.end - run.start);
            let wanted = part.bytes.get(begin as usize..end as usize);
            let wanted = wanted.ok_or_else(|| StoreError::beyond_end(name, range, part.total))?;
            bytes.extend_from_slice(wanted);
        }
        match ranges.iter().find(|range| range.end > parts[0].total) {
            Some(range) => Err(StoreError::beyond_end(name, range, parts[0].total)),
            None => Ok(bytes),
        }
    }
}

/// A request for a part of a value; servers that ignore ranges send the whole value.
fn ranged(range: GetRange) -> GetOptions {
    let mut options = GetOptions { range: Some(range), ..GetOptions::default() };
    options.extensions.insert(Most(u64::MAX));
    options
}
