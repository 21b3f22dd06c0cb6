//! How a value is carried to another key: by a clone, a second name of its file, or a copy.

use std::sync::atomic::{AtomicBool, Ordering};

/// How a value may be carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// By the first way that the file system has: a clone, else a guarded link, else a copy.
    Auto,
    /// By a clone, whose blocks the file system shares until one of the files changes; an error
    /// where it has none.
    Clone,
    /// By a hard link. A file that may not have another name is copied.
    Link,
    /// By a copy.
    Copy,
}

/// A value that was carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The way: never [`Carry::Auto`].
    pub by: Carry,
    /// Its length in bytes.
    pub size: u64,
    /// When its file was modified, in nanoseconds since 1970, and the number of the file; zeros of
    /// a store without files.
    pub tag: (u64, u64),
}

/// The terms of a call that carries many values, and what its first ones have shown.
#[derive(Debug)]
pub struct Carrier {
    wanted: Carry,
    /// Whether linked files lose their write permission, so that no program changes them in place.
    pub guards: bool,
    clones: AtomicBool,
    links: AtomicBool,
}

impl Carrier {
    /// The terms of a call; where links cannot be guarded, they are made only if they are named.
    #[must_use]
    pub fn new(wanted: Carry, guards: bool) -> Self {
        let links = match wanted {
            Carry::Auto => !cfg!(windows),
            wanted => wanted == Carry::Link,
        };
        let clones = matches!(wanted, Carry::Auto | Carry::Clone);
        Self { wanted, guards, clones: clones.into(), links: links.into() }
    }

    /// Whether clones are tried.
    pub(crate) fn clones(&self) -> bool {
        self.clones.load(Ordering::Relaxed)
    }

    /// Whether links are tried.
    pub(crate) fn links(&self) -> bool {
        self.links.load(Ordering::Relaxed)
    }

    /// The file system has no clones; returns whether another way is allowed.
    pub(crate) fn without_clones(&self) -> bool {
        self.clones.store(false, Ordering::Relaxed);
        self.wanted != Carry::Clone
    }

    /// The file system has no links between these folders; returns whether another way is allowed.
    pub(crate) fn without_links(&self) -> bool {
        self.links.store(false, Ordering::Relaxed);
        self.wanted != Carry::Link
    }
}
