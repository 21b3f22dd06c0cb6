//! The spellings of chunk keys, and the one under which rows of versions have a chunk.
//!
//! A chunk is at most under four keys: `c/0/1`, `c.0.1`, `0/1` and `0.1`. Its array's document names
//! the one that is in use; what is under the others is not a part of the array.

use std::borrow::Cow;
use std::collections::HashMap;

/// The documents of an array.
const DOCUMENTS: [&str; 3] = ["zarr.json", ".zarray", ".zattrs"];

/// How an array spells the keys of its chunks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spelling {
    /// Whether keys begin with `c`.
    pub has_prefix: bool,
    /// Between the numbers, and after the prefix.
    pub separator: u8,
}

/// The keys of an array.
#[derive(Clone, Copy, Debug)]
pub struct KeySpace {
    /// The number of axes.
    pub axes: usize,
    /// `None` for keys of another form: all values below the array are its chunks then.
    pub spelling: Option<Spelling>,
}

/// What a value below an array is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyRole {
    /// A chunk, and its canonical key relative to the array; `None` if that is its own.
    Chunk(Option<String>),
    /// A chunk under a spelling that is not in use.
    Unnamed,
    /// A document, or a value that is not Zarr's.
    Other,
}

impl KeySpace {
    /// The spelling by its name in documents of versions.
    #[must_use]
    pub fn of(axes: usize, name: &str) -> Self {
        let spelling = match name {
            "default/" => Some((true, b'/')),
            "default." => Some((true, b'.')),
            "v2/" => Some((false, b'/')),
            "v2." => Some((false, b'.')),
            _ => None,
        };
        let spelling = spelling.map(|(has_prefix, separator)| Spelling { has_prefix, separator });
        Self { axes, spelling }
    }

    /// What the value of `key`, relative to the array, is.
    pub(crate) fn member(self, key: &str) -> KeyRole {
        let Some(spelling) = self.spelling else { return KeyRole::Chunk(None) };
        let Some((spelled, numbers)) = self.parse(key) else { return KeyRole::Other };
        let same = spelled.has_prefix == spelling.has_prefix
            && (spelled.separator == spelling.separator || !numbers.contains(['/', '.']))
            // `c/0` and `c.0` differ by their prefix alone.
            && (self.axes != 1 || !spelled.has_prefix || spelled.separator == spelling.separator);
        match same {
            false => KeyRole::Unnamed,
            true if spelled.has_prefix && (spelled.separator == b'/' || self.axes == 0) => {
                KeyRole::Chunk(None)
            }
            true if self.axes == 0 => KeyRole::Chunk(Some("c".to_owned())),
            true => KeyRole::Chunk(Some(format!("c/{}", numbers.replace('.', "/")))),
        }
    }

    /// The numbers of the chunk that has this key, relative to the array, such as `0/1`; `None` if
    /// no chunk has.
    pub(crate) fn numbers(self, key: &str) -> Option<String> {
        self.spelling?;
        match self.member(key) {
            KeyRole::Chunk(canonical) => {
                let canonical = canonical.as_deref().unwrap_or(key);
                Some(canonical.strip_prefix("c/").unwrap_or_default().to_owned())
            }
            KeyRole::Unnamed | KeyRole::Other => None,
        }
    }

    /// The key of the chunk with these numbers, relative to the array.
    pub(crate) fn key(self, numbers: &str) -> String {
        let (has_prefix, separator) = match self.spelling {
            Some(spelling) => (spelling.has_prefix, char::from(spelling.separator)),
            None => (true, '/'),
        };
        let numbers = numbers.replace('/', separator.encode_utf8(&mut [0; 4]));
        match has_prefix {
            true if numbers.is_empty() => "c".to_owned(),
            true => format!("c{separator}{numbers}"),
            false if numbers.is_empty() => "0".to_owned(),
            false => numbers,
        }
    }

    /// The directory that all chunks are in, relative to the array, and the levels in it.
    pub(crate) fn top(self) -> (String, usize) {
        match self.spelling {
            Some(Spelling { has_prefix, separator: b'/' }) if self.axes > 0 => {
                (if has_prefix { "c".to_owned() } else { String::new() }, self.axes)
            }
            _ => (String::new(), 1),
        }
    }

