//! Many complete values in one call: metadata of the members of a group, chunks of remote stores.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use zarrix_store::{
    Carried, CarriedSpace, CarriedTree, Carrier, Durability, Fetched, KeySpace, Part, Request,
    Store,
};

use crate::error::{EngineError, Result};
use crate::threads::cancel::Interrupt;
use crate::threads::pool;
use crate::threads::scratch;

/// The values of local stores that a thread reads for each task that it takes.
const MANY: usize = 16;
/// The calling thread reads this number of values of local stores alone, as long as they come from
/// memory: waking another thread takes as long as it would save.
const ALONE: usize = 8 * MANY;
/// A run of [`MANY`] values that takes longer is not read from memory.
const SLOW_RUN: Duration = Duration::from_micros(400);

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
    let mut values = Vec::new();
    for run in keys[..keys.len().min(ALONE)].chunks(MANY) {
        let begin = Instant::now();
        for key in run {
            values.push(get(key)?);
        }
        if begin.elapsed() > SLOW_RUN {
            break;
        }
    }
    let rest = &keys[values.len()..];
    if rest.is_empty() {
        return Ok(values);
    }
    let found: Vec<OnceLock<Option<Vec<u8>>>> = rest.iter().map(|_| OnceLock::new()).collect();
    // In runs, so that a thread does more work for each task that it takes.
    pool::run(rest.len().div_ceil(MANY), interrupt, &|run| {
        for index in run * MANY..((run + 1) * MANY).min(rest.len()) {
            let value = get(&rest[index])?;
            found[index].get_or_init(|| value);
        }
        Ok(())
    })?;
    values.extend(found.into_iter().map(|value| value.into_inner().flatten()));
    Ok(values)
}

