//! Memory of a size that a file, a server or a caller determines, and that the system may refuse.
//!
//! `Vec::resize` and similar methods end the process then. Allocations of such a size are made here
//! and return an error that the caller can handle; `tests/runtime/test_allocations.py` finds
//! others.

/// The system refused memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("memory for {bytes} bytes was refused")]
pub struct Refused {
    /// How many bytes were asked for.
    pub bytes: usize,
}

/// A vector that grows, or returns an error.
pub trait Grow<T> {
    /// Makes room for `more` elements.
    ///
    /// # Errors
    /// [`Refused`], and nothing has changed; so with all methods.
    fn make_room(&mut self, more: usize) -> Result<(), Refused>;

    /// Cuts the vector to `length` elements, or appends zeros up to that.
    fn set_length(&mut self, length: usize) -> Result<(), Refused>;

    /// Appends `elements`.
    fn append_slice(&mut self, elements: &[T]) -> Result<(), Refused>;

    /// Replaces the content by `elements`.
    fn set_to(&mut self, elements: &[T]) -> Result<(), Refused>;
}

fn refused<T>(count: usize) -> Refused {
    Refused { bytes: count.saturating_mul(size_of::<T>()) }
}

impl<T: Copy + Default> Grow<T> for Vec<T> {
    fn make_room(&mut self, more: usize) -> Result<(), Refused> {
        self.try_reserve(more).map_err(|_| refused::<T>(self.len().saturating_add(more)))
    }

    fn set_length(&mut self, length: usize) -> Result<(), Refused> {
        if let Some(more) = length.checked_sub(self.len()) {
            self.try_reserve_exact(more).map_err(|_| refused::<T>(length))?;
        }
        self.resize(length, T::default());
        Ok(())
    }

    fn append_slice(&mut self, elements: &[T]) -> Result<(), Refused> {
        self.make_room(elements.len())?;
        self.extend_from_slice(elements);
        Ok(())
    }

    fn set_to(&mut self, elements: &[T]) -> Result<(), Refused> {
        self.clear();
        self.append_slice(elements)
    }
}

/// A vector of `count` zeros.
///
/// # Errors
/// [`Refused`]
pub fn zeros<T: Copy + Default>(count: usize) -> Result<Vec<T>, Refused> {
    let mut made = Vec::new();
    made.set_length(count)?;
    Ok(made)
}

/// An empty vector with room for `count` elements, of any kind.
///
/// # Errors
/// [`Refused`]
pub fn with_room<T>(count: usize) -> Result<Vec<T>, Refused> {
    let mut made = Vec::new();
    made.try_reserve_exact(count).map_err(|_| refused::<T>(count))?;
    Ok(made)
}

/// Appends an element.
///
/// # Errors
/// [`Refused`], and nothing has changed.
pub fn push<T>(vector: &mut Vec<T>, element: T) -> Result<(), Refused> {
    if vector.len() == vector.capacity() {
        vector.try_reserve(1).map_err(|_| refused::<T>(vector.len().saturating_mul(2)))?;
    }
    vector.push(element);
    Ok(())
}

/// A vector of the elements of an iterator, however many there are.
///
/// # Errors
/// [`Refused`]
pub fn collected<T>(elements: impl IntoIterator<Item = T>) -> Result<Vec<T>, Refused> {
    let elements = elements.into_iter();
    let mut made = with_room(elements.size_hint().0)?;
    for element in elements {
        push(&mut made, element)?;
    }
    Ok(made)
}

/// A vector of the same elements.
///
/// # Errors
/// [`Refused`]
pub fn copied<T: Copy + Default>(elements: &[T]) -> Result<Vec<T>, Refused> {
    let mut made = Vec::new();
    made.set_to(elements)?;
    Ok(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_changes_nothing() {
        let mut vector = vec![1_u8, 2, 3];
        let most = isize::MAX as usize;
        assert_eq!(vector.set_length(most), Err(Refused { bytes: most }));
        assert_eq!(vector.make_room(most), Err(Refused { bytes: most + 3 }));
        assert_eq!(zeros::<u64>(most), Err(Refused { bytes: usize::MAX }));
        assert_eq!(vector, [1, 2, 3]);
        assert_eq!(vector.set_length(5), Ok(()));
        assert_eq!(vector, [1, 2, 3, 0, 0]);
        assert_eq!(push(&mut vector, 7), Ok(()));
        assert_eq!(collected(vector.iter().filter(|one| **one > 0).copied()), Ok(vec![1, 2, 3, 7]));
        assert_eq!(collected(0..u64::MAX), Err(Refused { bytes: usize::MAX }));
    }
}