    /// The spelling of a key and its numbers; `None` if it is not one of a chunk.
    fn parse(self, key: &str) -> Option<(Spelling, &str)> {
        let spelled = |has_prefix, separator| Spelling { has_prefix, separator };
        if self.axes == 0 {
            let has_prefix = key == "c";
            return (has_prefix || key == "0").then(|| (spelled(has_prefix, b'/'), ""));
        }
        let (has_prefix, numbers) = match key.strip_prefix('c') {
            Some(rest) => (true, rest.strip_prefix(['/', '.'])?),
            None => (false, key),
        };
        let separator = match has_prefix {
            true => key.as_bytes()[1],
            false if numbers.contains('/') => b'/',
            false => b'.',
        };
        let mut count = 0;
        for number in numbers.split(char::from(separator)) {
            let is_number = number.bytes().all(|byte| byte.is_ascii_digit())
                && (number == "0" || !(number.is_empty() || number.starts_with('0')));
            if !is_number {
                return None;
            }
            count += 1;
        }
        (count == self.axes).then(|| (spelled(has_prefix, separator), numbers))
    }
}

/// The key spaces of the arrays of a hierarchy, by their paths.
#[derive(Clone, Debug, Default)]
pub struct KeySpaces(HashMap<String, KeySpace>);

impl FromIterator<(String, KeySpace)> for KeySpaces {
    fn from_iter<I: IntoIterator<Item = (String, KeySpace)>>(spaces: I) -> Self {
        Self(spaces.into_iter().collect())
    }
}

impl KeySpaces {
    /// The path of the array at or above `key`, its key space, and the key relative to it.
    pub(crate) fn array_of<'k>(&self, key: &'k str) -> Option<(&'k str, KeySpace, &'k str)> {
        let ends = key.rmatch_indices('/').map(|(end, _)| end);
        let above = ends.map(|end| (&key[..end], &key[end + 1..]));
        let mut each = std::iter::once((key, "")).chain(above).chain([("", key)]);
        each.find_map(|(path, rest)| Some((path, *self.0.get(path)?, rest)))
    }

    /// The canonical key of a stored value; `None` if it is not a part of its array.
    #[must_use]
    pub fn canonical<'k>(&self, key: &'k str) -> Option<Cow<'k, str>> {
        let Some((path, space, rest)) = self.array_of(key) else { return Some(Cow::Borrowed(key)) };
        match space.member(rest) {
            KeyRole::Chunk(None) => Some(Cow::Borrowed(key)),
            KeyRole::Chunk(Some(canonical)) => Some(Cow::Owned(joined(path, &canonical))),
            KeyRole::Other if DOCUMENTS.contains(&rest) => Some(Cow::Borrowed(key)),
            KeyRole::Other | KeyRole::Unnamed => None,
        }
    }

    /// The canonical keys that a stored value with `key` may have, where the numbers of axes are not
    /// known: `0` is a chunk of one axis, or of none.
    pub(crate) fn candidates(&self, key: &str) -> Vec<String> {
        let Some((path, space, rest)) = self.array_of(key) else { return vec![key.to_owned()] };
        let numbers = rest.strip_prefix('c').and_then(|rest| rest.strip_prefix(['/', '.']));
        let numbers = numbers.unwrap_or(rest);
        let axes = [numbers.split(['/', '.']).count(), 0];
        let roles = axes.map(|axes| KeySpace { axes, ..space }.member(rest));
        let chunks = roles.iter().filter_map(|role| match role {
            KeyRole::Chunk(None) => Some(key.to_owned()),
            KeyRole::Chunk(Some(canonical)) => Some(joined(path, canonical)),
            KeyRole::Unnamed | KeyRole::Other => None,
        });
        let mut found: Vec<String> = chunks.collect();
        found.dedup();
        if found.is_empty() && !roles.contains(&KeyRole::Unnamed) {
            found.push(key.to_owned());
        }
        found
    }

    /// The key that the value with a canonical key is stored under.
    pub(crate) fn spelled<'k>(&self, key: &'k str) -> Cow<'k, str> {
        let Some((path, space, rest)) = self.array_of(key) else { return Cow::Borrowed(key) };
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let numbers = match rest.strip_prefix("c/") {
            None if rest == "c" => "",
            Some(numbers) if numbers.split('/').all(is_number) => numbers,
            _ => return Cow::Borrowed(key),
        };
        Cow::Owned(joined(path, &space.key(numbers)))
    }
}

