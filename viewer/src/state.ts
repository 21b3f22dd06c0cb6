// The state of one viewer, as signals, and what can be done with it.
import { batch, computed, type Signal, signal } from "@preact/signals";
import {
  type Api, type ArrayNode, type Axes, type AxisLabels, type Guess, type Kind, type Node, type Origin, PICTURES, type Related,
  type Stored,
} from "./api";
import { Connection } from "./connection";
import { fromFragment, type PaneState, parseSelection, type Projection, type State } from "./fragment";
import { labelAt } from "./labels";
import { type Mode, Over, type OverState } from "./over";
import { MAPS } from "./paint/colours";
import type { ChannelLook, Look } from "./paint/paint";
import type { Transform } from "./paint/values";
import { type Box, selection } from "./plane";
import { Tiles } from "./tiles";
import { RequestError, Unreachable } from "./transport";

/** One array that is shown. The fields that a user changes are signals. */
export class Pane {
  private static numbers = 0;
  readonly id = Pane.numbers++;
  readonly kind: Signal<Kind>;
  readonly axes: Signal<Axes>;
  readonly field: Signal<string | undefined>;
  /** null: from the smallest to the largest finite value of the first frame that is seen. */
  readonly range: Signal<[number, number] | null>;
  /** The range in use, where `range` is null. */
  readonly found: Signal<[number, number] | null> = signal(null);
  readonly perFrame = signal(false);
  readonly map: Signal<string>;
  readonly transform: Signal<Transform>;
  scaleChosen: boolean;
  readonly outlines = signal(false);
  readonly channels: Signal<ChannelChoice[]>;
  /** The ranges in use of channels of which none is chosen. */
  readonly foundChannels: Signal<([number, number] | null)[]> = signal([]);
  /** What the numbers of tiles are differences from. */
  readonly origin: Signal<Origin | null> = signal(null);
  readonly ready = signal(false);
  readonly message = signal("");
  readonly quality = signal("");
  /** A projection reads only every n-th plane. */
  readonly every = signal(1);
  /** Missing chunks look like stored ones, because the server has not said which they are. */
  readonly hidesMissing = signal(false);
  readonly stored: Signal<Stored | null> = signal(null);
  /** What `stored` is the answer to, and whether it could not be had. */
  storedKey = "";
  storedFailed = false;
  /** Labels of the axes, once they are known. */
  readonly labels: Signal<(AxisLabels | null)[] | null> = signal(null);
  /** Stored values are shown, not what they mean. */
  readonly raw: Signal<boolean>;
  /** The user's choice of which way is up; undefined: north is, where that is known. */
  readonly upright: Signal<boolean | undefined> = signal(undefined);
  /** The axis along which the largest, smallest or mean value is shown; null: one plane is. */
  readonly projection: Signal<Projection | null>;
  /** A second array in this picture. */
  readonly over: Signal<Over | null> = signal(null);
  /** One of three planes through a point: a click moves the point. */
  readonly cross: boolean;
  /** The view of one of three planes, which are not the same plane. */
  readonly ownView: Signal<[number, number, number] | null>;
  /** Coordinates and arrays of the same scene, once they are known. */
  readonly related: Signal<Related | null> = signal(null);

  constructor(
    readonly node: ArrayNode,
    state: PaneState,
  ) {
    const { guess } = node;
    const kind = state.kind && allKinds(node).includes(state.kind) ? state.kind : guess.kind;
    this.kind = signal(kind);
    this.axes = signal(checkedAxes(state.axes, node) ?? axesFor(node, kind));
    this.field = signal(state.field ?? (kind === "struct" ? undefined : node.fields?.[0]?.name));
    this.range = signal(state.range ?? usualRange(guess, kind));
    this.map = signal(state.map && (MAPS as readonly string[]).includes(state.map) ? state.map : usualMap(kind));
    this.transform = signal(state.transform === "inverse" || state.transform === "log" ? state.transform : "linear");
    this.scaleChosen = state.transform !== undefined || this.range.value !== null;
    this.outlines.value = state.outlines ?? false;
    this.raw = signal(state.raw ?? false);
    this.cross = state.cross ?? false;
    this.ownView = signal(state.view ?? null);
    this.projection = signal(checkedProjection(state.projection, node, this.axes.value));
    this.upright.value = state.upright;
    const usual = usualChannels(node, this.axes.value);
    this.channels = signal(usual.map((channel, at) => ({ ...channel, ...state.channels?.[at] })));
  }

