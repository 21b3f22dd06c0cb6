//! Sorted listings of a server, a page at a time, with tags.
//!
//! Most servers list the names of a bucket in the order of their bytes. Some keep folders, and list
//! the whole folder `a/` before the value `a-b`, or sort nothing. Each folder of those is listed by
//! itself, and sorted here: the names of one folder of each level are in memory.

use std::sync::atomic::Ordering;

use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{ListResult, ObjectMeta};

use super::client::Client;
use super::names::is_value;
use super::pages::{self, ListsByFolder, Paging};
use super::response::tag;
use crate::error::{Refusal, Result, StoreError};
use crate::tagged::{ListedValue, PAGE_ROWS, may_follow, order_of};

/// The deepest folder of a listing: a name of S3 has 1024 bytes.
const MOST_LEVELS: usize = 1024;

/// A listing of a server of which some pages are not requested yet. Names are those in the bucket.
pub(super) struct ServerListing {
    /// The name that the listing begins behind.
    after: String,
    /// The name that was listed last.
    last: String,
    /// What the server has sent, the next one last.
    rest: Vec<ListedValue>,
    further: Further,
}

/// Where the values behind those that the server has sent come from.
enum Further {
    Nothing,
    Pages(Paging),
    /// The folder that the listing is in behind those above it, each with the entries that are not
    /// listed yet, the next one last.
    Folders(Vec<Vec<Child>>),
}

/// An entry of a folder.
enum Child {
    Value(ListedValue),
    Folder(String),
}

impl Client {
    /// The listing of the values below `name` that are behind the name `after`.
    pub(super) async fn begin_listing(&self, name: &str, after: &str) -> Result<ServerListing> {
        let path = self.path(name)?;
        let prefix = (!name.is_empty()).then_some(&path);
        let (begin, last) = (after.to_owned(), after.to_owned());
        let mut listed =
            ServerListing { after: begin, last, rest: Vec::new(), further: Further::Nothing };
        if self.pages.is_none() {
            // The server tells all values at once, and in no order.
            let all: object_store::Result<Vec<_>> = self.store.list(prefix).try_collect().await;
            let mut all = all.map_err(|error| self.failed("list", name, &error))?;
            all.sort_unstable_by(|one, other| one.location.as_ref().cmp(other.location.as_ref()));
            listed.add(all);
        } else if self.lists_by_folder.load(Ordering::Relaxed) {
            listed.further = Further::Folders(vec![self.folder(name, after).await?]);
        } else {
            let after = (!after.is_empty()).then(|| after.to_owned());
            let mut paging = Paging::new(prefix, false, after);
            let first = self.page(name, &mut paging).await?;
            let is_by_folder = first.extensions.get::<ListsByFolder>().is_some();
            if is_by_folder || !is_sorted(&first.objects) {
                self.lists_by_folder.store(true, Ordering::Relaxed);
                let after = &listed.after;
                listed.further = Further::Folders(vec![self.folder(name, after).await?]);
            } else {
                listed.add(first.objects);
                listed.further = Further::Pages(paging);
            }
        }
        Ok(listed)
    }

    /// The next page, which is empty after the last one.
    pub(super) async fn next_page(
        &self,
        name: &str,
        listed: &mut ServerListing,
    ) -> Result<Vec<ListedValue>> {
        if let Further::Folders(levels) = &mut listed.further {
            return self.next_of_folders(name, levels, &listed.after).await;
        }
        while listed.rest.is_empty()
            && let Further::Pages(paging) = &mut listed.further
            && !paging.is_done()
        {
            let page = self.page(name, paging).await?;
            listed.add(page.objects);
        }
        let keep = listed.rest.len().saturating_sub(PAGE_ROWS);
        let mut page = listed.rest.split_off(keep);
        page.reverse();
        for entry in &page {
            if entry.key <= listed.last {
                self.lists_by_folder.store(true, Ordering::Relaxed);
                return Err(self.not_listed(name, unsorted(&listed.last, &entry.key)));
            }
            listed.last.clone_from(&entry.key);
        }
        Ok(page)
    }

