//! A file system of HDFS as an object store.
//!
//! The `hdfs-native` crate speaks the protocol. It never gives up on a silent server, and its files
//! are visible from their first byte on. So this module gives each call a time limit and retries it
//! after a transient failure (`retry.rs`). It writes a value to a name that no listing shows, and
//! then renames it over its key, which the namenode does atomically. We rejected
//! `hdfs-native-object-store`, which has these methods, too: it lists unfinished values, its copy
//! exposes partial values, and it does not support users, replication and whole trees.
//!
//! Time and length identify a version. The blocks are requested between two checks of them, and
//! belong to one version, regardless of how long they take to arrive.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::DateTime;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt, try_join};
use hdfs_native::client::FileStatus;
use hdfs_native::{Client, ClientBuilder, HdfsError, WriteOptions};
use http::Extensions;
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, Error, GetOptions, GetRange, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions,
    PutOptions, PutPayload, PutResult, Result,
};
use zarrix_codec::memory::{Grow, with_room};
use zarrix_store::protocol::{FileSystem, Most, PARTIAL, Pace, Terms, unique_name};

use crate::failure::{Fault, STORE, is_absent};
use crate::io::{self, Gated};
use crate::options::Settings;
use crate::retry;

/// Files of one call that are deleted at one time.
const DELETIONS: usize = 16;

type Outcome<T> = std::result::Result<T, Fault>;

/// One file system, as one user.
#[derive(Clone, Debug)]
struct Hdfs {
    settings: Settings,
    pace: Arc<Pace>,
    client: Arc<Mutex<Client>>,
}

impl std::fmt::Display for Hdfs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(STORE)
    }
}

/// A partial file; removed unless it was renamed.
struct Aside {
    client: Client,
    path: String,
    is_kept: bool,
}

impl Drop for Aside {
    /// The writer was interrupted, or failed: the namenode is told without waiting for its
    /// response.
    fn drop(&mut self) {
        if !self.is_kept {
            let (client, path) = (self.client.clone(), std::mem::take(&mut self.path));
            tokio::spawn(Gated::new(async move { client.delete(&path, false).await }));
        }
    }
}

/// A client on these terms; no connection is made yet.
pub(crate) fn connect(terms: Terms) -> std::result::Result<Arc<dyn FileSystem>, String> {
    let settings = Settings::new(&terms)?;
    let client = client(&settings).map_err(|error| error.to_string())?;
    Ok(Arc::new(Hdfs { settings, pace: terms.pace, client: Arc::new(Mutex::new(client)) }))
}

fn client(settings: &Settings) -> hdfs_native::Result<Client> {
    let builder = ClientBuilder::new().with_url(&settings.url);
    let builder = builder.with_config(settings.properties.iter().cloned());
    let builder = builder.with_io_runtime(io::handle()?);
    match &settings.user {
        Some(user) => builder.with_user(user).build(),
        None => builder.build(),
    }
}

fn absolute(path: &Path) -> String {
    format!("/{path}")
}

/// The tag of a version.
fn tag(status: &FileStatus) -> String {
    format!("\"{:x}-{:x}\"", status.modification_time, status.length)
}

fn meta(status: &FileStatus) -> Result<ObjectMeta> {
    let modified = i64::try_from(status.modification_time).unwrap_or(0);
    Ok(ObjectMeta {
        location: Path::parse(&status.path)?,
        last_modified: DateTime::from_timestamp_millis(modified).unwrap_or_default(),
        size: status.length as u64,
        e_tag: Some(tag(status)),
        version: None,
    })
}

/// The requested bytes of a value of `size`.
fn wanted(options: &GetOptions, size: u64) -> Outcome<Range<u64>> {
    let most = options.extensions.get::<Most>().map_or(u64::MAX, |most| most.0.saturating_add(1));
    let range = match &options.range {
        None => 0..size.min(most),
        Some(GetRange::Bounded(range)) => range.start..range.end.min(size),
        Some(GetRange::Offset(first)) => *first..size,
        Some(GetRange::Suffix(bytes)) => size.saturating_sub(*bytes)..size,
    };
    match options.range {
        Some(_) if range.start >= size => Err(Fault::beyond_end(size)),
        _ => Ok(range),
    }
}

