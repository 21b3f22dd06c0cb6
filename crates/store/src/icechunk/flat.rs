//! Flatbuffers: tables whose fields are found by offsets, and vectors.
//!
//! Every offset is checked where it is followed, each step is constant in time, and nothing is
//! allocated. A file can make offsets meet, or lead back: callers follow a fixed number of them.

/// Why a buffer cannot be read.
pub(super) type Flaw = &'static str;
pub(super) type Read<T> = Result<T, Flaw>;

const OUTSIDE: Flaw = "an offset leads outside of the file";
const MISSING: Flaw = "a required field is missing";

/// `N` bytes at `at`.
fn bytes<const N: usize>(buffer: &[u8], at: usize) -> Read<[u8; N]> {
    let found = buffer.get(at..).and_then(|rest| rest.first_chunk::<N>());
    found.copied().ok_or(OUTSIDE)
}

fn u32_at(buffer: &[u8], at: usize) -> Read<u32> {
    bytes(buffer, at).map(u32::from_le_bytes)
}

/// The position that the offset at `at` leads to.
fn followed(buffer: &[u8], at: usize) -> Read<usize> {
    let offset = u32_at(buffer, at)? as usize;
    at.checked_add(offset).filter(|to| offset > 0 && *to < buffer.len()).ok_or(OUTSIDE)
}

/// A table: fields by number, each of which may be absent.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlatTable<'a> {
    buffer: &'a [u8],
    at: usize,
    /// The offsets of the fields in the table, two bytes each.
    fields: &'a [u8],
}

impl<'a> FlatTable<'a> {
    /// The table that a buffer is about.
    pub fn root(buffer: &'a [u8]) -> Read<Self> {
        Self::new(buffer, followed(buffer, 0)?)
    }

    fn new(buffer: &'a [u8], at: usize) -> Read<Self> {
        let back = i32::from_le_bytes(bytes(buffer, at)?);
        let names = i64::try_from(at).ok().and_then(|at| at.checked_sub(i64::from(back)));
        let names = names.and_then(|names| usize::try_from(names).ok()).ok_or(OUTSIDE)?;
        let length = usize::from(u16::from_le_bytes(bytes(buffer, names)?));
        let whole = buffer.get(names..).and_then(|rest| rest.get(..length)).ok_or(OUTSIDE)?;
        Ok(Self { buffer, at, fields: whole.get(4..).ok_or(OUTSIDE)? })
    }

    /// Where a field is; `None` if it is absent.
    fn field(&self, number: usize) -> Read<Option<usize>> {
        let Some(offset) = self.fields.get(number * 2..).and_then(|rest| rest.first_chunk::<2>())
        else {
            return Ok(None);
        };
        let offset = usize::from(u16::from_le_bytes(*offset));
        Ok((offset != 0).then_some(self.at + offset))
    }

    /// A number of one byte, or its default.
    pub fn u8(&self, number: usize, default: u8) -> Read<u8> {
        self.field(number)?.map_or(Ok(default), |at| bytes::<1>(self.buffer, at).map(|[one]| one))
    }

    pub fn u32(&self, number: usize) -> Read<u32> {
        self.field(number)?.map_or(Ok(0), |at| u32_at(self.buffer, at))
    }

    pub fn u64(&self, number: usize) -> Read<u64> {
        self.field(number)?.map_or(Ok(0), |at| bytes(self.buffer, at).map(u64::from_le_bytes))
    }

    /// A struct of `N` bytes, which lies in the table.
    pub fn fixed<const N: usize>(&self, number: usize) -> Read<Option<[u8; N]>> {
        self.field(number)?.map(|at| bytes(self.buffer, at)).transpose()
    }

    pub fn table(&self, number: usize) -> Read<Option<Self>> {
        let found = self.field(number)?.map(|at| followed(self.buffer, at)).transpose()?;
        found.map(|at| Self::new(self.buffer, at)).transpose()
    }

    /// A vector whose elements take `width` bytes each; the elements of vectors of tables take 4.
    pub fn vector(&self, number: usize, width: usize) -> Read<Option<FlatVector<'a>>> {
        let Some(at) = self.field(number)? else { return Ok(None) };
        let at = followed(self.buffer, at)?;
        FlatVector::new(self.buffer, at, width).map(Some)
    }

    pub fn bytes(&self, number: usize) -> Read<Option<&'a [u8]>> {
        Ok(self.vector(number, 1)?.map(|vector| vector.elements))
    }

    pub fn text(&self, number: usize) -> Read<Option<&'a str>> {
        let found = self.bytes(number)?.map(std::str::from_utf8).transpose();
        found.map_err(|_| "a text is not UTF-8")
    }
}

/// The value of a field that must be there.
pub(super) fn required<T>(field: Option<T>) -> Read<T> {
    field.ok_or(MISSING)
}

/// A vector of numbers, structs or tables.
#[derive(Clone, Copy, Debug)]
pub(super) struct FlatVector<'a> {
    buffer: &'a [u8],
    at: usize,
    pub elements: &'a [u8],
    width: usize,
}

impl<'a> FlatVector<'a> {
    /// The vector at a position that [`position`](Self::position) returned.
    pub fn new(buffer: &'a [u8], at: usize, width: usize) -> Read<Self> {
        let count = u32_at(buffer, at)? as usize;
        let length = count.checked_mul(width).ok_or(OUTSIDE)?;
        let first = at + 4;
        let elements = buffer.get(first..).and_then(|rest| rest.get(..length)).ok_or(OUTSIDE)?;
        Ok(Self { buffer, at, elements, width })
    }

    pub fn position(&self) -> usize {
        self.at
    }

    pub fn len(&self) -> usize {
        self.elements.len() / self.width
    }

    /// An element that is a table.
    pub fn table(&self, index: usize) -> Read<FlatTable<'a>> {
        let at = self.at + 4 + index * self.width;
        if index >= self.len() {
            return Err(OUTSIDE);
        }
        FlatTable::new(self.buffer, followed(self.buffer, at)?)
    }

    pub fn tables(self) -> impl Iterator<Item = Read<FlatTable<'a>>> {
        (0..self.len()).map(move |index| self.table(index))
    }

    /// The elements of a vector of numbers of four bytes.
    pub fn u32s(self) -> impl ExactSizeIterator<Item = u32> {
        let (numbers, _) = self.elements.as_chunks::<4>();
        numbers.iter().map(|one| u32::from_le_bytes(*one))
    }
}
