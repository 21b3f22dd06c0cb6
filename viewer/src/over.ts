// A second array in the picture of a pane: labels above an image, or two arrays that are compared.
import { type Signal, signal } from "@preact/signals";
import { type ArrayNode, type Axes, difference, type Sibling, type Tile } from "./api";
import { asBits, numbersOf } from "./paint/values";
import { Pane } from "./pane";

export const MODES = ["labels", "blink", "difference"] as const;
export type Mode = (typeof MODES)[number];
export interface OverState { path: string; mode: Mode; opacity: number; outlines: boolean }

export class Over {
  /** The second array, with the axes of the first one. */
  readonly pane: Pane;
  /** Of labels, from 0 to 1; their outlines are opaque. */
  readonly opacity: Signal<number>;
  readonly outlines: Signal<boolean>;
  /** Of two arrays that take turns, the second one is seen. */
  readonly isSecond = signal(false);
  /** The turns are taken by hand. */
  readonly byHand: Signal<boolean>;

  constructor(
    private readonly base: Pane,
    node: ArrayNode,
    readonly mode: Mode,
    state: Partial<OverState>,
  ) {
    const kind = mode === "labels" ? "labels" : base.kind.value;
    this.pane = new Pane(node, { path: node.path, kind, axes: axesOver(base, node), raw: base.raw.value });
    if (mode === "labels") this.pane.kind.value = "labels";
    this.opacity = signal(state.opacity ?? 0.5);
    this.outlines = signal(state.outlines ?? true);
    this.byHand = signal(matchMedia("(prefers-reduced-motion: reduce)").matches);
  }

  toState(): OverState {
    return { path: this.pane.node.path, mode: this.mode, opacity: this.opacity.value, outlines: this.outlines.value };
  }

  /** The index of the second array that belongs to one of the first. */
  indexOf(index: number[]): number[] {
    const { base, pane } = this;
    const theirs = pane.node.shape.map((_, axis) => axis).filter((axis) => !isShown(pane.axes.value, axis));
    const own = base.node.shape.map((_, axis) => axis).filter((axis) => !isShown(base.axes.value, axis));
    return pane.node.shape.map((length, axis) => Math.min(length - 1, index[own[theirs.indexOf(axis)]] ?? 0));
  }

  /** The element of the second array at a place of the first one's plane, as an index with commas. */
  placeOf(index: number[], row: number, column: number): string {
    const { base, pane } = this;
    const found = this.indexOf(index);
    const { y, x } = pane.axes.value;
    if (y !== undefined) found[y] = Math.floor(((row + 0.5) * pane.extent.height) / base.extent.height);
    if (x !== undefined) found[x] = Math.floor(((column + 0.5) * pane.extent.width) / base.extent.width);
    return found.join(",");
  }
}

function isShown({ y, x, c }: Axes, axis: number): boolean {
  return axis === y || axis === x || axis === c;
}

/** The axes of the second array that are those of the first one's plane. */
function axesOver(base: Pane, node: ArrayNode): Axes {
  const { y, x, c } = base.axes.value;
  const rank = node.shape.length;
  if (rank === base.node.shape.length) {
    const isSame = typeof c === "number" && node.shape[c] === base.node.shape[c];
    return { y, x, c: isSame ? c : null };
  }
  if (typeof c === "number" && rank === base.node.shape.length - 1 && y !== undefined && x !== undefined) {
    return { y: y - (c < y ? 1 : 0), x: x - (c < x ? 1 : 0), c: null };
  }
  return { ...node.guess.axes, c: null };
}

/** What can be done with an array of the same scene. */
export function modesOf(base: Pane, { shape, dtype, guess }: Sibling): Mode[] {
  const found: Mode[] = [];
  if (/^u?int\d+$/.test(dtype) && guess.kind !== "rgb") found.push("labels");
  if (JSON.stringify(shape) !== JSON.stringify(base.node.shape)) return found;
  found.push("blink");
  if (["gray", "depth", "rgb"].includes(base.kind.value) && !/^(complex|datetime|timedelta)/.test(dtype)) found.push("difference");
  return found;
}

/** The elements of one tile without those of another one, as float32. */
export function subtracted(one: Tile, other: Tile): Tile {
  if (one.shape.join() !== other.shape.join() || one.headers["x-zarrix-cells"] !== other.headers["x-zarrix-cells"]) {
    throw new Error("The two arrays are stored in chunks of other shapes: zoom in to compare them.");
  }
  const shift = difference(one.origin?.count ?? "0", other.origin?.count ?? "0");
  const [bits, others] = [asBits(one.data), asBits(other.data)];
  const [table, otherTable] = [numbersOf(one.type), numbersOf(other.type)];
  const data = new Float32Array(bits.length);
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let at = 0; at < data.length; at++) {
    const value = (table ? table[bits[at]] : bits[at]) - (otherTable ? otherTable[others[at]] : others[at]) + shift;
    data[at] = value;
    // A difference with itself is NaN if and only if a value is not finite.
    if (value - value !== 0) continue;
    if (value < min) min = value;
    if (value > max) max = value;
  }
  const known = min <= max;
  const damage = one.damage ?? other.damage;
  return { type: "f4", shape: one.shape, data, min: known ? min : null, max: known ? max : null, headers: one.headers, origin: null, damage };
}
