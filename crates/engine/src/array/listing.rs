//! Which chunks of an array are stored.

use crate::array::io::ArrayIO;
use crate::error::Result;
use crate::layout::keys::parse_key;

impl ArrayIO {
    /// Keys of the stored chunks that lie in the grid, sorted, with their coordinates.
    pub fn stored_chunks(&self) -> Result<Vec<(String, Vec<u64>)>> {
        let layout = &self.layout;
        let path = self.prefix.trim_end_matches('/');
        let flat = layout.key_prefix.is_empty()
            && (layout.separator == '.' || layout.shape.len() < 2)
            && !layout.key_suffix.contains('/');
        let names = if flat {
            self.store
                .list_dir(path)?
                .keys
                .into_iter()
                .map(|name| format!("{}{name}", self.prefix))
                .collect()
        } else {
            self.store.list_prefix(path)?
        };
        let found = self.chunks_among(names);
        let is_empty = found.is_empty();
        self.explained(Ok(found), is_empty)
    }

    /// The chunks of the grid among `keys`, which were listed before, with their coordinates.
    pub fn chunks_among(&self, keys: Vec<String>) -> Vec<(String, Vec<u64>)> {
        let layout = &self.layout;
        keys.into_iter()
            .filter_map(|key| {
                let coords = parse_key(key.strip_prefix(self.prefix.as_str())?, layout)?;
                layout.begin_of(&coords).is_some().then_some((key, coords))
            })
            .collect()
    }

    /// Number of stored chunks; a stored shard counts with all its inner chunks.
    pub fn initialized(&self) -> Result<u64> {
        let stored = self.stored_chunks()?;
        stored.iter().map(|(_, coords)| Ok(self.layout.chunk(coords)?.units().0 as u64)).sum()
    }
}
