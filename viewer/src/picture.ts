// Draws one pane: tiles, hatching where there are no values, and above them grid, region and cursor.
//
// There are two canvases. The lower one has the picture alone, whose pixels tests compare with NumPy;
// the upper one is drawn again for each movement of the pointer.
import type { Tile } from "./api";
import { type ChunkMap, drawChunks } from "./chunkmap";
import { hatch } from "./hatching";
import { drawMarks } from "./marks";
import { missingOf } from "./missing";
import { type Layout, type Look, paint } from "./paint/paint";
import { type Box, centred, fitting, layoutOf, onScreen, tilesIn, type Viewport, visible } from "./plane";
import { type Placed, Placing } from "./placing";
import { channelRange, isSpread, rangeOf } from "./range";
import { crossSides } from "./sides";
import type { Over } from "./over";
import type { Pane } from "./pane";
import type { Viewer } from "./state";
import type { Entry } from "./tiles";

/** A tile of the picture, and what is loaded of it. */
interface Drawable {
  place: Placed;
  entry: Entry | undefined;
}

export class Picture {
  private frame = 0;
  private readonly lower: CanvasRenderingContext2D;
  private readonly upper: CanvasRenderingContext2D;
  private readonly placing: Placing;
  /** Of the second array, where there is one. */
  private over: { pane: Pane; placing: Placing } | null = null;
  /** How many pictures were drawn, for the count of frames a second. */
  drawn = 0;
  /** The index whose picture is complete on the screen. */
  shown = "";

  constructor(
    private readonly viewer: Viewer,
    readonly pane: Pane,
    readonly canvas: HTMLCanvasElement,
    overlay: HTMLCanvasElement,
    /** Called after each picture, to draw what surrounds it. */
    private readonly onDrawn: (view: Viewport) => void,
  ) {
    this.placing = new Placing(viewer, pane, () => this.schedule());
    this.lower = canvas.getContext("2d") as CanvasRenderingContext2D;
    this.upper = overlay.getContext("2d") as CanvasRenderingContext2D;
  }