  /** Whether values are decoded by the CF conventions. */
  get decodes(): boolean {
    return this.node.decodes && !this.raw.value && !["labels", "mask"].includes(this.kind.value);
  }

  /** How values are asked for. */
  get form(): "cf" | "raw" {
    return this.decodes ? "cf" : "raw";
  }

  /** Whether the first row is at the bottom: latitudes that grow have north at the top. */
  readonly flipped = computed<boolean>(() => {
    if (this.upright.value !== undefined) return !this.upright.value;
    const { y } = this.axes.value;
    const labels = y === undefined ? null : this.labels.value?.[y];
    if (!labels?.north) return false;
    if (labels.step !== undefined) return labels.step > 0;
    const numbers = (labels.labels ?? []).filter((label) => typeof label === "number");
    return numbers.length > 1 && numbers[0] < numbers[numbers.length - 1];
  });

  get picture(): boolean {
    return PICTURES.includes(this.kind.value);
  }

  /** Height and width of the plane, in elements. */
  get extent(): { height: number; width: number } {
    const { y, x } = this.axes.value;
    const of = (axis: number | undefined) => (axis === undefined ? 1 : this.node.shape[axis]);
    return { height: of(y), width: of(x) };
  }

  /** The tiles' type, of the field if there are fields. */
  get tileType() {
    const { fields, tile } = this.node;
    return fields ? (fields.find(({ name }) => name === this.field.value)?.tile ?? null) : tile;
  }

  get channelCount(): number {
    if (this.node.components > 1) return this.node.components;
    const { c } = this.axes.value;
    return typeof c === "number" ? this.node.shape[c] : 1;
  }

  readonly look = computed<Look>(() => ({
    ...(this.over.value?.mode === "difference" && { even: true }),
    kind: (PICTURES.includes(this.kind.value) ? this.kind.value : "gray") as Look["kind"],
    range: this.range.value ?? this.found.value ?? [0, 1],
    map: this.map.value,
    transform: this.transform.value,
    outlines: this.outlines.value,
    channels: this.channels.value.map((channel, at) => ({
      ...channel,
      range: channel.range ?? this.foundChannels.value[at] ?? [0, 1],
    })),
  }));

  dimension(axis: number): string {
    return dimensionName(this.node, axis);
  }

  /** A place on an axis as text: its label and its index. */
  placeOf(axis: number, index: number): string {
    const label = labelAt(this.labels.value?.[axis], index);
    return label === null ? `${this.dimension(axis)}=${index}` : `${this.dimension(axis)} ${label} [${index}]`;
  }

  /** What a projection shows, in words. */
  get projected(): string {
    const projection = this.projection.value;
    if (!projection) return "";
    const what = { max: "largest", min: "smallest", mean: "mean" }[projection.how];
    return `${what} along ${this.dimension(projection.axis)}`;
  }

  /** The axes that have sliders: not shown, and not those of a table or curve. */
  get otherAxes(): number[] {
    const { y, x, c } = this.axes.value;
    const along = this.projection.value?.axis;
    return this.node.shape.map((_, axis) => axis).filter((axis) => ![y, x, c, along].includes(axis));
  }

  /** Axes along which a projection is possible. */
  get depths(): number[] {
    const { y, x, c } = this.axes.value;
    if (this.node.components > 1 || /^(datetime|timedelta)/.test(this.node.dtype)) return [];
    if (!this.picture || this.kind.value === "labels") return [];
    return this.node.shape.map((_, axis) => axis).filter((axis) => ![y, x, c].includes(axis) && this.node.shape[axis] > 1);
  }

  /** How many planes of an array of these axes one picture reads. */
  depthOf({ shape }: ArrayNode): number {
    const along = this.projection.value?.axis;
    return along === undefined ? 1 : shape[along];
  }

  project(projection: Projection | null): void {
    batch(() => {
      this.projection.value = projection;
      if (this.over.value?.mode === "difference") this.setOver(null);
      this.forgetRanges();
    });
  }

  setOver(over: Over | null): void {
    const before = this.over.value;
    batch(() => {
      this.over.value = over;
      if (before?.mode !== "difference" && over?.mode !== "difference") return;
      this.projection.value = null;
      this.forgetRanges();
      this.range.value = over?.mode === "difference" ? null : this.range.value;
      this.transform.value = "linear";
      this.map.value = over?.mode === "difference" ? "coolwarm" : usualMap(this.kind.value);
    });
  }

