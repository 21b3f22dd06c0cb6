//! What the room test of each crate checks: its folders are its layers.
//!
//! A room is a folder of `src`, or a file beside `lib.rs`. Imports, paths in code and links of comments
//! count alike; `lib.rs` may name all rooms, and no room may name a thing of `lib.rs`.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Rooms from the top down; those of one line do not know each other.
pub type Layers = [&'static [&'static str]];

/// Fails where a room uses one that is not below it, or files use each other in a circle, or a
/// `mod.rs` has more than a paragraph and names.
pub fn check(layers: &Layers) {
    check_layers(layers);
    check_circles();
    check_lists();
}

/// Every file of the rooms, by its module path without `crate::`, with its text.
fn files() -> BTreeMap<String, String> {
    fn add(folder: &Path, prefix: &str, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            if path.is_dir() {
                add(&path, &format!("{prefix}{name}::"), found);
            } else if name != "lib" {
                found.insert(format!("{prefix}{name}"), fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), "", &mut found);
    found
}

/// What stands behind each `mark`: the path of names up to its end.
fn paths<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(mark).skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
        &rest[..end.unwrap_or(rest.len())]
    })
}

fn room_of(module: &str) -> &str {
    module.split("::").next().unwrap()
}

/// The files that `module` uses: by a path from the root, or from the room.
fn used_files(module: &str, text: &str, files: &BTreeMap<String, String>) -> Vec<String> {
    let room = room_of(module);
    let from_root = paths(text, "crate::").map(str::to_owned);
    let from_room = paths(text, "super::").map(|path| format!("{room}::{path}"));
    let begins = |file: &str, path: &str| {
        path.strip_prefix(file).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    };
    let file_of = |path: String| files.keys().find(|file| begins(file, &path)).cloned();
    from_root.chain(from_room).filter_map(file_of).filter(|file| file != module).collect()
}

fn check_layers(layers: &Layers) {
    let layer_of = |room: &str| layers.iter().position(|rooms| rooms.contains(&room));
    let mut wrong = Vec::new();
    for (module, text) in files() {
        let room = room_of(&module);
        let own = layer_of(room).unwrap_or_else(|| panic!("{room:?} is not in the table"));
        for used in paths(&text, "crate::") {
            let other = room_of(used);
            let is_below = layer_of(other).is_some_and(|layer| layer > own);
            if other != room && !is_below {
                wrong.push(format!("{module} uses crate::{used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn check_circles() {
    let files = files();
    let uses =
        |(module, text): (&String, &String)| (module.clone(), used_files(module, text, &files));
    let mut left: BTreeMap<String, Vec<String>> = files.iter().map(uses).collect();
    // A file that uses no other that is left, or that no other uses, is in no circle.
    loop {
        let is_used = |name: &String| left.values().any(|used| used.contains(name));
        let uses_any = |name: &String| left[name].iter().any(|used| left.contains_key(used));
        let done = left.keys().filter(|name| !is_used(name) || !uses_any(name)).cloned();
        let done: Vec<String> = done.collect();
        if done.is_empty() {
            break;
        }
        left.retain(|name, _| !done.contains(name));
    }
    assert!(left.is_empty(), "{left:#?}");
}

fn check_lists() {
    for (module, text) in files().iter().filter(|(module, _)| module.ends_with("::mod")) {
        let is_name = |line: &str| {
            ["pub(crate) mod ", "pub mod ", "pub use ", "pub(crate) use "]
                .iter()
                .any(|word| line.starts_with(word))
                && line.ends_with(';')
        };
        let is_prose = |line: &str| line.starts_with("//!") || line.is_empty();
        let other = text.lines().find(|l| !(is_name(l) || is_prose(l) || l.starts_with("#[cfg(")));
        assert_eq!(other, None, "{module}");
        assert!(text.starts_with("//!"), "{module}");
    }
}
