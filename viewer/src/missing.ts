// Which chunks of a plane are not stored. They are hatched, so that missing is never taken for zero.
import type { Stored } from "./api";
import { chunkCuts, type Cuts } from "./plane";
import type { Pane } from "./pane";
import type { Viewer } from "./state";

export interface Missing {
  rows: Cuts;
  columns: Cuts;
  at(row: number, column: number): boolean;
  picture(): HTMLCanvasElement;
}

const made = new WeakMap<Stored, Missing | null>();

/** What is missing of the plane that a pane shows; null until the server has answered, or if nothing is. */
export function missingOf(viewer: Viewer, pane: Pane, index: number[], again: () => void): Missing | null {
  const { node } = pane;
  const { y, x } = pane.axes.value;
  if (y === undefined || x === undefined || node.shape.includes(0)) return null;
  // Planes through the same chunks have the same answer.
  const chunks = pane.otherAxes.map((axis) => chunkCuts(node.shape[axis], node.chunks[axis]).find(index[axis]));
  const key = `${y},${x}:${pane.projection.value?.axis}:${chunks}`;
  if (pane.storedKey !== key) {
    pane.storedKey = key;
    pane.storedFailed = false;
    if (!viewer.playing.value) pane.stored.value = null;
    viewer.api
      .stored(node.path, viewer.selectionOf(pane, null))
      .then((stored) => {
        if (pane.storedKey !== key) return;
        pane.stored.value = stored;
        again();
      })
      .catch((error: unknown) => {
        // The picture is right without it; it is asked for again when the server is back.
        if (pane.storedKey === key) pane.storedFailed = true;
        viewer.note(error);
        again();
      });
  }
  const stored = pane.stored.value;
  if (!stored) return null;
  let missing = made.get(stored);
  if (missing === undefined) {
    missing = fromRuns(pane, stored, y, x);
    made.set(stored, missing);
  }
  return missing;
}

/**
 * A chunk of the plane is missing if it is so for any index of the other axes in the box (of channels);
 * of a projection, if it is so for every one.
 */
export function missingGrid(runs: number[], sides: number[], y: number, x: number, isEvery = false): Uint8Array {
  const counts = new Uint32Array(sides[y] * sides[x]);
  const strides: number[] = [];
  let stride = 1;
  for (let axis = sides.length - 1; axis >= 0; axis--) {
    strides[axis] = stride;
    stride *= sides[axis];
  }
  let at = 0;
  runs.forEach((length, number) => {
    if (number % 2 === 0) {
      for (let chunk = at; chunk < at + length; chunk++) {
        const row = Math.floor(chunk / strides[y]) % sides[y];
        const column = Math.floor(chunk / strides[x]) % sides[x];
        counts[row * sides[x] + column]++;
      }
    }
    at += length;
  });
  const least = isEvery ? sides.reduce((a, b) => a * b, 1) / (counts.length || 1) : 1;
  return Uint8Array.from(counts, (count) => (count >= least ? 1 : 0));
}

function fromRuns(pane: Pane, { box, runs, unit }: Stored, y: number, x: number): Missing | null {
  const { node } = pane;
  const sides = box.map(([begin, end]) => end - begin);
  const grid = missingGrid(runs, sides, y, x, pane.projection.value !== null);
  if (!grid.includes(1)) return null;
  const lengths = unit === "shard" && node.shards ? node.shards : node.chunks;
  const rows = chunkCuts(node.shape[y], lengths[y]);
  const columns = chunkCuts(node.shape[x], lengths[x]);
  let canvas: HTMLCanvasElement | null = null;
  return {
    rows,
    columns,
    at: (row, column) => grid[(row - box[y][0]) * sides[x] + (column - box[x][0])] === 1,
    picture: () => {
      if (canvas) return canvas;
      canvas = document.createElement("canvas");
      canvas.width = sides[x];
      canvas.height = sides[y];
      const image = new ImageData(sides[x], sides[y]);
      const pixels = new Uint32Array(image.data.buffer);
      grid.forEach((bit, chunk) => {
        const dark = ((chunk % sides[x]) + Math.floor(chunk / sides[x])) & 1;
        pixels[chunk] = bit ? (dark ? 0xff14262e : 0xff2a91c8) : 0;
      });
      canvas.getContext("2d")?.putImageData(image, 0, 0);
      return canvas;
    },
  };
}
