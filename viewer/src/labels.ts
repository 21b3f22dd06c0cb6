// The labels of an axis: from an index to a date, degrees or micrometres, and back for nice ticks.
import type { AxisLabels } from "./api";

export interface Tick { at: number; text: string }

/** A number with at most seven digits that matter. */
function shortest(value: number): string {
  return String(Number(value.toPrecision(7)));
}

/** A label with its unit: 45°N, 12.5 µm, 2020-06-01. */
export function withUnit(value: number | string, unit: string | null | undefined): string {
  if (typeof value === "string") return value;
  const degrees = /^degrees?_?(north|n|east|e)$/i.exec(unit ?? "");
  if (!degrees) return `${shortest(value)}${unit && unit !== "1" ? ` ${symbol(unit)}` : ""}`;
  const isNorth = /^n/i.test(degrees[1]);
  const side = value === 0 ? "" : isNorth ? (value > 0 ? "N" : "S") : value > 0 ? "E" : "W";
  return `${shortest(Math.abs(value))}°${side}`;
}

const SYMBOLS: Record<string, string> = {
  micrometer: "µm", micron: "µm", nanometer: "nm", millimeter: "mm", centimeter: "cm", meter: "m", metre: "m",
  kilometer: "km", kilometre: "km", second: "s", millisecond: "ms", angstrom: "Å", degrees: "°", degree: "°",
};

/** A unit as people write it. */
export function symbol(unit: string): string {
  return SYMBOLS[unit.toLowerCase()] ?? unit;
}

/** What a unit is one of, and how many of its base units it is. */
export interface Unit { of: string; size: number }

const METRES: Record<string, number> = {
  angstrom: 1e-10, nanometer: 1e-9, nm: 1e-9, micrometer: 1e-6, micron: 1e-6, um: 1e-6, µm: 1e-6, millimeter: 1e-3, mm: 1e-3,
  centimeter: 1e-2, cm: 1e-2, meter: 1, metre: 1, m: 1, kilometer: 1e3, kilometre: 1e3, km: 1e3,
};

/** A unit in base units: lengths in metres, degrees of any direction; others only compare with themselves. */
export function unitOf(unit: string | null): Unit {
  const name = (unit ?? "").toLowerCase();
  const size = METRES[name] ?? METRES[name.replace(/s$/, "")];
  if (size !== undefined) return { of: "length", size };
  return { of: /^degrees?(_(north|n|east|e))?$/.test(name) ? "degrees" : name, size: 1 };
}

/** The number that the middle of an element means; between two elements, what lies between. */
export function numberAt(labels: AxisLabels, position: number): number | null {
  if (labels.step !== undefined) return (labels.begin ?? 0) + labels.step * position;
  const { labels: listed } = labels;
  if (!listed || labels.kind !== "number" || !listed.length) return null;
  const low = Math.max(0, Math.min(listed.length - 1, Math.floor(position)));
  const high = Math.min(listed.length - 1, low + 1);
  const [one, two] = [listed[low], listed[high]];
  if (typeof one !== "number" || typeof two !== "number") return null;
  return one + (two - one) * (position - low);
}

/** The label of an element as text; null where it is not known. */
export function labelAt(labels: AxisLabels | null | undefined, index: number): string | null {
  if (!labels) return null;
  if (labels.step !== undefined) return withUnit(numberAt(labels, index) as number, labels.unit);
  if (labels.times) return timeText(labels.times.begin + labels.times.step * index);
  const label = labels.labels?.[index];
  return label === null || label === undefined ? null : withUnit(label, labels.unit);
}

/** Milliseconds since 1970 as a date, without a clock of zeros. */
function timeText(milliseconds: number): string {
  const [date, clock] = new Date(milliseconds).toISOString().slice(0, -1).split("T");
  return clock === "00:00:00.000" ? date : `${date}T${clock.replace(/\.?0+$/, "")}`;
}

/** 1, 2 or 5 times a power of ten, at least as large as `least`. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return ([1, 2, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10) * power;
}

/**
 * Ticks of the elements `first` to `end`, about one in `every` of them. Numbers have ticks at nice
 * values, wherever they lie; other labels, and indices, at the middles of elements.
 */
export function ticksOf(labels: AxisLabels | null | undefined, first: number, end: number, every: number): Tick[] {
  const low = Math.max(0, Math.ceil(first));
  const high = Math.floor(end);
  const numeric = labels && labels.kind === "number" ? numericTicks(labels, first - 0.5, end - 0.5, every) : null;
  if (numeric) return numeric;
  const step = Math.max(1, niceStep(every));
  const ticks: Tick[] = [];
  for (let index = Math.ceil(low / step) * step; index < high; index += step) {
    ticks.push({ at: index + 0.5, text: labelAt(labels, index) ?? String(index) });
  }
  return ticks;
}

// Values have to grow, or to fall, along the axis.
function numericTicks(labels: AxisLabels, first: number, last: number, every: number): Tick[] | null {
  const [one, two] = [numberAt(labels, first), numberAt(labels, last)];
  if (one === null || two === null || one === two || !Number.isFinite(one + two)) return null;
  const { unit } = labels;
  const span = Math.abs(two - one);
  const least = (span * every) / Math.max(1e-9, last - first);
  const isDegrees = /^degree/i.test(unit ?? "");
  const step = (isDegrees && least > 5 ? [10, 15, 30, 45, 60, 90, 120, 180].find((nice) => nice >= least) : undefined) ?? niceStep(least);
  const ticks: Tick[] = [];
  const [low, high] = [Math.min(one, two), Math.max(one, two)];
  for (let count = Math.ceil(low / step - 1e-9); count * step <= high * (1 + 1e-12) + step * 1e-9 && ticks.length < 50; count++) {
    const value = count * step;
    const at = positionOf(labels, value, first, last);
    if (at === null) return null;
    ticks.push({ at: at + 0.5, text: isDegrees ? withUnit(value, unit) : shortest(value) });
  }
  return ticks;
}

function positionOf(labels: AxisLabels, value: number, first: number, last: number): number | null {
  if (labels.step !== undefined) return labels.step === 0 ? null : (value - (labels.begin ?? 0)) / labels.step;
  let [low, high] = [first, last];
  const isGrowing = (numberAt(labels, high) ?? 0) > (numberAt(labels, low) ?? 0);
  for (let round = 0; round < 40; round++) {
    const middle = (low + high) / 2;
    const found = numberAt(labels, middle);
    if (found === null) return null;
    if (found < value === isGrowing) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}
