//! Windows in another size, in a buffer of their own.

use smallvec::SmallVec;

use crate::chunk::buffer::Target;
use crate::error::{EngineError, Result};
use crate::memory::resampling::Resampling;
use crate::memory::turns::{Turn, Turns};
use crate::selection::chunk_selection::offset_of;
use crate::threads::cancel::Interrupt;
use crate::threads::pool;

/// The windows of an entry in another size.
#[derive(Clone, Copy, Debug)]
pub struct Resized<'a> {
    /// How they get it; the buffer of the entry, which is contiguous, has windows as before.
    pub resampling: &'a Resampling,
    /// The buffer for the results, of shape `(N, *shape)`.
    pub target: Target<'a>,
    /// How each result lies in its buffer.
    pub turns: Option<Turns<'a>>,
}

impl Resized<'_> {
    /// Refuses a buffer or turns that are not those of so many results.
    pub(crate) fn check(&self, windows: usize) -> Result<()> {
        let (target, after) = (self.target, self.resampling.after());
        let is_numbers = target.sink().is_none();
        let shape = target.shape();
        if !is_numbers || shape.first() != Some(&windows) || shape.get(1..) != Some(after) {
            let reason = format!("a buffer of {shape:?} for {windows} windows of {after:?}");
            return Err(EngineError::Selection(reason));
        }
        self.turns.map_or(Ok(()), |turns| turns.check(windows, after))
    }

    /// Resizes one window.
    ///
    /// # Safety
    /// `from` must be valid for a window before; shapes and turns must have been checked, and no
    /// other thread may use the window.
    pub(crate) unsafe fn window(&self, from: *const u8, window: usize) -> Result<()> {
        let axes = self.resampling.after().len();
        let turns: SmallVec<[Turn; 6]> =
            self.turns.iter().flat_map(|turns| turns.of_window(window, axes)).collect();
        let (shape, strides) = (self.target.shape(), self.target.strides());
        let at = offset_of(window, &shape[..1], &strides[..1]);
        let to = self.target.base().wrapping_offset(at);
        // SAFETY: the maker of the target vouches for its elements, and the caller for the rest.
        unsafe { Ok(self.resampling.window(from, to, &strides[1..], &turns)?) }
    }
}

/// Gives windows another size, which lie one after the other in `values`.
///
/// # Errors
/// The shapes do not fit, or the call was interrupted.
pub fn resize_windows(
    values: &[u8],
    resized: &Resized<'_>,
    interrupt: Interrupt<'_>,
) -> Result<()> {
    let windows = resized.target.shape().first().copied().unwrap_or(0);
    let bytes = resized.resampling.bytes_before();
    if bytes.checked_mul(windows) != Some(values.len()) {
        let reason = format!("{} bytes are not {windows} windows of {bytes}", values.len());
        return Err(EngineError::Selection(reason));
    }
    resized.check(windows)?;
    pool::run(windows, interrupt, &|window| {
        // SAFETY: the window lies in the values, and no other task resizes it.
        unsafe { resized.window(values.as_ptr().add(window * bytes), window) }
    })
}
