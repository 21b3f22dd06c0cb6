// Geometry: from a plane on the screen to the tiles, chunks and selections of its array.
import type { ArrayNode, Axes, Level } from "./api";
import type { Layout } from "./paint/paint";

/** Where the plane lies on the screen, in device pixels: its corner, and the sides of an element. */
export interface Viewport {
  left: number;
  top: number;
  /** Device pixels of a column, and of a row. */
  scale: number;
  scaleY: number;
  width: number;
  height: number;
  /** The height of a plane whose first row is at the bottom; 0 for others. */
  flip: number;
}

/** Where a row lies on the screen, in elements below the top of the plane; and back. */
export function screenRow(view: Viewport, row: number): number {
  return view.flip ? view.flip - row : row;
}

export interface Box { y0: number; y1: number; x0: number; x1: number }

/** One axis of a tile grid: borders at multiples of `step`, or at `edges`. */
export interface Cuts { count: number; at(index: number): number; find(position: number): number }

export function regularCuts(length: number, step: number): Cuts {
  return {
    count: Math.max(1, Math.ceil(length / step)),
    at: (index) => Math.min(length, index * step),
    find: (position) => Math.floor(position / step),
  };
}

export function listedCuts(lengths: number[]): Cuts {
  const edges = [0];
  for (const length of lengths) edges.push(edges[edges.length - 1] + length);
  return {
    count: lengths.length,
    at: (index) => edges[Math.min(index, lengths.length)],
    find: (position) => {
      let low = 0;
      let high = lengths.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (edges[middle] <= position) low = middle;
        else high = middle - 1;
      }
      return low;
    },
  };
}

/** The borders of chunks along an axis. */
export function chunkCuts(length: number, chunk: number | number[]): Cuts {
  return Array.isArray(chunk) ? listedCuts(chunk) : regularCuts(length, Math.max(1, chunk));
}

/** The borders of tiles: whole chunks up to `target` elements, or parts of chunks that are larger. */
export function tileCuts(length: number, chunk: number | number[], target: number): Cuts {
  if (Array.isArray(chunk)) {
    const merged: number[] = [];
    for (const size of chunk) {
      const last = merged.length - 1;
      if (last >= 0 && merged[last] + size <= target) merged[last] += size;
      else for (let rest = size; rest > 0; rest -= target) merged.push(Math.min(rest, target));
    }
    return listedCuts(merged);
  }
  if (chunk > target) return regularCuts(length, target);
  return regularCuts(length, Math.max(1, chunk) * Math.floor(target / Math.max(1, chunk)));
}

/** How many elements a side of a tile has at most, so that a tile is some hundred KiB. */
export function tileSide(channels: number): number {
  return Math.min(1024, Math.floor(Math.sqrt((3 << 19) / Math.max(1, channels))));
}

/** The visible part of a plane, in elements. */
export function visible(view: Viewport, height: number, width: number): Box {
  const clip = (value: number, end: number) => Math.max(0, Math.min(end, value));
  const y0 = clip(Math.floor(-view.top / view.scaleY), height);
  const y1 = clip(Math.ceil((view.height - view.top) / view.scaleY), height);
  return {
    y0: view.flip ? height - y1 : y0,
    y1: view.flip ? height - y0 : y1,
    x0: clip(Math.floor(-view.left / view.scale), width),
    x1: clip(Math.ceil((view.width - view.left) / view.scale), width),
  };
}

/** Where a box of the plane lies on the canvas, in device pixels. */
export function onScreen(view: Viewport, box: Box): { left: number; top: number; width: number; height: number } {
  const left = view.left + Math.round(box.x0 * view.scale);
  const [y0, y1] = view.flip ? [view.flip - box.y1, view.flip - box.y0] : [box.y0, box.y1];
  const top = view.top + Math.round(y0 * view.scaleY);
  return {
    left,
    top,
    width: view.left + Math.round(box.x1 * view.scale) - left,
    height: view.top + Math.round(y1 * view.scaleY) - top,
  };
}

