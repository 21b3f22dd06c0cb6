// Complex numbers: the phase as hue, the magnitude as brightness.
import { INVALID, ofHue, rgb } from "./colours";
import { NOT_VALID, Scale, type Transform } from "./values";
import type { Source } from "./paint";

let phases: Uint8Array | null = null;

// The phase in 256 steps of the direction ((i - 128) / 128, (j - 128) / 128) at j * 257 + i: an arc
// tangent for each pixel is too slow.
function phaseTable(): Uint8Array {
  phases ??= Uint8Array.from({ length: 257 * 257 }, (_, at) => {
    const turn = Math.atan2(Math.floor(at / 257) - 128, (at % 257) - 128) / (2 * Math.PI);
    return Math.floor((turn - Math.floor(turn)) * 256 + 1e-9) & 255;
  });
  return phases;
}

const HUES = Array.from({ length: 256 }, (_, index) => ofHue(index / 256));

/** The colour of a number of at most magnitude 1, where 1 is the largest one of the range. */
export function phaseColour(real: number, imaginary: number): number {
  const out = new Uint32Array(1);
  const layout = { height: 1, width: 1, sy: 0, sx: 0, sc: 1, channels: 2 };
  paintComplex({ type: "f4", data: Float32Array.of(real, imaginary), layout }, [0, 1], "linear", out);
  return out[0];
}

/** Real and imaginary part are neighbours: the axis of components has the stride `sc`. */
export function paintComplex({ data, layout }: Source, range: [number, number], transform: Transform, out: Uint32Array): void {
  const { height, width, sy, sx, sc } = layout;
  const table = phaseTable();
  const scale = new Scale(range, transform === "log" ? "log" : "linear");
  for (let y = 0, pixel = 0; y < height; y++) {
    for (let x = 0, at = y * sy; x < width; x++, at += sx) {
      const real = data[at];
      const imaginary = data[at + sc];
      const magnitude = Math.sqrt(real * real + imaginary * imaginary);
      // 0 has no logarithm, and is the darkest all the same.
      const level = magnitude === 0 ? 0 : scale.level(magnitude);
      if (level === NOT_VALID) {
        out[pixel++] = INVALID;
        continue;
      }
      const larger = Math.max(Math.abs(real), Math.abs(imaginary));
      const unit = larger > 0 ? 128 / larger : 0;
      const [red, green, blue] =
        HUES[table[((imaginary * unit + 128.5) | 0) * 257 + ((real * unit + 128.5) | 0)]];
      out[pixel++] = rgb(
        ((red * level + 127) / 255) | 0,
        ((green * level + 127) / 255) | 0,
        ((blue * level + 127) / 255) | 0,
      );
    }
  }
}
