//! What every store does, as code: each store's tests run it, those of other crates' stores too.
//!
//! A check answers with an error instead of panicking, so that any test harness can run the suite.
//! `twin` is another handle on the same place (or the same handle where there can be no other): what
//! two handles must agree on, locks above all, is checked across both.

use std::error::Error;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::{Change, Durability, Edge, Fetched, Part, Request, Store, StoreError, Update};

type Outcome = std::result::Result<(), Box<dyn Error + Send + Sync>>;
type Check = fn(&dyn Store, &dyn Store) -> Outcome;

/// Names are what a failure is reported under.
const CHECKS: [(&str, Check); 13] = [
    ("handles on one place have one id", ids),
    ("what is absent is no error", absence),
    ("what is put is got, whole and by ranges", values),
    ("fetch answers every request once", fetching),
    ("changes made at the same time are all kept", updating),
    ("deleting removes what was asked for and nothing else", deletion),
    ("listings are sorted, complete and by name", listings),
    ("renaming moves a part of the store", renaming),
    ("keys that break the grammar are refused by every method", grammar),
    ("readers see complete versions while writers replace them", atomic_replacement),
    ("increments under a lock are not lost", exclusion),
    ("an anchor's lock excludes those of its keys", anchors),
    ("a thread may take a lock again", reentrance),
];

/// Runs every check on a store that holds nothing; the error names the first that failed.
///
/// # Errors
/// The check's name, what was expected, and what was found instead.
pub fn conformance(store: &dyn Store, twin: &dyn Store) -> Outcome {
    for (name, check) in CHECKS {
        check(store, twin).map_err(|fault| format!("{store:?}: {name}: {fault}"))?;
    }
    equal("keys left after the suite", &store.list_prefix("")?.len(), &0)
}

fn equal<T: PartialEq + Debug + ?Sized>(what: &str, found: &T, expected: &T) -> Outcome {
    if found == expected {
        return Ok(());
    }
    let short = |value: &T| format!("{value:?}").chars().take(200).collect::<String>();
    Err(format!("{what}: found {}, expected {}", short(found), short(expected)).into())
}

fn put(store: &dyn Store, key: &str, value: &[u8]) -> crate::Result<()> {
    store.put(key, value, Durability::Process)
}

fn get(store: &dyn Store, key: &str) -> crate::Result<Option<Vec<u8>>> {
    let mut value = b"stale".to_vec();
    Ok(store.get_into(key, &mut value)?.map(|_| value))
}

fn ids(store: &dyn Store, twin: &dyn Store) -> Outcome {
    equal("id of the twin", twin.id(), store.id())
}

fn absence(store: &dyn Store, _: &dyn Store) -> Outcome {
    let mut dst = b"stale".to_vec();
    equal("generation", &store.get_into("no/such", &mut dst)?, &None)?;
    equal("bytes", &dst.len(), &0)?;
    dst.push(1);
    let ranges = std::slice::from_ref(&(0..1));
    equal("ranges", &store.get_ranges_into("no/such", ranges, &mut dst)?, &None)?;
    equal("bytes of ranges", &dst.len(), &0)?;
    equal("size", &store.size("no/such")?, &None)?;
    equal("deleted", &store.delete("no/such")?, &false)?;
    equal("deleted below", &store.delete_prefix("no")?, &0)?;
    equal("listed", &store.list_prefix("no")?, &Vec::new())?;
    equal("listed by name", &store.list_dir("no")?.keys, &Vec::new())?;
    equal("size below", &store.size_prefix("no")?, &0)?;
    put(store, "has/below", b"x")?;
    equal("a prefix as a value", &get(store, "has")?, &None)?;
    equal("a prefix's size as a value's", &store.size("has")?, &None)?;
    equal("a prefix deleted as a value", &store.delete("has")?, &false)?;
    equal("cleared", &store.delete_prefix("has")?, &1)
}

