// The painter: elements of one tile to the colours of its pixels, on the processor alone.
//
// Elements of up to 16 bits go through tables of all their bit patterns, so that float16 costs what
// integers cost. Every pixel is exact: tests compare with NumPy. We rejected WebGL, which is off on
// many machines and rounds differently on others.
import type { TileType } from "../api";
import { colourMap, INVALID, ofHex, ofHue, rgb } from "./colours";
import { paintComplex } from "./complex";
import { paintFlow } from "./flow";
import { asBits, type Elements, NOT_VALID, numbersOf, Scale, type Transform } from "./values";

/** Where elements lie: the element of pixel (y, x) and channel c is y * sy + x * sx + c * sc. */
export interface Layout {
  height: number;
  width: number;
  sy: number;
  sx: number;
  sc: number;
  channels: number;
}

export interface ChannelLook { range: [number, number]; color: string; active: boolean; gamma: number }

/** How values become colours. It is plain data, so that it can be in the address of a view. */
export interface Look {
  kind: "rgb" | "channels" | "gray" | "flow" | "depth" | "labels" | "mask" | "complex";
  range: [number, number];
  map: string;
  transform: Transform;
  outlines: boolean;
  channels: ChannelLook[];
  /** The opacity of labels above a picture, in 0 to 255; then 0 is transparent, and outlines are opaque. */
  fill?: number;
  /** The range is as far below 0 as above it. */
  even?: boolean;
}

export interface Source { type: TileType; data: Elements; layout: Layout }

export function paint(source: Source, look: Look, out: Uint32Array): void {
  switch (look.kind) {
    case "rgb":
      return paintRgb(source, look, out);
    case "channels":
      return paintChannels(source, look, out);
    case "flow":
      return paintFlow(source, look.range[1], out);
    case "labels":
      return paintLabels(source, look, out);
    case "mask":
      return paintMask(source, out);
    case "complex":
      return paintComplex(source, look.range, look.transform, out);
    default:
      return paintScalar(source, look, out);
  }
}

const tables = new Map<string, Uint16Array | Uint32Array>();

/** A table that is made once; some dozens are cached, because a range that is dragged makes many. */
export function cached<T extends Uint16Array | Uint32Array>(key: string, make: () => T): T {
  let table = tables.get(key) as T | undefined;
  if (!table) {
    if (tables.size >= 48) tables.delete(tables.keys().next().value as string);
    table = make();
    tables.set(key, table);
  }
  return table;
}

export function levels(type: TileType, range: readonly [number, number], transform: Transform): Uint16Array | null {
  const numbers = numbersOf(type);
  if (!numbers) return null;
  return cached(`${type} ${range} ${transform}`, () => new Scale(range, transform).table(numbers));
}

function paintScalar({ type, data, layout }: Source, look: Look, out: Uint32Array): void {
  const { height, width, sy, sx } = layout;
  const map = colourMap(look.map);
  const bits = asBits(data);
  const table = levels(type, look.range, look.transform);
  if (table) {
    const colours = cached(`${type} ${look.range} ${look.transform} ${look.map}`, () =>
      Uint32Array.from(table, (level) => (level === NOT_VALID ? INVALID : map[level])),
    );
    for (let y = 0, pixel = 0; y < height; y++) {
      for (let x = 0, at = y * sy; x < width; x++, at += sx) out[pixel++] = colours[bits[at]];
    }
    return;
  }
  const scale = new Scale(look.range, look.transform);
  const { low, factor } = scale;
  const linear = look.transform === "linear" && Number.isFinite(factor);
  for (let y = 0, pixel = 0; y < height; y++) {
    for (let x = 0, at = y * sy; x < width; x++, at += sx) {
      const value = bits[at];
      if (linear) {
        const scaled = (value - low) * factor;
        // A difference with itself is NaN if and only if a value is not finite.
        if (value - value !== 0) out[pixel++] = INVALID;
        else out[pixel++] = map[scaled >= 255 ? 255 : scaled > 0 ? scaled | 0 : 0];
      } else {
        const level = scale.level(value);
        out[pixel++] = level === NOT_VALID ? INVALID : map[level];
      }
    }
  }
}

function paintRgb({ type, data, layout }: Source, look: Look, out: Uint32Array): void {
  const { height, width, sy, sx, sc, channels } = layout;
  const bits = asBits(data);
  const alpha = channels >= 4;
  const green = channels > 1 ? sc : 0;
  const blue = channels > 2 ? 2 * sc : 0;
  const table = levels(type, look.range, "linear");
  const scale = new Scale(look.range);
  for (let y = 0, pixel = 0; y < height; y++) {
    for (let x = 0, at = y * sy; x < width; x++, at += sx) {
      let r: number;
      let g: number;
      let b: number;
      let a = 255;
      if (table) {
        r = table[bits[at]];
        g = table[bits[at + green]];
        b = table[bits[at + blue]];
        if (alpha) a = table[bits[at + 3 * sc]];
      } else {
        r = scale.level(bits[at]);
        g = scale.level(bits[at + green]);
        b = scale.level(bits[at + blue]);
        if (alpha) a = scale.level(bits[at + 3 * sc]);
      }
      out[pixel++] = (r | g | b | a) & NOT_VALID ? INVALID : (a << 24) | (b << 16) | (g << 8) | r;
    }
  }
}

