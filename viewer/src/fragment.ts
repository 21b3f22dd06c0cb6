// The state of the viewer as the fragment of its address, so that a reload or a link shows the same.
//
// The token is never part of it: it is taken from the first address and cached for the tab.
import type { Axes, Kind } from "./api";
import type { Measure } from "./chunkmap";
import type { OverState } from "./over";

export interface PaneState {
  path: string;
  field?: string;
  kind?: Kind;
  axes?: Axes;
  range?: [number, number];
  map?: string;
  transform?: string;
  /** The range is that of the values, without so many percent of them at each end. */
  clip?: number;
  /** Each frame has a range of its own. */
  eachFrame?: boolean;
  outlines?: boolean;
  raw?: boolean;
  upright?: boolean;
  channels?: Channel[];
  /** The axis along which the largest, smallest or mean value is shown. */
  projection?: Projection;
  /** A second array in the picture. */
  over?: OverState;
  /** Coast lines are drawn, where there can be. */
  coast?: boolean;
  /** By what its chunks are coloured. */
  chunks?: Measure;
  /** One of three planes through a point, with a view of its own. */
  cross?: boolean;
  view?: [number, number, number];
}

export const WAYS = ["max", "min", "mean"] as const;
export interface Projection { axis: number; how: (typeof WAYS)[number] }

interface Channel { active: boolean; color: string; gamma: number; range: [number, number] | null }

export interface State {
  panes: PaneState[];
  /** Indices of axes by their names. */
  at: Record<string, number>;
  /** Centre in fractions of the plane, and how many CSS pixels the width of a plane takes. */
  view?: [number, number, number];
  /** Whether chunks are outlined, and missing ones hatched. */
  grid?: boolean;
  missing?: boolean;
  /** Elements of panes whose series are shown, and a line: the number of the pane, and rows and columns. */
  pins?: number[][];
  line?: number[];
  /** A selection as on the command line, which outlines a region. */
  sel?: string;
}

export function toFragment(state: State): string {
  const params = new URLSearchParams();
  for (const pane of state.panes) {
    const options: string[] = [];
    if (pane.kind) options.push(`kind:${pane.kind}`);
    if (pane.range) options.push(`range:${pane.range.join(":")}`);
    if (pane.map) options.push(`map:${pane.map}`);
    if (pane.transform) options.push(`transform:${pane.transform}`);
    if (pane.clip !== undefined) options.push(`clip:${pane.clip}`);
    if (pane.eachFrame) options.push("frames:1");
    if (pane.outlines) options.push("outlines:1");
    if (pane.raw) options.push("raw:1");
    for (const { active, color, gamma, range } of pane.channels ?? []) {
      options.push(["channel", active ? 1 : 0, color.replace("#", ""), gamma, ...(range ?? [])].join(":"));
    }
    if (pane.upright !== undefined) options.push(`upright:${pane.upright ? 1 : 0}`);
    if (pane.axes) {
      const { y, x, c } = pane.axes;
      options.push(`axes:${y ?? ""}:${x ?? ""}:${c ?? ""}`);
    }
    if (pane.projection) options.push(`along:${pane.projection.axis}:${pane.projection.how}`);
    if (pane.over) options.push(`over:${pane.over.mode}:${pane.over.opacity}:${pane.over.outlines ? 1 : 0}:${encodeURIComponent(pane.over.path)}`);
    if (pane.chunks) options.push(`chunks:${pane.chunks}`);
    if (pane.coast === false) options.push("coast:0");
    if (pane.cross) options.push("cross");
    if (pane.view) options.push(`view:${pane.view.map((part) => Number(part.toFixed(5))).join(":")}`);
    if (pane.field) options.push(`field:${escaped(pane.field)}`);
    params.append("path", pane.path);
    params.append("as", options.join(";"));
  }
  const at = Object.entries(state.at).filter(([, index]) => index !== 0);
  for (const [name, index] of at) params.append("at", `${name}=${index}`);
  if (state.view) params.append("view", state.view.map((part) => Number(part.toFixed(5))).join(","));
  if (state.grid) params.append("grid", "1");
  if (state.missing === false) params.append("missing", "0");
  for (const pin of state.pins ?? []) params.append("pin", pin.join(","));
  if (state.line) params.append("line", state.line.join(","));
  if (state.sel) params.append("sel", state.sel);
  return params.toString();
}

/** A name without what separates options and their parts. */
function escaped(name: string): string {
  return name.replace(/[%;:]/g, encodeURIComponent);
}

/** What was escaped; a text that nothing escaped, as in an address that a person wrote, stays as it is. */
function unescaped(text: string): string {
  return text.replace(/%(25|3A|3B)/gi, decodeURIComponent);
}

