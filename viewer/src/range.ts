// The range of values that a picture begins with, where neither the user nor the store says one.
import { type Kind, toNumber } from "./api";
import type { Entry } from "./tiles";

/** From the smallest to the largest finite value of tiles; null where none has one. */
export function rangeOf(entries: (Entry | undefined)[], kind: Kind): [number, number] | null {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const entry of entries) {
    const tile = entry?.tile;
    if (!tile || tile.min === null || tile.max === null) continue;
    low = Math.min(low, toNumber(tile.min));
    high = Math.max(high, toNumber(tile.max));
    if (kind === "complex") high = Math.max(high, largestMagnitude(tile.data));
  }
  if (low > high) return null;
  if (kind === "flow") return [0, Math.max(Math.abs(low), Math.abs(high)) || 1];
  if (kind === "complex") return [0, high || 1];
  // A plane of one value: it is drawn dark, with a range above it.
  return low === high ? [low, low + 1] : [low, high];
}

function largestMagnitude(data: ArrayLike<number>): number {
  let largest = 0;
  for (let at = 0; at + 1 < data.length; at += 2) {
    const square = data[at] * data[at] + data[at + 1] * data[at + 1];
    if (square > largest && square < Number.POSITIVE_INFINITY) largest = square;
  }
  return Math.sqrt(largest);
}
