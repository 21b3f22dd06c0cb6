// A page without a server: the routes are answered from the values that the page has.
import type { Member, Stored, Tile, TileType } from "./api";
import { asTile } from "./api";
import { type Item, parseSelection } from "./fragment";
import { asBits, numbersOf } from "./paint/values";
import { chunkCuts } from "./plane";
import type { Answer, OnEvent, Params, Transport } from "./transport";

interface Packed { headers: Record<string, string>; body: string }
export interface Data { answers: Record<string, unknown>; tiles: Record<string, Packed> }

/** What is not in the page. */
class Absent extends Error {}

export class FileTransport implements Transport {
  private readonly made = new Map<string, Promise<Tile>>();

  constructor(private readonly data: Data) {}

  async request(route: string, params: Params): Promise<Answer> {
    try {
      return await this.answer(route, params);
    } catch (error) {
      if (!(error instanceof Absent)) throw error;
      return json({ error: error.message, kind: "not-exported" }, 404);
    }
  }

  listen(_route: string, _params: Params, onEvent: OnEvent): () => void {
    setTimeout(() => onEvent("closed", "This page has no server."));
    return () => undefined;
  }

  private async answer(route: string, params: Params): Promise<Answer> {
    const path = String(params.path ?? "");
    if (route === "hello") return json(this.data.answers.hello);
    if (route === "tree") return json(this.tree(path, params));
    if (["node", "coordinates", "related"].includes(route)) return json(this.known(`${route} ${path}`));
    if (route === "stored") return json(this.stored(path, String(params.sel ?? "")));
    const make = { tile: this.tile, value: this.value, cells: this.cells, series: this.series, stats: this.stats, projection: this.projection, profile: this.profile }[route];
    if (!make) throw new Absent("This page was exported without a server, which this needs.");
    return make(path, params);
  }

  private known(key: string): unknown {
    const found = this.data.answers[key];
    if (found === undefined) throw new Absent("This was left out when the page was exported.");
    return found;
  }

  private tree(path: string, { offset, limit, filter }: Params): unknown {
    const known = this.known(`tree ${path}`) as { members: Member[]; total: number };
    const text = String(filter ?? "").toLowerCase();
    const all = text
      ? Object.entries(this.data.answers)
          .filter(([key]) => key.startsWith("tree "))
          .flatMap(([, one]) => (one as { members: Member[] }).members)
          .filter((member) => member.path.toLowerCase().includes(text))
      : known.members;
    const begin = Number(offset ?? 0);
    return { path, total: all.length, offset: begin, members: all.slice(begin, begin + Number(limit ?? 100)) };
  }

  /** The values of an array, unpacked once. */
  private whole(path: string, as: string): Promise<Tile> {
    const key = `${as} ${path}` in this.data.tiles ? `${as} ${path}` : `raw ${path}`;
    const packed = this.data.tiles[key];
    if (!packed) throw new Absent("The values of this array were left out when the page was exported.");
    let tile = this.made.get(key);
    if (!tile) {
      tile = unpacked(packed.body).then((body) => asTile({ status: 200, headers: packed.headers, body }));
      this.made.set(key, tile);
    }
    return tile;
  }

  private async part(path: string, sel: string, as: string): Promise<Part> {
    const tile = await this.whole(path, as);
    const node = this.known(`node ${path}`) as { components: number };
    const shape = node.components > 1 ? tile.shape.slice(0, -1) : tile.shape;
    const items = parseSelection(sel, shape);
    if (!items) throw new Absent(`The selection ${sel} does not fit.`);
    if (node.components > 1) items.push({ begin: 0, end: node.components, step: 1, whole: true, single: false });
    return cut(tile, items);
  }

  private tile = async (path: string, params: Params): Promise<Answer> => {
    const whole = await this.whole(path, String(params.as ?? "raw"));
    const { shape, data } = await this.part(path, String(params.sel ?? ""), String(params.as ?? "raw"));
    const known = rangeOf(numbers(whole.type, data));
    const { "x-zarrix-min": _, "x-zarrix-max": __, "x-zarrix-damage": ___, ...rest } = whole.headers;
    const body = data.buffer as ArrayBuffer;
    return { status: 200, headers: { ...rest, ...known, "x-zarrix-shape": shape.join(",") }, body };
  };

  private async values(path: string, sel: string, params: Params): Promise<{ shape: number[]; values: Float64Array }> {
    const as = String(params.as ?? "raw");
    const whole = await this.whole(path, as);
    const { shape, data } = await this.part(path, sel, as);
    const values = numbers(whole.type, data);
    const count = Number(whole.origin?.count ?? 0);
    return { shape, values: count ? values.map((value) => value + count) : values };
  }

