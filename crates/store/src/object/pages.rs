//! Listings page by page; they end even if the server would send pages forever.

use std::borrow::Cow;
use std::collections::HashSet;

use object_store::list::{PaginatedListOptions, PaginatedListStore};
use object_store::path::{DELIMITER, Path};
use object_store::{Error, ListResult, Result};

/// Most empty pages in a row. Servers may send some, for instance where many keys were deleted.
const MOST_EMPTY_PAGES: u32 = 1000;

/// The values below `prefix`; with `by_name`, only those directly below it, and the prefixes there.
///
/// # Errors
/// The server sends a continuation token twice, or too many empty pages: the listing would never
/// end.
pub(super) async fn list(
    server: &dyn PaginatedListStore,
    prefix: Option<&Path>,
    by_name: bool,
) -> Result<ListResult> {
    let prefix = prefix.map(|prefix| format!("{prefix}{DELIMITER}"));
    let (mut objects, mut common_prefixes) = (Vec::new(), Vec::new());
    let (mut page_token, mut tokens, mut empty_pages) = (None, HashSet::new(), 0);
    loop {
        let delimiter = by_name.then_some(Cow::Borrowed(DELIMITER));
        let options = PaginatedListOptions { delimiter, page_token, ..Default::default() };
        let page = server.list_paginated(prefix.as_deref(), options).await?;
        let ListResult { objects: values, common_prefixes: prefixes, extensions } = page.result;
        let is_empty = values.is_empty() && prefixes.is_empty();
        empty_pages = if is_empty { empty_pages + 1 } else { 0 };
        objects.extend(values);
        common_prefixes.extend(prefixes);
        let Some(token) = page.page_token.filter(|token| !token.is_empty()) else {
            common_prefixes.sort_unstable();
            common_prefixes.dedup();
            return Ok(ListResult { objects, common_prefixes, extensions });
        };
        if empty_pages > MOST_EMPTY_PAGES {
            return Err(endless(&format!("{empty_pages} empty pages in a row")));
        }
        if !tokens.insert(token.clone()) {
            return Err(endless("one continuation token twice"));
        }
        page_token = Some(token);
    }
}

fn endless(sent: &str) -> Error {
    let problem = format!("the listing would never end: the server sent {sent}");
    Error::Generic { store: "server", source: problem.into() }
}