  private forgetRanges(): void {
    this.range.value = usualRange(this.node.guess, this.kind.value);
    this.found.value = null;
    this.foundChannels.value = [];
    this.origin.value = null;
  }

  /** Depth from near to a distant horizon is seen on a logarithmic scale; the user's choice stays. */
  adaptScale([low, high]: [number, number]): void {
    if (this.scaleChosen || this.kind.value !== "depth" || low <= 0) return;
    this.transform.value = high / low > 30 ? "log" : "linear";
  }

  setKind(kind: Kind): void {
    batch(() => {
      this.kind.value = kind;
      this.axes.value = axesFor(this.node, kind);
      this.projection.value = null;
      this.over.value = null;
      this.range.value = usualRange(this.node.guess, kind);
      this.found.value = null;
      this.map.value = usualMap(kind);
      this.transform.value = "linear";
      this.channels.value = usualChannels(this.node, this.axes.value);
      this.foundChannels.value = [];
      if (PICTURES.includes(kind)) this.field.value ??= this.node.fields?.[0]?.name;
    });
  }

  toState(): PaneState {
    const state: PaneState = { path: this.node.path };
    const { kind, axes } = this;
    if (kind.value !== this.node.guess.kind) state.kind = kind.value;
    if (JSON.stringify(axes.value) !== JSON.stringify(axesFor(this.node, kind.value))) state.axes = axes.value;
    const usual = usualRange(this.node.guess, kind.value);
    if (this.range.value && JSON.stringify(this.range.value) !== JSON.stringify(usual)) state.range = this.range.value;
    if (this.map.value !== usualMap(kind.value)) state.map = this.map.value;
    if (this.transform.value !== "linear") state.transform = this.transform.value;
    if (this.outlines.value) state.outlines = true;
    if (this.raw.value) state.raw = true;
    if (kind.value === "channels") {
      const chosen = this.channels.value;
      const known = usualChannels(this.node, axes.value);
      if (JSON.stringify(chosen) !== JSON.stringify(known)) state.channels = chosen;
    }
    if (this.projection.value) state.projection = this.projection.value;
    if (this.over.value) state.over = this.over.value.toState();
    if (this.cross) state.cross = true;
    if (this.ownView.value) state.view = this.ownView.value;
    if (this.upright.value !== undefined) state.upright = this.upright.value;
    if (this.field.value !== undefined && this.field.value !== this.node.fields?.[0]?.name) state.field = this.field.value;
    return state;
  }
}

export function dimensionName(node: ArrayNode, axis: number): string {
  return node.dims?.[axis] || `axis ${axis}`;
}

export function allKinds(node: ArrayNode): Kind[] {
  return node.kinds.length ? node.kinds : [node.guess.kind];
}

function checkedAxes(axes: Axes | undefined, node: ArrayNode): Axes | null {
  if (!axes) return null;
  const given = [axes.y, axes.x, axes.c].filter((axis): axis is number => typeof axis === "number");
  const valid = given.every((axis) => Number.isInteger(axis) && axis >= 0 && axis < node.shape.length);
  return valid && new Set(given).size === given.length ? axes : null;
}

function checkedProjection(projection: Projection | undefined, { shape, components }: ArrayNode, { y, x, c }: Axes): Projection | null {
  if (!projection || components > 1) return null;
  const { axis } = projection;
  return axis >= 0 && axis < shape.length && ![y, x, c].includes(axis) ? projection : null;
}

/** The axes of a kind: those of the guess if the kind is the same, else the last two. */
export function axesFor(node: ArrayNode, kind: Kind): Axes {
  const { guess, shape } = node;
  const rank = shape.length;
  if (kind === guess.kind) return guess.axes;
  const { y = rank - 2, x = rank - 1 } = guess.axes;
  if (rank < 2) return kind === "line" || rank === 1 ? { x: 0 } : {};
  if (kind === "line") return { x };
  const fits = (axis: number) => {
    const length = shape[axis];
    if (kind === "rgb") return length === 3 || length === 4;
    if (kind === "flow") return length === 2;
    return kind === "channels" && length <= 8;
  };
  if (kind === "rgb" || kind === "flow" || kind === "channels") {
    const candidates = shape.map((_, axis) => axis).filter((axis) => axis !== y && axis !== x && fits(axis));
    if (candidates.length) return { y, x, c: candidates[candidates.length - 1] };
    // Interleaved: the last axis has the colours.
    if (rank >= 3 && fits(rank - 1)) return { y: rank - 3, x: rank - 2, c: rank - 1 };
  }
  return { y, x, c: null };
}