/// Copies stored values between two stores that are both inline; returns how many were there, and
/// their bytes.
///
/// With `locks`, each is stored under the lock of its key.
pub fn copy_many(
    source: &dyn Store,
    dest: &dyn Store,
    pairs: &[(String, String)],
    (durability, locks): (Durability, bool),
    interrupt: Interrupt<'_>,
) -> Result<(u64, u64)> {
    let (count, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
    pool::run(pairs.len().div_ceil(MANY), interrupt, &|run| {
        for (from, to) in &pairs[run * MANY..((run + 1) * MANY).min(pairs.len())] {
            let _lock = if locks { Some(dest.lock(to, to)?) } else { None };
            let moved =
                scratch::with(|s| dest.copy_from(to, source, from, durability, &mut s.encoded))?;
            if let Some(moved) = moved {
                count.fetch_add(1, Ordering::Relaxed);
                bytes.fetch_add(moved, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok((count.into_inner(), bytes.into_inner()))
}

/// What was copied: its length, the tag of the version that was read, and that of the new value.
pub type CopiedValue = (u64, String, String);

/// Copies values, each of which has at most so many bytes, to keys that have none, without locks.
///
/// `None` is of a value that was not copied: it is missing or longer, its key has a value, or an
/// error came. The caller copies it by itself, and finds out why.
pub fn copy_new(
    source: &dyn Store,
    dest: &dyn Store,
    values: &[(String, String, u64)],
    durability: Durability,
    interrupt: Interrupt<'_>,
) -> Result<Vec<Option<CopiedValue>>> {
    let copied: Vec<OnceLock<CopiedValue>> = values.iter().map(|_| OnceLock::new()).collect();
    pool::run(values.len().div_ceil(MANY), interrupt, &|run| {
        for index in run * MANY..((run + 1) * MANY).min(values.len()) {
            let one = scratch::with(|s| {
                copy_one(source, dest, &values[index], durability, &mut s.encoded)
            });
            if let Ok(Some(one)) = one {
                copied[index].get_or_init(|| one);
            }
        }
        Ok(())
    })?;
    Ok(copied.into_iter().map(OnceLock::into_inner).collect())
}

fn copy_one(
    source: &dyn Store,
    dest: &dyn Store,
    (from, to, most): &(String, String, u64),
    durability: Durability,
    memory: &mut Vec<u8>,
) -> zarrix_store::Result<Option<CopiedValue>> {
    if dest.head(to)?.is_some() {
        return Ok(None);
    }
    let Some(read) = source.get_tagged(from, *most, memory)? else { return Ok(None) };
    let length = memory.len() as u64;
    if length > *most {
        return Ok(None);
    }
    dest.put(to, memory, durability)?;
    Ok(dest.head(to)?.map(|stored| (length, read.tag, stored.tag)))
}

/// Carries the value of the first key of each pair to the second one, within a store; `None` for
/// values that are missing.
pub fn carry_many(
    store: &dyn Store,
    pairs: &[(String, String)],
    carrier: &Carrier,
    durability: Durability,
    interrupt: Interrupt<'_>,
) -> Result<Vec<Option<Carried>>> {
    let carried: Vec<OnceLock<Option<Carried>>> = pairs.iter().map(|_| OnceLock::new()).collect();
    pool::run(pairs.len().div_ceil(MANY), interrupt, &|run| {
        for index in run * MANY..((run + 1) * MANY).min(pairs.len()) {
            let (from, to) = &pairs[index];
            let done = store.carry(from, to, carrier, durability)?;
            carried[index].get_or_init(|| done);
        }
        Ok(())
    })?;
    Ok(carried.into_iter().map(|done| done.into_inner().flatten()).collect())
}

/// Carries everything below `prefix`, directory by directory on all threads.
pub fn carry_tree(
    tree: &CarriedTree,
    prefix: &str,
    spaces: HashMap<String, KeySpace>,
    interrupt: Interrupt<'_>,
) -> Result<()> {
    let (walk, first) = tree.begin(prefix, spaces);
    let mut level = vec![first];
    while !level.is_empty() {
        let below = Mutex::new(Vec::new());
        pool::run(level.len().div_ceil(MANY), interrupt, &|run| {
            let mut inside = Vec::new();
            for visit in &level[run * MANY..((run + 1) * MANY).min(level.len())] {
                inside.append(&mut tree.enter(&walk, visit)?);
            }
            below.lock().unwrap_or_else(PoisonError::into_inner).append(&mut inside);
            Ok(())
        })?;
        level = below.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
    Ok(tree.end(&walk)?)
}

/// Carries all stored chunks to the other key space, on all threads, and returns their number; if
/// there are more than `most`, none is carried.
pub fn carry_space(space: &CarriedSpace, most: usize, interrupt: Interrupt<'_>) -> Result<usize> {
    let chunks = chunks_of(space, interrupt)?;
    if chunks.len() <= most {
        pool::run(chunks.len().div_ceil(MANY), interrupt, &|run| {
            Ok(space.carry(&chunks[run * MANY..((run + 1) * MANY).min(chunks.len())])?)
        })?;
        space.sync()?;
    }
    Ok(chunks.len())
}

/// Carries what was changed since [`carry_space`]; returns the key of a chunk that was changed
/// after it was carried, too.
pub fn carry_late(space: &CarriedSpace, interrupt: Interrupt<'_>) -> Result<Option<String>> {
    let mut chunks = chunks_of(space, interrupt)?;
    chunks.extend(space.others(&chunks));
    chunks.sort_unstable();
    let conflict = Mutex::new(None);
    pool::run(chunks.len().div_ceil(MANY), interrupt, &|run| {
        let some = &chunks[run * MANY..((run + 1) * MANY).min(chunks.len())];
        if let Some(key) = space.carry_late(some)? {
            conflict.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(key);
        }
        Ok(())
    })?;
    space.sync()?;
    Ok(conflict.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn chunks_of(space: &CarriedSpace, interrupt: Interrupt<'_>) -> Result<Vec<String>> {
    let (first, levels) = space.first();
    let mut level = vec![first];
    for left in (1..=levels).rev() {
        let below = Mutex::new(Vec::new());
        pool::run(level.len().div_ceil(MANY), interrupt, &|run| {
            for directory in &level[run * MANY..((run + 1) * MANY).min(level.len())] {
                let mut inside = space.enter(directory, left)?;
                below.lock().unwrap_or_else(PoisonError::into_inner).append(&mut inside);
            }
            Ok(())
        })?;
        level = below.into_inner().unwrap_or_else(PoisonError::into_inner);
    }
    Ok(level)
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
