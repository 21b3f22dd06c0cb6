// From the elements of a tile to numbers and to levels of 0 to 255.
import type { TileType } from "../api";

export type Elements = Uint8Array | Int8Array | Uint16Array | Int16Array | Float32Array | Uint32Array;
export type Transform = "linear" | "inverse" | "log";

/** The number that the bits of a float16 mean. */
export function fromHalf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const numbersMade = new Map<TileType, Float64Array>();

/** The number of every bit pattern of a type of at most 16 bits; null for larger types. */
export function numbersOf(type: TileType): Float64Array | null {
  if (type === "f4" || type === "u4") return null;
  let table = numbersMade.get(type);
  if (!table) {
    const size = type === "u1" || type === "i1" ? 256 : 65536;
    const half = size / 2;
    table = Float64Array.from({ length: size }, (_, bits) => {
      if (type === "f2") return fromHalf(bits);
      return type === "i1" || type === "i2" ? (bits < half ? bits : bits - size) : bits;
    });
    numbersMade.set(type, table);
  }
  return table;
}

/** Elements as unsigned bit patterns, which index a table; floats of 32 bits stay as they are. */
export function asBits(data: Elements): Elements {
  if (data instanceof Int8Array) return new Uint8Array(data.buffer, data.byteOffset, data.length);
  if (data instanceof Int16Array) return new Uint16Array(data.buffer, data.byteOffset, data.length);
  return data;
}

/** The function that levels are linear in. */
export function transformed(value: number, transform: Transform): number {
  if (transform === "inverse") return value > 0 ? 1 / value : Number.NaN;
  if (transform === "log") return value > 0 ? Math.log(value) : Number.NaN;
  return value;
}

/** A marker in tables of levels: there is not a valid value. It is above all levels. */
export const NOT_VALID = 0x8000;

/**
 * The level of 0 to 255 of a value: `floor((f(v) - f(lo)) * (256 / (f(hi) - f(lo))))`, clipped.
 * Integers of 8 bits are their own level in the range 0 to 255.
 */
export class Scale {
  readonly low: number;
  readonly factor: number;

  constructor(
    range: readonly [number, number],
    readonly transform: Transform = "linear",
  ) {
    let [low, high] = range;
    if (transform !== "linear") {
      // A range that begins at 0 has the smallest positive half as its begin.
      low = Math.max(low, 2 ** -24);
      high = Math.max(high, low);
    }
    this.low = transformed(low, transform);
    const extent = transformed(high, transform) - this.low;
    this.factor = extent === 0 ? Number.POSITIVE_INFINITY : 256 / extent;
  }

  level(value: number): number {
    const scaled = (transformed(value, this.transform) - this.low) * this.factor;
    if (!Number.isFinite(value)) return NOT_VALID;
    if (scaled >= 255) return 255;
    if (scaled > 0) return Math.floor(scaled);
    // 0 * Infinity of an empty range is NaN, as is the transform of a value that is not positive.
    return Number.isNaN(transformed(value, this.transform)) ? NOT_VALID : 0;
  }

  /** The level of every bit pattern. */
  table(numbers: Float64Array): Uint16Array {
    return Uint16Array.from(numbers, (value) => this.level(value));
  }
}
