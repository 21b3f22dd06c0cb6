//! Stores: keys to bytes. No arrays, no Python.
//!
//! The only codecs are those of members of zip archives, and they are those of chunks: the codec
//! crate's bounded decoders, and its checked growth of memory.
//!
//! A key is a relative path of names joined by `/`, checked by one grammar ([`check_key`]) before
//! any store sees it. A value is replaced as a whole or not at all: a reader sees one complete
//! version, whoever is killed when. Absence is a value (`None`), failure is an error, and the two
//! are never mixed up.

mod anchor;
mod beyond;
mod conformance;
mod deletion;
mod descriptors;
mod directory;
mod error;
mod generation;
mod holders;
pub mod interrupt;
mod key;
mod leftovers;
mod local;
mod lock;
mod lock_files;
mod memory;
pub mod notice;
mod object;
mod partial;
mod paths;
pub mod process;
mod ranges;
mod rename;
mod replace;
mod sorted;
mod store;
mod sys;
pub mod testing;
mod tree;
mod wait;
mod zip;

pub use conformance::{Outcome, conformance, reading_conformance};
pub use error::{Refusal, Result, StoreError};
pub use generation::Generation;
pub use key::{check_key, check_prefix};
pub use local::LocalStore;
pub use lock::KeyLock;
pub use lock_files::LockFiles;
pub use memory::MemoryStore;
pub use object::{
    CacheCounts, ObjectStore, Place, Service, concurrent_requests, set_concurrent_requests,
    set_most_answer_bytes,
};
pub use ranges::{READ_ATTEMPTS, coalesce, coalesce_ranges};
pub use rename::moved_keys;
pub use store::{
    Change, Changing, Durability, Edge, Fetched, Listing, Part, Reader, Request, Store,
    UNKNOWN_LENGTH, Update, below, cut_ranges, get_slice_into, update_locked,
};
pub use wait::warn_after;
pub use zarrix_codec::member::Method as ZipMethod;
pub use zip::{ZipNotes, ZipStart, ZipStore};

/// What a crate is built on that speaks the protocol of a further kind of server.
pub mod protocol {
    pub use crate::key::PARTIAL;
    pub use crate::object::{
        FileSystem, LEAST_BYTES_PER_S, Limits, Most, Pace, Protocol, Terms, late, pause, permit,
        unique_name,
    };
}
