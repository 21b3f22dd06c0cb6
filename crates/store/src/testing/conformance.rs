//! The contract of every store, as code: the tests of each store run it, also those of other
//! crates.
//!
//! A check returns an error instead of panicking, so that any test harness can run the suite.
//! `twin` is another handle on the same store (or the same handle if there cannot be a second one):
//! rules that concern two handles, locks above all, are checked across both.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::error::StoreError;
use crate::generation::Generation;
use crate::store::{
    Change, Durability, Edge, Fetched, Part, Request, Store, UNKNOWN_LENGTH, Update,
};

type Answer<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;
/// Nothing, or a message with the expected and the actual result.
pub type Outcome = Answer<()>;
type Check = fn(&dyn Store, &dyn Store) -> Outcome;

/// How long threads continue with a slow store; a fast one has finished all rounds by then.
const TIMEOUT: Duration = Duration::from_secs(1);

/// A failure is reported under the name of its check.
const CHECKS: [(&str, Check); 15] = [
    ("handles on one place have one id", ids),
    ("a missing value is not an error", absence),
    ("a stored value is read back, whole and by ranges", values),
    ("parts are stored one after the other", joining),
    ("a read after an edge returns its generation", versions),
    ("fetch delivers one result per request", fetching),
    ("no concurrent change is lost", updating),
    ("a deletion removes the given keys and nothing else", deletion),
    ("listings are sorted, complete and by name", listings),
    ("renaming moves a part of the store", renaming),
    ("keys that break the grammar are refused by every method", grammar),
    ("readers see complete versions while writers replace them", atomic_replacement),
    ("increments under a lock are not lost", exclusion),
    ("an anchor's lock excludes those of its keys", anchors),
    ("a thread may take a lock again", reentrance),
];

/// Runs every check on an empty store; the error names the first check that failed.
///
/// # Errors
/// The check's name, the expected and the actual result; or that the store is not empty, in which
/// case its content is not changed.
pub fn conformance(store: &dyn Store, twin: &dyn Store) -> Outcome {
    equal("keys before the suite, which deletes all", &store.list_prefix("")?, &Vec::new())?;
    for (name, check) in CHECKS {
        check(store, twin).map_err(|fault| format!("{store:?}: {name}: {fault}"))?;
    }
    equal("keys left after the suite", &store.list_prefix("")?.len(), &0)
}

/// Runs the checks for a read-only store that holds `held`; if `lists` is false, for one that
/// cannot list its keys.
///
/// # Errors
/// Those of [`conformance`].
pub fn reading_conformance(
    store: &dyn Store,
    twin: &dyn Store,
    held: &BTreeMap<String, Vec<u8>>,
    lists: bool,
) -> Outcome {
    let checks: [(&str, &dyn Fn() -> Outcome); 5] = [
        ("handles on one place have one id", &|| ids(store, twin)),
        ("a missing value is not an error", &|| missing(store, "no/such")),
        ("held values are read, whole and in parts", &|| held_values(store, twin, held)),
        ("listings are sorted, complete and by name", &|| match lists {
            true => held_listings(store, held),
            false => Ok(()),
        }),
        ("keys that break the grammar are refused by every method", &|| {
            WRONG_KEYS.iter().try_for_each(|key| refused(key, &reading(store, key)))
        }),
    ];
    for (name, check) in checks {
        check().map_err(|fault| format!("{store:?}: {name}: {fault}"))?;
    }
    Ok(())
}

