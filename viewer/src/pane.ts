// One array that is shown: how it is drawn, as signals, and what of it the address keeps.
import { batch, computed, type Signal, signal } from "@preact/signals";
import {
  type ArrayNode, type Axes, type AxisLabels, type Guess, type Kind, type Origin, PICTURES, type Related, type Stored,
} from "./api";
import type { ChunkMap } from "./chunkmap";
import type { PaneState, Projection } from "./fragment";
import { labelAt } from "./labels";
import type { Over } from "./over";
import { MAPS } from "./paint/colours";
import { CLIPPED } from "./range";
import type { ChannelLook, Look } from "./paint/paint";
import type { Transform } from "./paint/values";

/** One array that is shown. The fields that a user changes are signals. */
export class Pane {
  private static numbers = 0;
  readonly id = Pane.numbers++;
  readonly kind: Signal<Kind>;
  readonly axes: Signal<Axes>;
  readonly field: Signal<string | undefined>;
  /** null: from the smallest to the largest finite value of the first frame that is seen. */
  range: Signal<[number, number] | null>;
  /** The range in use, where `range` is null. */
  found: Signal<[number, number] | null> = signal(null);
  readonly perFrame = signal(false);
  /** The percentage of values that an automatic range leaves out at each end. */
  clip: Signal<number>;
  map: Signal<string>;
  transform: Signal<Transform>;
  scaleChosen: boolean;
  readonly outlines = signal(false);
  channels: Signal<ChannelChoice[]>;
  /** The ranges in use of channels of which none is chosen. */
  foundChannels: Signal<([number, number] | null)[]> = signal([]);
  /** What the numbers of tiles are differences from. */
  readonly origin: Signal<Origin | null> = signal(null);
  readonly ready = signal(false);
  readonly message = signal("");
  readonly quality = signal("");
  /** The plane is so long that only its first part is seen. */
  readonly exceeds = signal(false);
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
  /** Coast lines are drawn, where the plane is one of latitude and longitude. */
  readonly showCoast: Signal<boolean> = signal(true);
  /** The map of its chunks that is shown instead of the picture. */
  readonly chunkMap: Signal<ChunkMap | null> = signal(null);
  /** One of three planes through a point: a click moves the point. */
  readonly cross: boolean;
  /** The scale at which this plane fits into its canvas, once it was drawn. */
  fits = Number.POSITIVE_INFINITY;
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
    this.range = signal(state.range ?? (state.clip === undefined ? usualRange(guess, kind) : null));
    this.clip = signal(state.clip ?? 0);
    this.perFrame.value = state.eachFrame ?? false;
    this.map = signal(state.map && (MAPS as readonly string[]).includes(state.map) ? state.map : usualMap(kind));
    this.transform = signal(state.transform === "inverse" || state.transform === "log" ? state.transform : "linear");
    this.scaleChosen = state.transform !== undefined || this.range.value !== null;
    this.outlines.value = state.outlines ?? false;
    this.raw = signal(state.raw ?? false);
    this.showCoast.value = state.coast ?? true;
    this.cross = state.cross ?? false;
    this.ownView = signal(state.view ?? null);
    this.projection = signal(checkedProjection(state.projection, node, this.axes.value));
    this.upright.value = state.upright;
    const usual = usualChannels(node, this.axes.value);
    this.channels = signal(usual.map((channel, at) => ({ ...channel, ...state.channels?.[at] })));
  }

  /** Looks as another pane does, now and later: three planes of an array have one range. */
  lookAs(other: Pane): void {
    this.range = other.range;
    this.found = other.found;
    this.clip = other.clip;
    this.map = other.map;
    this.transform = other.transform;
    this.channels = other.channels;
    this.foundChannels = other.foundChannels;
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

  /** Whether the array has no element. */
  get isEmpty(): boolean {
    return this.node.shape.includes(0);
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
    this.range.value = this.clip.value ? null : usualRange(this.node.guess, this.kind.value);
    this.found.value = null;
    this.foundChannels.value = [];
    this.origin.value = null;
  }

  /**
   * Depth from near to a distant horizon, and magnitudes far apart, are seen on a logarithmic scale; the user's
   * choice stays. Whether the scale is another one now.
   */
  adaptScale([low, high]: [number, number], isSpread: () => boolean): boolean {
    const before = this.transform.value;
    if (this.scaleChosen) return false;
    if (this.kind.value === "depth" && low > 0) this.transform.value = high / low > 30 ? "log" : "linear";
    if (this.kind.value === "complex" && before === "linear" && isSpread()) {
      this.clip.value = CLIPPED;
      this.setTransform("log");
    }
    return this.transform.value !== before;
  }

  /** Changes the scale. Magnitudes then have another automatic range, as has what leaves out extremes. */
  setTransform(transform: Transform): void {
    batch(() => {
      this.transform.value = transform;
      if (this.kind.value === "complex" || this.clip.value) this.found.value = null;
    });
  }

  /** Begins the range at the values of the next picture, without so many percent of them at each end. */
  findRange(clip = 0): void {
    batch(() => {
      this.clip.value = clip;
      this.range.value = null;
      this.found.value = null;
    });
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
      this.scaleChosen = false;
      this.clip.value = 0;
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
    // Without a word about the scale, it adapts to the values.
    const adapts = (kind.value === "depth" || kind.value === "complex") && !this.range.value;
    if (this.transform.value !== "linear" || (adapts && this.scaleChosen)) state.transform = this.transform.value;
    if (!this.range.value && (this.clip.value || usual)) state.clip = this.clip.value;
    if (this.perFrame.value) state.eachFrame = true;
    if (this.outlines.value) state.outlines = true;
    if (this.raw.value) state.raw = true;
    if (kind.value === "channels") {
      const chosen = this.channels.value;
      const known = usualChannels(this.node, axes.value);
      if (JSON.stringify(chosen) !== JSON.stringify(known)) state.channels = chosen;
    }
    if (this.projection.value) state.projection = this.projection.value;
    if (this.over.value) state.over = this.over.value.toState();
    if (this.chunkMap.value) state.chunks = this.chunkMap.value.measure;
    if (!this.showCoast.value) state.coast = false;
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
