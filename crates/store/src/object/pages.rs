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

/// The values below `prefix`; with `by_name`, only those directly below it, and the prefixes there.
///
/// # Errors
/// The server sends a continuation token twice, or too many pages, or too many of them without a
/// new name: the listing would never end.
pub(super) async fn list(
    server: &dyn PaginatedListStore,
    prefix: Option<&Path>,
    by_name: bool,
) -> Result<ListResult> {
    let prefix = prefix.map(|prefix| format!("{prefix}{DELIMITER}"));
    let (mut objects, mut common_prefixes) = (Vec::new(), Vec::new());
    let (mut page_token, mut tokens, mut empty_pages) = (None, HashSet::new(), 0);
    let mut names = Names::default();
    loop {
        let delimiter = by_name.then_some(Cow::Borrowed(DELIMITER));
        let options = PaginatedListOptions { delimiter, page_token, ..Default::default() };
        let page = server.list_paginated(prefix.as_deref(), options).await?;
        let ListResult { objects: values, common_prefixes: prefixes, extensions } = page.result;
        let has_new = names.add(values.iter().map(|meta| &meta.location).chain(&prefixes));
        empty_pages = if has_new { 0 } else { empty_pages + 1 };
        objects.extend(values);
        common_prefixes.extend(prefixes);
        let Some(token) = page.page_token.filter(|token| !token.is_empty()) else {
            common_prefixes.sort_unstable();
            common_prefixes.dedup();
            return Ok(ListResult { objects, common_prefixes, extensions });
        };
        if empty_pages > MOST_EMPTY_PAGES {
            return Err(endless(&format!("{empty_pages} pages in a row without a new name")));
        }
        if tokens.len() > MOST_PAGES {
            return Err(endless(&format!("more than {MOST_PAGES} pages")));
        }
        if !tokens.insert(token.clone()) {
            return Err(endless("one continuation token twice"));
        }
        page_token = Some(token);
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
