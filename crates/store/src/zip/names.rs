//! Decoding the bytes of a member's name.

use std::borrow::Cow;

/// The flag of names that are UTF-8; without it they are of code page 437.
pub(super) const UTF8: u16 = 1 << 11;

/// The upper half of code page 437, the encoding of names without the flag.
const UPPER: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
                     └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// The name as text; a name that is not valid UTF-8 becomes one that is not a key.
pub(super) fn decode(name: &[u8], flags: u16) -> Cow<'_, str> {
    if flags & UTF8 != 0 {
        // U+FFFD replaces invalid bytes, and NUL keeps the name from being a key.
        return match std::str::from_utf8(name) {
            Ok(name) => Cow::Borrowed(name),
            Err(_) => Cow::Owned(format!("{}\0", String::from_utf8_lossy(name))),
        };
    }
    match std::str::from_utf8(name) {
        Ok(name) if name.is_ascii() => Cow::Borrowed(name),
        _ => {
            let upper: Vec<char> = UPPER.chars().collect();
            let letter = |byte: &u8| match byte.checked_sub(128) {
                None => char::from(*byte),
                Some(index) => upper.get(usize::from(index)).copied().unwrap_or('\0'),
            };
            Cow::Owned(name.iter().map(letter).collect())
        }
    }
}

/// The flag that a name needs.
pub(super) fn flags_of(name: &str) -> u16 {
    if name.is_ascii() { 0 } else { UTF8 }
}

#[cfg(test)]
mod tests {
    use super::{UPPER, UTF8, decode};

    #[test]
    fn names_are_utf8_where_they_say_so_and_of_code_page_437_elsewhere() {
        assert_eq!(UPPER.chars().count(), 128);
        assert_eq!(decode(b"a/0.0", 0), "a/0.0");
        assert_eq!(decode("ä/0".as_bytes(), UTF8), "ä/0");
        assert_eq!(decode(&[0x84, b'/', b'0'], 0), "ä/0");
        assert_eq!(decode(&[0xE1, 0xFE], 0), "ß■");
        assert!(crate::key::check_key(&decode(&[0xFF, b'a'], UTF8)).is_err());
    }
}
