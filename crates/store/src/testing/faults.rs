//! A store that fails at one call, chosen by its number.
//!
//! A test repeats the same calls with the fault at call 0, 1, 2, ... until a run ends before the
//! fault: then every call site has failed once, in every way.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{io, thread};

use crate::error::{Result, StoreError};
use crate::generation::Generation;
use crate::lock::table::KeyLock;
use crate::store::{Durability, Edge, Fetched, Listing, Request, Store};

/// The kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call fails and does nothing.
    Refused,
    /// The call succeeds, but returns an error: its response was lost.
    AnswerLost,
    /// The call takes longer.
    Delayed,
    /// A read returns only a part of the value; other calls fail.
    Cut,
}

/// A store around another one, in which one call fails.
#[derive(Debug)]
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    fault: Fault,
    at: usize,
    calls: AtomicUsize,
    inline: bool,
}

impl FaultyStore {
    /// Wraps `inner`; call number `at` fails.
    ///
    /// Unless `inline`, values are requested in batches, and arrive in another order.
    pub fn new(inner: Arc<dyn Store>, fault: Fault, at: usize, inline: bool) -> Self {
        Self { inner, fault, at, calls: AtomicUsize::new(0), inline }
    }

    /// Whether the fault has happened.
    pub fn has_failed(&self) -> bool {
        self.calls.load(Ordering::SeqCst) > self.at
    }

    /// The fault, if it belongs to this call.
    fn next(&self) -> Option<Fault> {
        (self.calls.fetch_add(1, Ordering::SeqCst) == self.at).then_some(self.fault)
    }

    fn call<T>(
        &self,
        operation: &'static str,
        key: &str,
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        match self.next() {
            None => call(),
            Some(Fault::Delayed) => {
                thread::sleep(Duration::from_millis(5));
                call()
            }
            Some(Fault::AnswerLost) => {
                call()?;
                Err(injected(operation, key))
            }
            Some(Fault::Refused | Fault::Cut) => Err(injected(operation, key)),
        }
    }

    /// A read; with [`Fault::Cut`], it may return only the first half.
    fn read<T>(
        &self,
        key: &str,
        dst: &mut Vec<u8>,
        call: impl FnOnce(&mut Vec<u8>) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        match self.next() {
            Some(Fault::Cut) => {
                let found = call(dst)?;
                dst.truncate(dst.len() / 2);
                Ok(found)
            }
            Some(Fault::Refused | Fault::AnswerLost) => {
                dst.clear();
                Err(injected("read", key))
            }
            Some(Fault::Delayed) => {
                thread::sleep(Duration::from_millis(5));
                call(dst)
            }
            None => call(dst),
        }
    }
}

fn injected(operation: &'static str, key: &str) -> StoreError {
    let source = io::Error::other("injected");
    StoreError::Io { operation, path: key.to_owned(), source }
}

impl Store for FaultyStore {
    fn id(&self) -> &str {
        self.inner.id()
    }

    fn is_inline(&self) -> bool {
        self.inline
    }

    fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>> {
        self.read(key, dst, |dst| self.inner.get_into(key, dst))
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        self.call("read", key, || self.inner.get_ranges_into(key, ranges, dst))
    }

    fn get_edge_into(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        self.read(key, dst, |dst| self.inner.get_edge_into(key, edge, dst))
    }

    fn fetch(&self, requests: &[Request<'_>], sink: &mut dyn FnMut(usize, Result<Fetched>)) {
        for (position, request) in requests.iter().enumerate().rev() {
            sink(position, self.fetch_one(request));
        }
    }

    fn is_remote(&self) -> bool {
        !self.inline
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        self.call("look at", key, || self.inner.size(key))
    }

    fn put(&self, key: &str, value: &[u8], durability: Durability) -> Result<()> {
        self.call("write", key, || self.inner.put(key, value, durability))
    }

    fn delete(&self, key: &str, durability: Durability) -> Result<bool> {
        self.call("delete", key, || self.inner.delete(key, durability))
    }

    fn delete_prefix(&self, prefix: &str, durability: Durability) -> Result<u64> {
        self.call("delete", prefix, || self.inner.delete_prefix(prefix, durability))
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        self.call("list", prefix, || self.inner.list_prefix(prefix))
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        self.call("list", prefix, || self.inner.list_dir(prefix))
    }

    fn size_prefix(&self, prefix: &str) -> Result<u64> {
        self.call("list", prefix, || self.inner.size_prefix(prefix))
    }

    fn rename_prefix(&self, source: &str, target: &str, durability: Durability) -> Result<()> {
        self.call("rename", source, || self.inner.rename_prefix(source, target, durability))
    }

    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        self.call("lock", key, || self.inner.lock(anchor, key))
    }
}