/** The level of each level, raised to a power between black and white. */
function gammaCurve(gamma: number): Uint16Array {
  return cached(`gamma ${gamma}`, () =>
    Uint16Array.from({ length: 256 }, (_, level) => Math.floor(255 * (level / 255) ** gamma + 0.5)),
  );
}

// Each channel is a colour times its level; colours add up and stop at white.
function paintChannels({ type, data, layout }: Source, look: Look, out: Uint32Array): void {
  const { height, width, sy, sx, sc, channels } = layout;
  const bits = asBits(data);
  const size = height * width;
  const sums = new Uint16Array(3 * size);
  const valid = new Uint8Array(size).fill(1);
  look.channels.slice(0, channels).forEach(({ range, color, active, gamma }, channel) => {
    if (!active) return;
    const table = levels(type, range, "linear");
    const scale = new Scale(range);
    const [red, green, blue] = ofHex(color);
    const curve = gammaCurve(gamma);
    for (let y = 0, pixel = 0; y < height; y++) {
      for (let x = 0, at = y * sy + channel * sc; x < width; x++, at += sx, pixel++) {
        const linear = table ? table[bits[at]] : scale.level(bits[at]);
        if (linear === NOT_VALID) {
          valid[pixel] = 0;
          continue;
        }
        const level = curve[linear];
        sums[3 * pixel] += ((level * red + 127) / 255) | 0;
        sums[3 * pixel + 1] += ((level * green + 127) / 255) | 0;
        sums[3 * pixel + 2] += ((level * blue + 127) / 255) | 0;
      }
    }
  });
  for (let pixel = 0; pixel < size; pixel++) {
    out[pixel] = valid[pixel]
      ? rgb(Math.min(sums[3 * pixel], 255), Math.min(sums[3 * pixel + 1], 255), Math.min(sums[3 * pixel + 2], 255))
      : INVALID;
  }
}

const LABELS = Uint32Array.from({ length: 1024 }, (_, index) => {
  const [red, green, blue] = ofHue(((index * 619) % 1024) / 1024);
  const shade = [255, 200, 150][index % 3];
  const pale = [0, 60, 90][(index >> 2) % 3];
  const mixed = (part: number) => Math.floor((Math.max(part, pale) * shade) / 255);
  return rgb(mixed(red), mixed(green), mixed(blue));
});

/** The colour of a label: always the same one, and black for 0. */
export function labelColour(label: number): number {
  if (label === 0) return rgb(0, 0, 0);
  let hash = Math.imul(label ^ (label >>> 16), 0x45d9f3b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return LABELS[(hash ^ (hash >>> 16)) & 1023];
}

function paintLabels({ data, layout }: Source, { outlines, fill }: Look, out: Uint32Array): void {
  const { height, width, sy, sx } = layout;
  const white = rgb(255, 255, 255);
  if (fill !== undefined) return paintLabelsAbove(data, layout, outlines, fill, out);
  for (let y = 0, pixel = 0; y < height; y++) {
    for (let x = 0, at = y * sy; x < width; x++, at += sx) {
      const label = data[at];
      const edge =
        outlines &&
        ((x + 1 < width && data[at + sx] !== label) || (y + 1 < height && data[at + sy] !== label));
      out[pixel++] = edge ? white : labelColour(label);
    }
  }
}

// Above a picture, outlines have the colours of their labels, and lie within them.
function paintLabelsAbove(data: Elements, { height, width, sy, sx }: Layout, outlines: boolean, fill: number, out: Uint32Array): void {
  for (let y = 0, pixel = 0; y < height; y++) {
    for (let x = 0, at = y * sy; x < width; x++, at += sx, pixel++) {
      const label = data[at];
      if (label === 0) {
        out[pixel] = 0;
        continue;
      }
      const edge =
        outlines &&
        ((x > 0 && data[at - sx] !== label) || (x + 1 < width && data[at + sx] !== label) ||
          (y > 0 && data[at - sy] !== label) || (y + 1 < height && data[at + sy] !== label));
      out[pixel] = edge ? labelColour(label) : ((labelColour(label) & 0xffffff) | (fill << 24)) >>> 0;
    }
  }
}

function paintMask({ type, data, layout }: Source, out: Uint32Array): void {
  const { height, width, sy, sx } = layout;
  const numbers = numbersOf(type);
  const bits = asBits(data);
  const dark = rgb(26, 28, 44);
  const bright = rgb(255, 205, 64);
  for (let y = 0, pixel = 0; y < height; y++) {
    for (let x = 0, at = y * sy; x < width; x++, at += sx) {
      const value = numbers ? numbers[bits[at]] : bits[at];
      out[pixel++] = Number.isNaN(value) ? INVALID : value === 0 ? dark : bright;
    }
  }
}
