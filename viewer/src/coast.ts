// Coast lines on planes of latitude and longitude.
import type { AxisLabels } from "./api";
import { LINES, PER_DEGREE } from "./coast-lines";
import { numberAt } from "./labels";
import type { Pane } from "./pane";
import { screenRow, type Viewport } from "./plane";

type Point = readonly [number, number];

let decoded: Point[][] | null = null;

/** The lines as points of longitude and latitude in degrees. */
export function coastLines(): Point[][] {
  decoded ??= LINES.map((text) => {
    const numbers = text.split(" ").map(Number);
    let [x, y] = [0, 0];
    const points: Point[] = [];
    for (let at = 0; at < numbers.length; at += 2) {
      x += numbers[at];
      y += numbers[at + 1];
      points.push([x / PER_DEGREE, y / PER_DEGREE]);
    }
    return points;
  });
  return decoded;
}

/** Labels of degrees in one direction; null for others. */
function degrees(pane: Pane, axis: number | undefined, direction: "north" | "east"): AxisLabels | null {
  const labels = axis === undefined ? null : pane.labels.value?.[axis];
  if (!labels || labels.kind !== "number") return null;
  const unit = new RegExp(`^degrees?_?(${direction}|${direction[0]})$`, "i");
  return unit.test(labels.unit ?? "") ? labels : null;
}

/** Whether a plane is one of latitude and longitude. */
export function isMap(pane: Pane): boolean {
  const { y, x } = pane.axes.value;
  return degrees(pane, y, "north") !== null && degrees(pane, x, "east") !== null;
}

/** From degrees to elements of an axis whose labels grow or fall; null where they do not. */
export function positions(labels: AxisLabels, length: number): ((value: number) => number | null) | null {
  if (labels.step !== undefined) {
    const { begin = 0, step } = labels;
    return step === 0 ? null : (value) => (value - begin) / step;
  }
  const numbers = Array.from({ length }, (_, index) => numberAt(labels, index));
  const sign = (numbers[length - 1] ?? 0) > (numbers[0] ?? 0) ? 1 : -1;
  for (let at = 1; at < length; at++) {
    const [before, after] = [numbers[at - 1], numbers[at]];
    if (before === null || after === null || (after - before) * sign <= 0) return null;
  }
  if (length < 2) return null;
  return (value) => {
    let [low, high] = [0, length - 2];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (((numbers[middle] as number) - value) * sign <= 0) low = middle;
      else high = middle - 1;
    }
    const [one, two] = [numbers[low] as number, numbers[low + 1] as number];
    return low + (value - one) / (two - one);
  };
}

const made = new WeakMap<Pane, { key: string; labels: unknown; path: Path2D | null }>();

/** The lines on the screen, made once for each view: the marks are drawn for each movement of the pointer. */
function pathOf(view: Viewport, pane: Pane): Path2D | null {
  const key = JSON.stringify([view, pane.axes.value]);
  const labels = pane.labels.value;
  let known = made.get(pane);
  if (known?.key !== key || known.labels !== labels) {
    known = { key, labels, path: newPath(view, pane) };
    made.set(pane, known);
  }
  return known.path;
}

function newPath(view: Viewport, pane: Pane): Path2D | null {
  const { y, x } = pane.axes.value;
  const [north, east] = [degrees(pane, y, "north"), degrees(pane, x, "east")];
  const { height, width } = pane.extent;
  const rowOf = north && positions(north, height);
  const columnOf = east && positions(east, width);
  if (!rowOf || !columnOf) return null;
  const path = new Path2D();
  // Longitudes of 0 to 360 are those of -180 to 180 moved once around.
  for (const around of [-360, 0, 360]) {
    for (const line of coastLines()) {
      let isOpen = false;
      for (const [longitude, latitude] of line) {
        const [row, column] = [rowOf(latitude), columnOf(longitude + around)];
        // A little beyond the plane, which the clip cuts: no line runs along its border.
        if (row === null || column === null || row < -height || row > 2 * height || column < -width || column > 2 * width) {
          isOpen = false;
          continue;
        }
        const at = [view.left + (column + 0.5) * view.scale, view.top + screenRow(view, row + 0.5) * view.scaleY] as const;
        if (isOpen) path.lineTo(...at);
        else path.moveTo(...at);
        isOpen = true;
      }
    }
  }
  return path;
}

export function drawCoast(context: CanvasRenderingContext2D, view: Viewport, pane: Pane, ratio: number): void {
  const path = pane.showCoast.value ? pathOf(view, pane) : null;
  if (!path) return;
  const { height, width } = pane.extent;
  context.save();
  context.beginPath();
  context.rect(view.left, view.top, width * view.scale, height * view.scaleY);
  context.clip();
  context.lineJoin = "round";
  for (const [colour, thick] of [["rgba(0, 0, 0, 0.55)", 2.5], ["#ffffff", 1]] as const) {
    context.strokeStyle = colour;
    context.lineWidth = thick * ratio;
    context.stroke(path);
  }
  context.restore();
}
