// The range of values that a picture begins with, where neither the user nor the store says one.
import { type Tile, toNumber } from "./api";
import type { Layout, Look } from "./paint/paint";
import { asBits, numbersOf } from "./paint/values";

interface Loaded { tile: Tile; layout: Layout }

/** The percentage that a range without extremes leaves out at each end. */
export const CLIPPED = 1;
/** Percentiles are of so many values at most. */
const MOST_SORTED = 2 ** 18;
/** Magnitudes further apart than this are seen on a logarithmic scale. */
const FAR = 50;

/**
 * From the smallest to the largest finite value of tiles, or as far on both sides of 0; null where none has one.
 * Pairs begin at 0, and on a logarithmic scale at their smallest magnitude that is not 0. `clip` leaves out so
 * many percent of the values at each end.
 */
export function rangeOf(tiles: Loaded[], look: Pick<Look, "kind" | "even" | "transform">, clip = 0): [number, number] | null {
  const { kind, transform } = look;
  const isPair = kind === "flow" || kind === "complex";
  const isLog = kind === "complex" && transform === "log";
  if (isPair && !isLog && !clip) {
    const largest = Math.max(-1, ...tiles.map(({ tile, layout }) => largestPair(tile, layout)));
    return largest < 0 ? null : [0, largest || 1];
  }
  const ends = clip || isLog ? percentiles(sorted(tiles, look), clip) : extremes(tiles);
  if (!ends) return isLog ? rangeOf(tiles, { kind, transform: "linear" }) : null;
  const [low, high] = ends;
  if (isPair && !isLog) return [0, high || 1];
  if (look.even) {
    const far = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return [-far, far];
  }
  // A plane of one value: it is drawn dark, with a range above it.
  return low === high ? [low, low + 1] : [low, high];
}

/** Whether most magnitudes would be black beside the largest one, as those of spectra are. */
export function isSpread(tiles: Loaded[]): boolean {
  const found = sorted(tiles, { kind: "complex", transform: "log" });
  const largest = Math.max(-1, ...tiles.map(({ tile, layout }) => largestPair(tile, layout)));
  return found.length > 0 && largest > FAR * found[found.length >> 1];
}

function extremes(tiles: Loaded[]): [number, number] | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { tile } of tiles) {
    if (tile.min === null || tile.max === null) continue;
    low = Math.min(low, toNumber(tile.min));
    high = Math.max(high, toNumber(tile.max));
  }
  return low > high ? null : [low, high];
}

/** The values at a percentage from both ends, each of them a value that is there. */
function percentiles(values: Float64Array, clip: number): [number, number] | null {
  if (!values.length) return null;
  const last = values.length - 1;
  const at = Math.floor((last * clip) / 100);
  return [values[at], values[last - at]];
}

/**
 * The finite values of tiles, or the magnitudes of pairs, in order: of every n-th element where there are many.
 * Values without a logarithm are left out where a scale needs one.
 */
function sorted(tiles: Loaded[], { kind, transform }: Pick<Look, "kind" | "transform">): Float64Array {
  const least = transform === "linear" ? Number.NEGATIVE_INFINITY : 0;
  const isPair = kind === "flow" || kind === "complex";
  const count = tiles.reduce((sum, { layout }) => sum + layout.height * layout.width, 0);
  const found: number[] = [];
  for (const { tile, layout } of tiles) {
    const { height, width, sy, sx, sc, channels } = layout;
    const numbers = numbersOf(tile.type);
    const bits = asBits(tile.data);
    const at = (index: number) => (numbers ? numbers[bits[index]] : bits[index]);
    const colours = kind === "rgb" ? Math.min(3, channels) : 1;
    const every = apart(Math.ceil((count * colours) / MOST_SORTED), width);
    for (let pixel = 0; pixel < height * width; pixel += every) {
      const index = Math.floor(pixel / width) * sy + (pixel % width) * sx;
      for (let c = 0; c < colours; c++) {
        const value = isPair ? Math.sqrt(at(index) ** 2 + at(index + sc) ** 2) : at(index + c * sc);
        // Comparisons with NaN are false.
        if (value > least && value < Number.POSITIVE_INFINITY) found.push(value);
      }
    }
  }
  return Float64Array.from(found).sort();
}

/** At least so many pixels, so that they are not all in the same columns. */
function apart(least: number, width: number): number {
  const common = (a: number, b: number): number => (b ? common(b, a % b) : a);
  let found = Math.max(1, least);
  while (common(found, width) > 1) found++;
  return found;
}

/** From the smallest to the largest finite value of one channel; null where none has one. */
export function channelRange(tiles: { tile: Tile; layout: Layout }[], channel: number): [number, number] | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { tile, layout } of tiles) {
    const { height, width, sy, sx, sc } = layout;
    const numbers = numbersOf(tile.type);
    const bits = asBits(tile.data);
    for (let y = 0; y < height; y++) {
      for (let x = 0, at = y * sy + channel * sc; x < width; x++, at += sx) {
        const value = numbers ? numbers[bits[at]] : bits[at];
        // Comparisons with NaN are false.
        if (value < low && value > Number.NEGATIVE_INFINITY) low = value;
        if (value > high && value < Number.POSITIVE_INFINITY) high = value;
      }
    }
  }
  if (low > high) return null;
  return low === high ? [low, low + 1] : [low, high];
}

/** The length of the longest pair of components that is finite; -1 if there is none. */
function largestPair({ type, data }: Tile, { height, width, sy, sx, sc }: Layout): number {
  const numbers = numbersOf(type);
  const bits = asBits(data);
  let largest = -1;
  for (let y = 0; y < height; y++) {
    for (let x = 0, at = y * sy; x < width; x++, at += sx) {
      const u = numbers ? numbers[bits[at]] : bits[at];
      const v = numbers ? numbers[bits[at + sc]] : bits[at + sc];
      const square = u * u + v * v;
      // A comparison with NaN is false.
      if (square > largest && square < Number.POSITIVE_INFINITY) largest = square;
    }
  }
  return largest < 0 ? -1 : Math.sqrt(largest);
}