fn values(store: &dyn Store, twin: &dyn Store) -> Outcome {
    let mut last = None;
    for size in [0, 1, 511, 16 << 10, 3 << 20, 7] {
        let value: Vec<u8> = (0..size).map(|position: usize| (position * 7 % 251) as u8).collect();
        for durability in [Durability::Process, Durability::Fsync] {
            store.put("values/deep/key", &value, durability)?;
        }
        let mut found = Vec::new();
        let generation = twin.get_into("values/deep/key", &mut found)?;
        equal("value", &found, &value)?;
        equal("size", &twin.size("values/deep/key")?, &Some(size as u64))?;
        equal("generation changed", &(generation != last), &true)?;
        last = generation;
        let end = size as u64;
        let ranges = [0..0, 0..end.min(3), end / 2..end, 0..end, end..end];
        let wanted: Vec<u8> = ranges
            .iter()
            .flat_map(|range| value[range.start as usize..range.end as usize].iter().copied())
            .collect();
        let again = store.get_ranges_into("values/deep/key", &ranges, &mut found)?;
        equal("ranges", &found, &wanted)?;
        equal("generation of ranges", &again, &generation)?;
        let beyond = [0..0, end / 2..end + 1];
        let refused = store.get_ranges_into("values/deep/key", &beyond, &mut found);
        equal("range beyond the end is refused", &refused.is_err(), &true)?;
    }
    equal("cleared", &store.delete_prefix("values")?, &1)
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
        answers[position].push(match found {
            Ok(Fetched::Absent) => "absent".to_owned(),
            Ok(Fetched::Bytes(bytes, _, total)) => {
                format!("{} of {total}", String::from_utf8_lossy(&bytes))
            }
            Err(_) => "error".to_owned(),
        });
    });
    let expected = expected.map(|(_, _, answer)| vec![answer.to_owned()]);
    equal("answers", &answers[..], &expected[..])?;
    equal("cleared", &store.delete_prefix("fetch")?, &2)
}

/// A change that adds one, and is called again where somebody was faster.
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
    on_threads(4, |thread| {
        let handle = if thread % 2 == 0 { store } else { twin };
        for _ in 0..25 {
            handle.update(update, &mut Vec::new(), &mut Vec::new(), &mut { add_one })?;
        }
        Ok(())
    })?;
    equal("changes kept", &get(store, "up/0.0")?, &Some(b"100".to_vec()))?;
    for (change, left) in [(Change::Keep, Some(b"100".to_vec())), (Change::Delete, None)] {
        store.update(update, &mut Vec::new(), &mut Vec::new(), &mut |_, _| change)?;
        equal(&format!("{change:?}"), &get(store, "up/0.0")?, &left)?;
    }
    equal("cleared", &store.delete_prefix("up")?, &1)
}