    /// The next page of the server's own.
    async fn page(&self, name: &str, paging: &mut Paging) -> Result<ListResult> {
        let Some(server) = &self.pages else { return Ok(nothing()) };
        let page = paging.next(server.as_ref()).await;
        Ok(page.map_err(|error| self.failed("list", name, &error))?.unwrap_or_else(nothing))
    }

    /// The next page of a listing that goes through folders.
    async fn next_of_folders(
        &self,
        name: &str,
        levels: &mut Vec<Vec<Child>>,
        after: &str,
    ) -> Result<Vec<ListedValue>> {
        let mut page = Vec::new();
        while page.len() < PAGE_ROWS
            && let Some(level) = levels.last_mut()
        {
            match level.pop() {
                Some(Child::Value(value)) => page.push(value),
                Some(Child::Folder(_)) if levels.len() == MOST_LEVELS => {
                    let reason = format!("folders lie in each other {MOST_LEVELS} times");
                    return Err(self.not_listed(name, reason));
                }
                Some(Child::Folder(folder)) => levels.push(self.folder(&folder, after).await?),
                None => drop(levels.pop()),
            }
        }
        Ok(page)
    }

    /// The entries directly in the folder `name` that are, or have names, behind `after`.
    async fn folder(&self, name: &str, after: &str) -> Result<Vec<Child>> {
        let Some(server) = &self.pages else { return Ok(Vec::new()) };
        let path = self.path(name)?;
        let prefix = (!name.is_empty()).then_some(&path);
        let found = pages::list(server.as_ref(), prefix, true).await;
        let found = found.map_err(|error| self.failed("list", name, &error))?;
        // A name above or beside the folder would list it again without an end.
        let is_in = |path: &Path| {
            let path = path.as_ref();
            let last = if name.is_empty() {
                Some(path)
            } else {
                path.strip_prefix(name).and_then(|rest| rest.strip_prefix('/'))
            };
            last.is_some_and(|last| !last.is_empty() && !last.contains('/'))
        };
        let values = found.objects.into_iter().filter(|meta| is_in(&meta.location));
        let folders = found.common_prefixes.into_iter().filter(is_in);
        let mut entries: Vec<Child> = values
            .filter(|meta| is_value(&meta.location))
            .map(|meta| Child::Value(listed(meta)))
            .chain(folders.map(|path| Child::Folder(path.into())))
            .filter(|entry| may_follow(after, entry.name(), entry.is_folder()))
            .collect();
        entries.sort_unstable_by(|one, other| other.order().cmp(one.order()));
        entries.dedup_by(|one, other| one.order().eq(other.order()));
        Ok(entries)
    }

    fn not_listed(&self, name: &str, reason: String) -> StoreError {
        let (path, refusal) = (self.bucket.url(name), Refusal::Failed);
        StoreError::Remote { operation: "list", path, refusal, reason }
    }
}

impl ServerListing {
    fn add(&mut self, metas: Vec<ObjectMeta>) {
        // Some servers begin with the name, or with all names, that the listing is to follow.
        let is_new = |meta: &ObjectMeta| {
            is_value(&meta.location) && meta.location.as_ref() > self.after.as_str()
        };
        let mut entries: Vec<ListedValue> = metas.into_iter().filter(is_new).map(listed).collect();
        entries.reverse();
        self.rest = entries;
    }
}

impl Child {
    fn name(&self) -> &str {
        match self {
            Self::Value(value) => &value.key,
            Self::Folder(name) => name,
        }
    }

    fn is_folder(&self) -> bool {
        matches!(self, Self::Folder(_))
    }

    fn order(&self) -> impl Iterator<Item = u8> + '_ {
        order_of(self.name(), self.is_folder())
    }
}

fn listed(meta: ObjectMeta) -> ListedValue {
    ListedValue { tag: tag(&meta), size: meta.size, key: meta.location.into() }
}

fn is_sorted(metas: &[ObjectMeta]) -> bool {
    metas.is_sorted_by(|one, next| one.location.as_ref() < next.location.as_ref())
}

fn nothing() -> ListResult {
    ListResult { objects: Vec::new(), common_prefixes: Vec::new(), extensions: Default::default() }
}

fn unsorted(last: &str, next: &str) -> String {
    format!(
        "the server lists {next:?} behind {last:?}, and not in the order of the names' bytes. This \
         process lists each folder by itself from now on: call again"
    )
}
