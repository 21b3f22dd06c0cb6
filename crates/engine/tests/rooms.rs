//! The folders of the engine are its layers: a room uses the rooms below it, and nothing above or beside.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may stop at the first surprise")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// From the top down; rooms of one line do not know each other.
const LAYERS: [&[&str]; 9] = [
    &["calls"],
    &["read", "write"],
    &["array"],
    &["cache"],
    &["chunk"],
    &["selection"],
    &["layout"],
    &["memory", "threads"],
    &["error"],
];

fn layer_of(room: &str) -> Option<usize> {
    LAYERS.iter().position(|rooms| rooms.contains(&room))
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

/// What stands behind each `crate::`, in imports, code and links of comments: a room and a file of it.
fn uses(text: &str) -> impl Iterator<Item = String> {
    text.split("crate::").skip(1).map(|rest| {
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
        let path = &rest[..end.unwrap_or(rest.len())];
        let files = if path.starts_with("error::") { 1 } else { 2 };
        path.split("::").take(files).collect::<Vec<_>>().join("::")
    })
}

fn room_of(module: &str) -> &str {
    module.split("::").next().unwrap()
}

#[test]
fn a_room_uses_only_rooms_below_it() {
    let mut wrong = Vec::new();
    for (module, text) in files() {
        let room = room_of(&module);
        let own = layer_of(room).unwrap_or_else(|| panic!("{room:?} is not in the table"));
        for used in uses(&text) {
            let other = room_of(&used);
            let is_below = layer_of(other).is_some_and(|layer| layer > own);
            if other != room && !is_below {
                wrong.push(format!("{module} uses crate::{used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let files = files();
    let mut left: BTreeMap<&str, Vec<String>> =
        files.iter().map(|(module, text)| (module.as_str(), uses(text).collect())).collect();
    // What uses nothing that is left, and what nothing that is left uses, is in no circle.
    loop {
        let names: Vec<&str> = left.keys().copied().collect();
        let is_used =
            |name: &str| left.iter().any(|(by, uses)| *by != name && uses.contains(&name.into()));
        let uses_any = |name: &str| {
            names.iter().any(|other| *other != name && left[name].contains(&(*other).into()))
        };
        let done: Vec<&str> =
            names.iter().copied().filter(|name| !is_used(name) || !uses_any(name)).collect();
        if done.is_empty() {
            break;
        }
        left.retain(|name, _| !done.contains(name));
    }
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn a_room_is_a_list_of_names_and_a_paragraph() {
    for (module, text) in files().iter().filter(|(module, _)| module.ends_with("::mod")) {
        let is_name = |line: &str| line.starts_with("pub(crate) mod ") && line.ends_with(';');
        let is_prose = |line: &str| line.starts_with("//!") || line.is_empty();
        let other = text.lines().find(|l| !(is_name(l) || is_prose(l) || l.starts_with("#[cfg(")));
        assert_eq!(other, None, "{module}");
        assert!(text.starts_with("//!"), "{module}");
    }
}