fn held_values(store: &dyn Store, twin: &dyn Store, held: &BTreeMap<String, Vec<u8>>) -> Outcome {
    for (key, value) in held {
        equal(key, &get(twin, key)?.as_ref(), &Some(value))?;
        equal(&format!("size of {key}"), &store.size(key)?, &Some(value.len() as u64))?;
        parts(store, key, value).map_err(|fault| format!("{key}: {fault}"))?;
    }
    let edge = |key| Request { key, part: Part::Edge(Edge::Last(9)) };
    let requests: Vec<Request<'_>> = held.keys().map(|key| edge(key.as_str())).collect();
    let mut answers: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
    let mut fault: Outcome = Ok(());
    store.fetch(&requests, &mut |position, found| match found {
        Ok(Fetched::Bytes(bytes, ..)) => {
            answers.insert(requests[position].key, bytes);
        }
        Ok(Fetched::Absent) => fault = Err("a value is absent".into()),
        Err(error) => fault = Err(error.into()),
    });
    fault?;
    let last = |value: &Vec<u8>| value[value.len().saturating_sub(9)..].to_vec();
    let expected = held.iter().map(|(key, value)| (key.as_str(), last(value))).collect();
    equal("last bytes of all", &answers, &expected)
}

fn held_listings(store: &dyn Store, held: &BTreeMap<String, Vec<u8>>) -> Outcome {
    let mut prefixes = BTreeSet::from([String::new()]);
    for key in held.keys() {
        prefixes.extend(key.match_indices('/').map(|(end, _)| key[..end].to_owned()));
    }
    for prefix in &prefixes {
        let start = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let below = || held.iter().filter(|(key, _)| key.starts_with(&start));
        let keys: Vec<String> = below().map(|(key, _)| key.clone()).collect();
        equal(&format!("below {prefix:?}"), &store.list_prefix(prefix)?, &keys)?;
        let bytes = below().map(|(_, value)| value.len() as u64).sum();
        equal(&format!("size of {prefix:?}"), &store.size_prefix(prefix)?, &bytes)?;
        let (mut values, mut deeper) = (BTreeSet::new(), BTreeSet::new());
        for key in &keys {
            match key[start.len()..].split_once('/') {
                None => values.insert(key[start.len()..].to_owned()),
                Some((name, _)) => deeper.insert(name.to_owned()),
            };
        }
        let listing = store.list_dir(prefix)?;
        let (values, deeper) = (Vec::from_iter(values), Vec::from_iter(deeper));
        equal(&format!("values directly below {prefix:?}"), &listing.keys, &values)?;
        equal(&format!("prefixes directly below {prefix:?}"), &listing.prefixes, &deeper)?;
    }
    Ok(())
}

fn equal<T: PartialEq + Debug + ?Sized>(what: &str, found: &T, expected: &T) -> Outcome {
    if found == expected {
        return Ok(());
    }
    let short = |value: &T| format!("{value:?}").chars().take(200).collect::<String>();
    Err(format!("{what}: found {}, expected {}", short(found), short(expected)).into())
}

fn put(store: &dyn Store, key: &str, value: &[u8]) -> crate::error::Result<()> {
    store.put(key, value, Durability::Process)
}

fn delete(store: &dyn Store, key: &str) -> crate::error::Result<bool> {
    store.delete(key, Durability::Process)
}

fn delete_prefix(store: &dyn Store, prefix: &str) -> crate::error::Result<u64> {
    store.delete_prefix(prefix, Durability::Process)
}

fn rename_prefix(store: &dyn Store, source: &str, target: &str) -> crate::error::Result<()> {
    store.rename_prefix(source, target, Durability::Process)
}

fn get(store: &dyn Store, key: &str) -> crate::error::Result<Option<Vec<u8>>> {
    let mut value = b"stale".to_vec();
    Ok(store.get_into(key, &mut value)?.map(|_| value))
}

fn ids(store: &dyn Store, twin: &dyn Store) -> Outcome {
    equal("id of the twin", twin.id(), store.id())
}