fn joined(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPELLINGS: [&str; 4] = ["default/", "default.", "v2/", "v2."];

    #[test]
    fn a_chunk_has_one_canonical_key_under_all_spellings() {
        let keys = ["c/0/12", "c.0.12", "0/12", "0.12"];
        for (name, own) in SPELLINGS.iter().zip(keys) {
            let space = KeySpace::of(2, name);
            for key in keys {
                let wanted = match key == own {
                    true if key == "c/0/12" => KeyRole::Chunk(None),
                    true => KeyRole::Chunk(Some("c/0/12".to_owned())),
                    false => KeyRole::Unnamed,
                };
                assert_eq!(space.member(key), wanted, "{name} {key}");
            }
        }
    }

    #[test]
    fn numbers_and_keys_are_each_others_inverse() {
        for name in SPELLINGS {
            for (axes, numbers) in [(0, ""), (1, "7"), (2, "0/12"), (3, "1/2/3")] {
                let space = KeySpace::of(axes, name);
                let key = space.key(numbers);
                assert_eq!(space.numbers(&key).as_deref(), Some(numbers), "{name} {key}");
                assert!(key.starts_with(&space.top().0), "{name} {key}");
            }
            assert_eq!(KeySpace::of(2, name).numbers("zarr.json"), None);
            assert_eq!(KeySpace::of(2, name).numbers("c/0"), None);
        }
    }

    #[test]
    fn one_axis_and_none_have_fewer_keys() {
        for name in ["v2/", "v2."] {
            assert_eq!(KeySpace::of(1, name).member("3"), KeyRole::Chunk(Some("c/3".to_owned())));
            assert_eq!(KeySpace::of(0, name).member("0"), KeyRole::Chunk(Some("c".to_owned())));
            assert_eq!(KeySpace::of(0, name).member("c"), KeyRole::Unnamed);
        }
        assert_eq!(KeySpace::of(1, "default/").member("c/3"), KeyRole::Chunk(None));
        assert_eq!(KeySpace::of(1, "default/").member("c.3"), KeyRole::Unnamed);
        assert_eq!(
            KeySpace::of(1, "default.").member("c.3"),
            KeyRole::Chunk(Some("c/3".to_owned()))
        );
        for name in ["default/", "default."] {
            assert_eq!(KeySpace::of(0, name).member("c"), KeyRole::Chunk(None));
            assert_eq!(KeySpace::of(0, name).member("0"), KeyRole::Unnamed);
        }
    }

    #[test]
    fn what_is_not_a_chunk_is_a_value_of_its_own() {
        for name in SPELLINGS {
            for key in [
                "zarr.json",
                ".zattrs",
                "c/0",
                "0.0.0",
                "01.2",
                "c/0/x",
                "c",
                "c/",
                "0..1",
                "a/0/0",
            ] {
                assert_eq!(KeySpace::of(2, name).member(key), KeyRole::Other, "{name} {key}");
            }
        }
        assert_eq!(KeySpace::of(2, "suffix").member("c/0/0.tiff"), KeyRole::Chunk(None));
    }

    #[test]
    fn the_order_of_keys_is_that_of_their_canonical_keys() {
        for name in SPELLINGS {
            let of = |path: &str, axes| (path.to_owned(), KeySpace::of(axes, name));
            let spaces: KeySpaces = [of("a", 2), of("a-b", 1), of("g/z", 0)].into_iter().collect();
            let mut keys: Vec<String> = ["a/c/0/0", "a/c/0/10", "a/c/0/2", "a/c/10/0", "a/c/9/9"]
                .into_iter()
                .chain(["a-b/c/3", "a-b/c/12", "g/z/c"])
                .map(|key| spaces.spelled(key).into_owned())
                .collect();
            let documents = ["a/.zarray", "a/zarr.json", "a-b/zarr.json", "g/.zgroup", "g/x/c/0"];
            keys.extend(documents.map(str::to_owned));
            keys.sort_unstable();
            let canonical: Vec<_> = keys.iter().filter_map(|key| spaces.canonical(key)).collect();
            assert_eq!(canonical.len(), keys.len());
            assert!(canonical.is_sorted(), "{name} {canonical:?}");
            let unknown = |key: &str| (key.to_owned(), KeySpace::of(0, name));
            let spaces: KeySpaces = ["a", "a-b", "g/z"].map(unknown).into_iter().collect();
            for (key, canonical) in keys.iter().zip(&canonical) {
                assert!(spaces.candidates(key).contains(&canonical.to_string()), "{name} {key}");
                assert_eq!(spaces.spelled(canonical), key.as_str());
            }
        }
    }

    #[test]
    fn a_chunk_under_a_spelling_that_is_not_in_use_is_nowhere() {
        let spaces: KeySpaces = [("a".to_owned(), KeySpace::of(2, "v2/"))].into_iter().collect();
        for key in ["a/c/0/0", "a/0.0", "a/c.0.0", "a/readme", "a/x/0/0", "a/0"] {
            assert_eq!(spaces.canonical(key), None, "{key}");
        }
        assert!(spaces.candidates("a/c/0/0").is_empty());
        assert_eq!(spaces.candidates("a/0/0"), ["a/c/0/0"]);
        assert_eq!(spaces.candidates("b/0/0"), ["b/0/0"]);
        assert_eq!(spaces.candidates("a/0"), ["a/c/0", "a/c"]);
    }
}
