//! Listings page by page; they end even if the server would send pages forever.

use std::borrow::Cow;
use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::{DELIMITER, Path};
use object_store::{Error, ListResult, Result};

/// Most pages in a row without a new name. Servers may send some, for instance where many keys were
/// deleted.
const MOST_EMPTY_PAGES: u32 = 1000;
/// Most pages of a listing: a billion keys of S3.
const MOST_PAGES: usize = 1 << 20;

/// What a response has in its extensions if its server is known to list the folder `a/` before the
/// value `a-b`.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListsByFolder;

/// The values below `prefix`; with `by_name`, only those directly below it, and the prefixes there.
///
/// # Errors
/// Those of [`Paging::next`].
pub(super) async fn list(
    server: &dyn PaginatedListStore,
    prefix: Option<&Path>,
    by_name: bool,
) -> Result<ListResult> {
    let mut paging = Paging::new(prefix, by_name, None);
    let mut all = ListResult {
        objects: Vec::new(),
        common_prefixes: Vec::new(),
        extensions: Default::default(),
    };
    while let Some(page) = paging.next(server).await? {
        all.objects.extend(page.objects);
        all.common_prefixes.extend(page.common_prefixes);
        all.extensions = page.extensions;
    }
    all.common_prefixes.sort_unstable();
    all.common_prefixes.dedup();
    Ok(all)
}

/// A listing of which some pages are not requested yet.
pub(super) struct Paging {
    prefix: Option<String>,
    by_name: bool,
    /// The first page begins behind this name.
    after: Option<String>,
    page_token: Option<String>,
    /// Hashes of the continuation tokens so far.
    tokens: HashSet<u64>,
    empty_pages: u32,
    names: Names,
    is_done: bool,
}

impl Paging {
    pub(super) fn new(prefix: Option<&Path>, by_name: bool, after: Option<String>) -> Self {
        Self {
            prefix: prefix.map(|prefix| format!("{prefix}{DELIMITER}")),
            by_name,
            after,
            page_token: None,
            tokens: HashSet::new(),
            empty_pages: 0,
            names: Names::default(),
            is_done: false,
        }
    }

    /// Whether the last page was sent.
    pub(super) fn is_done(&self) -> bool {
        self.is_done
    }

    /// The next page; `None` after the last one.
    ///
    /// # Errors
    /// The server sends a continuation token twice, or too many pages, or too many of them without
    /// a new name: the listing would never end.
    pub(super) async fn next(
        &mut self,
        server: &dyn PaginatedListStore,
    ) -> Result<Option<ListResult>> {
        if self.is_done {
            return Ok(None);
        }
        let options = PaginatedListOptions {
            offset: self.after.clone(),
            delimiter: self.by_name.then_some(Cow::Borrowed(DELIMITER)),
            page_token: self.page_token.take(),
            ..Default::default()
        };
        let page = server.list_paginated(self.prefix.as_deref(), options).await?;
        let ListResult { objects, common_prefixes, .. } = &page.result;
        let names = objects.iter().map(|meta| &meta.location).chain(common_prefixes);
        self.empty_pages = if self.names.add(names) { 0 } else { self.empty_pages + 1 };
        let Some(token) = page.page_token.filter(|token| !token.is_empty()) else {
            self.is_done = true;
            return Ok(Some(page.result));
        };
        if self.empty_pages > MOST_EMPTY_PAGES {
            let pages = self.empty_pages;
            return Err(endless(&format!("{pages} pages in a row without a new name")));
        }
        if self.tokens.len() > MOST_PAGES {
            return Err(endless(&format!("more than {MOST_PAGES} pages")));
        }
        if !self.tokens.insert(self.names.hasher.hash_one(&token)) {
            return Err(endless("one continuation token twice"));
        }
        self.page_token = Some(token);
        Ok(Some(page.result))
    }
}

/// Which names a listing has had. Those of a server that sorts them are told by the last one, and
/// cost no memory; few servers do not.
#[derive(Default)]
struct Names {
    last: String,
    /// Hashes of all names, from the first page on that is not behind the one before.
    unsorted: Option<HashSet<u64>>,
    hasher: RandomState,
}

impl Names {
    /// Adds the names of a page; whether one of them is new.
    fn add<'p>(&mut self, page: impl Iterator<Item = &'p Path> + Clone) -> bool {
        let names = || page.clone().map(Path::as_ref);
        if self.unsorted.is_none() && names().all(|name| name > self.last.as_str()) {
            if let Some(last) = names().max() {
                last.clone_into(&mut self.last);
            }
            return names().next().is_some();
        }
        let seen = self.unsorted.get_or_insert_default();
        let hash = |name: &str| self.hasher.hash_one(name);
        let before = seen.len();
        seen.extend(names().map(hash));
        seen.len() > before
    }
}

fn endless(sent: &str) -> Error {
    let problem = format!("the listing would never end: the server sent {sent}");
    Error::Generic { store: "server", source: problem.into() }
}