  private value = async (path: string, params: Params): Promise<Answer> => {
    const sel = String(params.index ?? "");
    const { values } = await this.values(path, sel, { ...params, as: "raw" });
    const node = this.known(`node ${path}`) as { chunks: (number | number[])[]; shape: number[]; dtype: string };
    const items = parseSelection(sel, node.shape) ?? [];
    const chunk = items.map(({ begin }, axis) => chunkCuts(node.shape[axis], node.chunks[axis]).find(begin));
    const texts = [...values].map(shortest);
    const found: Record<string, unknown> = { dtype: node.dtype, chunk, ...(texts.length === 1 ? { text: texts[0] } : { texts }) };
    if (params.as === "cf" && `cf ${path}` in this.data.tiles) {
      const meant = await this.values(path, sel, params);
      found.meant = [...meant.values].map((one) => (Number.isNaN(one) ? "missing" : shortest(one)));
    }
    return json(found);
  };

  private cells = async (path: string, params: Params): Promise<Answer> => {
    const { shape, values } = await this.values(path, String(params.sel ?? ""), { as: "raw" });
    return json({ shape, cells: [...values].map(shortest) });
  };

  private series = async (path: string, params: Params): Promise<Answer> => {
    const axis = Number(params.axis ?? 0);
    const node = this.known(`node ${path}`) as { shape: number[] };
    const begin = Number(params.begin ?? 0);
    const end = Number(params.end ?? node.shape[axis]);
    const index = String(params.index ?? "").split(",");
    const sel = node.shape.map((_, at) => (at === axis ? `${begin}:${end}` : index[at])).join(",");
    const { values } = await this.values(path, sel, params);
    const step = Math.max(1, Math.ceil(values.length / Number(params.width ?? 1000)));
    const bins = Array.from({ length: Math.ceil(values.length / step) }, (_, at) => extremes(values.subarray(at * step, (at + 1) * step)));
    const known = (end_: 0 | 1) => bins.map((ends) => (ends[0] <= ends[1] ? ends[end_] : null));
    return json({ axis, begin, length: values.length, step, min: known(0), max: step === 1 ? null : known(1) });
  };

  private stats = async (path: string, params: Params): Promise<Answer> => {
    const { values } = await this.values(path, String(params.sel ?? ""), params);
    const finite = values.filter(Number.isFinite);
    const [min, max] = extremes(finite);
    const mean = finite.reduce((sum, value) => sum + value, 0) / finite.length;
    const spread = Math.sqrt(finite.reduce((sum, value) => sum + (value - mean) ** 2, 0) / finite.length);
    const bins = finite.length ? Number(params.bins ?? 256) : 0;
    const [low, high] = max > min ? [min, max] : [min, min + 1];
    const histogram = new Array<number>(bins).fill(0);
    for (const value of finite) histogram[Math.min(bins - 1, Math.floor(((value - low) / (high - low)) * bins))]++;
    const edges = bins ? Array.from({ length: bins + 1 }, (_, at) => low + ((high - low) * at) / bins) : [];
    const nan = values.reduce((count, value) => count + (Number.isNaN(value) ? 1 : 0), 0);
    const known = finite.length ? { min, max, mean, std: spread } : { min: null, max: null, mean: null, std: null };
    return json({ count: values.length, nan, inf: values.length - finite.length - nan, ...known, percentiles: {}, histogram, edges, exact: true });
  };

  private projection = async (path: string, params: Params): Promise<Answer> => {
    const sel = String(params.sel ?? "");
    const node = this.known(`node ${path}`) as { shape: number[] };
    const items = parseSelection(sel, node.shape) ?? [];
    const along = items.slice(0, Number(params.along)).filter(({ single }) => !single).length;
    const { shape, values } = await this.values(path, sel, params);
    const inner = shape.slice(along + 1).reduce((a, b) => a * b, 1);
    const outer = shape.slice(0, along).reduce((a, b) => a * b, 1);
    const found = new Float32Array(outer * inner);
    for (let at = 0; at < found.length; at++) {
      const column: number[] = [];
      for (let depth = 0; depth < shape[along]; depth++) {
        const value = values[(Math.floor(at / inner) * shape[along] + depth) * inner + (at % inner)];
        if (!Number.isNaN(value)) column.push(value);
      }
      const [low, high] = extremes(column);
      const mean = column.reduce((a, b) => a + b, 0) / column.length;
      found[at] = column.length ? { max: high, min: low, mean }[String(params.how ?? "max")] ?? Number.NaN : Number.NaN;
    }
    const known = rangeOf(found);
    const kept = shape.toSpliced(along, 1).join(",");
    return { status: 200, headers: { "x-zarrix-type": "f4", "x-zarrix-shape": kept, ...known }, body: found.buffer };
  };

