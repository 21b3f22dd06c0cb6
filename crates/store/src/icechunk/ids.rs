//! Identifiers of snapshots, manifests and chunks, and the names of their files: Crockford's
//! base 32.

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// The identifier of a snapshot, a manifest or a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Id(pub [u8; 12]);

/// The number of characters of a name: 96 bits, five in each.
const NAME: usize = 20;

impl Id {
    /// The name of its file.
    pub fn name(self) -> String {
        let bits = self.bits();
        let character = |index: usize| ALPHABET[(bits >> (128 - 5 - 5 * index) & 31) as usize];
        (0..NAME).map(|index| char::from(character(index))).collect()
    }

    /// The identifier with this name, if it is one.
    pub fn of(name: &str) -> Option<Self> {
        if name.len() != NAME {
            return None;
        }
        let mut bits = 0_u128;
        for byte in name.bytes() {
            let value = ALPHABET.iter().position(|one| *one == byte.to_ascii_uppercase())?;
            bits = bits << 5 | value as u128;
        }
        // 100 bits: the last four have no meaning, and are zero.
        let all = (bits << 28).to_be_bytes();
        let id = Self(*all.first_chunk()?);
        (bits & 15 == 0).then_some(id)
    }

    /// Its bits, from the highest of 128 down.
    pub fn bits(self) -> u128 {
        let mut all = [0; 16];
        all[..12].copy_from_slice(&self.0);
        u128::from_be_bytes(all)
    }
}

/// The identifier of a node in its repository.
pub(super) type NodeId = [u8; 8];

#[cfg(test)]
mod tests {
    use super::Id;

    #[test]
    fn names_are_those_of_the_specification() {
        let id = Id([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(id.name(), "000G40R40M30E209185G");
        assert_eq!(Id::of("000G40R40M30E209185G"), Some(id));
        assert_eq!(Id::of("000g40r40m30e209185g"), Some(id));
        let first = Id::of("1CECHNKREP0F1RSTCMT0").map(Id::name);
        assert_eq!(first.as_deref(), Some("1CECHNKREP0F1RSTCMT0"));
        for wrong in ["", "000G40R40M30E209185", "000G40R40M30E209185U", "000G40R40M30E209185H"] {
            assert_eq!(Id::of(wrong), None, "{wrong}");
        }
    }
}