fn absence(store: &dyn Store, _: &dyn Store) -> Outcome {
    missing(store, "no/such")?;
    equal("deleted", &delete(store, "no/such")?, &false)?;
    equal("deleted below", &delete_prefix(store, "no")?, &0)?;
    equal("listed", &store.list_prefix("no")?, &Vec::new())?;
    equal("listed by name", &store.list_dir("no")?.keys, &Vec::new())?;
    equal("size below", &store.size_prefix("no")?, &0)?;
    put(store, "has/below", b"x")?;
    equal("a prefix as a value", &get(store, "has")?, &None)?;
    equal("a prefix's size as a value's", &store.size("has")?, &None)?;
    equal("a prefix deleted as a value", &delete(store, "has")?, &false)?;
    equal("cleared", &delete_prefix(store, "has")?, &1)
}

fn missing(store: &dyn Store, key: &str) -> Outcome {
    let mut dst = b"stale".to_vec();
    equal("generation", &store.get_into(key, &mut dst)?, &None)?;
    equal("bytes", &dst.len(), &0)?;
    dst.push(1);
    let ranges = std::slice::from_ref(&(0..1));
    equal("ranges", &store.get_ranges_into(key, ranges, &mut dst)?, &None)?;
    equal("bytes of ranges", &dst.len(), &0)?;
    equal("size", &store.size(key)?, &None)
}

fn values(store: &dyn Store, twin: &dyn Store) -> Outcome {
    let (mut last, untold) = (None, Some(Generation::default()));
    for size in [0, 1, 511, 16 << 10, 3 << 20, 7] {
        let value: Vec<u8> = (0..size).map(|position: usize| (position * 7 % 251) as u8).collect();
        for durability in [Durability::Process, Durability::Fsync] {
            store.put("values/deep/key", &value, durability)?;
        }
        let mut found = Vec::new();
        let generation = twin.get_into("values/deep/key", &mut found)?;
        equal("value", &found, &value)?;
        equal("size", &twin.size("values/deep/key")?, &Some(size as u64))?;
        equal(
            "generation is known and unchanged",
            &(generation == last && last != untold),
            &false,
        )?;
        last = generation;
        let again = parts(store, "values/deep/key", &value)?;
        if ![generation, again].contains(&untold) {
            equal("generation of ranges", &again, &generation)?;
        }
    }
    equal("cleared", &delete_prefix(store, "values")?, &1)
}

fn joining(store: &dyn Store, twin: &dyn Store) -> Outcome {
    let long = vec![7; 1 << 20];
    let all: [&[&[u8]]; 4] = [&[], &[b"", b""], &[b"ab", b"", b"c"], &[&long, b"x", &long]];
    for parts in all {
        for durability in [Durability::Process, Durability::Fsync] {
            store.put_parts("parts/key", parts, durability)?;
            equal("value", &get(twin, "parts/key")?, &Some(parts.concat()))?;
        }
    }
    equal("cleared", &delete_prefix(store, "parts")?, &1)
}

/// Reads ranges of a value; returns their generation.
fn parts(store: &dyn Store, key: &str, value: &[u8]) -> Answer<Option<Generation>> {
    let (end, mut found) = (value.len() as u64, Vec::new());
    let ranges = [0..0, 0..end.min(3), end / 2..end, 0..end, end..end];
    let wanted: Vec<u8> = ranges
        .iter()
        .flat_map(|range| value[range.start as usize..range.end as usize].iter().copied())
        .collect();
    let generation = store.get_ranges_into(key, &ranges, &mut found)?;
    equal("ranges", &found, &wanted)?;
    let beyond = [0..0, end / 2..end + 1];
    let refused = store.get_ranges_into(key, &beyond, &mut found);
    equal("range beyond the end is refused", &refused.is_err(), &true)?;
    Ok(generation)
}

