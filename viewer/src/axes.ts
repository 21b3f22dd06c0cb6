// What surrounds a picture: ticks and names of its axes, the bar of its colours, and a scale bar.
import { numberAt, niceStep, symbol, ticksOf, unitOf, withUnit } from "./labels";
import { MAP } from "./chunkmap";
import { colourMap } from "./paint/colours";
import { transformed } from "./paint/values";
import { screenRow, type Viewport } from "./plane";
import type { Pane } from "./pane";

/** Room around a picture, in CSS pixels. */
export const MARGIN = { left: 62, right: 74, top: 6, bottom: 36 };
/** Without a bar of colours. */
export const NARROW_RIGHT = 10;

export interface Surroundings {
  context: CanvasRenderingContext2D;
  view: Viewport;
  pane: Pane;
  /** The colours of text and lines. */
  text: string;
  line: string;
  /** Device pixels of a CSS pixel. */
  ratio: number;
  hasBar: boolean;
}

/** Kinds whose colours are those of one number. */
export function hasColourBar(pane: Pane): boolean {
  if (pane.chunkMap.value) return pane.chunkMap.value.measure !== "age";
  return pane.kind.value === "gray" || pane.kind.value === "depth";
}

export function drawAxes(around: Surroundings): void {
  const { context, view, pane, ratio, text } = around;
  const { y, x } = pane.axes.value;
  if (y === undefined || x === undefined || pane.isEmpty) return;
  const [left, top] = [MARGIN.left * ratio, MARGIN.top * ratio];
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  context.fillStyle = text;
  context.strokeStyle = around.line;
  context.lineWidth = ratio;
  const { height, width } = pane.extent;
  // Along the picture, as far as the plane reaches.
  const bottom = top + Math.min(view.height, Math.max(view.top, 0) + height * view.scaleY, view.top + height * view.scaleY);
  const x0 = Math.max(0, -view.left / view.scale);
  const x1 = Math.min(width, (view.width - view.left) / view.scale);
  context.textAlign = "center";
  context.textBaseline = "top";
  for (const tick of spaced(ticksOf(pane.labels.value?.[x], x0, x1, (74 * ratio) / view.scale), context, view.scale)) {
    const at = left + view.left + tick.at * view.scale;
    stroke(context, at, bottom, at, bottom + 4 * ratio);
    context.fillText(tick.text, at, bottom + 6 * ratio);
  }
  const middle = left + view.left + ((x0 + x1) / 2) * view.scale;
  context.fillText(titled(pane, x), middle, bottom + 20 * ratio, view.width);
  const y0 = Math.max(0, view.flip ? view.flip - (view.height - view.top) / view.scaleY : -view.top / view.scaleY);
  const y1 = Math.min(height, view.flip ? view.flip + view.top / view.scaleY : (view.height - view.top) / view.scaleY);
  const edge = left + Math.max(0, view.left);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const tick of ticksOf(pane.labels.value?.[y], y0, y1, (36 * ratio) / view.scaleY)) {
    const at = top + view.top + screenRow(view, tick.at) * view.scaleY;
    stroke(context, edge - 3 * ratio, at, edge, at);
    context.fillText(tick.text, edge - 6 * ratio, at, edge - 6 * ratio - 14 * ratio);
  }
  context.save();
  context.translate(Math.max(8 * ratio, edge - 54 * ratio), top + view.top + screenRow(view, (y0 + y1) / 2) * view.scaleY);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(titled(pane, y), 0, 0, view.height);
  context.restore();
  if (around.hasBar) drawBar(around);
}

function stroke(context: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  context.beginPath();
  context.moveTo(Math.round(x0) + 0.5, Math.round(y0) + 0.5);
  context.lineTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  context.stroke();
}

/** Every n-th tick, so that texts do not touch. */
function spaced(ticks: { at: number; text: string }[], context: CanvasRenderingContext2D, scale: number) {
  const widest = Math.max(0, ...ticks.map(({ text }) => context.measureText(text).width));
  const apart = ticks.length > 1 ? Math.abs(ticks[1].at - ticks[0].at) * scale : widest * 2;
  const every = Math.max(1, Math.ceil((widest * 1.15) / apart));
  return ticks.filter((_, at) => at % every === 0);
}

/** The name of an axis with its unit. */
function titled(pane: Pane, axis: number): string {
  const labels = pane.labels.value?.[axis];
  const unit = labels?.unit;
  // Degrees have their letters at each tick.
  return `${pane.dimension(axis)}${unit && !/^degrees?_/i.test(unit) ? ` (${symbol(unit)})` : ""}`;
}

const BAR_WIDTH = 14;