function usualRange(guess: Guess, kind: Kind): [number, number] | null {
  if (kind === guess.kind) return guess.range;
  return kind === "flow" || kind === "depth" || kind === "complex" ? null : guess.range;
}

function usualMap(kind: Kind): string {
  return kind === "depth" ? "turbo" : "gray";
}

const CHANNEL_COLOURS = ["#ff0000", "#00ff00", "#0000ff", "#ffffff", "#ff00ff", "#00ffff", "#ffff00", "#ff8000"];

/** How a channel is drawn; without a range, from its smallest to its largest value. */
export type ChannelChoice = Omit<ChannelLook, "range"> & { range: [number, number] | null };

function usualChannels(node: ArrayNode, axes: Axes): ChannelChoice[] {
  const count = typeof axes.c === "number" ? Math.min(8, node.shape[axes.c]) : 1;
  const known = node.guess.channels ?? [];
  return Array.from({ length: count }, (_, index) => ({
    range: known[index]?.range ?? node.guess.range,
    color: known[index]?.color ?? CHANNEL_COLOURS[index % 8],
    active: known[index]?.active ?? true,
    gamma: 1,
  }));
}

export interface Region { pane: Pane; box: Box }

export interface Broken {
  path: string;
  key: string;
  coords: number[] | null;
  unit?: "chunk" | "shard";
  reason: string;
}

export class Viewer {
  readonly connection: Connection;
  readonly panes: Signal<Pane[]> = signal([]);
  readonly active: Signal<Pane | null> = signal(null);
  /** The node whose facts the side panel shows: an array that is not drawn, or a group. */
  readonly node: Signal<Node | null> = signal(null);
  readonly at: Signal<Record<string, number>> = signal({});
  /** Centre in fractions, and CSS pixels for the width of a plane; null: each plane fits. */
  readonly view: Signal<[number, number, number] | null> = signal(null);
  readonly cursor: Signal<{ pane: Pane; fy: number; fx: number } | null> = signal(null);
  readonly region: Signal<Region | null> = signal(null);
  /** The element whose series along an axis is shown. */
  readonly series: Signal<{ pane: Pane; row: number; column: number } | null> = signal(null);
  readonly showGrid = signal(false);
  readonly showMissing = signal(true);
  /** The dimension that is played. */
  readonly playing: Signal<string | null> = signal(null);
  readonly failure = signal("");
  /** What screen readers are told. */
  readonly spoken = signal("");
  readonly broken: Signal<Broken[]> = signal([]);
  /** Outlines of windows that a loader would read, by path. */
  readonly windows: Signal<{ path: string; boxes: Box[] } | null> = signal(null);
  /** Grows when tiles were loaded, so that panes draw again. */
  readonly loaded = signal(0);
  readonly tiles: Tiles;
  private readonly nodes = new Map<string, Promise<Node>>();

  constructor(readonly api: Api) {
    this.connection = new Connection(api, () => this.resume(), (error) => this.report(error));
    this.tiles = new Tiles(api, () => this.loaded.value++, () => this.connection.lost());
  }

  async start(fragment: string): Promise<void> {
    try {
      const hello = await this.connection.greet();
      const state = fromFragment(fragment);
      await this.restore(state, hello.first ?? (hello.root.kind === "array" ? hello.root.path : null));
    } catch (error) {
      this.report(error);
    }
  }

