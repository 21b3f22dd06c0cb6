//! What a client knows of values that its user promised not to change.
//!
//! A cached response is validated once per client: the cache on disk may be older than the promise.
//! From then on it is used without a request, and so is what the first response said about a value,
//! that it is absent for one. Without the promise, each use is a request (`cache.rs`).

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::generation::Generation;

/// Facts about more values than these are forgotten: they take about 100 bytes each.
const MOST: usize = 1 << 20;

/// Generation and length of a value; `None` if it is absent.
pub(super) type Known = Option<(Generation, u64)>;

/// What the server said since the client was made.
#[derive(Debug, Default)]
pub(super) struct Frozen {
    facts: Mutex<Facts>,
}

#[derive(Debug, Default)]
struct Facts {
    /// Requests whose cached response is valid.
    valid: HashSet<u128>,
    values: HashMap<u128, Known>,
}

/// Two names with the same 128 bits do not occur.
fn hash(name: &str) -> u128 {
    let half = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, name).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

impl Frozen {
    fn facts(&self) -> MutexGuard<'_, Facts> {
        let mut facts = self.facts.lock().unwrap_or_else(PoisonError::into_inner);
        if facts.valid.len().max(facts.values.len()) > MOST {
            *facts = Facts::default();
        }
        facts
    }

    /// Whether the response to a request was validated.
    pub(super) fn is_valid(&self, request: &str) -> bool {
        self.facts().valid.contains(&hash(request))
    }

    /// The server has answered a request, so that its cached response is valid.
    pub(super) fn note_valid(&self, request: &str) {
        self.facts().valid.insert(hash(request));
    }

    /// What is known about a value; `None` if nothing is.
    pub(super) fn value(&self, name: &str) -> Option<Known> {
        self.facts().values.get(&hash(name)).copied()
    }

    /// The server has said this about a value.
    pub(super) fn note_value(&self, name: &str, known: Known) {
        self.facts().values.insert(hash(name), known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_those_that_were_noted() {
        let frozen = Frozen::default();
        frozen.note_value("a", None);
        frozen.note_valid("a 0..3");
        assert_eq!(frozen.value("a").map(|known| known.is_none()), Some(true));
        assert!(frozen.value("b").is_none());
        assert!(frozen.is_valid("a 0..3") && !frozen.is_valid("a"));
    }
}
