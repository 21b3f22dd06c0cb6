// A map of chunks: each is coloured by its stored bytes, by its ratio, or by when it was written.
import { type Signal, signal } from "@preact/signals";
import type { ChunkGrid } from "./api";
import { colourMap } from "./paint/colours";
import { chunkCuts, type Cuts, onScreen, tilesIn, type Viewport, visible } from "./plane";
import type { Pane } from "./pane";
import type { Viewer } from "./state";
import { bytes } from "./ui/text";

export const MEASURES = ["bytes", "ratio", "age"] as const;
export type Measure = (typeof MEASURES)[number];
export const MAP = "viridis";

export class ChunkMap {
  readonly grid: Signal<ChunkGrid | null> = signal(null);
  readonly failure = signal("");
  private key = "";
  private abort: AbortController | null = null;

  constructor(
    private readonly viewer: Viewer,
    readonly pane: Pane,
    readonly measure: Measure,
  ) {}

  /** Asks for the chunks of the plane that is seen, once. */
  want(again: () => void): void {
    const { viewer, pane } = this;
    const { y, x } = pane.axes.value;
    const sel = viewer.selectionOf(pane, null);
    const key = `${y},${x} ${sel}`;
    if (key === this.key) return;
    this.key = key;
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    viewer.api
      .chunks({ path: pane.node.path, sel, axes: `${y},${x}`, of: this.measure }, abort.signal)
      .then((grid) => {
        this.grid.value = grid;
        this.failure.value = "";
        again();
      })
      .catch((error: unknown) => {
        if (abort.signal.aborted) return;
        this.grid.value = null;
        this.failure.value = error instanceof Error ? error.message : String(error);
        viewer.note(error);
        again();
      });
  }

  /** A request that failed is made once more when the map is drawn. */
  askAgain(): void {
    if (this.failure.value) this.key = "";
  }

  dispose(): void {
    this.abort?.abort();
  }

  /** The borders of what is coloured: chunks, or shards. */
  cuts(grid: ChunkGrid): [Cuts, Cuts] {
    const { node, axes } = this.pane;
    const { y = 0, x = 0 } = axes.value;
    const lengths = grid.unit === "shard" && node.shards ? node.shards : node.chunks;
    return [chunkCuts(node.shape[y], lengths[y]), chunkCuts(node.shape[x], lengths[x])];
  }

  /** From the least to the greatest number; null where no chunk is stored. */
  get range(): [number, number] | null {
    let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const value of this.grid.value?.values ?? []) {
      if (value === null) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return low > high ? null : [low, high];
  }

  /** The number of the chunk of an element; undefined where it is not known. */
  at(row: number, column: number): number | null | undefined {
    const grid = this.grid.value;
    if (!grid) return undefined;
    const [rows, columns] = this.cuts(grid);
    return numberOf(grid, rows.find(row), columns.find(column));
  }

  /** What the colours mean, in words. */
  get described(): string {
    const grid = this.grid.value;
    if (this.failure.value) return this.failure.value;
    if (!grid) return "";
    const { range } = this;
    const missing = grid.values.filter((value) => value === null).length;
    const count = `${grid.values.length - missing} of ${grid.values.length} ${grid.unit}s stored`;
    const what = { bytes: "stored bytes", ratio: "decoded bytes for each stored one", age: "last change" }[this.measure];
    if (!range) return count;
    const [low, high] = range.map((value) => this.text(value));
    // Dates have no bar of colours.
    const ends = this.measure === "age" ? `${low} (dark) to ${high} (bright)` : `${low} to ${high}`;
    return `${what}, ${ends}; ${count}`;
  }

  text(value: number): string {
    if (this.measure === "bytes") return bytes(value);
    if (this.measure === "ratio") return `${value.toPrecision(3)}`;
    return new Date(value * 1000).toISOString().slice(0, 16).replace("T", " ");
  }
}

function numberOf(grid: ChunkGrid, row: number, column: number): number | null | undefined {
  const { rows, columns, values } = grid;
  return values[(row - rows[0]) * (columns[1] - columns[0]) + (column - columns[0])];
}

/** The colour of a number in a range; the one colour of equal numbers is the last one. */
function levelOf(value: number, [low, high]: [number, number]): number {
  return high > low ? Math.min(255, Math.floor(((value - low) / (high - low)) * 256)) : 255;
}

/** Colours the chunks that are seen, and writes their numbers where there is room. */
export function drawChunks(context: CanvasRenderingContext2D, view: Viewport, map: ChunkMap): void {
  const grid = map.grid.value;
  const { range } = map;
  if (!grid || !range) return;
  const { height, width } = map.pane.extent;
  const [rows, columns] = map.cuts(grid);
  const colours = colourMap(MAP);
  context.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const tile of tilesIn(visible(view, height, width), rows, columns)) {
    const value = numberOf(grid, rows.find(tile.y0), columns.find(tile.x0));
    if (value === null || value === undefined) continue;
    const level = levelOf(value, range);
    const colour = colours[level];
    context.fillStyle = `rgb(${colour & 255}, ${(colour >> 8) & 255}, ${(colour >> 16) & 255})`;
    const place = onScreen(view, tile);
    context.fillRect(place.left, place.top, place.width, place.height);
    label(context, place, map.text(value), level < 140 ? "#ffffff" : "#000000");
  }
}

function label(context: CanvasRenderingContext2D, { left, top, width, height }: ReturnType<typeof onScreen>, text: string, colour: string): void {
  if (height < 18 * devicePixelRatio || context.measureText(text).width > width - 8 * devicePixelRatio) return;
  context.fillStyle = colour;
  context.fillText(text, left + width / 2, top + height / 2);
}