/// Reads as for a shard: its index at one end, then inner chunks of the same version.
fn versions(store: &dyn Store, twin: &dyn Store) -> Outcome {
    let (edge, mut found) = (Edge::Last(16), Vec::new());
    let ranges = [5..90, 200..210];
    put(twin, "version/key", &[1; 1000])?;
    let (first, total) = store.get_edge_into("version/key", edge, &mut found)?.ok_or("absent")?;
    equal("edge", &found, &vec![1; 16])?;
    equal("length of the value, or unknown", &[1000, UNKNOWN_LENGTH].contains(&total), &true)?;
    equal("an edge's generation is returned", &(first != Generation::default()), &true)?;
    let again = store.get_ranges_into("version/key", &ranges, &mut found)?;
    equal("generation of ranges behind the edge", &again, &Some(first))?;
    put(twin, "version/key", &[2; 1000])?;
    let newer = store.get_ranges_into("version/key", &ranges, &mut found)?;
    equal("generation after a change is new", &(newer != Some(first)), &true)?;
    equal("ranges after a change", &found, &vec![2; 95])?;
    equal("cleared", &delete_prefix(store, "version")?, &1)
}

fn fetching(store: &dyn Store, _: &dyn Store) -> Outcome {
    put(store, "fetch/a", b"abcdef")?;
    put(store, "fetch/b", b"")?;
    let ranges = [1..3, 4..5];
    let beyond = [0..1, 4..7];
    let expected = [
        ("fetch/a", Part::WHOLE, "abcdef of 6"),
        ("fetch/none", Part::WHOLE, "absent"),
        ("fetch/b", Part::WHOLE, " of 0"),
        ("fetch/a", Part::Ranges(&ranges), "bce of 6"),
        ("fetch/../a", Part::WHOLE, "error"),
        ("fetch/a", Part::Edge(Edge::First(2)), "ab of 6"),
        ("fetch/a", Part::Edge(Edge::Last(2)), "ef of 6"),
        ("fetch/a", Part::Edge(Edge::Last(9)), "abcdef of 6"),
        ("fetch/b", Part::Edge(Edge::Last(9)), " of 0"),
        ("fetch/none", Part::Edge(Edge::First(1)), "absent"),
        ("fetch/none", Part::Ranges(&ranges), "absent"),
        ("fetch/a", Part::Ranges(&beyond), "error"),
    ];
    let requests = expected.map(|(key, part, _)| Request { key, part });
    let mut answers: Vec<Vec<String>> = vec![Vec::new(); requests.len()];
    store.fetch(&requests, &mut |position, found| {
        let wanted = expected[position].2;
        answers[position].push(match found {
            Ok(Fetched::Absent) => "absent".to_owned(),
            Ok(Fetched::Bytes(bytes, _, total)) => {
                let is_edge = matches!(requests[position].part, Part::Edge(_));
                let total = match wanted.rsplit_once(' ') {
                    Some((_, told)) if is_edge && total == UNKNOWN_LENGTH => told.to_owned(),
                    _ => total.to_string(),
                };
                format!("{} of {total}", String::from_utf8_lossy(&bytes))
            }
            Err(_) => "error".to_owned(),
        });
    });
    let expected = expected.map(|(_, _, answer)| vec![answer.to_owned()]);
    equal("answers", &answers[..], &expected[..])?;
    equal("cleared", &delete_prefix(store, "fetch")?, &2)
}

