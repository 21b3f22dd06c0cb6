//! Values as members of a zip archive, in a local file or in a value of another store.
//!
//! Our own reader reads the archive's directory once. After that, a value is one read at its
//! offset, concurrently from any thread and in any forked child. Parts of uncompressed members are
//! read in place. Compressed members are decoded as a whole, to the length that the directory
//! declares. Every value that is read as a whole is checked against its CRC-32.
//!
//! One process at a time can write to a local file. A value that is put again becomes a new member,
//! and the old one is no longer referenced; `pack` rewrites the archive without unreferenced
//! members.
//!
//! `format.rs` has the records, `directory.rs` finds and reads the directory, `archive.rs` is the
//! state of an archive in this process, `value.rs` a member's value, and `source.rs` the source of
//! the bytes. `session.rs` is the protocol of writing to a file, `lengthen.rs` lengthens it, and
//! `writing.rs` makes the changes.

pub(crate) mod archive;
pub(crate) mod directory;
pub(crate) mod format;
pub(crate) mod lengthen;
pub(crate) mod names;
pub(crate) mod session;
pub(crate) mod source;
pub(crate) mod store;
pub(crate) mod value;
pub(crate) mod writing;