  schedule(): void {
    if (!this.frame) {
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        this.draw();
      });
    }
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.viewer.tiles.want(this.pane, []);
  }

  /** Where the plane lies on the canvas, in device pixels. */
  viewport(): Viewport {
    const { height, width } = this.canvas;
    const plane = this.pane.extent;
    const view = this.viewer.viewOf(this.pane).value;
    const flip = this.pane.flipped.value ? plane.height : 0;
    const { tall, wide } = this.sides();
    if (!view) {
      const unit = this.fit({ height: plane.height * tall, width: plane.width * wide });
      const [scale, scaleY] = [unit * wide, unit * tall];
      return { scale, scaleY, left: centred(plane.width * scale, width), top: centred(plane.height * scaleY, height), width, height, flip };
    }
    const scale = (view[2] * devicePixelRatio) / plane.width;
    const scaleY = (scale * tall) / wide;
    const [cx, fraction] = view;
    const cy = flip ? 1 - fraction : fraction;
    return {
      scale,
      scaleY,
      left: Math.round(width / 2 - cx * plane.width * scale),
      top: Math.round(height / 2 - cy * plane.height * scaleY),
      width,
      height,
      flip,
    };
  }

  /** What part of its plane is seen, as a view that can be kept: centre, and CSS pixels for the width. */
  seen(): [number, number, number] {
    const view = this.viewer.viewOf(this.pane).value;
    if (view) return view;
    const { scale, scaleY, left, top, width, height, flip } = this.viewport();
    const plane = this.pane.extent;
    const cy = (height / 2 - top) / (plane.height * scaleY);
    return [(width / 2 - left) / (plane.width * scale), flip ? 1 - cy : cy, (scale * plane.width) / devicePixelRatio];
  }

  /** The sides of an element in proportion, where they are not equal. */
  private sides(): { tall: number; wide: number } {
    const sides = crossSides(this.viewer.panes.value, this.pane);
    const { y, x } = this.pane.axes.value;
    const of = (axis: number | undefined) => (axis === undefined ? 1 : (sides?.get(axis) ?? 1));
    return { tall: of(y), wide: of(x) };
  }

  /** The scale at which the plane fits; of three planes, at which all of them do. */
  private fit(plane: { height: number; width: number }): number {
    const { pane, viewer } = this;
    const own = fitting(plane.height, plane.width, this.canvas.height, this.canvas.width);
    if (!pane.cross) return own;
    if (pane.fits !== own) {
      pane.fits = own;
      // The others may have another scale now.
      viewer.loaded.value++;
    }
    return Math.min(...viewer.panes.value.map(({ cross, fits }) => (cross ? fits : Number.POSITIVE_INFINITY)));
  }

  /** The tiles of both arrays at an index. */
  private both(index: number[], view: Viewport): Placed[] {
    if (this.pane.chunkMap.value) return [];
    return [...this.placing.placed(index, view), ...this.placedAbove(index, view)];
  }

  /** The tiles of the second array, at the places of the plane. */
  private placedAbove(index: number[], view: Viewport): Placed[] {
    const above = this.pane.over.value;
    if (!above || above.mode === "difference") return [];
    if (this.over?.pane !== above.pane) {
      this.over = { pane: above.pane, placing: new Placing(this.viewer, above.pane, () => this.schedule()) };
    }
    return this.over.placing.placed(above.indexOf(index), view, this.pane.extent);
  }

  /** Whether all tiles of a frame are there. Failed ones count, so that play goes on. */
  has(index: number[]): boolean {
    const placed = this.both(index, this.viewport());
    if (this.pane.chunkMap.value) return true;
    return placed.length > 0 && placed.every(({ request }) => this.viewer.tiles.has(request.key));
  }

  /** What is seen now, and then the frames of `ahead`. */
  want(ahead: number[][]): void {
    const view = this.viewport();
    const now = this.both(this.viewer.indexOf(this.pane), view);
    const later = ahead.flatMap((index) => this.both(index, view));
    this.viewer.tiles.want(this.pane, [...now, ...later].map(({ request }) => request));
  }

  draw(): void {
    const { viewer, pane, lower } = this;
    const view = this.viewport();
    const index = viewer.indexOf(pane);
    if (pane.chunkMap.value && !pane.isEmpty) return this.drawChunkMap(view, index, pane.chunkMap.value);
    const loaded = (place: Placed) => ({ place, entry: viewer.tiles.get(place.request.key) });
    const tiles = this.placing.placed(index, view).map(loaded);
    const above = this.placedAbove(index, view).map(loaded);
    const complete = (tiles.length > 0 || pane.isEmpty) && [...tiles, ...above].every(({ entry }) => entry);
    const look = this.lookOf(tiles, complete);
    const isSecond = pane.over.value?.mode === "blink" && pane.over.value.isSecond.value;
    this.clear(view);
    lower.imageSmoothingEnabled = Math.min(view.scale, view.scaleY) < 1 && look.kind !== "labels" && look.kind !== "mask";
    this.drawTiles(view, isSecond ? above : tiles, look);
    if (pane.over.value?.mode === "labels") this.drawLabels(view, above, pane.over.value);
    this.drawMissing(view, index);
    this.drawMarks(view);
    pane.message.value = [...tiles, ...above].flatMap(({ entry }) => entry?.error || entry?.tile?.damage?.sentence || [])[0] ?? "";
    pane.exceeds.value = !viewer.viewOf(pane).value && Math.max(pane.extent.height * view.scaleY - view.height, pane.extent.width * view.scale - view.width) >= 1;
    pane.hidesMissing.value = viewer.showMissing.value && pane.storedFailed;
    pane.quality.value = tiles.flatMap(({ entry }) => entry?.tile?.headers["x-zarrix-quality"] || []).at(-1) ?? "";
    pane.every.value = Math.max(1, ...tiles.map(({ entry }) => Number(entry?.tile?.headers["x-zarrix-every"] ?? 1)));
    this.publish(view, index, look, complete);
    this.onDrawn(view);
    pane.ready.value = complete;
    this.shown = complete ? index.join(",") : "";
    if (!viewer.playing.value) this.want([]);
  }

  /** The chunks of the plane in colours; those that are not stored are hatched. */
  private drawChunkMap(view: Viewport, index: number[], map: ChunkMap): void {
    const { pane } = this;
    map.want(() => this.schedule());
    this.clear(view);
    drawChunks(this.lower, view, map);
    this.drawMissing(view, index);
    this.drawMarks(view);
    pane.message.value = "";
    pane.quality.value = "";
    const complete = map.grid.value !== null || map.failure.value !== "";
    this.publish(view, index, { ...pane.look.value, range: map.range ?? [0, 1] }, complete);
    this.onDrawn(view);
    pane.ready.value = complete;
    this.shown = complete ? index.join(",") : "";
    this.want([]);
  }

  /** The look of the pane, with the range of these tiles where none is chosen or known. */
  private lookOf(tiles: Drawable[], complete: boolean): Look {
    const { pane } = this;
    const look = { ...pane.look.value };
    if (pane.kind.value === "channels") return this.channelsOf(look, tiles, complete);
    if (pane.range.value !== null || (pane.found.value !== null && !pane.perFrame.value)) return look;
    const loaded = loadedOf(tiles);
    const range = rangeOf(loaded, look, pane.clip.value);
    if (!range) return look;
    if (complete && !pane.perFrame.value) {
      pane.found.value = range;
      // On another scale, the range of magnitudes is another one.
      if (pane.adaptScale(range, () => isSpread(loaded))) return this.lookOf(tiles, complete);
    }
    return { ...look, range };
  }

  /** The look with a range for each channel of which none is chosen or known. */
  private channelsOf(look: Look, tiles: Drawable[], complete: boolean): Look {
    const { pane } = this;
    const known = pane.perFrame.value ? [] : pane.foundChannels.value;
    const chosen = pane.channels.value;
    if (chosen.every(({ range }, at) => range ?? known[at])) return look;
    const ranges = chosen.map(({ range }, at) => range ?? known[at] ?? channelRange(loadedOf(tiles), at));
    if (complete && !pane.perFrame.value) pane.foundChannels.value = ranges;
    return { ...look, channels: look.channels.map((channel, at) => ({ ...channel, range: ranges[at] ?? channel.range })) };
  }

  private clear(view: Viewport): void {
    const { pane, canvas, lower } = this;
    lower.clearRect(0, 0, canvas.width, canvas.height);
    const { height, width } = pane.extent;
    this.fill(view, { y0: 0, y1: height, x0: 0, x1: width }, hatch(lower, "invalid"));
  }

  private drawTiles(view: Viewport, tiles: Drawable[], look: Look): void {
    const { lower } = this;
    const lookKey = JSON.stringify(look);
    for (const { place, entry } of tiles) {
      if (!entry) continue;
      if (entry.error !== null) {
        this.fill(view, place.box, hatch(lower, "broken"));
        continue;
      }
      this.painted(entry, place, look, lookKey);
      if (entry.canvas) this.drawTile(view, place, entry.tile, entry.canvas);
      this.drawDamage(view, place, entry.tile);
    }
  }

  /** Labels above the picture; nearest elements, because labels have no values between them. */
  private drawLabels(view: Viewport, tiles: Drawable[], over: Over): void {
    const fill = Math.round(over.opacity.value * 255);
    this.lower.imageSmoothingEnabled = false;
    this.drawTiles(view, tiles, { ...over.pane.look.value, kind: "labels", outlines: over.outlines.value, fill });
  }

  private drawTile(view: Viewport, place: Placed, tile: Tile | null, canvas: HTMLCanvasElement): void {
    const { lower } = this;
    const rect = onScreen(view, place.box);
    const cells = (tile?.headers["x-zarrix-cells"] ?? "").split(",").map(Number);
    if (cells.length !== 4) {
      drawn(lower, view, canvas, rect);
      return;
    }
    // Each element stands for a cell, and the last ones reach beyond the plane.
    const [y0, x0, height, width] = cells;
    const { factor } = place;
    const whole = onScreen(view, {
      y0: y0 * factor.y,
      y1: (y0 + canvas.height * height) * factor.y,
      x0: x0 * factor.x,
      x1: (x0 + canvas.width * width) * factor.x,
    });
    const smoothed = lower.imageSmoothingEnabled;
    lower.save();
    lower.beginPath();
    lower.rect(rect.left, rect.top, rect.width, rect.height);
    lower.clip();
    lower.imageSmoothingEnabled = smoothed && tile?.headers["x-zarrix-quality"] !== "coarse";
    drawn(lower, view, canvas, whole);
    lower.restore();
  }

  /** Hatches the chunks of a tile that do not decode. */
  private drawDamage(view: Viewport, place: Placed, tile: Tile | null): void {
    if (!tile?.damage) return;
    const { axes, factor, box } = place;
    const kept = [axes.y, axes.x, axes.c].filter((axis): axis is number => typeof axis === "number").sort((a, b) => a - b);
    const [y, x] = [kept.indexOf(axes.y as number), kept.indexOf(axes.x as number)];
    for (const ends of tile.damage.boxes) {
      const part = {
        y0: box.y0 + ends[y][0] * factor.y,
        y1: Math.min(box.y1, box.y0 + ends[y][1] * factor.y),
        x0: box.x0 + ends[x][0] * factor.x,
        x1: Math.min(box.x1, box.x0 + ends[x][1] * factor.x),
      };
      this.fill(view, part, hatch(this.lower, "broken"));
    }
  }

  /** Writes what is drawn as attributes of the canvas, which tests compare with the pixels. */
  private publish(view: Viewport, index: number[], look: Look, complete: boolean): void {
    const { pane } = this;
    Object.assign(this.canvas.dataset, {
      scale: view.scale,
      tall: view.scaleY,
      left: view.left,
      top: view.top,
      index,
      axes: [pane.axes.value.y, pane.axes.value.x],
      range: look.range,
      path: pane.node.path,
      flipped: view.flip ? "1" : "0",
      chunks: pane.chunkMap.value?.measure ?? "",
      over: pane.over.value?.mode ?? "",
      second: pane.over.value?.isSecond.value ? "1" : "0",
      labelled: pane.labels.value ? "1" : "0",
      stored: pane.storedFailed ? "failed" : pane.stored.value ? "1" : "0",
      ready: complete ? "1" : "0",
      drawn: ++this.drawn,
    });
  }

  private fill(view: Viewport, box: Box, style: CanvasPattern): void {
    const rect = onScreen(view, box);
    this.lower.fillStyle = style;
    this.lower.fillRect(rect.left, rect.top, rect.width, rect.height);
  }

  private painted(entry: Entry, place: Placed, look: Look, lookKey: string): void {
    const { tile } = entry;
    if (!tile || entry.painted === lookKey) return;
    const layout = layoutOf(tile.shape, place.axes, place.components);
    if (!layout.height || !layout.width) return;
    const image = new ImageData(layout.width, layout.height);
    paint({ type: tile.type, data: tile.data, layout }, look, new Uint32Array(image.data.buffer));
    if (!entry.canvas) {
      entry.canvas = document.createElement("canvas");
      entry.canvas.width = layout.width;
      entry.canvas.height = layout.height;
      this.viewer.tiles.grew(entry, image.data.length);
    }
    entry.canvas.getContext("2d")?.putImageData(image, 0, 0);
    entry.painted = lookKey;
  }

  private drawMissing(view: Viewport, index: number[]): void {
    const { viewer, pane, lower } = this;
    const missing = viewer.showMissing.value ? missingOf(viewer, pane, index, () => this.schedule()) : null;
    if (!missing) return;
    const { height, width } = pane.extent;
    const box = visible(view, height, width);
    const style = hatch(lower, "missing");
    const { rows, columns } = missing;
    const small = Math.min(view.scaleY * (rows.at(1) - rows.at(0)), view.scale * (columns.at(1) - columns.at(0))) < 4;
    if (small) {
      // One pixel for each chunk, drawn larger: a million rectangles would take seconds.
      lower.imageSmoothingEnabled = false;
      const rect = onScreen(view, { y0: 0, y1: height, x0: 0, x1: width });
      drawn(lower, view, missing.picture(), rect);
      return;
    }
    for (const tile of tilesIn(box, rows, columns)) {
      if (missing.at(rows.find(tile.y0), columns.find(tile.x0))) this.fill(view, tile, style);
    }
  }

  drawMarks(view = this.viewport()): void {
    const { upper, viewer, pane } = this;
    const { canvas } = upper;
    upper.clearRect(0, 0, canvas.width, canvas.height);
    drawMarks(upper, view, viewer, pane);
  }
}

/** The tiles that are loaded, and how their elements lie. */
function loadedOf(tiles: Drawable[]): { tile: Tile; layout: Layout }[] {
  return tiles.flatMap(({ place, entry }) => {
    const tile = entry?.tile;
    return tile ? [{ tile, layout: layoutOf(tile.shape, place.axes, place.components) }] : [];
  });
}

/** Draws a picture of rows from the top, or upside down where the first row is at the bottom. */
function drawn(
  context: CanvasRenderingContext2D, view: Viewport, canvas: HTMLCanvasElement,
  { left, top, width, height }: { left: number; top: number; width: number; height: number },
): void {
  if (!view.flip) {
    context.drawImage(canvas, left, top, width, height);
    return;
  }
  context.save();
  context.translate(0, 2 * top + height);
  context.scale(1, -1);
  context.drawImage(canvas, left, top, width, height);
  context.restore();
}