/// A change that adds one, and is repeated if another writer was faster.
fn updating(store: &dyn Store, twin: &dyn Store) -> Outcome {
    put(store, "up/.zarray", b"{}")?;
    let update = Update {
        anchor: "up/.zarray",
        key: "up/0.0",
        most: 1 << 20,
        durability: Durability::Process,
    };
    let add_one = |old: Option<&[u8]>, new: &mut Vec<u8>| {
        let number = old.and_then(|old| std::str::from_utf8(old).ok()?.parse::<u64>().ok());
        new.clear();
        new.extend_from_slice((number.unwrap_or(0) + 1).to_string().as_bytes());
        Change::Put
    };
    let made = AtomicU64::new(0);
    on_threads(4, |thread| {
        let handle = if thread % 2 == 0 { store } else { twin };
        for _ in rounds(25) {
            handle.update(update, &mut Vec::new(), &mut Vec::new(), &mut { add_one })?;
            made.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    })?;
    let kept = Some(made.load(Ordering::SeqCst).to_string().into_bytes());
    equal("changes kept", &get(store, "up/0.0")?, &kept)?;
    for (change, left) in [(Change::Keep, kept), (Change::Delete, None)] {
        store.update(update, &mut Vec::new(), &mut Vec::new(), &mut |_, _| change)?;
        equal(&format!("{change:?}"), &get(store, "up/0.0")?, &left)?;
    }
    equal("cleared", &delete_prefix(store, "up")?, &1)
}

fn deletion(store: &dyn Store, _: &dyn Store) -> Outcome {
    for key in ["del/a/x", "del/a/y/z", "del/a-b", "del/ab/x", "del2"] {
        put(store, key, b"12345")?;
    }
    equal("below", &delete_prefix(store, "del/a")?, &2)?;
    equal("again", &delete_prefix(store, "del/a")?, &0)?;
    equal("left", &store.list_prefix("del")?, &names(&["del/a-b", "del/ab/x"]))?;
    equal("one", &delete(store, "del/ab/x")?, &true)?;
    equal("gone", &get(store, "del/ab/x")?, &None)?;
    equal("a value is not below itself", &delete_prefix(store, "del2")?, &0)?;
    equal("everything", &delete_prefix(store, "")?, &2)?;
    equal("nothing left", &store.list_prefix("")?, &Vec::new())?;
    put(store, "del/again", b"1")?;
    equal("cleared", &delete_prefix(store, "")?, &1)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn listings(store: &dyn Store, _: &dyn Store) -> Outcome {
    // Under a prefix of their own: servers may list a prefix for a while after its last key is
    // deleted.
    let stored = [
        ("ls/l/.zgroup", 2),
        ("ls/l/a", 5),
        ("ls/l/b-c/x", 3),
        ("ls/l/b/0.0", 10),
        ("ls/l/b/0.1", 20),
        ("ls/m", 7),
    ];
    for (key, size) in stored.iter().rev() {
        put(store, key, &vec![0; *size])?;
    }
    equal("all", &store.list_prefix("")?, &names(&stored.map(|(key, _)| key)))?;
    equal("below ls/l/b", &store.list_prefix("ls/l/b")?, &names(&["ls/l/b/0.0", "ls/l/b/0.1"]))?;
    equal("below a value", &store.list_prefix("ls/l/a")?, &Vec::new())?;
    let top = store.list_dir("")?;
    equal("values at the top", &top.keys, &Vec::new())?;
    equal("prefixes at the top", &top.prefixes.contains(&"ls".to_owned()), &true)?;
    let listing = store.list_dir("ls")?;
    equal("values below ls", &listing.keys, &names(&["m"]))?;
    equal("prefixes below ls", &listing.prefixes, &names(&["l"]))?;
    let listing = store.list_dir("ls/l")?;
    equal("values", &listing.keys, &names(&[".zgroup", "a"]))?;
    equal("prefixes", &listing.prefixes, &names(&["b", "b-c"]))?;
    equal("size of ls/l/b", &store.size_prefix("ls/l/b")?, &30)?;
    equal("size of all", &store.size_prefix("")?, &47)?;
    equal("cleared", &delete_prefix(store, "")?, &6)
}

fn renaming(store: &dyn Store, _: &dyn Store) -> Outcome {
    for key in ["ren/a/x", "ren/a/y/z", "ren/ab", "ren/taken/x"] {
        put(store, key, key.as_bytes())?;
    }
    rename_prefix(store, "ren/a", "ren/new/deep")?;
    let moved = ["ren/ab", "ren/new/deep/x", "ren/new/deep/y/z", "ren/taken/x"];
    equal("keys", &store.list_prefix("ren")?, &names(&moved))?;
    equal("value", &get(store, "ren/new/deep/x")?, &Some(b"ren/a/x".to_vec()))?;
    rename_prefix(store, "ren/ab", "ren/ac")?;
    equal("single value", &get(store, "ren/ac")?, &Some(b"ren/ab".to_vec()))?;
    for (source, target) in [
        ("ren/new", "ren/taken"),
        ("ren/ac", "ren/taken"),
        ("ren/new", "ren/ac"),
        ("ren/ac", "ren/taken/x"),
        ("ren/none", "ren/other"),
        ("ren/new", "ren/new/deep/er"),
    ] {
        let refused = rename_prefix(store, source, target).is_err();
        equal(&format!("{source} to {target} is refused"), &refused, &true)?;
    }
    let left = ["ren/ac", "ren/new/deep/x", "ren/new/deep/y/z", "ren/taken/x"];
    equal("keys after refusals", &store.list_prefix("ren")?, &names(&left))?;
    equal("cleared", &delete_prefix(store, "")?, &4)
}

const WRONG_KEYS: [&str; 10] =
    ["/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a\\..\\b", "a\0b", "a.partial"];

/// The error of each method that reads, for a key.
fn reading(store: &dyn Store, key: &str) -> Vec<Option<StoreError>> {
    let mut dst = Vec::new();
    vec![
        store.get_into(key, &mut dst).err(),
        store.get_ranges_into(key, &[], &mut dst).err(),
        store.size(key).err(),
        store.list_prefix(key).err(),
        store.list_dir(key).err(),
        store.size_prefix(key).err(),
    ]
}

fn refused(key: &str, answers: &[Option<StoreError>]) -> Outcome {
    for (method, answer) in answers.iter().enumerate() {
        let refused = matches!(answer, Some(StoreError::InvalidKey { .. }));
        equal(&format!("method {method} refuses {key:?}"), &refused, &true)?;
    }
    Ok(())
}

fn grammar(store: &dyn Store, _: &dyn Store) -> Outcome {
    for key in WRONG_KEYS {
        let mut answers = reading(store, key);
        answers.extend([
            put(store, key, b"x").err(),
            store.put_parts(key, &[b"x"], Durability::Process).err(),
            delete(store, key).err(),
            delete_prefix(store, key).err(),
            rename_prefix(store, key, "ok").err(),
            rename_prefix(store, "ok", key).err(),
            store.lock(key, "ok").err(),
            store.lock("ok", key).err(),
        ]);
        refused(key, &answers)?;
    }
    equal("the empty key", &store.get_into("", &mut Vec::new()).is_err(), &true)
}

/// The numbers of rounds: `most` of them, or fewer for a slow store.
fn rounds(most: usize) -> impl Iterator<Item = usize> {
    let due = Instant::now() + TIMEOUT;
    (0..most).take_while(move |&round| round < 6 || Instant::now() < due)
}

/// Runs `work` on threads, each with a number, and joins them.
fn on_threads(count: usize, work: impl Fn(usize) -> Outcome + Sync) -> Outcome {
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..count).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().try_for_each(|thread| {
            thread.join().unwrap_or_else(|_| Err("a thread panicked".into()))
        })
    })
}

