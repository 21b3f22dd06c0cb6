//! Stores: keys to bytes. No arrays, no Python.
//!
//! The only codecs are those of members of zip archives and of the documents of Icechunk: the bounded
//! decoders of the codec crate, which also has the checked growth of memory.
//!
//! A key is a relative path of names joined by `/`, checked by one grammar ([`check_key`]) before
//! any store gets it. Values are replaced atomically: a reader sees one complete version, even if a
//! writer is killed at any point. A missing value is `None`, a failure is an error, and the two are
//! never confused.

mod carrier;
mod error;
mod files;
mod generation;
mod icechunk;
mod key;
mod key_space;
mod listing;
mod local;
mod lock;
mod memory;
mod object;
mod parts;
pub mod process;
mod ranges;
mod store;
mod sys;
mod tagged;
pub mod testing;
mod zip;

pub use carrier::{Carried, Carrier, Carry};
pub use error::{Refusal, Result, StoreError};
pub use files::outside::{FileVersion, head_of, version_of};
pub use generation::Generation;
pub use icechunk::repository::Repository as IcechunkRepository;
pub use icechunk::store::IcechunkStore;
pub use key::{check_key, check_prefix};
pub use key_space::{KeySpace, KeySpaces, Spelling};
pub use listing::moved::moved_keys;
pub use local::carry_space::CarriedSpace;
pub use local::carry_tree::{CarriedTree, TreeTerms, TreeWalk, Visit, release_tree};
pub use local::replace::exchange;
pub use local::rows::{Page, Row, Tag, pages};
pub use local::store::LocalStore;
pub use local::walk::{FolderWalk, MetLink, WalkedFile};
pub use lock::files::LockFiles;
pub use lock::table::KeyLock;
pub use memory::MemoryStore;
pub use object::bucket::{Bucket, Service};
pub use object::budget::{concurrent_requests, set_concurrent_requests, set_most_answer_bytes};
pub use object::cache::CacheCounts;
pub use object::pinned::{PinnedRow, PinnedStore};
pub use object::source::{CredentialSource, Fresh};
pub use object::store::ObjectStore;
pub use object::versioned::{VersionPages, VersionRequest};
pub use parts::FileParts;
pub use process::wait::warn_after;
pub use process::{interrupt, notice, trace};
pub use ranges::{READ_ATTEMPTS, coalesce, coalesce_ranges, cut_ranges, get_slice_into};
pub use store::{
    Change, Changing, Durability, Edge, Fetched, Listing, Part, Reader, Request, Store,
    UNKNOWN_LENGTH, Update, below, list_page_of_keys, put_if_locked, update_locked,
};
pub use tagged::{
    Condition, ConditionalPut, Cursor, ListedValue, ListedVersion, PAGE_ROWS, PutOutcome, Tagged,
};
pub use testing::{Outcome, conformance, reading_conformance};
pub use zarrix_codec::member::Method as ZipMethod;
pub use zip::archive::Notes as ZipNotes;
pub use zip::session::Start as ZipStart;
pub use zip::store::ZipStore;

/// The system whose code this is: `linux`, `macos`, `windows`, or `portable` for another Unix.
pub const SYSTEM: &str = sys::NAME;

/// Whether a process that has locked one chunk excludes others from all chunks of the array.
pub const LOCKS_ARE_WHOLE: bool = sys::LOCKS_ARE_WHOLE;

/// Items for crates that speak the protocol of a further kind of server.
pub mod protocol {
    pub use crate::key::PARTIAL;
    pub use crate::object::answers::Most;
    pub use crate::object::backoff::pause;
    pub use crate::object::budget::permit;
    pub use crate::object::failure::late;
    pub use crate::object::names::unique_name;
    pub use crate::object::pace::Pace;
    pub use crate::object::protocol::{FileSystem, Limits, Protocol, Terms};
    pub use crate::object::transport::LEAST_BYTES_PER_S;
}
