//! Shrinking an array: chunks outside of the new shape are deleted, and the outer part of chunks at
//! its edge is filled.
//!
//! Only stored chunks are touched, so that the cost does not depend on the number of chunks in the
//! grid.

use std::sync::atomic::{AtomicU64, Ordering};

use zarrix_store::Durability;

use crate::array::io::ArrayIO;
use crate::chunk::buffer::Source;
use crate::error::{EngineError, Result};
use crate::layout::axes::PerAxis;
use crate::selection::chunk_selection::ChunkSelection;
use crate::selection::plan::Part;
use crate::threads::cancel::Interrupt;
use crate::threads::scratch;

impl ArrayIO {
    /// Removes everything outside of `shape`: deletes the stored chunks that lie completely
    /// outside, and writes the only element of `fill` to the outer parts of others, each under its
    /// lock. Returns the number of deleted chunks.
    pub fn clear_outside(
        &self,
        shape: &[u64],
        fill: Source<'_>,
        durability: Durability,
        interrupt: Interrupt<'_>,
    ) -> Result<u64> {
        if shape.len() != self.layout.shape.len() {
            return Err(EngineError::Selection(format!(
                "a shape of {} axes for an array of {}",
                shape.len(),
                self.layout.shape.len()
            )));
        }
        self.check_before_writing()?;
        let (outside, cut): (Vec<_>, Vec<_>) = self
            .stored_chunks()?
            .into_iter()
            .partition(|(_, coords)| self.inside(coords, shape).contains(&0));
        // These need space in the store. If it is full, nothing is deleted.
        self.run(cut.len(), interrupt, &|index| {
            let (_, coords) = &cut[index];
            let inside = self.inside(coords, shape);
            let limits = self.limits(coords);
            let cut: Vec<PerAxis<Part>> = (0..shape.len())
                .filter(|axis| inside[*axis] < limits[*axis])
                .map(|axis| beyond(axis, inside[axis], &limits))
                .collect();
            if cut.is_empty() {
                return Ok(());
            }
            let selected: Vec<ChunkSelection<'_>> = cut
                .iter()
                .map(|parts| ChunkSelection::Box { parts: parts.iter().collect(), base: 0, out: 0 })
                .collect();
            scratch::with(|s| self.write_job(coords, &selected, fill, durability, s))
        })?;
        let deleted = AtomicU64::new(0);
        self.run(outside.len(), interrupt, &|index| {
            let (key, _) = &outside[index];
            let _lock = self.store.lock(&self.anchor, key)?;
            let found = self.store.delete(key, durability)?;
            deleted.fetch_add(u64::from(found), Ordering::Relaxed);
            Ok(())
        })?;
        Ok(deleted.into_inner())
    }

    /// How many elements of a chunk lie inside `shape`, along each axis; 0 for a chunk outside of
    /// the grid.
    fn inside(&self, coords: &[u64], shape: &[u64]) -> PerAxis<usize> {
        let axes = self.layout.grid.iter().zip(coords).zip(shape);
        axes.map(|((axis, coord), size)| {
            let extent = axis.chunk(*coord);
            extent.map_or(0, |one| size.saturating_sub(one.begin).min(one.length) as usize)
        })
        .collect()
    }
}

/// The elements within a chunk's `limits` that lie beyond `inside` along `axis`; all have the only
/// element of the buffer.
fn beyond(axis: usize, inside: usize, limits: &[usize]) -> PerAxis<Part> {
    let part = |along: usize| {
        let first = if along == axis { inside } else { 0 };
        Part::Strided { first, step: 1, count: limits[along] - first, offset: 0, stride: 0 }
    };
    (0..limits.len()).map(part).collect()
}