fn atomic_replacement(store: &dyn Store, twin: &dyn Store) -> Outcome {
    // Versions differ in every byte and in length, so that any mixture is detected.
    let version = |number: usize| vec![number as u8; 20_000 + 100 * number];
    put(store, "atomic/key", &version(0))?;
    let writing = AtomicU64::new(2);
    on_threads(4, |thread| {
        let handle = if thread % 2 == 0 { store } else { twin };
        if thread < 2 {
            let outcome = rounds(150).try_for_each(|round| {
                put(handle, "atomic/key", &version((2 * round + thread) % 200))
            });
            writing.fetch_sub(1, Ordering::SeqCst);
            return Ok(outcome?);
        }
        while writing.load(Ordering::SeqCst) > 0 {
            let value = get(handle, "atomic/key")?.ok_or("the value was absent for a moment")?;
            let number = value.first().copied().ok_or("the value was empty for a moment")?;
            equal("one version", &value, &version(number.into()))?;
        }
        Ok(())
    })?;
    equal("cleared", &delete_prefix(store, "atomic")?, &1)
}

/// Adds one to a number stored as text: read, compute, write, as an application would.
fn increment(store: &dyn Store, key: &str) -> Outcome {
    let value = get(store, key)?.unwrap_or_else(|| b"0".to_vec());
    let number: u64 = String::from_utf8(value)?.parse()?;
    std::thread::yield_now();
    Ok(put(store, key, (number + 1).to_string().as_bytes())?)
}

