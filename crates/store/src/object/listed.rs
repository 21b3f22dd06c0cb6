//! Sorted listings of a server, a page at a time, with tags.

use futures_util::TryStreamExt;
use object_store::ObjectMeta;

use super::client::Client;
use super::names::is_value;
use super::pages::Paging;
use super::response::tag;
use crate::error::{Refusal, Result, StoreError};
use crate::tagged::{ListedValue, PAGE_ROWS};

/// A listing of a server of which some pages are not requested yet. Names are those in the bucket.
pub(super) struct ServerListing {
    paging: Option<Paging>,
    /// The name that the listing begins behind.
    after: String,
    /// The name that was listed last.
    last: String,
    /// What the server has sent, the next one last.
    rest: Vec<ListedValue>,
}

impl Client {
    /// The listing of the values below `name` that are behind the name `after`.
    pub(super) async fn begin_listing(&self, name: &str, after: &str) -> Result<ServerListing> {
        let path = self.path(name)?;
        let prefix = (!name.is_empty()).then_some(&path);
        let (begin, last) = (after.to_owned(), after.to_owned());
        let mut listed = ServerListing { paging: None, after: begin, last, rest: Vec::new() };
        if self.pages.is_some() {
            let after = (!after.is_empty()).then(|| after.to_owned());
            listed.paging = Some(Paging::new(prefix, false, after));
        } else {
            // The server tells all values at once, and in no order.
            let all: object_store::Result<Vec<_>> = self.store.list(prefix).try_collect().await;
            let mut all = all.map_err(|error| self.failed("list", name, &error))?;
            all.sort_unstable_by(|one, other| one.location.as_ref().cmp(other.location.as_ref()));
            listed.add(all);
        }
        Ok(listed)
    }

    /// The next page, which is empty after the last one.
    pub(super) async fn next_page(
        &self,
        name: &str,
        listed: &mut ServerListing,
    ) -> Result<Vec<ListedValue>> {
        while listed.rest.is_empty()
            && let (Some(pages), Some(paging)) = (&self.pages, &mut listed.paging)
        {
            let page = paging.next(pages.as_ref()).await;
            match page.map_err(|error| self.failed("list", name, &error))? {
                Some(page) => listed.add(page.objects),
                None => break,
            }
        }
        let keep = listed.rest.len().saturating_sub(PAGE_ROWS);
        let mut page = listed.rest.split_off(keep);
        page.reverse();
        for entry in &page {
            if entry.key <= listed.last {
                let (path, reason) = (self.bucket.url(name), unsorted(&listed.last, &entry.key));
                let refusal = Refusal::Failed;
                return Err(StoreError::Remote { operation: "list", path, refusal, reason });
            }
            listed.last.clone_from(&entry.key);
        }
        Ok(page)
    }
}

impl ServerListing {
    fn add(&mut self, metas: Vec<ObjectMeta>) {
        // Some servers begin with the name, or with all names, that the listing is to follow.
        let is_new = |meta: &ObjectMeta| {
            is_value(&meta.location) && meta.location.as_ref() > self.after.as_str()
        };
        let entry = |meta: ObjectMeta| ListedValue {
            tag: tag(&meta),
            size: meta.size,
            key: meta.location.into(),
        };
        let mut entries: Vec<ListedValue> = metas.into_iter().filter(is_new).map(entry).collect();
        entries.reverse();
        self.rest = entries;
    }
}

fn unsorted(last: &str, next: &str) -> String {
    format!(
        "the server lists {next:?} behind {last:?}; zarrix needs a listing in the order of the \
         names' bytes here"
    )
}