fn deletion(store: &dyn Store, _: &dyn Store) -> Outcome {
    for key in ["del/a/x", "del/a/y/z", "del/a-b", "del/ab/x", "del2"] {
        put(store, key, b"12345")?;
    }
    equal("below", &store.delete_prefix("del/a")?, &2)?;
    equal("again", &store.delete_prefix("del/a")?, &0)?;
    equal("left", &store.list_prefix("del")?, &names(&["del/a-b", "del/ab/x"]))?;
    equal("one", &store.delete("del/ab/x")?, &true)?;
    equal("gone", &get(store, "del/ab/x")?, &None)?;
    equal("a value is not below itself", &store.delete_prefix("del2")?, &0)?;
    equal("everything", &store.delete_prefix("")?, &2)?;
    equal("nothing left", &store.list_prefix("")?, &Vec::new())?;
    put(store, "del/again", b"1")?;
    equal("cleared", &store.delete_prefix("")?, &1)
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn listings(store: &dyn Store, _: &dyn Store) -> Outcome {
    // Below a prefix of their own: servers may show a prefix for a while after its last key is gone.
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
    equal("cleared", &store.delete_prefix("")?, &6)
}

fn renaming(store: &dyn Store, _: &dyn Store) -> Outcome {
    for key in ["ren/a/x", "ren/a/y/z", "ren/ab", "ren/taken/x"] {
        put(store, key, key.as_bytes())?;
    }
    store.rename_prefix("ren/a", "ren/new/deep")?;
    let moved = ["ren/ab", "ren/new/deep/x", "ren/new/deep/y/z", "ren/taken/x"];
    equal("keys", &store.list_prefix("ren")?, &names(&moved))?;
    equal("value", &get(store, "ren/new/deep/x")?, &Some(b"ren/a/x".to_vec()))?;
    store.rename_prefix("ren/ab", "ren/ac")?;
    equal("single value", &get(store, "ren/ac")?, &Some(b"ren/ab".to_vec()))?;
    for (source, target) in [
        ("ren/new", "ren/taken"),
        ("ren/ac", "ren/taken"),
        ("ren/new", "ren/ac"),
        ("ren/ac", "ren/taken/x"),
        ("ren/none", "ren/other"),
        ("ren/new", "ren/new/deep/er"),
    ] {
        let refused = store.rename_prefix(source, target).is_err();
        equal(&format!("{source} to {target} is refused"), &refused, &true)?;
    }
    let left = ["ren/ac", "ren/new/deep/x", "ren/new/deep/y/z", "ren/taken/x"];
    equal("keys after refusals", &store.list_prefix("ren")?, &names(&left))?;
    equal("cleared", &store.delete_prefix("")?, &4)
}

fn grammar(store: &dyn Store, _: &dyn Store) -> Outcome {
    for key in ["/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a\\..\\b", "a\0b", "a.partial"] {
        let mut dst = Vec::new();
        let refusals = [
            store.get_into(key, &mut dst).err(),
            store.get_ranges_into(key, &[], &mut dst).err(),
            store.size(key).err(),
            put(store, key, b"x").err(),
            store.delete(key).err(),
            store.delete_prefix(key).err(),
            store.list_prefix(key).err(),
            store.list_dir(key).err(),
            store.size_prefix(key).err(),
            store.rename_prefix(key, "ok").err(),
            store.rename_prefix("ok", key).err(),
            store.lock(key, "ok").err(),
            store.lock("ok", key).err(),
        ];
        for (method, refusal) in refusals.iter().enumerate() {
            let refused = matches!(refusal, Some(StoreError::InvalidKey { .. }));
            equal(&format!("method {method} refuses {key:?}"), &refused, &true)?;
        }
    }
    let mut dst = Vec::new();
    equal("the empty key", &store.get_into("", &mut dst).is_err(), &true)
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
    // Versions differ in every byte and in length, so that any mixture shows.
    let version = |number: usize| vec![number as u8; 20_000 + 100 * number];
    put(store, "atomic/key", &version(0))?;
    let writing = AtomicU64::new(2);
    on_threads(4, |thread| {
        let handle = if thread % 2 == 0 { store } else { twin };
        if thread < 2 {
            let outcome = (0..150).try_for_each(|round| {
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
    equal("cleared", &store.delete_prefix("atomic")?, &1)
}

/// Adds one to a number kept as text: read, think, write, as an application would.
fn increment(store: &dyn Store, key: &str) -> Outcome {
    let value = get(store, key)?.unwrap_or_else(|| b"0".to_vec());
    let number: u64 = String::from_utf8(value)?.parse()?;
    std::thread::yield_now();
    Ok(put(store, key, (number + 1).to_string().as_bytes())?)
}

fn exclusion(store: &dyn Store, twin: &dyn Store) -> Outcome {
    put(store, "lock/.zarray", b"{}")?;
    on_threads(4, |thread| {
        let handle = if thread % 2 == 0 { store } else { twin };
        for _ in 0..100 {
            let _lock = handle.lock("lock/.zarray", "lock/0.0")?;
            increment(handle, "lock/0.0")?;
        }
        Ok(())
    })?;
    equal("increments kept", &get(store, "lock/0.0")?, &Some(b"400".to_vec()))?;
    equal("cleared", &store.delete_prefix("lock")?, &2)
}

fn anchors(store: &dyn Store, twin: &dyn Store) -> Outcome {
    put(store, "anchor/.zarray", b"0")?;
    let alone = AtomicBool::new(false);
    on_threads(4, |thread| {
        let handle = if thread % 2 == 0 { store } else { twin };
        for round in 0..60 {
            if thread == 0 {
                let _lock = handle.lock("anchor/.zarray", "anchor/.zarray")?;
                alone.store(true, Ordering::SeqCst);
                // Twice: the lock has to outlive the file that it was taken on.
                increment(handle, "anchor/.zarray")?;
                increment(handle, "anchor/.zarray")?;
                alone.store(false, Ordering::SeqCst);
            } else {
                let key = format!("anchor/{thread}.{}", round % 3);
                let _lock = handle.lock("anchor/.zarray", &key)?;
                equal("the anchor's holder at work", &alone.load(Ordering::SeqCst), &false)?;
                increment(handle, &key)?;
                equal("the anchor's holder at work", &alone.load(Ordering::SeqCst), &false)?;
            }
        }
        Ok(())
    })?;
    equal("anchor's increments", &get(store, "anchor/.zarray")?, &Some(b"120".to_vec()))?;
    equal("a key's increments", &get(store, "anchor/2.1")?, &Some(b"20".to_vec()))?;
    equal("cleared", &store.delete_prefix("anchor")?, &10)
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
    equal("cleared", &store.delete_prefix("")?, &2)
}
