//! Halves and bfloats, which Rust has no types for: conversions without branches, so that the
//! compiler can vectorize loops of them.

/// The single that a half is.
#[inline(always)]
pub(crate) fn of_half(bits: u16) -> f32 {
    const EXPONENT: u32 = 0x7c00 << 13;
    let bits = u32::from(bits);
    let shifted = (bits & 0x7fff) << 13;
    let exponent = shifted & EXPONENT;
    let normal = shifted.wrapping_add((127 - 15) << 23);
    let special = normal.wrapping_add((128 - 16) << 23);
    // A subnormal gets the implicit bit of a normal number, which is then subtracted.
    let subnormal = f32::from_bits(normal.wrapping_add(1 << 23)) - f32::from_bits(113 << 23);
    let found = if exponent == EXPONENT {
        special
    } else if exponent == 0 {
        subnormal.to_bits()
    } else {
        normal
    };
    f32::from_bits(found | ((bits & 0x8000) << 16))
}

/// Widens a bfloat16 to a single.
#[inline(always)]
pub(crate) fn of_bfloat(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The single next to `value` towards 0, with its last bit set if it differs: rounding it again to
/// a shorter type gives what rounding `value` would give.
#[inline(always)]
fn to_odd(value: f64) -> f32 {
    let near = value as f32;
    let back = f64::from(near);
    let bits = near.to_bits();
    let bits = if back.abs() > value.abs() { bits.wrapping_sub(1) } else { bits };
    let is_exact = back == value || value.is_nan();
    f32::from_bits(if is_exact { near.to_bits() } else { bits | 1 })
}

/// The half nearest to `value`, to even on a tie.
#[inline(always)]
pub(crate) fn half_of(value: f64) -> u16 {
    const INFINITE: u32 = (127 + 16) << 23;
    const SMALLEST: u32 = 113 << 23;
    const MAGIC: u32 = ((127 - 15) + (23 - 10) + 1) << 23;
    let bits = to_odd(value).to_bits();
    let sign = bits & 0x8000_0000;
    let bits = bits ^ sign;
    let special = if bits > 0x7f80_0000 { 0x7e00 } else { 0x7c00 };
    let shifted = f32::from_bits(bits) + f32::from_bits(MAGIC);
    let subnormal = shifted.to_bits().wrapping_sub(MAGIC);
    let odd = (bits >> 13) & 1;
    let normal = (bits.wrapping_sub((127 - 15) << 23).wrapping_add(0xfff + odd)) >> 13;
    let found = if bits >= INFINITE {
        special
    } else if bits < SMALLEST {
        subnormal
    } else {
        normal
    };
    (found | (sign >> 16)) as u16
}

/// The bfloat nearest to `value`, to even on a tie.
#[inline(always)]
pub(crate) fn bfloat_of(value: f64) -> u16 {
    let bits = to_odd(value).to_bits();
    let rounded = bits.wrapping_add(0x7fff + ((bits >> 16) & 1)) >> 16;
    let nan = 0x7fc0 | ((bits >> 16) & 0x8000);
    (if value.is_nan() { nan } else { rounded }) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All singles that are halves or bfloats, beside their bits, without NaN.
    fn all(of: fn(u16) -> f32) -> Vec<(f64, u16)> {
        (0..=u16::MAX)
            .map(|bits| (f64::from(of(bits)), bits))
            .filter(|(v, _)| !v.is_nan())
            .collect()
    }

    #[test]
    fn every_value_and_the_middle_between_two_round_to_the_nearest_even() {
        for (of, to) in
            [(of_half as fn(u16) -> f32, half_of as fn(f64) -> u16), (of_bfloat, bfloat_of)]
        {
            for (value, bits) in all(of) {
                assert_eq!(to(value), bits, "{value}");
                let next = f64::from(of(bits.wrapping_add(1)));
                if value.is_infinite() || next.is_infinite() || next.is_nan() {
                    continue;
                }
                let middle = (value + next) / 2.0;
                let even = if bits & 1 == 0 { bits } else { bits + 1 };
                assert_eq!(to(middle), even, "{middle}");
                // The closest doubles on both sides of the middle.
                let (below, above) = (middle.next_down(), middle.next_up());
                let (low, high) = if value < next { (bits, bits + 1) } else { (bits + 1, bits) };
                assert_eq!(to(below), low, "{below}");
                assert_eq!(to(above), high, "{above}");
            }
            assert!(of(to(f64::NAN)).is_nan());
            assert_eq!(of(to(1e300)), f32::INFINITY);
            assert_eq!(of(to(-1e300)), f32::NEG_INFINITY);
            assert_eq!(to(1e-300), 0);
        }
        assert_eq!(of_half(half_of(65519.999)), 65504.0);
        assert_eq!(of_half(half_of(65520.0)), f32::INFINITY);
    }
}