/** The tiles that touch a box. */
export function tilesIn(box: Box, rows: Cuts, columns: Cuts): Box[] {
  const tiles: Box[] = [];
  if (box.y1 <= box.y0 || box.x1 <= box.x0) return tiles;
  for (let row = rows.find(box.y0); row < rows.count && rows.at(row) < box.y1; row++) {
    for (let column = columns.find(box.x0); column < columns.count && columns.at(column) < box.x1; column++) {
      tiles.push({ y0: rows.at(row), y1: rows.at(row + 1), x0: columns.at(column), x1: columns.at(column + 1) });
    }
  }
  return tiles;
}

/** The text of a selection: `index` for axes that are not shown, ranges for y and x, all of c and of `whole`. */
export function selection(rank: number, axes: Axes, index: number[], box: Box | null, whole?: number): string {
  const items: string[] = [];
  for (let axis = 0; axis < rank; axis++) {
    if (axis === axes.y) items.push(box ? `${box.y0}:${box.y1}` : ":");
    else if (axis === axes.x) items.push(box ? `${box.x0}:${box.x1}` : ":");
    else if (axis === axes.c || axis === whole) items.push(":");
    else items.push(String(index[axis] ?? 0));
  }
  return items.join(",");
}

/** How the elements of a tile of `shape` lie, whose axes are those shown, in the order of the array. */
export function layoutOf(shape: number[], axes: Axes, components: number): Layout {
  const shown = [axes.y, axes.x, axes.c].filter((axis): axis is number => typeof axis === "number");
  shown.sort((a, b) => a - b);
  const strides: number[] = [];
  let stride = 1;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  const find = (axis: number | null | undefined) => (typeof axis === "number" ? shown.indexOf(axis) : -1);
  const [y, x, c] = [find(axes.y), find(axes.x), find(axes.c)];
  const extent = (at: number) => (at < 0 ? 1 : shape[at]);
  const stepOf = (at: number) => (at < 0 ? 0 : strides[at]);
  const parts = components > 1;
  return {
    height: extent(y),
    width: extent(x),
    sy: stepOf(y),
    sx: stepOf(x),
    sc: parts ? 1 : stepOf(c),
    channels: parts ? components : extent(c),
  };
}

/** The level to draw: the smallest that has an element for each pixel; the finest if there is none. */
export function levelFor(node: ArrayNode, axes: Axes, scale: number, scaleY: number): Level | null {
  const y = axes.y;
  const x = axes.x;
  if (y === undefined || x === undefined || node.levels.length < 2) return null;
  let chosen: Level | null = null;
  let extent = node.shape[x];
  for (const level of node.levels) {
    if (level.shape.length !== node.shape.length) continue;
    const width = level.shape[x];
    // A little coarser than the screen is not seen, and has a quarter of the elements.
    const isEnough = (axis: number, pixels: number) =>
      level.shape[axis] >= node.shape[axis] * Math.min(1, pixels) * 0.75;
    if (width <= extent && isEnough(x, scale) && isEnough(y, scaleY)) {
      chosen = level;
      extent = width;
    }
  }
  return chosen && chosen.path !== node.path ? chosen : null;
}

/** How many pixels the shorter side of a plane has at least. */
const LEAST_SIDE = 12;

/**
 * The scale at which a plane fits: whole numbers above 1, so that elements have equal sides. A plane that
 * would be a hairline does not fit: its first part is seen, at one pixel for an element at most.
 */
export function fitting(height: number, width: number, screenHeight: number, screenWidth: number): number {
  const scale = Math.min(screenHeight / Math.max(1, height), screenWidth / Math.max(1, width));
  if (scale >= 1) return Math.floor(scale);
  return Math.max(scale, Math.min(1, LEAST_SIDE / Math.max(1, Math.min(height, width))));
}

/** Where a plane begins on a screen: in its middle, or, if the plane is longer, at its edge. */
export function centred(length: number, screen: number): number {
  return Math.max(0, Math.round((screen - length) / 2));
}
