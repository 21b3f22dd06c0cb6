//! One chunk of a read, on the thread that works on it.

use crate::array::io::ArrayIO;
use crate::chunk::buffer::{ReadBuffer, Target, check_shape};
use crate::chunk::chunk_read::ChunkRead;
use crate::error::{EngineError, Result};
use crate::layout::axes::PerAxis;
use crate::layout::grid::AxisGrid;
use crate::layout::keys::write_key;
use crate::read::strategy::ChunkStrategy;
use crate::selection::chunk_selection::ChunkSelection;
use crate::selection::plan::{AxisPlan, plan_range};
use crate::threads::scratch::{self, Scratch};

impl ArrayIO {
    /// Reads the selection of the chunk at `coords`.
    pub(crate) fn read_job(
        &self,
        coords: &[u64],
        selected: &[ChunkSelection<'_>],
        target: Target<'_>,
        s: &mut Scratch,
    ) -> Result<()> {
        let chunk = &*self.layout.chunk(coords)?;
        let buffer = &ReadBuffer::new(target, &self.layout);
        let read = &ChunkRead { chunk, selected, buffer };
        write_key(&mut s.key, &self.prefix, &self.layout, coords.iter().copied());
        let mut strategy = self.chunk_strategy(chunk, coords, selected);
        if let ChunkStrategy::Cached(elements) = strategy {
            if self.read_cached(read, elements, s)? {
                return Ok(());
            }
            strategy = self.uncached_strategy(chunk, coords, selected);
        }
        match strategy {
            ChunkStrategy::ShardRanges(shard) => {
                return self.read_shard(read, shard, s);
            }
            ChunkStrategy::ByteRanges(elements) => {
                return self.read_parts(read, elements, s);
            }
            ChunkStrategy::Cached(_) | ChunkStrategy::Whole => {}
        }
        let encoded = self.fetch_stored(chunk, s)?.then(|| std::mem::take(&mut s.encoded));
        let decoded = self.decode_whole(read, encoded.as_deref(), s);
        s.encoded = encoded.unwrap_or_default();
        decoded
    }

    /// Fills `target`, of the chunk's shape, with one decoded chunk; false if it is not stored.
    ///
    /// At the edge of the array this includes elements outside of it.
    pub fn read_chunk(&self, coords: &[u64], target: Target<'_>) -> Result<bool> {
        let layout = &self.layout;
        if coords.len() != layout.shape.len() {
            return Err(EngineError::Selection(format!(
                "{} chunk coordinates for {} axes",
                coords.len(),
                layout.shape.len()
            )));
        }
        let chunk = &*layout.chunk(coords)?;
        check_shape(&chunk.shape, target.shape(), "the buffer")?;
        self.check_kind(target.sink().is_some())?;
        let plans: PerAxis<AxisPlan> = (0..coords.len())
            .map(|axis| {
                let length = chunk.shape[axis] as u64;
                let all = (0, 1, length);
                plan_range(axis, length, &AxisGrid::Even(length), all, target.strides()[axis])
            })
            .collect::<Result<_>>()?;
        let parts = plans.iter().map(|plan| &plan[0].part).collect();
        let selected = [ChunkSelection::Box { parts, base: 0, out: 0 }];
        scratch::with(|s| {
            write_key(&mut s.key, &self.prefix, layout, coords.iter().copied());
            if !self.fetch_stored(chunk, s)? {
                return self.explained(Ok(false), true);
            }
            let encoded = std::mem::take(&mut s.encoded);
            let buffer = &ReadBuffer::new(target, layout);
            let read = ChunkRead { chunk, selected: &selected, buffer };
            let decoded = self.decode_whole(&read, Some(&encoded), s);
            s.encoded = encoded;
            decoded.map(|()| true)
        })
    }
}
