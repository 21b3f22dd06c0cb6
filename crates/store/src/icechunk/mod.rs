//! Icechunk repositories, for reading: one snapshot of one repository as a store.
//!
//! A repository is values of another store: a file that names branches and tags, snapshots,
//! manifests and chunks (versions 1 and 2 of Icechunk's specification). A snapshot has the document
//! of every node, which are the values of `zarr.json`. A manifest has, for each stored chunk of an
//! array, its bytes, or the file of the repository that has them, or the part of a file outside.
//! Files are never changed once they are written, so that a store shows one state for ever.
//!
//! Nothing in a file is trusted. Documents are decoded up to a limit, every offset is checked
//! where it is followed, and no parser recurses. A manifest is checked completely when it is read,
//! because one whose order is broken would hide chunks, which then read as the fill value. A chunk
//! whose file is missing is an error for the same reason. Locations outside of the repository are
//! read only below places that the caller lists.
//!
//! We rejected Icechunk's own crate: it needs 142 further ones, and has a client of its own for
//! every server. Flatbuffers are read by hand, because four kinds of tables need less code than
//! what is generated for them.
//!
//! `flat.rs` reads flatbuffers, `ids.rs` has identifiers and their names, `file.rs` the header and
//! the compression of documents, `repository.rs`, `snapshot.rs` and `manifest.rs` their contents,
//! `cached.rs` the manifests in memory, and `places.rs` where the value of a key is. `opened.rs` is
//! an open snapshot, `fetch.rs` and `listing.rs` are what it does at length, `store.rs` is the store.

pub(crate) mod cached;
pub(crate) mod fetch;
pub(crate) mod file;
pub(crate) mod flat;
pub(crate) mod ids;
pub(crate) mod listing;
pub(crate) mod manifest;
pub(crate) mod opened;
pub(crate) mod places;
pub(crate) mod repository;
pub(crate) mod snapshot;
pub(crate) mod store;
