//! Listings: the nodes of a snapshot, and the chunks that manifests have.

use std::ops::Bound;

use zarrix_codec::memory;

use super::file::damaged;
use super::manifest::key_of;
use super::opened::Opened;
use super::places::DOCUMENT;
use super::snapshot::{Array, Node};
use crate::error::{Result, StoreError};
use crate::store::{Listing, below};

impl Opened {
    /// Every key below `prefix`, sorted.
    pub fn keys(&self, prefix: &str) -> Result<Vec<String>> {
        let mut keys = Vec::new();
        let mut push = |key| memory::push(&mut keys, key).map_err(StoreError::memory(prefix));
        for (path, node) in self.nodes_below(prefix) {
            push(below(path, DOCUMENT))?;
            if let Some(array) = node.array {
                self.chunks(node, array, &mut |rest| push(below(path, rest)).map(|()| true))?;
            }
        }
        if let Some((path, node, array)) = self.array_around(prefix) {
            let start = format!("{}/", &prefix[path.len()..].trim_start_matches('/'));
            self.chunks(node, array, &mut |rest| {
                if rest.starts_with(&start) {
                    push(below(path, rest))?
                }
                Ok(true)
            })?;
        }
        keys.sort_unstable();
        // A chunk may be in several manifests.
        keys.dedup();
        Ok(keys)
    }

    /// The names directly below `prefix`, sorted.
    pub fn names(&self, prefix: &str) -> Result<Listing> {
        let mut found = Listing { keys: Vec::new(), prefixes: self.children(prefix) };
        if let Some(node) = self.snapshot.nodes.get(prefix) {
            found.keys.push(DOCUMENT.to_owned());
            if let Some(array) = node.array {
                // One chunk tells the name of all.
                let list = if array.axes == 0 { &mut found.keys } else { &mut found.prefixes };
                self.chunks(node, array, &mut |_| {
                    list.push("c".to_owned());
                    Ok(false)
                })?;
            }
        }
        if let Some((path, node, array)) = self.array_around(prefix) {
            let start = format!("{}/", &prefix[path.len()..].trim_start_matches('/'));
            self.chunks(node, array, &mut |rest| {
                let Some(rest) = rest.strip_prefix(&start) else { return Ok(true) };
                let names = if rest.contains('/') { &mut found.prefixes } else { &mut found.keys };
                let name = rest.split('/').next().unwrap_or(rest);
                if names.last().is_none_or(|last| last != name) {
                    names.push(name.to_owned());
                }
                Ok(true)
            })?;
        }
        for names in [&mut found.keys, &mut found.prefixes] {
            names.sort_unstable();
            names.dedup();
        }
        Ok(found)
    }

    /// The nodes at and below `prefix`.
    fn nodes_below(&self, prefix: &str) -> impl Iterator<Item = (&str, &Node)> {
        let nodes = &self.snapshot.nodes;
        let start = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let own = nodes.get_key_value(prefix).filter(|_| !prefix.is_empty());
        let rest = nodes.range::<str, _>((Bound::Included(start.as_str()), Bound::Unbounded));
        let rest: Vec<_> = rest.take_while(|(path, _)| path.starts_with(&start)).collect();
        own.into_iter().chain(rest).map(|(path, node)| (path.as_str(), node))
    }

    /// The names of nodes directly below `prefix`, and of prefixes of nodes; each subtree is passed
    /// over by one step.
    fn children(&self, prefix: &str) -> Vec<String> {
        let start = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let mut found: Vec<String> = Vec::new();
        let mut from = Bound::Excluded(start.clone());
        loop {
            let next = self.snapshot.nodes.range((from, Bound::Unbounded)).next();
            let Some(rest) = next.and_then(|(path, _)| path.strip_prefix(&start)) else { break };
            let name = rest.split('/').next().unwrap_or(rest).to_owned();
            // "a", "a-b" and "a/b" are in this order: "0" follows "/".
            from = match rest.len() == name.len() {
                true => Bound::Excluded(format!("{start}{name}")),
                false => Bound::Included(format!("{start}{name}0")),
            };
            found.push(name);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The array above a prefix of its chunks, such as `a/c/1`.
    fn array_around<'a>(&'a self, prefix: &'a str) -> Option<(&'a str, &'a Node, Array)> {
        let mut rest = prefix;
        loop {
            let (above, name) = rest.rsplit_once('/').unwrap_or(("", rest));
            if name == "c" {
                let node = self.snapshot.nodes.get(above)?;
                return node.array.map(|array| (above, node, array));
            }
            if above.is_empty() || !name.bytes().all(|byte| byte.is_ascii_digit()) {
                return None;
            }
            rest = above;
        }
    }

    /// Calls `each` with the key of every chunk of an array below its path, as long as it returns
    /// true.
    fn chunks(
        &self,
        node: &Node,
        array: Array,
        each: &mut dyn FnMut(&str) -> Result<bool>,
    ) -> Result<()> {
        let mut key = String::new();
        for id in self.manifest_ids(array, None)? {
            let manifest = self.manifests.get(id)?;
            let flawed = |flaw| damaged(&*self.repository, &key_of(id), flaw);
            for coords in manifest.chunks(&node.id).map_err(flawed)? {
                let coords = coords.map_err(flawed)?;
                if coords.len() != array.axes {
                    return Err(flawed("a chunk has another number of axes than its array"));
                }
                key.clear();
                key.push('c');
                for one in coords {
                    key.push('/');
                    key.push_str(&one.to_string());
                }
                if !each(&key)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}
