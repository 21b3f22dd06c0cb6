//! Tags, which tell the versions of a value apart across processes and machines: conditions of a
//! put, and the rows of a listing.

use std::any::Any;

/// How many rows a page of a listing has at most.
pub const PAGE_ROWS: usize = 1000;

/// What must be stored under a key for a put to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition<'a> {
    /// Anything or nothing.
    Always,
    /// Nothing.
    Absent,
    /// The version with this tag.
    Tag(&'a str),
}

/// The result of a conditional put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// The value is stored, and has this tag.
    Stored(String),
    /// The condition did not hold; nothing was changed.
    Refused,
    /// The server may or may not have stored the value, for this reason.
    Unclear(String),
}

/// A value as listings have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedValue {
    /// Its key.
    pub key: String,
    /// Its length in bytes.
    pub size: u64,
    /// Equal tags of a key mean equal bytes; empty if the store has none.
    pub tag: String,
}

/// A value of a bucket that keeps versions, as its listings have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedVersion {
    /// Key, length and tag.
    pub entry: ListedValue,
    /// The name that the server gave the version.
    pub version: String,
}

/// A value that was read together with its tag.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tagged {
    /// As in [`ListedValue::tag`].
    pub tag: String,
    /// The names of the last changes, for the next put of this value; stores with locks have none.
    pub changes: String,
}

/// A conditional put.
#[derive(Clone, Copy, Debug)]
pub struct ConditionalPut<'a> {
    /// What must be stored.
    pub condition: Condition<'a>,
    /// The names of the last changes of that version ([`Tagged::changes`]); may be empty.
    pub changes: &'a str,
    /// The name of this change; a value whose changes contain it includes this put.
    pub name: &'a str,
}

/// A position in the sorted listing of the keys below a prefix.
///
/// What a store keeps in `state` saves it work. Without it, the listing goes on from `after`.
#[derive(Default)]
pub struct Cursor {
    /// Only keys below this prefix are listed; empty for all.
    pub prefix: String,
    /// Only keys behind this one, by their bytes, are listed.
    pub after: String,
    /// What the store remembers between two pages.
    pub state: Option<Box<dyn Any + Send>>,
    /// Whether the last page was listed.
    pub is_done: bool,
}

impl Cursor {
    /// The position behind the key `after`, of the keys below `prefix`.
    #[must_use]
    pub fn new(prefix: &str, after: &str) -> Self {
        Self { prefix: prefix.to_owned(), after: after.to_owned(), ..Self::default() }
    }
}

/// Whether `key`, or with `is_folder` a key in the folder `key`, may be behind `after`.
pub(crate) fn may_follow(after: &str, key: &str, is_folder: bool) -> bool {
    if !is_folder {
        return key > after;
    }
    match after.strip_prefix(key) {
        Some(rest) if rest.starts_with('/') => true,
        _ => key.bytes().chain([b'/']).gt(after.bytes()),
    }
}

/// What the names in a folder are compared by: keys in a folder continue its name with a slash.
pub(crate) fn order_of(name: &str, is_folder: bool) -> impl Iterator<Item = u8> + '_ {
    name.bytes().chain(is_folder.then_some(b'/'))
}
