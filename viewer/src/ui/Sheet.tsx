// What a loader would read: random windows as a contact sheet, and their outlines on the picture.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Tile } from "../api";
import { paint } from "../paint/paint";
import { layoutOf } from "../plane";
import type { Pane } from "../pane";
import type { Viewer } from "../state";
import { number } from "./text";

export function Sheet({ viewer, pane }: { viewer: Viewer; pane: Pane }) {
  const { height, width } = pane.extent;
  const size = useSignal(Math.max(1, Math.min(128, height, width)));
  const count = useSignal(16);
  const seed = useSignal(0);
  const tile = useSignal<Tile | null>(null);
  const failure = useSignal("");
  const busy = useSignal(false);
  const canvas = useRef<HTMLCanvasElement>(null);
  const { y, x } = pane.axes.value;
  const rank = pane.node.shape.length;
  // The server takes windows of the plane that it has guessed.
  const { guess } = pane.node;
  if (y === undefined || x === undefined || y !== guess.axes.y || x !== guess.axes.x) return null;

  const read = async () => {
    busy.value = true;
    failure.value = "";
    try {
      const found = await viewer.api.crops(pane.node.path, `${size.value},${size.value}`, count.value, seed.value);
      tile.value = found;
      const starts = JSON.parse(found.headers["x-zarrix-starts"] ?? "[]") as number[][];
      viewer.windows.value = {
        path: pane.node.path,
        boxes: starts.map((start) => {
          const [row, column] = start.length === rank ? [start[y], start[x]] : start.slice(-2);
          return { y0: row, y1: row + size.value, x0: column, x1: column + size.value };
        }),
      };
    } catch (error) {
      failure.value = error instanceof Error ? error.message : String(error);
      viewer.note(error);
    }
    busy.value = false;
  };
  const look = pane.look.value;
  useEffect(() => {
    if (canvas.current && tile.value) drawSheet(canvas.current, tile.value, pane);
  }, [tile.value, look]);
  const set = (target: { value: number }, most: number) => (event: { currentTarget: HTMLInputElement }) => {
    const value = Math.round(Number(event.currentTarget.value));
    if (value >= 0) target.value = Math.min(most, value);
  };
  const found = tile.value;
  return (
    <section aria-label="Crops of a loader" class="sheet">
      <details
        onToggle={(event) => {
          if (!event.currentTarget.open) viewer.windows.value = null;
        }}
      >
        <summary>Crops of a loader</summary>
        <p>
          <label>size <input type="number" min="1" value={size.value} onChange={set(size, Math.min(height, width, 1024))} /></label>{" "}
          <label>crops <input type="number" min="1" value={count.value} onChange={set(count, 64)} /></label>{" "}
          <label>seed <input type="number" min="0" value={seed.value} onChange={set(seed, 2 ** 31)} /></label>{" "}
          <button type="button" disabled={busy.value} onClick={() => void read()}>Read</button>
        </p>
        {failure.value && <p class="notice"><bdi>{failure.value}</bdi></p>}
        {found && (
          <>
            <canvas ref={canvas} role="img" aria-label={`${count.value} crops of ${size.value} by ${size.value}`} />
            <p class="quiet">
              {number(Number(found.headers["x-zarrix-rate"]))} crops a second
            </p>
          </>
        )}
      </details>
    </section>
  );
}

function drawSheet(canvas: HTMLCanvasElement, tile: Tile, pane: Pane): void {
  const context = canvas.getContext("2d");
  const [count] = tile.shape;
  const shape = tile.shape.slice(1);
  const layout = layoutOf(shape, pane.node.guess.axes, pane.node.components);
  const elements = shape.reduce((a, b) => a * b, 1);
  const columns = Math.ceil(Math.sqrt(count));
  canvas.width = columns * (layout.width + 2);
  canvas.height = Math.ceil(count / columns) * (layout.height + 2);
  for (let number = 0; number < count; number++) {
    const image = new ImageData(layout.width, layout.height);
    const data = tile.data.subarray(number * elements, (number + 1) * elements);
    paint({ type: tile.type, data, layout }, pane.look.value, new Uint32Array(image.data.buffer));
    context?.putImageData(image, (number % columns) * (layout.width + 2), Math.floor(number / columns) * (layout.height + 2));
  }
}
