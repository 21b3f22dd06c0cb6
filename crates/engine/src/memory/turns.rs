//! Windows that are turned as they are copied: mirrored along axes, and with axes exchanged.
//!
//! A turned window is copied with other strides, so that turning costs no pass over its elements.

use crate::error::{EngineError, Result};

/// For each window, and each of its axes, where the axis lies in the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Turns<'a>(pub &'a [u8]);

/// Twice the axis of the buffer that an axis of a window becomes, and one more if it is mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Turn(u8);

impl Turn {
    fn axis(self) -> usize {
        usize::from(self.0 / 2)
    }

    fn is_mirrored(self) -> bool {
        self.0 % 2 == 1
    }

    /// Where the first index of the axis lies in a window of the buffer, and the stride to the next.
    pub fn place(self, shape: &[usize], strides: &[isize]) -> (isize, isize) {
        let stride = strides[self.axis()];
        if !self.is_mirrored() {
            return (0, stride);
        }
        (shape[self.axis()].saturating_sub(1) as isize * stride, -stride)
    }
}

impl<'a> Turns<'a> {
    /// Those of one axis in each window.
    pub(crate) fn along(self, axis: usize, axes: usize) -> impl Iterator<Item = Turn> + Clone + 'a {
        self.0.iter().copied().skip(axis).step_by(axes).map(Turn)
    }

    /// Those of the axes of one window.
    pub(crate) fn of_window(self, window: usize, axes: usize) -> impl Iterator<Item = Turn> + 'a {
        self.0.iter().copied().skip(window * axes).take(axes).map(Turn)
    }

    /// Whether no window has another order or direction along `axis`.
    pub(crate) fn leaves(self, axis: usize, axes: usize) -> bool {
        self.along(axis, axes).all(|turn| usize::from(turn.0) == 2 * axis)
    }

    /// Refuses turns that would not fill windows of `shape`, each element once.
    pub(crate) fn check(self, windows: usize, shape: &[usize]) -> Result<()> {
        let axes = shape.len();
        let fits = |window: usize| {
            let mut reached = 0u128;
            self.of_window(window, axes).enumerate().all(|(axis, turn)| {
                let is_new = turn.axis() < axes && reached & 1 << turn.axis() == 0;
                reached |= 1 << turn.axis();
                is_new && shape[turn.axis()] == shape[axis]
            })
        };
        if self.0.len() == windows * axes && (0..windows).all(fits) {
            return Ok(());
        }
        let reason = format!("turns that are not those of {windows} windows of {shape:?}");
        Err(EngineError::Selection(reason))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_reach_each_element_once() {
        assert!(Turns(&[0, 2, 3, 0]).check(2, &[4, 4]).is_ok());
        for wrong in [&[0, 2, 3][..], &[0, 1, 0, 2], &[0, 4, 0, 2], &[0, 255, 0, 2]] {
            assert!(Turns(wrong).check(2, &[4, 4]).is_err(), "{wrong:?}");
        }
        assert!(Turns(&[2, 0]).check(1, &[4, 5]).is_err());
        assert!(Turns(&[1, 3]).check(1, &[4, 5]).is_ok());
        assert_eq!(Turn(3).place(&[4, 5], &[5, 1]), (4, -1));
        assert_eq!(Turn(0).place(&[4, 5], &[5, 1]), (0, 5));
    }
}
