// The range of values that a picture begins with, where neither the user nor the store says one.
import { type Kind, type Tile, toNumber } from "./api";
import type { Layout } from "./paint/paint";
import { asBits, numbersOf } from "./paint/values";

/** From the smallest to the largest finite value of tiles, or as far on both sides of 0; null where none has one. */
export function rangeOf(tiles: { tile: Tile; layout: Layout }[], kind: Kind, isEven = false): [number, number] | null {
  if (kind === "flow" || kind === "complex") {
    const largest = Math.max(-1, ...tiles.map(({ tile, layout }) => largestPair(tile, layout)));
    return largest < 0 ? null : [0, largest || 1];
  }
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const { tile } of tiles) {
    if (tile.min === null || tile.max === null) continue;
    low = Math.min(low, toNumber(tile.min));
    high = Math.max(high, toNumber(tile.max));
  }
  if (low > high) return null;
  if (isEven) {
    const far = Math.max(Math.abs(low), Math.abs(high)) || 1;
    return [-far, far];
  }
  // A plane of one value: it is drawn dark, with a range above it.
  return low === high ? [low, low + 1] : [low, high];
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