  private async restore(state: State, first: string | null): Promise<void> {
    const wanted = state.panes.length ? state.panes : first !== null ? [{ path: first }] : [];
    const nodes = await Promise.allSettled(wanted.map(({ path }) => this.nodeAt(path)));
    const panes: Pane[] = [];
    const states: PaneState[] = [];
    for (const [number, result] of nodes.entries()) {
      if (result.status === "rejected") this.report(result.reason);
      else if (result.value.kind === "array") {
        panes.push(new Pane(result.value, wanted[number]));
        states.push(wanted[number]);
      } else this.node.value = result.value;
    }
    batch(() => {
      this.panes.value = panes;
      this.active.value = panes[0] ?? null;
      if (!this.node.value) this.node.value = panes[0]?.node ?? this.connection.hello.value?.root ?? null;
      this.at.value = state.at;
      this.view.value = state.view ?? null;
      this.showGrid.value = state.grid ?? false;
      this.showMissing.value = state.missing ?? true;
      this.forget();
      if (state.sel !== undefined && panes[0]) this.select(panes[0], state.sel);
    });
    for (const pane of panes) this.relate(pane);
    for (const [number, pane] of panes.entries()) {
      const { over, range } = states[number];
      if (over) void this.putOver(pane, over.path, over.mode, over, range);
    }
  }

  /** Shows a second array in the picture of a pane. */
  async putOver(pane: Pane, path: string, mode: Mode, state: Partial<OverState> = {}, range?: [number, number]): Promise<void> {
    try {
      const node = await this.nodeAt(path);
      if (node.kind !== "array") throw new Error(`${path} is a group, which is not compared.`);
      pane.setOver(new Over(pane, node, mode, state));
      if (range) pane.range.value = range;
    } catch (error) {
      this.report(error);
    }
  }

  /** Shows what a selection names: its indices, and its ranges as a region. */
  select(pane: Pane, sel: string): void {
    const items = parseSelection(sel, pane.node.shape);
    if (!items) {
      this.failure.value = `The selection ${sel} does not fit ${pane.node.path || "this array"}.`;
      return;
    }
    const { y, x } = pane.axes.value;
    const at = { ...this.at.value };
    for (const axis of pane.otherAxes) at[pane.dimension(axis)] = items[axis].begin;
    this.at.value = at;
    if (y !== undefined && x !== undefined && !(items[y].whole && items[x].whole)) {
      const box = { y0: items[y].begin, y1: items[y].end, x0: items[x].begin, x1: items[x].end };
      this.region.value = { pane, box };
    }
  }

  nodeAt(path: string): Promise<Node> {
    let node = this.nodes.get(path);
    if (!node) {
      node = this.api.node(path);
      this.nodes.set(path, node);
      node.catch(() => this.nodes.delete(path));
    }
    return node;
  }

  /** Opens a node: an array in place of the active pane or beside it, a group in the side panel. */
  async open(path: string, beside = false): Promise<void> {
    try {
      const node = await this.nodeAt(path);
      this.failure.value = "";
      this.node.value = node;
      if (node.kind !== "array") return;
      const pane = new Pane(node, { path });
      batch(() => {
        const panes = this.panes.value;
        const at = this.active.value ? panes.indexOf(this.active.value) : -1;
        if (beside && panes.length < 6) this.panes.value = [...panes, pane];
        else if (at >= 0) this.panes.value = panes.with(at, pane);
        else this.panes.value = [pane];
        this.active.value = pane;
        this.forget();
        if (!beside) this.view.value = null;
      });
      this.relate(pane);
    } catch (error) {
      this.report(error);
    }
  }

  /** What part of its plane a pane shows: its own, or that of all panes. */
  viewOf(pane: Pane): Signal<[number, number, number] | null> {
    return pane.cross ? pane.ownView : this.view;
  }

  /** Shows whole planes. */
  fit(): void {
    batch(() => {
      this.view.value = null;
      for (const pane of this.panes.value) pane.ownView.value = null;
    });
  }

  /** The three planes through a point of an array, whose cross a click moves. */
  showPlanes(pane: Pane, z: number): void {
    const { y, x, c } = pane.axes.value;
    if (y === undefined || x === undefined) return;
    const base = { ...pane.toState(), projection: undefined, cross: true };
    const planes = [{ y, x, c }, { y, x: z, c }, { y: z, x, c }];
    const at = { ...this.at.value };
    for (const axis of [y, x]) at[pane.dimension(axis)] ??= Math.floor(pane.node.shape[axis] / 2);
    const panes = planes.map((axes) => new Pane(pane.node, { ...base, axes }));
    batch(() => {
      this.panes.value = panes;
      this.activate(panes[0]);
      this.at.value = at;
      this.view.value = null;
      this.forget();
    });
    for (const one of panes) this.relate(one);
  }

  /** Moves the cross of three planes to an element of one of them. */
  moveCross(pane: Pane, row: number, column: number): void {
    const { y, x } = pane.axes.value;
    if (y === undefined || x === undefined) return;
    this.at.value = { ...this.at.value, [pane.dimension(y)]: row, [pane.dimension(x)]: column };
  }

