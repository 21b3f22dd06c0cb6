//! Stores: keys to bytes. No codecs, no arrays, no Python.
//!
//! A key is a relative path of names joined by `/`, checked by one grammar ([`Key`] rules in
//! `key.rs`) before any store sees it. A value is replaced as a whole or not at all: a reader sees
//! one complete version, whoever is killed when. Absence is a value (`None`), failure is an error,
//! and the two are never mixed up.

mod error;
mod store;

pub use error::{Result, StoreError};
pub use store::{Durability, Fetched, Generation, KeyLock, Listing, Request, Store};
