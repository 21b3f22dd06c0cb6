// The routes of the server, typed. What comes from a store is text and numbers, and is shown as text.
import { type Answer, type Params, RequestError, type Transport } from "./transport";

export type Kind =
  | "rgb" | "channels" | "gray" | "flow" | "depth" | "labels" | "mask" | "complex"
  | "line" | "table" | "text" | "struct" | "ragged" | "scalar";

/** Kinds that are drawn as a picture of the axes y and x. */
export const PICTURES: readonly Kind[] =
  ["rgb", "channels", "gray", "flow", "depth", "labels", "mask", "complex"];

export type Axes = { y?: number; x?: number; c?: number | null };

export interface Channel {
  name: string;
  color: string | null;
  range: [number, number] | null;
  active: boolean;
}

export interface Guess {
  kind: Kind;
  axes: Axes;
  range: [number, number] | null;
  channels?: Channel[] | null;
  reason?: string;
}

export interface Level { path: string; shape: number[]; scale: number[] }

export interface Sibling {
  path: string;
  shape: number[];
  dtype: string;
  guess: Guess;
  ratio: [number, number];
}

export interface Coordinate { path: string; length: number; dtype: string }

/** The labels of an axis: all of them, or the begin and the step of even numbers. */
export interface AxisLabels {
  path?: string;
  kind: string;
  unit: string | null;
  north?: boolean;
  begin?: number;
  step?: number;
  labels?: (number | string | null)[];
  /** Of many even times: milliseconds since 1970. */
  times?: { begin: number; step: number };
}

/** What costs requests, and is asked after the picture. */
export interface Related { coordinates: (Coordinate | null)[]; siblings: Sibling[] }

export interface ArrayNode {
  path: string;
  name: string;
  kind: "array";
  zarr_format: number;
  shape: number[];
  dtype: string;
  dims: (string | null)[] | null;
  units?: (string | null)[] | null;
  /** Whether stored values are packed or have missing ones, by the CF conventions. */
  decodes: boolean;
  /** Of the values. */
  unit: string | null;
  tile: TileType | null;
  components: number;
  fields: { name: string; dtype: string; tile: TileType | null }[] | null;
  chunks: (number | number[])[];
  shards: (number | number[])[] | null;
  grid: number[];
  codecs: string[];
  fill_value: string;
  order: string;
  nbytes: number;
  store: string;
  remote: boolean;
  attributes: Record<string, unknown>;
  attributes_truncated: boolean;
  badges: string[];
  guess: Guess;
  kinds: Kind[];
  levels: Level[];
  etag: string;
}

export interface GroupNode {
  path: string;
  name: string;
  kind: "group";
  zarr_format: number;
  attributes: Record<string, unknown>;
  attributes_truncated: boolean;
  badges: string[];
  members?: number | null;
  first: string | null;
}

export type Node = ArrayNode | GroupNode;

export interface Member {
  path: string;
  name: string;
  kind: "array" | "group" | "broken";
  shape?: number[];
  dtype?: string;
  nbytes?: number;
  badges?: string[];
  reason?: string;
}

export interface Tree { path: string; total: number; offset: number; members: Member[]; truncated?: boolean }

export interface Hello {
  version: string;
  title: string;
  roots: string[];
  root: Node;
  first: string | null;
  limits: { elements: number; cells: number; chunks: number; overview_bytes: number; connections: number };
  interactive: boolean;
  /** Arrays whose values a page without a server does not have. */
  left_out?: string[];
}

export type TileType = "u1" | "i1" | "u2" | "i2" | "f2" | "f4" | "u4";

export interface Tile {
  type: TileType;
  shape: number[];
  data: Uint8Array | Int8Array | Uint16Array | Int16Array | Float32Array | Uint32Array;
  min: number | null;
  max: number | null;
  headers: Record<string, string>;
  /** What the numbers are differences from; null if they are the values. */
  origin: Origin | null;
  /** Where chunks do not decode: begin and end along each axis of the tile. */
  damage: { boxes: [number, number][][]; sentence: string } | null;
}

export interface Origin { text: string; count: string }

export interface Value { text?: string; texts?: string[]; dtype: string; chunk: number[]; meant?: string[] }
export interface Cells {
  shape: number[];
  cells: string[];
  /** The fields of structured elements, and the text of each. */
  columns?: string[];
  rows?: string[][];
}
export interface Series {
  axis: number;
  /** The first index, and how many follow. */
  begin: number;
  length: number;
  step: number;
  min: (number | null | string)[];
  max: (number | null | string)[] | null;
  text?: boolean;
}
/** The elements that a line passes. */
export interface Profile { rows: number[]; columns: number[]; distances: number[]; values: (number | null | string)[] }
export interface Stored {
  box: [number, number][];
  runs: number[];
  stored: number;
  bytes: number | null;
  unit: "chunk" | "shard";
  shards?: { box: [number, number][]; runs: number[] };
}
/** A number for each chunk of a plane, in rows; null where none is stored. */
export interface ChunkGrid { rows: [number, number]; columns: [number, number]; unit: "chunk" | "shard"; values: (number | null)[] }
export interface ChunkFacts {
  coords: number[];
  key: string;
  stored: boolean;
  bytes: number | null;
  raw_bytes: number;
  ratio: number | null;
  checksum: boolean;
}
export interface Stats {
  count: number;
  nan: number;
  inf: number;
  fill?: number;
  damaged?: number;
  min: number | string | null;
  max: number | string | null;
  mean: number | string | null;
  std: number | string | null;
  percentiles: Record<string, number | string>;
  histogram: number[];
  edges: number[];
  exact: boolean;
  sampled?: number;
}
export interface Code { python: string; cli: string }