impl Hdfs {
    fn client(&self) -> Client {
        self.client.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Drops a connection after a timeout: a dead one stays silent.
    fn reconnect(&self) {
        if let Ok(fresh) = client(&self.settings) {
            *self.client.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
        }
    }

    /// Repeats `call` until it succeeds, fails for good, or the time limit is reached.
    async fn call<T, F>(&self, path: &str, call: impl FnMut(Client) -> F) -> Result<T>
    where
        F: Future<Output = Outcome<T>> + Send,
    {
        let (client, reconnect) = (|| self.client(), || self.reconnect());
        retry::with_retries(self.settings.limits, client, reconnect, call)
            .await
            .map_err(|fault| fault.at(path))
    }

    /// The server's response to one request.
    async fn answer<T>(&self, request: impl Future<Output = hdfs_native::Result<T>>) -> Outcome<T> {
        Ok(retry::within(self.settings.limits, 0, request).await??)
    }

    /// The status of the file at `path`; a directory is not a value.
    async fn status(&self, client: &Client, path: &str) -> Outcome<FileStatus> {
        match self.answer(client.get_file_info(path)).await? {
            status if status.isdir => Err(HdfsError::FileNotFound(path.to_owned()).into()),
            status => Ok(status),
        }
    }

    async fn read(
        &self,
        client: &Client,
        path: &str,
        options: &GetOptions,
    ) -> Outcome<(ObjectMeta, Range<u64>, Bytes)> {
        let (under_way, begun) = (self.pace.begin(), Instant::now());
        let status = self.status(client, path).await?;
        let meta = meta(&status)?;
        options.check_preconditions(&meta)?;
        if options.head {
            return Ok((meta, 0..0, Bytes::new()));
        }
        let range = wanted(options, meta.size)?;
        if range.is_empty() {
            return Ok((meta, range, Bytes::new()));
        }
        let reader = self.answer(client.read(path)).await?;
        if reader.file_length() != status.length {
            return Err(Fault::Changed);
        }
        self.pace.answered(&under_way, begun.elapsed());
        let begun = Instant::now();
        let length = (range.end - range.start) as usize;
        let received = async {
            let mut bytes = with_room(length)?;
            let mut parts = reader.read_range_stream(range.start as usize, length).boxed();
            while let Some(part) = retry::within(self.settings.limits, 0, parts.next()).await? {
                bytes.append_slice(&part?)?;
            }
            Ok::<_, Fault>(Bytes::from(bytes))
        };
        let received =
            async { retry::within(self.settings.limits, length as u64, received).await? };
        let (bytes, again) = try_join!(received, self.status(client, path))?;
        self.pace.received(bytes.len() as u64, begun.elapsed());
        match tag(&again) == tag(&status) && bytes.len() == length {
            true => Ok((meta, range, bytes)),
            false => Err(Fault::Changed),
        }
    }

    async fn write(
        &self,
        client: Client,
        path: &str,
        payload: PutPayload,
        overwrite: bool,
    ) -> Outcome<()> {
        let options =
            WriteOptions { replication: self.settings.replication, ..WriteOptions::default() };
        let name = format!("{path}.{}{PARTIAL}", unique_name());
        let mut aside = Aside { client, path: name, is_kept: false };
        let mut file = self.answer(aside.client.create(&aside.path, options)).await?;
        let length = payload.content_length() as u64;
        let sent = async {
            for part in payload {
                file.write_bytes(part).await?;
            }
            file.close().await
        };
        retry::within(self.settings.limits, length, sent).await??;
        self.answer(aside.client.rename(&aside.path, path, overwrite)).await?;
        aside.is_kept = true;
        Ok(())
    }

    /// The entries directly below `path`, or all with `recursive`; empty if nothing is there.
    async fn statuses(&self, path: &str, recursive: bool) -> Result<Vec<FileStatus>> {
        self.call(path, |client| async move {
            let mut found = Vec::new();
            let listing = client.list_status_iter(path, recursive);
            while let Some(status) = retry::within(self.settings.limits, 0, listing.next()).await? {
                match status {
                    // A file, which is not below itself.
                    Ok(status) if status.path == path => {}
                    Ok(status)
                        if found
                            .first()
                            .is_some_and(|first: &FileStatus| first.path == status.path) =>
                    {
                        return Err(Fault::endless(&status.path));
                    }
                    Ok(status) => found.push(status),
                    // Nothing is there, or no longer.
                    Err(error) if is_absent(&error) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(found)
        })
        .await
    }
}

#[async_trait]
impl FileSystem for Hdfs {
    async fn delete_below(&self, name: &Path) -> Result<()> {
        let path = absolute(name);
        let doomed = match name.as_ref().is_empty() {
            true => {
                self.statuses(&path, false).await?.into_iter().map(|found| found.path).collect()
            }
            false => vec![path],
        };
        for path in doomed {
            let path = path.as_str();
            self.call(path, |client| async move {
                match self.answer(client.get_file_info(path)).await {
                    // A file is not below itself.
                    Ok(status) if !status.isdir && !name.as_ref().is_empty() => Ok(()),
                    Ok(_) => self.answer(client.delete(path, true)).await.map(|_| ()),
                    Err(Fault::Hdfs(error)) if is_absent(&error) => Ok(()),
                    Err(fault) => Err(fault),
                }
            })
            .await?;
        }
        Ok(())
    }

    async fn prune(&self, name: &Path, top: &str) -> Result<()> {
        let mut name = name.as_ref();
        while let Some((folder, _)) = name.rsplit_once('/')
            && folder.len() > top.len()
        {
            let path = format!("/{folder}");
            let path = path.as_str();
            let emptied = self.call(path, |client| async move {
                match self.answer(client.delete(path, false)).await {
                    Err(Fault::Hdfs(error)) if is_absent(&error) => Ok(true),
                    deleted => deleted,
                }
            });
            match emptied.await {
                Ok(true) => name = folder,
                // It is not empty, or this user may not remove it.
                Ok(false) | Err(Error::Generic { .. } | Error::PermissionDenied { .. }) => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    async fn move_tree(&self, from: &Path, to: &Path) -> Result<()> {
        let (source, target) = (absolute(from), absolute(to));
        let (source, target) = (source.as_str(), target.as_str());
        let folder = target.rsplit_once('/').map_or("/", |(folder, _)| folder);
        let was_tried = &AtomicBool::new(false);
        self.call(source, |client| async move {
            if !folder.is_empty() {
                self.answer(client.mkdirs(folder, 0o755, true)).await?;
            }
            let again = was_tried.swap(true, Ordering::Relaxed);
            match self.answer(client.rename(source, target, false)).await {
                // The first response was lost, but the move succeeded.
                Err(Fault::Hdfs(error)) if again && is_absent(&error) => {
                    self.answer(client.get_file_info(target)).await.map(|_| ())
                }
                moved => moved,
            }
        })
        .await
    }
}

#[async_trait]
impl ObjectStore for Hdfs {
    async fn put_opts(
        &self,
        location: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let overwrite = match options.mode {
            PutMode::Overwrite => true,
            PutMode::Create => false,
            PutMode::Update(_) => {
                return Err(Error::NotSupported {
                    source: "HDFS cannot replace a file only if it is a certain version".into(),
                });
            }
        };
        let path = absolute(location);
        let path = path.as_str();
        let put = self.call(path, |client| {
            let payload = payload.clone();
            async move {
                match self.write(client, path, payload, overwrite).await {
                    // The directory was removed meanwhile, together with the written file.
                    Err(Fault::Hdfs(error)) if is_absent(&error) => Err(Fault::Changed),
                    written => written,
                }
            }
        });
        match put.await {
            // A put replaces values, so only a directory can be in the way.
            Err(Error::AlreadyExists { source, .. }) if overwrite => {
                Err(Error::Generic { store: STORE, source })
            }
            Err(error) => Err(error),
            Ok(()) => {
                Ok(PutResult { e_tag: None, version: None, extensions: Extensions::default() })
            }
        }
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        Err(Error::NotSupported { source: "values are put whole".into() })
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let (path, options) = (absolute(location), &options);
        let path = path.as_str();
        let read = |client| async move { self.read(&client, path, options).await };
        let (meta, range, bytes) = self.call(path, read).await?;
        let payload = GetResultPayload::Stream(stream::once(async { Ok(bytes) }).boxed());
        let attributes = Attributes::default();
        Ok(GetResult { payload, meta, range, attributes, extensions: Extensions::default() })
    }

    fn delete_stream(
        &self,
        locations: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        let here = self.clone();
        let delete = move |location: Result<Path>| {
            let here = here.clone();
            async move {
                let location = location?;
                let path = absolute(&location);
                let path = path.as_str();
                let delete = |client: Client| {
                    let here = &here;
                    async move { here.answer(client.delete(path, false)).await }
                };
                match here.call(path, delete).await {
                    Ok(true) => Ok(location),
                    Ok(false) => {
                        Err(Fault::from(HdfsError::FileNotFound(path.to_owned())).at(path))
                    }
                    Err(error) => Err(error),
                }
            }
        };
        locations.map(delete).buffered(DELETIONS).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let path = prefix.map_or_else(|| "/".to_owned(), absolute);
        let here = self.clone();
        let all = async move {
            let found = here.statuses(&path, true).await?;
            let values = found.into_iter().filter(|status| !status.isdir);
            Ok::<_, Error>(stream::iter(values.map(|status| meta(&status))))
        };
        stream::once(all).try_flatten().boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let path = prefix.map_or_else(|| "/".to_owned(), absolute);
        let found = self.statuses(&path, false).await?;
        let (folders, values): (Vec<_>, Vec<_>) = found.iter().partition(|status| status.isdir);
        let folders = folders.into_iter().map(|status| Path::parse(&status.path));
        Ok(ListResult {
            common_prefixes: folders.collect::<std::result::Result<_, _>>()?,
            objects: values.into_iter().map(meta).collect::<Result<_>>()?,
            extensions: Extensions::default(),
        })
    }

    async fn copy_opts(&self, from: &Path, to: &Path, _: CopyOptions) -> Result<()> {
        let value = self.get(from).await?.bytes().await?;
        self.put(to, PutPayload::from_bytes(value)).await.map(|_| ())
    }
}
