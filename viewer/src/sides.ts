// The sides of an element in proportion to each other, by its coordinates: a voxel is seldom a cube.
import { type Unit, unitOf } from "./labels";
import type { AxisLabels } from "./api";
import type { Pane } from "./pane";

/** Sides that differ more would leave a hairline of the picture: they are drawn equal. */
const MOST = 32;

/**
 * How long an element is along each axis, 1 for the shortest of `axes`; null where they are equal, or where
 * their lengths are not known or cannot be compared, such as metres and days.
 */
export function sidesOf(labels: (AxisLabels | null)[], axes: number[]): Map<number, number> | null {
  const found = axes.map((axis) => lengthOf(labels[axis]));
  const known = found.filter((one): one is Unit => one !== null);
  if (known.length < axes.length || new Set(known.map(({ of }) => of)).size > 1) return null;
  const least = Math.min(...known.map(({ size }) => size));
  // Scales are written with rounded digits: 0.1 and 0.3 are 1 and 3.
  const sides = known.map(({ size }) => Number((size / least).toPrecision(6)));
  if (Math.max(...sides) > MOST || Math.max(...sides) === 1) return null;
  return new Map(axes.map((axis, at) => [axis, sides[at]]));
}

function lengthOf(labels: AxisLabels | null | undefined): Unit | null {
  if (!labels || labels.step === undefined || labels.kind !== "number") return null;
  // A coordinate without a unit may be anything; the scales of OME-Zarr are all lengths, or all pixels.
  if (labels.path !== undefined && (!labels.unit || labels.unit === "1")) return null;
  const unit = unitOf(labels.unit);
  const size = Math.abs(labels.step) * unit.size;
  return Number.isFinite(size) && size > 0 ? { of: unit.of, size } : null;
}

/** The sides of the elements of one of three planes; null for other planes, whose elements are squares. */
export function crossSides(panes: Pane[], pane: Pane): Map<number, number> | null {
  if (!pane.cross || !pane.labels.value) return null;
  const its = panes.filter((one) => one.cross && one.node === pane.node).map(({ axes }) => axes.value);
  const axes = new Set(its.flatMap(({ y, x }) => [y, x]).filter((axis): axis is number => axis !== undefined));
  return sidesOf(pane.labels.value, [...axes].sort((one, other) => one - other));
}

/** How many times as long as its shortest side an element is, in words. */
export function described(pane: Pane, sides: Map<number, number>): string {
  return `elements of ${[...sides].map(([axis, side]) => `${pane.dimension(axis)} ${side}`).join(" : ")}`;
}
