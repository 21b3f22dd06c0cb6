// The state of one viewer, as signals, and what can be done with it.
import { batch, type Signal, signal } from "@preact/signals";
import type { Api, Kind, Node } from "./api";
import { ChunkMap, type Measure } from "./chunkmap";
import { Connection } from "./connection";
import { fromFragment, type PaneState, parseSelection, type State } from "./fragment";
import { type Mode, Over, type OverState } from "./over";
import { Pane } from "./pane";
import { type Box, selection } from "./plane";
import { Tiles } from "./tiles";
import { RequestError, Unreachable } from "./transport";

export interface Region { pane: Pane; box: Box }

/** An element of the plane of a pane. */
export interface Place { pane: Pane; row: number; column: number }

/** A line on the plane of a pane, between two elements. */
export interface Line { pane: Pane; from: { row: number; column: number }; to: { row: number; column: number } }

export interface Broken {
  path: string;
  key: string;
  coords: number[] | null;
  unit?: "chunk" | "shard";
  reason: string;
}

function linkPlanes(panes: Pane[]): void {
  const first = panes.find(({ cross }) => cross);
  for (const pane of panes) if (first && pane.cross && pane !== first && pane.node === first.node) pane.lookAs(first);
}

/** A place, if it lies in the plane of a pane. */
function placeIn(pane: Pane | undefined, row: number, column: number): Place[] {
  if (!pane || !pane.picture) return [];
  const { height, width } = pane.extent;
  return row < height && column < width ? [{ pane, row, column }] : [];
}

function lineState(line: Line | null, panes: Pane[]): number[] | undefined {
  return line ? [panes.indexOf(line.pane), line.from.row, line.from.column, line.to.row, line.to.column] : undefined;
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
  readonly series: Signal<Place | null> = signal(null);
  /** Elements whose series stay when another one is clicked. */
  readonly pins: Signal<Place[]> = signal([]);
  /** The line whose values are shown, and whether a drag draws one. */
  readonly line: Signal<Line | null> = signal(null);
  readonly drawsLine = signal(false);
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
  /** What the server did not answer, and is asked for again when it is back. */
  private unanswered: (() => void)[] = [];

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
    linkPlanes(panes);
    batch(() => {
      this.panes.value = panes;
      this.active.value = panes[0] ?? null;
      if (!this.node.value) this.node.value = panes[0]?.node ?? this.connection.hello.value?.root ?? null;
      this.at.value = state.at;
      this.view.value = state.view ?? null;
      this.showGrid.value = state.grid ?? false;
      this.showMissing.value = state.missing ?? true;
      this.forget();
      this.pins.value = (state.pins ?? []).flatMap(([at, row, column]) => placeIn(panes[at], row, column));
      const [from] = state.line ? placeIn(panes[state.line[0]], state.line[1], state.line[2]) : [];
      const [to] = state.line ? placeIn(panes[state.line[0]], state.line[3], state.line[4]) : [];
      if (from && to) this.line.value = { pane: from.pane, from, to };
      if (state.sel !== undefined && panes[0]) this.select(panes[0], state.sel);
    });
    for (const pane of panes) this.relate(pane);
    for (const [number, pane] of panes.entries()) {
      const { over, range, chunks } = states[number];
      this.mapChunks(pane, chunks ?? null);
      if (over) void this.putOver(pane, over.path, over.mode, over, range);
    }
  }

  /** Colours the chunks of a pane instead of showing its picture. */
  mapChunks(pane: Pane, measure: Measure | null): void {
    pane.chunkMap.value?.dispose();
    pane.chunkMap.value = measure ? new ChunkMap(this, pane, measure) : null;
  }

  /** Shows a second array in the picture of a pane. */
  async putOver(pane: Pane, path: string, mode: Mode, state: Partial<OverState> = {}, range?: [number, number]): Promise<void> {
    try {
      const node = await this.nodeAt(path);
      if (node.kind !== "array") throw new Error(`${path} is a group, which is not compared.`);
      pane.setOver(new Over(pane, node, mode, state));
      if (range) pane.range.value = range;
    } catch (error) {
      this.postpone(error, () => this.panes.value.includes(pane) && void this.putOver(pane, path, mode, state, range));
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
      this.postpone(error, () => void this.open(path, beside));
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
    linkPlanes(panes);
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

  /** The elements whose series are shown, the last one that was clicked at the end. */
  get places(): Place[] {
    const { value } = this.series;
    return value ? [...this.pins.value, value] : this.pins.value;
  }

  /** The series of the last click stays. */
  pin(): void {
    batch(() => {
      this.pins.value = this.places.slice(0, 8);
      this.series.value = null;
    });
  }

  removePlace(at: number): void {
    if (at < this.pins.value.length) this.pins.value = this.pins.value.toSpliced(at, 1);
    else this.series.value = null;
  }

  closeSeries(): void {
    batch(() => {
      this.series.value = null;
      this.pins.value = [];
    });
  }

  private forget(): void {
    this.region.value = null;
    this.line.value = null;
    this.closeSeries();
    this.cursor.value = null;
  }

  private relate(pane: Pane): void {
    this.api
      .coordinates(pane.node.path)
      .then(({ axes }) => (pane.labels.value = axes))
      .catch((error: unknown) => {
        pane.labels.value = [];
        this.postpone(error, () => this.panes.value.includes(pane) && this.relate(pane));
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
      this.forgetPlaces(pane);
    });
    this.tiles.want(pane, []);
  }

  /** What was outlined, clicked and drawn on a pane is gone. */
  private forgetPlaces(pane: Pane): void {
    if (this.region.value?.pane === pane) this.region.value = null;
    if (this.series.value?.pane === pane) this.series.value = null;
    if (this.line.value?.pane === pane) this.line.value = null;
    this.pins.value = this.pins.value.filter((place) => place.pane !== pane);
    if (this.cursor.value?.pane === pane) this.cursor.value = null;
  }

  /** Shows an array as another kind: places of a plane mean nothing in one of other axes. */
  setKind(pane: Pane, kind: Kind): void {
    const { y, x } = pane.axes.value;
    batch(() => {
      pane.setKind(kind);
      if (pane.axes.value.y !== y || pane.axes.value.x !== x) this.forgetPlaces(pane);
    });
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
    const { value } = this.panes;
    const names = new Set(value.flatMap((pane) => pane.otherAxes.map((axis) => pane.dimension(axis))));
    // Three planes have the sliders of all axes, in the order of the axes.
    const order = value[0]?.cross ? value[0].node.shape.map((_, axis) => value[0].dimension(axis)) : [];
    return [...names].sort((one, other) => order.indexOf(one) - order.indexOf(other));
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
      pins: this.pins.value.map(({ pane, row, column }) => [this.panes.value.indexOf(pane), row, column]),
      line: lineState(this.line.value, this.panes.value),
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

  private postpone(error: unknown, again: () => void): void {
    if (error instanceof Unreachable) this.unanswered.push(again);
  }

  /** The server answers again: everything that failed meanwhile is asked for once more. */
  private resume(): void {
    this.loaded.value++;
    for (const pane of this.panes.value) {
      if (pane.storedFailed) pane.storedKey = "";
      pane.chunkMap.value?.askAgain();
    }
    const { unanswered } = this;
    this.unanswered = [];
    for (const again of unanswered) again();
    this.tiles.forgetErrors();
    this.tiles.resume();
    if (!this.panes.value.length) void this.start(location.hash);
  }

  dispose(): void {
    this.connection.dispose();
    for (const pane of this.panes.value) this.tiles.want(pane, []);
  }
}
