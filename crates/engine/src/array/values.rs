//! Many complete values in one call: metadata of the members of a group, chunks of remote stores.

use std::sync::OnceLock;

use zarrix_store::{Fetched, Part, Request, Store};

use crate::error::{EngineError, Result};
use crate::threads::cancel::Interrupt;
use crate::threads::pool;

/// From this number on, values of local stores are read by several threads.
const MANY: usize = 16;

/// The values of `keys`, `None` for missing ones; the first failure is returned.
///
/// A value longer than `max` is not valid, and may be cut off there.
pub fn get_many(
    store: &dyn Store,
    keys: &[String],
    max: u64,
    interrupt: Interrupt<'_>,
) -> Result<Vec<Option<Vec<u8>>>> {
    if !store.is_inline() {
        return fetch_all(store, keys, max);
    }
    let get = |key: &String| -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        Ok(store.get_at_most_into(key, max, &mut value)?.map(|_| value))
    };
    if keys.len() < MANY {
        return keys.iter().map(get).collect();
    }
    let found: Vec<OnceLock<Option<Vec<u8>>>> = keys.iter().map(|_| OnceLock::new()).collect();
    // In runs, so that a thread does more work for each task that it takes.
    pool::run(keys.len().div_ceil(MANY), interrupt, &|run| {
        for index in run * MANY..((run + 1) * MANY).min(keys.len()) {
            let value = get(&keys[index])?;
            found[index].get_or_init(|| value);
        }
        Ok(())
    })?;
    Ok(found.into_iter().map(|value| value.into_inner().flatten()).collect())
}

/// [`get_many`] in one call of the store.
pub(crate) fn fetch_all(
    store: &dyn Store,
    keys: &[String],
    max: u64,
) -> Result<Vec<Option<Vec<u8>>>> {
    let part = Part::AtMost(max);
    let requests: Vec<_> = keys.iter().map(|key| Request { key, part }).collect();
    let mut found: Vec<Option<zarrix_store::Result<Fetched>>> = Vec::new();
    found.resize_with(keys.len(), || None);
    store.fetch(&requests, &mut |position, answer| found[position] = Some(answer));
    // A store that gives up leaves out the rest.
    if let Some(position) = found.iter().position(|answer| matches!(answer, Some(Err(_))))
        && let Some(Err(error)) = found.swap_remove(position)
    {
        return Err(error.into());
    }
    let answers = found.into_iter().zip(keys);
    answers
        .map(|(answer, key)| match answer {
            Some(Ok(Fetched::Bytes(value, ..))) => Ok(Some(value)),
            Some(Ok(Fetched::Absent)) => Ok(None),
            _ => Err(EngineError::Panicked(format!("the store gave no answer for {key:?}"))),
        })
        .collect()
}
