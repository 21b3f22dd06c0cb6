// Optical flow as the colour wheel of Baker and others (Middlebury), as torchvision's flow_to_image.
//
// A vector is quantised to 255 x 255 steps of the largest motion, and its colour is looked up: an arc
// tangent for each pixel costs 60 times as much.
import { INVALID, rgb } from "./colours";
import type { Source } from "./paint";
import { asBits, numbersOf } from "./values";

const SECTORS: [number, (i: number, n: number) => [number, number, number]][] = [
  [15, (i, n) => [255, Math.floor((255 * i) / n), 0]],
  [6, (i, n) => [255 - Math.floor((255 * i) / n), 255, 0]],
  [4, (i, n) => [0, 255, Math.floor((255 * i) / n)]],
  [11, (i, n) => [0, 255 - Math.floor((255 * i) / n), 255]],
  [13, (i, n) => [Math.floor((255 * i) / n), 0, 255]],
  [6, (i, n) => [255, 0, 255 - Math.floor((255 * i) / n)]],
];
const WHEEL = SECTORS.flatMap(([n, colour]) => Array.from({ length: n }, (_, i) => colour(i, n)));

/** Steps are rounded: the longest motion itself may seem longer by half of a step along each axis. */
const LONGEST = 1 + Math.SQRT1_2 / 127;

/** The colour of a motion, where 1 is the largest one; beyond it, colours are darker. */
export function wheelColour(u: number, v: number): number {
  const radius = Math.sqrt(u * u + v * v);
  const angle = Math.atan2(-v, -u) / Math.PI;
  const position = ((angle + 1) / 2) * (WHEEL.length - 1);
  const first = Math.floor(position);
  const part = position - first;
  const [red, green, blue] = [0, 1, 2].map((channel) => {
    const one = WHEEL[first % WHEEL.length][channel] / 255;
    const two = WHEEL[(first + 1) % WHEEL.length][channel] / 255;
    const colour = (1 - part) * one + part * two;
    // The added millionth keeps the last bit of an arc tangent from changing a colour.
    return Math.floor(255 * (radius <= LONGEST ? 1 - Math.min(1, radius) * (1 - colour) : colour * 0.75) + 1e-6);
  });
  return rgb(red, green, blue);
}

let wheel: Uint32Array | null = null;

/** Colours of the motions ((i - 128) / 127, (j - 128) / 127) at j * 256 + i. */
export function wheelTable(): Uint32Array {
  wheel ??= Uint32Array.from({ length: 65536 }, (_, at) =>
    wheelColour(((at & 255) - 128) / 127, ((at >> 8) - 128) / 127),
  );
  return wheel;
}

export function paintFlow({ type, data, layout }: Source, largest: number, out: Uint32Array): void {
  const { height, width, sy, sx, sc } = layout;
  const bits = asBits(data);
  const numbers = numbersOf(type);
  const colours = wheelTable();
  const factor = 127 / (largest > 0 ? largest : 1);
  for (let y = 0, pixel = 0; y < height; y++) {
    for (let x = 0, at = y * sy; x < width; x++, at += sx) {
      let u = numbers ? numbers[bits[at]] : bits[at];
      let v = numbers ? numbers[bits[at + sc]] : bits[at + sc];
      if (u - u !== 0 || v - v !== 0) {
        out[pixel++] = INVALID;
        continue;
      }
      u *= factor;
      v *= factor;
      if (u > 127 || u < -127 || v > 127 || v < -127) {
        // The direction stays: both are divided by the larger one.
        const over = 127 / Math.max(Math.abs(u), Math.abs(v));
        u *= over;
        v *= over;
      }
      // In 1 to 255, with 128 for no motion.
      out[pixel++] = colours[(((v + 128.5) | 0) << 8) | ((u + 128.5) | 0)];
    }
  }
}
