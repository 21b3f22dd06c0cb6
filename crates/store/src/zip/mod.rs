//! Values as members of a zip archive, in a local file or in a value of another store.
//!
//! The archive's directory is read once, by a reader of our own; a value is then one read at its
//! offset, by any thread, and in any forked child, at once with all others. Parts of members that
//! are not compressed are read in place. Compressed ones are decoded whole, to the length that the
//! directory declares, and every value that is read whole is checked against its CRC-32.
//!
//! A local file is written to, by one process at a time. A value that is put again is a new member,
//! and the old one is no longer referred to; `pack` writes the archive anew without such.
//!
//! `format.rs` has the records, `directory.rs` finds and reads the directory, `archive.rs` is the
//! archive as this process knows it, `value.rs` a member's value, `source.rs` where the bytes are;
//! `session.rs` is how a file is written to, `lengthen.rs` how it is made longer, and `writing.rs` what
//! is written.

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
