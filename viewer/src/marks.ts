// What lies above a picture: chunk grid, broken chunks, windows of a loader, region and cursor.
import { drawScaleBar } from "./axes";
import { drawCoast } from "./coast";
import { type Box, chunkCuts, type Cuts, onScreen, screenRow, type Viewport, visible } from "./plane";
import type { Pane } from "./pane";
import type { Viewer } from "./state";
import { CURVE_COLOURS } from "./ui/Plot";

export function drawMarks(context: CanvasRenderingContext2D, view: Viewport, viewer: Viewer, pane: Pane): void {
  drawCoast(context, view, pane, devicePixelRatio);
  if (viewer.showGrid.value) drawGrid(context, view, pane);
  drawBroken(context, view, viewer, pane);
  const windows = viewer.windows.value;
  if (windows && windows.path === pane.node.path) {
    for (const box of windows.boxes) outline(context, view, box, "#4cc9f0", 1);
  }
  const region = viewer.region.value;
  if (region && isSamePlane(region.pane, pane)) {
    const { height, width } = region.pane.extent;
    const own = pane.extent;
    const box = {
      y0: (region.box.y0 / height) * own.height,
      y1: (region.box.y1 / height) * own.height,
      x0: (region.box.x0 / width) * own.width,
      x1: (region.box.x1 / width) * own.width,
    };
    outline(context, view, box, region.pane === pane ? "#ffffff" : "#c0c0c0", 2);
  }
  drawPlaces(context, view, viewer, pane);
  drawLine(context, view, viewer, pane);
  drawScaleBar(context, view, pane, devicePixelRatio);
  if (pane.cross) drawCross(context, view, viewer, pane);
  drawCursor(context, view, viewer, pane);
}

/** Rings at the elements whose series are shown, in the colours of their curves. */
function drawPlaces(context: CanvasRenderingContext2D, view: Viewport, viewer: Viewer, pane: Pane): void {
  const { places } = viewer;
  if (places.length < 2) return;
  places.forEach(({ pane: its, row, column }, at) => {
    if (its !== pane) return;
    const [x, y] = middleOf(view, row, column);
    for (const [colour, width] of [["#000000", 5], ["#ffffff", 4], [CURVE_COLOURS[at % 8], 2]] as const) {
      context.strokeStyle = colour;
      context.lineWidth = width * devicePixelRatio;
      context.beginPath();
      context.arc(x, y, 6 * devicePixelRatio, 0, 2 * Math.PI);
      context.stroke();
    }
  });
}

function drawLine(context: CanvasRenderingContext2D, view: Viewport, viewer: Viewer, pane: Pane): void {
  const line = viewer.line.value;
  if (line?.pane !== pane) return;
  const [x0, y0] = middleOf(view, line.from.row, line.from.column);
  const [x1, y1] = middleOf(view, line.to.row, line.to.column);
  for (const [colour, width] of [["rgba(0, 0, 0, 0.75)", 4], ["#4cc9f0", 2]] as const) {
    context.strokeStyle = colour;
    context.lineWidth = width * devicePixelRatio;
    context.beginPath();
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
    context.stroke();
  }
  context.fillStyle = "#4cc9f0";
  context.beginPath();
  context.arc(x0, y0, 4 * devicePixelRatio, 0, 2 * Math.PI);
  context.fill();
}

/** The middle of an element on the screen. */
function middleOf(view: Viewport, row: number, column: number): [number, number] {
  const { left, top, width, height } = onScreen(view, { y0: row, y1: row + 1, x0: column, x1: column + 1 });
  return [left + width / 2, top + height / 2];
}

/** Whether a place of one pane is the same place of another one: of other planes of an array it is not. */
function isSamePlane(one: Pane, other: Pane): boolean {
  const [its, own] = [one.axes.value, other.axes.value];
  return one === other || one.node !== other.node || (its.y === own.y && its.x === own.x);
}

/** Lines through the point that three planes share. */
function drawCross(context: CanvasRenderingContext2D, view: Viewport, viewer: Viewer, pane: Pane): void {
  const { y, x } = pane.axes.value;
  if (y === undefined || x === undefined) return;
  const index = viewer.indexOf(pane);
  const { height, width } = pane.extent;
  const area = onScreen(view, { y0: 0, y1: height, x0: 0, x1: width });
  const place = onScreen(view, { y0: index[y], y1: index[y] + 1, x0: index[x], x1: index[x] + 1 });
  const row = Math.floor(place.top + place.height / 2) + 0.5;
  const column = Math.floor(place.left + place.width / 2) + 0.5;
  for (const [colour, line] of [["rgba(0, 0, 0, 0.6)", 3], ["#ffd60a", 1]] as const) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.beginPath();
    context.moveTo(area.left, row);
    context.lineTo(area.left + area.width, row);
    context.moveTo(column, area.top);
    context.lineTo(column, area.top + area.height);
    context.stroke();
  }
}