/** A number of JSON, where numbers that are not finite are text. */
export function toNumber(value: number | string | null | undefined): number {
  if (typeof value === "number") return value;
  if (value === null || value === undefined) return Number.NaN;
  return Number(value);
}

const VIEWS = {
  u1: Uint8Array,
  i1: Int8Array,
  u2: Uint16Array,
  i2: Int16Array,
  // The bits: tables of 65,536 entries turn them into colours and numbers.
  f2: Uint16Array,
  f4: Float32Array,
  u4: Uint32Array,
};

export function asTile({ headers, body }: Answer): Tile {
  const type = (headers["x-zarrix-type"] ?? "u1") as TileType;
  const shape = (headers["x-zarrix-shape"] ?? "").split(",").filter(Boolean).map(Number);
  const finite = (text: string | undefined) => (text === undefined || text === "" ? null : Number(text));
  return {
    type,
    shape,
    data: new VIEWS[type](body),
    min: finite(headers["x-zarrix-min"]),
    max: finite(headers["x-zarrix-max"]),
    headers,
    origin: "x-zarrix-origin" in headers ? { text: headers["x-zarrix-origin"], count: headers["x-zarrix-offset"] } : null,
    damage: "x-zarrix-damage" in headers ? (JSON.parse(headers["x-zarrix-damage"]) as Tile["damage"]) : null,
  };
}

/** The difference of two origins. They are whole numbers of up to 64 bits, or floating-point ones. */
export function difference(one: string, two: string): number {
  const whole = /^-?\d+$/;
  return whole.test(one) && whole.test(two) ? Number(BigInt(one) - BigInt(two)) : Number(one) - Number(two);
}

/** Makes the numbers of a tile differences from `origin`, as those of the other tiles are. */
export function rebase(tile: Tile, origin: Origin): void {
  const by = difference(tile.origin?.count ?? "0", origin.count);
  if (by === 0) return;
  const { data } = tile;
  for (let at = 0; at < data.length; at++) data[at] += by;
  if (tile.min !== null) tile.min += by;
  if (tile.max !== null) tile.max += by;
}

export class Api {
  constructor(readonly transport: Transport) {}

  async octets(route: string, params: Params, signal?: AbortSignal): Promise<Answer> {
    for (let attempt = 0; ; attempt++) {
      const answer = await this.transport.request(route, params, signal);
      if (answer.status < 400) return answer;
      if (answer.status === 503 && attempt < 4) {
        await new Promise((resolve) => setTimeout(resolve, 200 << attempt));
        if (signal?.aborted) throw signal.reason;
        continue;
      }
      throw refusal(answer);
    }
  }

  private async json<T>(route: string, params: Params, signal?: AbortSignal): Promise<T> {
    const { body } = await this.octets(route, params, signal);
    return JSON.parse(new TextDecoder().decode(body)) as T;
  }

  hello = () => this.json<Hello>("hello", {});
  tree = (path: string, offset: number, limit: number, filter = "") =>
    this.json<Tree>("tree", { path, offset, limit, filter });
  node = (path: string) => this.json<Node>("node", { path });
  coordinates = (path: string) => this.json<{ axes: (AxisLabels | null)[] }>("coordinates", { path });
  find = (path: string, axis: number, label: string) => this.json<{ index: number; last: number }>("find", { path, axis, label });
  related = (path: string) => this.json<Related>("related", { path });
  value = (path: string, index: string, options: { field?: string; as?: string }, signal?: AbortSignal) =>
    this.json<Value>("value", { path, index, ...options }, signal);
  cells = (path: string, sel: string, field?: string) => this.json<Cells>("cells", { path, sel, field });
  series = (path: string, axis: number, index: string, options: Params, signal?: AbortSignal) =>
    this.json<Series>("series", { path, axis, index, ...options }, signal);
  profile = (params: Params, signal?: AbortSignal) => this.json<Profile>("profile", params, signal);
  stored = (path: string, sel: string) => this.json<Stored>("stored", { path, sel });
  chunks = (params: Params, signal?: AbortSignal) => this.json<ChunkGrid>("chunks", params, signal);
  chunk = (path: string, coords: number[]) =>
    this.json<ChunkFacts>("chunk", { path, coords: coords.join(",") });
  plan = (path: string, sel: string) => this.json<Record<string, unknown>>("plan", { path, sel });
  stats = (path: string, sel: string, options: Params, signal?: AbortSignal) =>
    this.json<Stats>("stats", { path, sel, ...options }, signal);
  code = (path: string, sel: string) => this.json<Code>("code", { path, sel });

  async tile(path: string, sel: string, field: string | undefined, as: "raw" | "label" | "cf", signal?: AbortSignal) {
    return asTile(await this.octets("tile", { path, sel, field, as }, signal));
  }

  async overview(params: Params, signal?: AbortSignal) {
    return asTile(await this.octets("overview", params, signal));
  }

  async projection(params: Params, signal?: AbortSignal) {
    return asTile(await this.octets("projection", params, signal));
  }

  async crops(path: string, shape: string, n: number, seed: number) {
    return asTile(await this.octets("crops", { path, shape, n, seed }));
  }
}

function refusal({ status, body }: Answer): RequestError {
  const text = new TextDecoder().decode(body);
  try {
    const { error, kind } = JSON.parse(text) as { error?: string; kind?: string };
    return new RequestError(status, error ?? text, kind ?? "");
  } catch {
    return new RequestError(status, text || `The server answered with status ${status}.`, "");
  }
}
