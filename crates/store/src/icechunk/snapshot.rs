//! A snapshot: the document of every node, and for each array the manifests that have its chunks.

use std::collections::BTreeMap;
use std::ops::Range;

use super::file::{self, Kind, damaged};
use super::flat::{FlatTable, FlatVector, Flaw, Read, required};
use super::ids::{Id, NodeId};
use crate::error::Result;
use crate::key::check_prefix;
use crate::store::Store;

const ARRAY: u8 = 1;
const GROUP: u8 = 2;

/// One state of a repository.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub id: Id,
    buffer: Vec<u8>,
    /// By path; the root has the empty one.
    pub nodes: BTreeMap<String, Node>,
    /// How many nodes have a path that is not a key of a store, and the first such path.
    pub refused: (u64, String),
}

#[derive(Debug)]
pub(super) struct Node {
    pub id: NodeId,
    /// The bytes of its `zarr.json`.
    pub document: Range<usize>,
    /// `None` for a group.
    pub array: Option<Array>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Array {
    pub axes: usize,
    /// Where the vector of its manifests is.
    manifests: usize,
}

impl Snapshot {
    /// Reads the snapshot `id` of the repository in `store`; `None` if it has no such file.
    pub fn read(store: &dyn Store, id: Id, most: u64) -> Result<Option<Self>> {
        let key = format!("snapshots/{}", id.name());
        let Some(buffer) = file::read(store, &key, Kind::Snapshot, most)? else {
            return Ok(None);
        };
        let mut snapshot = Self { id, buffer, nodes: BTreeMap::new(), refused: (0, String::new()) };
        snapshot.add_nodes().map_err(|flaw| damaged(store, &key, flaw))?;
        Ok(Some(snapshot))
    }

    fn add_nodes(&mut self) -> Read<()> {
        let root = FlatTable::root(&self.buffer)?;
        if required(root.fixed(0)?)? != self.id.0 {
            return Err("the file is that of another snapshot");
        }
        let mut left = self.buffer.len();
        for node in required(root.vector(2, 4)?)?.tables() {
            let node = node?;
            let path = required(node.bytes(1)?)?;
            // Paths that overlap could take any amount of memory.
            left = left.checked_sub(path.len()).ok_or("its paths overlap")?;
            let path = std::str::from_utf8(path).map_err(|_| "a path is not UTF-8")?;
            let path = path.strip_prefix('/').ok_or("a path does not begin with '/'")?;
            if check_prefix(path).is_err() {
                if self.refused.0 == 0 {
                    path.clone_into(&mut self.refused.1);
                }
                self.refused.0 += 1;
                continue;
            }
            let document = required(node.vector(2, 1)?)?;
            let first = document.position() + 4;
            let found = Node {
                id: required(node.fixed(0)?)?,
                document: first..first + document.len(),
                array: array(node)?,
            };
            if self.nodes.insert(path.to_owned(), found).is_some() {
                return Err("two nodes have the same path");
            }
        }
        Ok(())
    }

    pub fn document(&self, node: &Node) -> &[u8] {
        self.buffer.get(node.document.clone()).unwrap_or_default()
    }

    /// The manifests that may have the chunk at `coords`, or any chunk.
    pub fn manifests<'a>(
        &'a self,
        array: Array,
        coords: Option<&'a [u32]>,
    ) -> Read<impl Iterator<Item = Read<Id>> + 'a> {
        let all = FlatVector::new(&self.buffer, array.manifests, 4)?;
        let found = move |manifest: Read<FlatTable<'a>>| {
            let manifest = manifest?;
            let extents = required(manifest.vector(1, 8)?)?;
            if extents.len() != array.axes {
                return Err("the extents of a manifest have another number of axes than its array");
            }
            let has = |(coord, extent): (&u32, &[u8; 8])| {
                let [from, to] = [extent.as_chunks::<4>().0[0], extent.as_chunks::<4>().0[1]];
                (u32::from_le_bytes(from)..u32::from_le_bytes(to)).contains(coord)
            };
            let extents = extents.elements.as_chunks::<8>().0;
            let has_it = coords.is_none_or(|coords| coords.iter().zip(extents).all(has));
            has_it.then(|| Ok(Id(required(manifest.fixed(0)?)?))).transpose()
        };
        Ok(all.tables().filter_map(move |manifest| found(manifest).transpose()))
    }
}

/// What a node has if it is an array.
fn array(node: FlatTable<'_>) -> Read<Option<Array>> {
    match node.u8(3, 0)? {
        GROUP => Ok(None),
        ARRAY => {
            let data = required(node.table(4)?)?;
            // Version 2 has its shape in another field, and leaves the first one empty.
            let axes = match data.vector(3, 4)? {
                Some(shape) => shape.len(),
                None => required(data.vector(0, 16)?)?.len(),
            };
            let manifests = required(data.vector(2, 4)?)?.position();
            Ok(Some(Array { axes, manifests }))
        }
        _ => Err::<_, Flaw>("a node is neither an array nor a group"),
    }
}