/** The colours of the range, from its lowest value at the bottom, with the unit above. */
function drawBar({ context, view, pane, ratio, text, line }: Surroundings): void {
  const chunks = pane.chunkMap.value;
  const { range, map, transform } = chunks
    ? { range: chunks.range ?? [0, 1], map: MAP, transform: "linear" as const }
    : pane.look.value;
  const left = MARGIN.left * ratio + view.width + 10 * ratio;
  const top = (MARGIN.top + 20) * ratio;
  const height = Math.round(Math.max(20 * ratio, view.height - 26 * ratio));
  const colours = colourMap(map);
  const width = BAR_WIDTH * ratio;
  for (let row = 0; row < height; row++) {
    const colour = colours[Math.min(255, Math.floor((1 - (row + 0.5) / height) * 256))];
    context.fillStyle = `rgb(${colour & 255}, ${(colour >> 8) & 255}, ${(colour >> 16) & 255})`;
    context.fillRect(left, top + row, width, 1);
  }
  context.strokeStyle = line;
  context.strokeRect(left + 0.5, top + 0.5, width - 1, height - 1);
  context.fillStyle = text;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const unit = chunks ? (chunks.measure === "bytes" ? "bytes" : "ratio") : pane.node.unit;
  if (unit) context.fillText(symbol(unit), left, top - 11 * ratio, MARGIN.right * ratio - 10 * ratio);
  const low = transform === "linear" ? range[0] : Math.max(range[0], 2 ** -24);
  const high = Math.max(range[1], low);
  const [begin, end] = [transformed(low, transform), transformed(high, transform)];
  const ticks = barTicks(low, high, transform === "linear" ? height / (40 * ratio) : 0);
  for (const value of ticks) {
    const part = end === begin ? 0 : (transformed(value, transform) - begin) / (end - begin);
    const at = top + (1 - part) * (height - 1);
    // A tick that touches its number reads as a sign.
    stroke(context, left + width, at, left + width + 3 * ratio, at);
    context.fillText(shortText(value, ticks), left + width + 7 * ratio, at, (MARGIN.right - BAR_WIDTH - 18) * ratio);
  }
}

/** Nice values in a range; its two ends and what lies between where the scale is not linear. */
function barTicks(low: number, high: number, count: number): number[] {
  if (!(high > low)) return [low];
  if (!count) return [low, Math.sqrt(low * high), high];
  const step = niceStep((high - low) / Math.max(2, count));
  const found: number[] = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9 && found.length < 50; at++) found.push(at * step);
  return found;
}

/** A tick with four digits, or as many as tell it from the next one. */
function shortText(value: number, ticks: number[]): string {
  const apart = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : Number.POSITIVE_INFINITY;
  const largest = Math.max(...ticks.map(Math.abs));
  const needed = apart > 0 && largest > 0 ? Math.floor(Math.log10(largest)) - Math.floor(Math.log10(apart)) + 1 : 4;
  const digits = Math.max(4, Math.min(15, needed));
  const text = String(Number(value.toPrecision(digits)));
  return text.length > Math.max(7, digits + 2) ? value.toExponential(Math.max(1, needed - 1)) : text;
}

/** A bar of a nice length, where the columns are lengths. */
export function drawScaleBar(context: CanvasRenderingContext2D, view: Viewport, pane: Pane, ratio: number): void {
  const { x } = pane.axes.value;
  const labels = x === undefined ? null : pane.labels.value?.[x];
  if (!labels?.unit || labels.step === undefined || unitOf(labels.unit).of !== "length" || numberAt(labels, 0) === null) return;
  const perPixel = Math.abs(labels.step) / view.scale;
  const length = niceStep(perPixel * 60 * ratio);
  const width = length / perPixel;
  // In the corner of what is seen of the plane, so that it hides neither ticks nor names.
  const extent = pane.extent;
  const begin = Math.max(0, view.left);
  const end = Math.min(view.width, view.left + extent.width * view.scale);
  if (!(width > 0) || width > (end - begin) * 0.8 - 12 * ratio) return;
  const left = begin + 12 * ratio;
  const bottom = Math.min(view.height, view.top + extent.height * view.scaleY) - 12 * ratio;
  // Of a thin plane, little would be left to see.
  if (bottom - Math.max(0, view.top) < 66 * ratio) return;
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  const label = withUnit(length, labels.unit);
  context.fillStyle = "rgba(0, 0, 0, 0.6)";
  context.fillRect(left - 6 * ratio, bottom - 20 * ratio, Math.max(width, context.measureText(label).width) + 12 * ratio, 26 * ratio);
  context.fillStyle = "#ffffff";
  context.fillRect(left, bottom - 3 * ratio, Math.round(width), 3 * ratio);
  context.textAlign = "left";
  context.textBaseline = "bottom";
  context.fillText(label, left, bottom - 5 * ratio);
}