export function fromFragment(fragment: string): State & { token: string | null } {
  const params = new URLSearchParams(fragment.replace(/^#/, ""));
  const as = params.getAll("as");
  const panes = params.getAll("path").slice(0, 6).map((path, number) => paneOf(path, as[number] ?? ""));
  const at: Record<string, number> = {};
  for (const text of params.getAll("at")) {
    const end = text.lastIndexOf("=");
    const index = Number(text.slice(end + 1));
    if (end > 0 && Number.isSafeInteger(index) && index >= 0) at[text.slice(0, end)] = index;
  }
  return {
    token: params.get("token"),
    panes,
    at,
    view: viewOf((params.get("view") ?? "").split(",")),
    ...(params.get("grid") === "1" && { grid: true }),
    ...(params.get("missing") === "0" && { missing: false }),
    ...(params.has("pin") && { pins: params.getAll("pin").slice(0, 8).flatMap((text) => wholesOf(text, 3)) }),
    ...(params.has("line") && { line: wholesOf(params.get("line") ?? "", 5)[0] }),
    sel: params.get("sel") ?? undefined,
  };
}

/** So many whole numbers of a text, as a list of one list; an empty list if it is not that. */
function wholesOf(text: string, count: number): number[][] {
  const found = text.split(",").map((part) => Number(part || Number.NaN));
  return found.length === count && found.every((one) => Number.isSafeInteger(one) && one >= 0) ? [found] : [];
}

function viewOf(parts: string[]): [number, number, number] | undefined {
  const view = parts.map((part) => Number(part || Number.NaN));
  return view.length === 3 && view.every((part) => Number.isFinite(part)) ? (view as [number, number, number]) : undefined;
}

function paneOf(path: string, options: string): PaneState {
  const pane: PaneState = { path };
  for (const option of options.split(";")) {
    const [name, ...rest] = option.split(":");
    const value = rest.join(":");
    if (name === "kind") pane.kind = value as Kind;
    if (name === "map") pane.map = value;
    if (name === "transform") pane.transform = value;
    if (name === "clip" && value !== "" && Number(value) >= 0 && Number(value) < 50) pane.clip = Number(value);
    if (name === "frames") pane.eachFrame = true;
    if (name === "outlines") pane.outlines = true;
    if (name === "raw") pane.raw = true;
    if (name === "channel") {
      const channel = channelOf(rest);
      if (channel) (pane.channels ??= []).push(channel);
    }
    if (name === "upright") pane.upright = value === "1";
    if (name === "field") pane.field = unescaped(value);
    if (name === "cross") pane.cross = true;
    if (name === "along") {
      const how = WAYS.find((one) => one === rest[1]);
      const axis = Number(rest[0] || Number.NaN);
      if (how && Number.isInteger(axis)) pane.projection = { axis, how };
    }
    if (name === "chunks") pane.chunks = (["bytes", "ratio", "age"] as const).find((one) => one === value);
    if (name === "coast") pane.coast = value !== "0";
    if (name === "over") pane.over = overOf(rest);
    if (name === "view") pane.view = viewOf(rest);
    if (name === "range") {
      const range = rest.map(Number);
      if (range.length === 2 && range.every((part) => Number.isFinite(part))) pane.range = range as [number, number];
    }
    if (name === "axes") {
      const [y, x, c] = rest.map((text) => (text === "" ? undefined : Number(text)));
      pane.axes = { y, x, c: c ?? null };
    }
  }
  return pane;
}

function overOf([mode, opacity, outlines, path]: string[]): OverState | undefined {
  const known = (["labels", "blink", "difference"] as const).find((one) => one === mode);
  const part = Number(opacity || Number.NaN);
  if (!known || !path || !(part >= 0 && part <= 1)) return undefined;
  try {
    return { mode: known, opacity: part, outlines: outlines === "1", path: decodeURIComponent(path) };
  } catch {
    // What is not the text of a path names none.
    return undefined;
  }
}

function channelOf([active, color, gamma, ...ends]: string[]): Channel | null {
  const power = Number(gamma);
  if (!/^[0-9a-f]{6}$/i.test(color ?? "") || !(power >= 0.1 && power <= 5)) return null;
  const range = ends.map(Number);
  const isRange = range.length === 2 && range.every((end) => Number.isFinite(end));
  return { active: active === "1", color: `#${color}`, gamma: power, range: isRange ? (range as [number, number]) : null };
}

export interface Item { begin: number; end: number; step: number; whole: boolean; single: boolean }

/** The items of a selection text on an array of `shape`; null if it does not fit. */
export function parseSelection(text: string, shape: number[]): Item[] | null {
  let parts = text.trim() === "" ? [] : text.split(",").map((part) => part.trim());
  const dots = parts.indexOf("...");
  if (dots >= 0) {
    const fill = Array<string>(Math.max(0, shape.length - parts.length + 1)).fill(":");
    parts = [...parts.slice(0, dots), ...fill, ...parts.slice(dots + 1)];
  }
  if (parts.length > shape.length) return null;
  while (parts.length < shape.length) parts.push(":");
  const items: Item[] = [];
  for (const [axis, part] of parts.entries()) {
    if (!/^-?\d*(:-?\d*(:\d*)?)?$/.test(part) || part === "" || part === "-") return null;
    const length = shape[axis];
    const at = (value: string, fallback: number) => {
      if (value === "") return fallback;
      const index = Number(value);
      return Math.max(0, Math.min(length, index < 0 ? index + length : index));
    };
    const [begin, end, step] = part.split(":");
    if (end === undefined) {
      const index = at(begin, 0);
      items.push({ begin: index, end: index + 1, step: 1, whole: false, single: true });
    } else {
      items.push({ begin: at(begin, 0), end: at(end, length), step: Number(step || 1), whole: begin === "" && end === "", single: false });
    }
  }
  return items;
}