  /** One plane again. */
  showOnePlane(pane: Pane): void {
    const one = new Pane(pane.node, { ...pane.toState(), cross: false, view: undefined });
    batch(() => {
      this.panes.value = [one];
      this.activate(one);
      this.forget();
    });
    this.relate(one);
  }

  private forget(): void {
    this.region.value = null;
    this.series.value = null;
    this.cursor.value = null;
  }

  private relate(pane: Pane): void {
    this.api
      .coordinates(pane.node.path)
      .then(({ axes }) => (pane.labels.value = axes))
      .catch((error: unknown) => {
        pane.labels.value = [];
        this.note(error);
      });
    this.api
      .related(pane.node.path)
      .then((related) => (pane.related.value = related))
      .catch((error: unknown) => this.note(error));
  }

  close(pane: Pane): void {
    batch(() => {
      const panes = this.panes.value.filter((other) => other !== pane);
      this.panes.value = panes;
      if (this.active.value === pane) this.active.value = panes[0] ?? null;
      if (this.region.value?.pane === pane) this.region.value = null;
      if (this.series.value?.pane === pane) this.series.value = null;
      if (this.cursor.value?.pane === pane) this.cursor.value = null;
    });
    this.tiles.want(pane, []);
  }

  activate(pane: Pane): void {
    this.active.value = pane;
    this.node.value = pane.node;
  }

  /** The index of each axis of an array. */
  indexOf(pane: Pane, at = this.at.value): number[] {
    return pane.node.shape.map((length, axis) =>
      Math.max(0, Math.min(length - 1, at[pane.dimension(axis)] ?? 0)),
    );
  }

  setIndex(dimension: string, index: number): void {
    this.at.value = { ...this.at.value, [dimension]: index };
  }

  /** The dimensions that have sliders, in the order of the panes. */
  get dimensions(): string[] {
    return [...new Set(this.panes.value.flatMap((pane) => pane.otherAxes.map((axis) => pane.dimension(axis))))];
  }

  /** The length of a dimension: the shortest of those of its name, so that linked panes show one index. */
  lengthOf(dimension: string): number {
    const lengths = this.panes.value.flatMap((pane) =>
      pane.otherAxes.filter((axis) => pane.dimension(axis) === dimension).map((axis) => pane.node.shape[axis]),
    );
    return lengths.length ? Math.min(...lengths) : 0;
  }

  /** The plane that a pane shows, or a part of it, as a selection. */
  selectionOf(pane: Pane, box: Box | null): string {
    return selection(pane.node.shape.length, pane.axes.value, this.indexOf(pane), box, pane.projection.value?.axis);
  }

  toState(): State {
    const region = this.region.value;
    const names = new Set(this.panes.value.flatMap((pane) => pane.otherAxes.map((axis) => pane.dimension(axis))));
    return {
      panes: this.panes.value.map((pane) => pane.toState()),
      at: Object.fromEntries(Object.entries(this.at.value).filter(([name]) => names.has(name))),
      view: this.view.value ?? undefined,
      grid: this.showGrid.value || undefined,
      missing: this.showMissing.value ? undefined : false,
      sel: region && region.pane === this.panes.value[0] ? this.selectionOf(region.pane, region.box) : undefined,
    };
  }

  /** Something that is not essential failed: only a lost server is shown. */
  note(error: unknown): void {
    if (error instanceof Unreachable) this.connection.lost();
    else console.warn(error);
  }

  report(error: unknown): void {
    if (error instanceof Unreachable) this.connection.lost();
    else if (error instanceof RequestError && error.status === 401) {
      this.failure.value =
        "The server does not accept this address. Open the address that zarrix view has printed.";
    } else this.failure.value = error instanceof Error ? error.message : String(error);
  }

  /** The server answers again: everything that failed meanwhile is asked for once more. */
  private resume(): void {
    this.loaded.value++;
    for (const pane of this.panes.value) if (pane.storedFailed) pane.storedKey = "";
    this.tiles.forgetErrors();
    this.tiles.resume();
    if (!this.panes.value.length) void this.start(location.hash);
  }

  dispose(): void {
    this.connection.dispose();
    for (const pane of this.panes.value) this.tiles.want(pane, []);
  }
}