fn exclusion(store: &dyn Store, twin: &dyn Store) -> Outcome {
    put(store, "lock/.zarray", b"{}")?;
    let made = AtomicU64::new(0);
    on_threads(4, |thread| {
        let handle = if thread % 2 == 0 { store } else { twin };
        for _ in rounds(100) {
            let _lock = handle.lock("lock/.zarray", "lock/0.0")?;
            increment(handle, "lock/0.0")?;
            made.fetch_add(1, Ordering::SeqCst);
        }
        Ok(())
    })?;
    let kept = made.load(Ordering::SeqCst).to_string().into_bytes();
    equal("increments kept", &get(store, "lock/0.0")?, &Some(kept))?;
    equal("cleared", &delete_prefix(store, "lock")?, &2)
}

fn anchors(store: &dyn Store, twin: &dyn Store) -> Outcome {
    put(store, "anchor/.zarray", b"0")?;
    let alone = AtomicBool::new(false);
    let keys = ["anchor/.zarray", "anchor/0", "anchor/1", "anchor/2"];
    let made: [AtomicU64; 4] = Default::default();
    on_threads(4, |thread| {
        let handle = if thread % 2 == 0 { store } else { twin };
        let add_one = |number: usize| {
            made[number].fetch_add(1, Ordering::SeqCst);
            increment(handle, keys[number])
        };
        for round in rounds(60) {
            if thread == 0 {
                let _lock = handle.lock(keys[0], keys[0])?;
                alone.store(true, Ordering::SeqCst);
                // Twice: the lock has to outlive the file that it was taken on.
                add_one(0)?;
                add_one(0)?;
                alone.store(false, Ordering::SeqCst);
            } else {
                let number = 1 + (thread + round) % 3;
                let _lock = handle.lock(keys[0], keys[number])?;
                equal("the anchor's holder at work", &alone.load(Ordering::SeqCst), &false)?;
                add_one(number)?;
                equal("the anchor's holder at work", &alone.load(Ordering::SeqCst), &false)?;
            }
        }
        Ok(())
    })?;
    for (key, made) in keys.iter().zip(made) {
        let kept = made.into_inner().to_string().into_bytes();
        equal(&format!("increments of {key}"), &get(store, key)?, &Some(kept))?;
    }
    equal("cleared", &delete_prefix(store, "anchor")?, &4)
}

fn reentrance(store: &dyn Store, twin: &dyn Store) -> Outcome {
    put(store, "again/.zarray", b"0")?;
    {
        let _chunk = store.lock("again/.zarray", "again/0")?;
        let _same = twin.lock("again/.zarray", "again/0")?;
        let _other = store.lock("again/.zarray", "again/1")?;
        let upgrade = store.lock("again/.zarray", "again/.zarray");
        equal("an anchor that would wait for itself is refused", &upgrade.is_err(), &true)?;
    }
    {
        let anchor = store.lock("again/.zarray", "again/.zarray")?;
        let chunk = store.lock("again/.zarray", "again/0")?;
        equal("same reach", &chunk.is_process_wide(), &anchor.is_process_wide())?;
        put(store, "again/0", b"1")?;
        drop(anchor);
        put(store, "again/.zarray", b"1")?;
    }
    on_threads(1, |_| {
        drop(twin.lock("again/.zarray", "again/.zarray")?);
        Ok(())
    })?;
    equal("cleared", &delete_prefix(store, "")?, &2)
}