// White with a dark border, which is seen on every picture.
function outline(context: CanvasRenderingContext2D, view: Viewport, box: Box, colour: string, width: number): void {
  const { left, top, width: w, height: h } = onScreen(view, box);
  context.lineWidth = width + 2;
  context.strokeStyle = "rgba(0, 0, 0, 0.75)";
  context.strokeRect(left + 0.5, top + 0.5, w - 1, h - 1);
  context.lineWidth = width;
  context.strokeStyle = colour;
  context.strokeRect(left + 0.5, top + 0.5, w - 1, h - 1);
}

function drawGrid(context: CanvasRenderingContext2D, view: Viewport, pane: Pane): void {
  const { y, x } = pane.axes.value;
  if (y === undefined || x === undefined) return;
  const { shape, chunks, shards } = pane.node;
  lines(context, view, pane, chunkCuts(shape[y], chunks[y]), chunkCuts(shape[x], chunks[x]), 1);
  if (shards) lines(context, view, pane, chunkCuts(shape[y], shards[y]), chunkCuts(shape[x], shards[x]), 3);
}

function lines(
  context: CanvasRenderingContext2D, view: Viewport, pane: Pane, rows: Cuts, columns: Cuts, width: number,
): void {
  const { height, width: across } = pane.extent;
  const box = visible(view, height, across);
  const area = onScreen(view, { y0: 0, y1: height, x0: 0, x1: across });
  context.beginPath();
  // Lines closer than four pixels would hide the picture.
  if (view.scaleY * (rows.at(1) - rows.at(0)) >= 4) {
    for (let row = rows.find(box.y0); row <= rows.count && rows.at(row) <= box.y1; row++) {
      const y = view.top + Math.round(screenRow(view, rows.at(row)) * view.scaleY) + 0.5;
      context.moveTo(area.left, y);
      context.lineTo(area.left + area.width, y);
      if (row === rows.count) break;
    }
  }
  if (view.scale * (columns.at(1) - columns.at(0)) >= 4) {
    for (let column = columns.find(box.x0); column <= columns.count && columns.at(column) <= box.x1; column++) {
      const x = view.left + Math.round(columns.at(column) * view.scale) + 0.5;
      context.moveTo(x, area.top);
      context.lineTo(x, area.top + area.height);
      if (column === columns.count) break;
    }
  }
  context.lineWidth = width + 2;
  context.strokeStyle = "rgba(0, 0, 0, 0.45)";
  context.stroke();
  context.lineWidth = width;
  context.strokeStyle = "rgba(255, 255, 255, 0.8)";
  context.stroke();
}

function drawBroken(context: CanvasRenderingContext2D, view: Viewport, viewer: Viewer, pane: Pane): void {
  const { y, x } = pane.axes.value;
  if (y === undefined || x === undefined) return;
  const { shape, chunks, shards, path } = pane.node;
  const index = viewer.indexOf(pane);
  for (const broken of viewer.broken.value) {
    const { coords } = broken;
    if (broken.path !== path || !coords) continue;
    const lengths = broken.unit === "shard" && shards ? shards : chunks;
    const here = pane.otherAxes.every((axis) => chunkCuts(shape[axis], lengths[axis]).find(index[axis]) === coords[axis]);
    if (!here) continue;
    const rows = chunkCuts(shape[y], lengths[y]);
    const columns = chunkCuts(shape[x], lengths[x]);
    const box = { y0: rows.at(coords[y]), y1: rows.at(coords[y] + 1), x0: columns.at(coords[x]), x1: columns.at(coords[x] + 1) };
    outline(context, view, box, "#ff4d5a", 3);
    const { left, top, width, height } = onScreen(view, box);
    context.beginPath();
    context.moveTo(left, top);
    context.lineTo(left + width, top + height);
    context.moveTo(left + width, top);
    context.lineTo(left, top + height);
    context.stroke();
  }
}

function drawCursor(context: CanvasRenderingContext2D, view: Viewport, viewer: Viewer, pane: Pane): void {
  const cursor = viewer.cursor.value;
  if (!cursor || !isSamePlane(cursor.pane, pane)) return;
  const { height, width } = pane.extent;
  const row = Math.min(height - 1, Math.floor(cursor.fy * height));
  const column = Math.min(width - 1, Math.floor(cursor.fx * width));
  const pixel = onScreen(view, { y0: row, y1: row + 1, x0: column, x1: column + 1 });
  const y = pixel.top + pixel.height / 2;
  const x = pixel.left + pixel.width / 2;
  for (const [colour, line] of [["rgba(0, 0, 0, 0.8)", 3], ["#ffffff", 1]] as const) {
    context.strokeStyle = colour;
    context.lineWidth = line;
    context.beginPath();
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      const gap = Math.max(4, (dx ? pixel.width : pixel.height) / 2 + 2);
      context.moveTo(x + dx * gap, y + dy * gap);
      context.lineTo(x + dx * (gap + 8), y + dy * (gap + 8));
    }
    context.stroke();
    if (Math.min(pixel.width, pixel.height) >= 6) context.strokeRect(pixel.left + 0.5, pixel.top + 0.5, pixel.width - 1, pixel.height - 1);
  }
}
