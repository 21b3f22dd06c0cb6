//! The configurations of the codecs with scalars: cast_value and scale_offset.
//!
//! v3 metadata does not repeat the data type of the array here, so `dtype` is passed in addition.
//! Scalars are written as fill values are: numbers, and `"NaN"` or `"-Infinity"`.

use std::sync::Arc;

use serde_json::Value as Json;

use super::options::Options;
use super::row::Input;
use crate::castvalue::{Cast, CastValue, OutOfRange, Rounding, Value};
use crate::codec::Codec;
use crate::elements::Elements;
use crate::error::Result;
use crate::number::{NumberKind, Type};
use crate::scaleoffset::{Parameters, ScaleOffset};

fn number_type(options: &Options<'_>, key: &str) -> Result<Type> {
    match Type::configured(options.codec, key, options.text(key, None)?)? {
        Type { kind: NumberKind::Bool, .. } => Err(options.wrong(key, "integers and floats")),
        number => Ok(number),
    }
}

/// A scalar as a value of `dtype`; `None` if it is not one.
fn scalar(json: &Json, dtype: Type) -> Option<Value> {
    let real = match json.as_str() {
        Some("NaN") => Some(f64::NAN),
        Some("Infinity") => Some(f64::INFINITY),
        Some("-Infinity") => Some(f64::NEG_INFINITY),
        Some(_) => None,
        None => json.as_f64(),
    };
    if dtype.kind == NumberKind::Float {
        return real.map(Value::Real);
    }
    let bits = 8 * dtype.bytes as u32;
    let range = match dtype.kind {
        NumberKind::Int => -(1_i128 << (bits - 1))..1 << (bits - 1),
        _ => 0..1 << bits,
    };
    json.as_number()?.as_i128().filter(|value| range.contains(value)).map(Value::Int)
}

fn scalar_map(
    options: &Options<'_>,
    key: &str,
    from: Type,
    to: Type,
) -> Result<Vec<(Value, Value)>> {
    let pair = |pair: &Json| match pair.as_array().map(Vec::as_slice) {
        Some([key, value]) => Some((scalar(key, from)?, scalar(value, to)?)),
        _ => None,
    };
    Ok(options.list_of(key, "a list of pairs of scalars of both types", pair)?.unwrap_or_default())
}

pub(super) fn cast_value(options: &Options<'_>, _input: Input) -> Result<Arc<dyn Codec>> {
    let (array, stored) = (number_type(options, "dtype")?, number_type(options, "data_type")?);
    let rounding = match options.text("rounding", Some("nearest-even"))? {
        "nearest-even" => Rounding::NearestEven,
        "nearest-away" => Rounding::NearestAway,
        "towards-zero" => Rounding::TowardsZero,
        "towards-positive" => Rounding::TowardsPositive,
        "towards-negative" => Rounding::TowardsNegative,
        _ => {
            let allowed = "nearest-even, nearest-away or towards-zero, -positive or -negative";
            return Err(options.wrong("rounding", allowed));
        }
    };
    let out_of_range = match options.text("out_of_range", Some("error"))? {
        "error" => OutOfRange::Error,
        "clamp" => OutOfRange::Clamp,
        "wrap" if stored.kind != NumberKind::Float => OutOfRange::Wrap,
        _ => return Err(options.wrong("out_of_range", "error, clamp, and for integers wrap")),
    };
    let maps = options.get("scalar_map").unwrap_or(&Json::Null);
    let maps = Options { codec: options.codec, configuration: maps };
    maps.check_keys(&["encode", "decode"])?;
    let (encode, decode) =
        (scalar_map(&maps, "encode", array, stored)?, scalar_map(&maps, "decode", stored, array)?);
    Ok(Arc::new(Elements(CastValue {
        encode: Cast::new(array, stored, rounding, out_of_range, &encode),
        decode: Cast::new(stored, array, rounding, out_of_range, &decode),
    })))
}

pub(super) fn scale_offset(options: &Options<'_>, _input: Input) -> Result<Arc<dyn Codec>> {
    let dtype = number_type(options, "dtype")?;
    let parameter = |key: &str, default: i64| {
        let json = options.get(key).cloned().unwrap_or(default.into());
        scalar(&json, dtype).ok_or_else(|| options.wrong(key, "a scalar of dtype"))
    };
    let parameters = match (parameter("offset", 0)?, parameter("scale", 1)?) {
        (Value::Int(offset), Value::Int(scale)) => Parameters::Integers { offset, scale },
        (offset, scale) => Parameters::Reals { offset: offset.real(), scale: scale.real() },
    };
    match parameters {
        Parameters::Integers { scale: 0, .. } => Err(options.wrong("scale", "not 0")),
        Parameters::Reals { scale: 0.0, .. } => Err(options.wrong("scale", "not 0")),
        _ => Ok(Arc::new(Elements(ScaleOffset::new(dtype, parameters)))),
    }
}