  private profile = async (path: string, params: Params): Promise<Answer> => {
    const [y0, x0, y1, x1] = String(params.ends).split(",").map(Number);
    const [y, x] = String(params.axes).split(",").map(Number);
    const index = String(params.index).split(",");
    const count = Math.max(Math.abs(y1 - y0), Math.abs(x1 - x0)) + 1;
    const sel = index.map((one, axis) => (axis === y || axis === x ? ":" : one)).join(",");
    const { shape, values } = await this.values(path, sel, params);
    const part = (at: number) => (count === 1 ? 0 : at / (count - 1));
    const rows = Array.from({ length: count }, (_, at) => Math.floor(y0 + part(at) * (y1 - y0) + 0.5));
    const columns = Array.from({ length: count }, (_, at) => Math.floor(x0 + part(at) * (x1 - x0) + 0.5));
    const found = rows.map((row, at) => values[y < x ? row * shape[1] + columns[at] : columns[at] * shape[1] + row]);
    const distances = rows.map((row, at) => Math.hypot(row - y0, columns[at] - x0));
    return json({ rows, columns, distances, values: found.map((one) => (Number.isNaN(one) ? null : one)) });
  };

  /** Which chunks of a part are stored, from those of the whole array. */
  private stored(path: string, sel: string): Stored {
    const all = this.known(`stored ${path}`) as Stored;
    const node = this.known(`node ${path}`) as { shape: number[]; chunks: ChunkLengths; shards: ChunkLengths | null };
    const lengths = all.unit === "shard" && node.shards ? node.shards : node.chunks;
    const items = parseSelection(sel, node.shape);
    if (!items) return all;
    const bits = new Uint8Array(all.runs.reduce((a, b) => a + b, 0));
    let at = 0;
    all.runs.forEach((run, number) => bits.fill(number % 2, at, (at += run)));
    const sides = all.box.map(([begin, end]) => end - begin);
    const box = items.map(({ begin, end }, axis): [number, number] => {
      const cuts = chunkCuts(node.shape[axis], lengths[axis]);
      return [cuts.find(begin), cuts.find(Math.max(begin, end - 1)) + 1];
    });
    const chosen = box.map(([begin, end]) => ({ begin, end, step: 1, whole: false, single: false }));
    const { data } = cut({ shape: sides, data: bits }, chosen);
    const runs: number[] = [];
    let bit = 0;
    let run = 0;
    for (const one of data) {
      if (one !== bit) {
        runs.push(run);
        run = 0;
        bit = one;
      }
      run++;
    }
    runs.push(run);
    return { ...all, box, runs, stored: data.filter((one) => one === 1).length };
  }
}

type ChunkLengths = (number | number[])[];
interface Part { shape: number[]; data: Tile["data"] }

/** A part of an array in C order, as a copy. */
function cut({ shape, data }: Pick<Tile, "shape" | "data">, items: Item[]): Part {
  const strides: number[] = [];
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  const counts = items.map(({ begin, end, step }) => Math.max(0, Math.ceil((end - begin) / step)));
  const total = counts.reduce((a, b) => a * b, 1);
  const found = data.slice(0, 0).constructor as new (length: number) => Tile["data"];
  const out = new found(total);
  const at = counts.map(() => 0);
  let source = items.reduce((sum, { begin }, axis) => sum + begin * strides[axis], 0);
  for (let element = 0; element < total; element++) {
    out[element] = data[source];
    for (let axis = counts.length - 1; axis >= 0; axis--) {
      source += strides[axis] * items[axis].step;
      if (++at[axis] < counts[axis]) break;
      source -= counts[axis] * strides[axis] * items[axis].step;
      at[axis] = 0;
    }
  }
  return { shape: counts.filter((_, axis) => !items[axis].single), data: out };
}

function numbers(type: TileType, data: Tile["data"]): Float64Array {
  const table = numbersOf(type);
  return table ? Float64Array.from(asBits(data), (bits) => table[bits]) : Float64Array.from(data);
}

/** The least and the greatest finite number; the first is larger where there is none. */
function extremes(values: ArrayLike<number>): [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (value < low && value !== Number.NEGATIVE_INFINITY) low = value;
    if (value > high && value !== Number.POSITIVE_INFINITY) high = value;
  }
  return [low, high];
}

/** The headers of a tile that tell its range. */
function rangeOf(values: ArrayLike<number>): Record<string, string> {
  const [min, max] = extremes(values);
  return min <= max ? { "x-zarrix-min": String(min), "x-zarrix-max": String(max) } : {};
}

/** The shortest text that is the same number as float32, in which values are. */
function shortest(value: number): string {
  if (Number.isInteger(value) || !Number.isFinite(value)) return String(value);
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return String(short);
  }
  return String(Number(value.toPrecision(9)));
}

async function unpacked(text: string): Promise<ArrayBuffer> {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

function json(value: unknown, status = 200): Answer {
  // As the server does: JSON has no numbers that are not finite.
  const text = JSON.stringify(value, (_, one: unknown) => (typeof one === "number" && !Number.isFinite(one) ? String(one) : one));
  return { status, headers: { "content-type": "application/json" }, body: new TextEncoder().encode(text).buffer as ArrayBuffer };
}
