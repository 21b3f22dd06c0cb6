// Tables of colours. A colour is a 32-bit number with the bytes R, G, B, A in memory.
import { HEX } from "./hex";

export const MAPS = ["gray", "viridis", "magma", "cividis", "turbo", "coolwarm"] as const;
export type MapName = (typeof MAPS)[number];

// Colours are written as 32-bit numbers, four times faster than as bytes.
if (new Uint8Array(new Uint32Array([1]).buffer)[0] !== 1) {
  throw new Error("The viewer needs a little-endian machine.");
}

/** What a pixel without a valid value is: transparent, so that the hatched background is seen. */
export const INVALID = 0;

export function rgb(red: number, green: number, blue: number): number {
  return (0xff000000 | (blue << 16) | (green << 8) | red) >>> 0;
}

const made = new Map<string, Uint32Array>();

/** The 256 colours of a map. */
export function colourMap(name: string): Uint32Array {
  let table = made.get(name);
  if (!table) {
    const hex = HEX[name];
    table = Uint32Array.from({ length: 256 }, (_, index) => {
      if (!hex) return rgb(index, index, index);
      const at = (offset: number) => Number.parseInt(hex.slice(6 * index + offset, 6 * index + offset + 2), 16);
      return rgb(at(0), at(2), at(4));
    });
    made.set(name, table);
  }
  return table;
}

/** Red, green and blue in 0 to 255 of a hue in 0 to 1, fully saturated. */
export function ofHue(hue: number): [number, number, number] {
  const part = (shift: number) => {
    const h = (shift + hue * 6) % 6;
    return Math.floor(255 * (1 - Math.max(0, Math.min(h, 4 - h, 1))) + 0.5);
  };
  return [part(5), part(3), part(1)];
}

/** The three bytes of "#rrggbb"; white for anything else. */
export function ofHex(text: string): [number, number, number] {
  const match = /^#?([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})$/i.exec(text);
  return match
    ? [Number.parseInt(match[1], 16), Number.parseInt(match[2], 16), Number.parseInt(match[3], 16)]
    : [255, 255, 255];
}
