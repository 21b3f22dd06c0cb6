// Pointer and keyboard on a picture: cursor, region, zoom, movement, series.
import type { Value } from "../api";
import { missingOf } from "../missing";
import type { Picture } from "../picture";
import { symbol } from "../labels";
import { type Box, screenRow } from "../plane";
import type { Viewer } from "../state";

type Drag = { kind: "move" | "region" | "line"; x: number; y: number; row: number; column: number; moved: boolean };

export class Pointer {
  private drag: Drag | null = null;
  /** Where the region of the keyboard began. */
  private anchor: { row: number; column: number } | null = null;
  /** Where the line of the keyboard began. */
  private begin: { row: number; column: number } | null = null;
  private asking: AbortController | null = null;
  private timer = 0;
  private readonly stops: (() => void)[] = [];

  constructor(
    private readonly viewer: Viewer,
    private readonly picture: Picture,
    private readonly element: HTMLCanvasElement,
    private readonly onValue: (text: string) => void,
  ) {
    this.on("pointerdown", this.down);
    this.on("pointermove", this.move);
    this.on("pointerup", this.up);
    this.on("pointercancel", () => (this.drag = null));
    this.on("pointerleave", () => {
      if (!this.drag && document.activeElement !== element) this.viewer.cursor.value = null;
    });
    this.on("wheel", this.wheel);
    this.on("keydown", this.key);
  }

  private on<K extends keyof HTMLElementEventMap>(name: K, call: (event: HTMLElementEventMap[K]) => void): void {
    this.element.addEventListener(name, call as EventListener, { passive: false });
    this.stops.push(() => this.element.removeEventListener(name, call as EventListener));
  }

  dispose(): void {
    for (const stop of this.stops) stop();
    this.asking?.abort();
    clearTimeout(this.timer);
  }

  /** The element below a position of the pointer; it may lie outside of the plane. */
  private elementAt(event: MouseEvent): { row: number; column: number; fy: number; fx: number } {
    const rect = this.element.getBoundingClientRect();
    const view = this.picture.viewport();
    const { height, width } = this.picture.pane.extent;
    const x = ((event.clientX - rect.left) * devicePixelRatio - view.left) / view.scale;
    const y = screenRow(view, ((event.clientY - rect.top) * devicePixelRatio - view.top) / view.scaleY);
    return { row: Math.floor(y), column: Math.floor(x), fy: y / height, fx: x / width };
  }

  private down = (event: PointerEvent) => {
    const { row, column } = this.elementAt(event);
    const kind = event.shiftKey || event.button === 1 ? "move" : this.viewer.drawsLine.value ? "line" : "region";
    if (event.button > 1) return;
    event.preventDefault();
    this.element.focus();
    this.element.setPointerCapture(event.pointerId);
    this.drag = { kind, x: event.clientX, y: event.clientY, row, column, moved: false };
  };

  private move = (event: PointerEvent) => {
    const place = this.elementAt(event);
    const { drag, viewer, picture } = this;
    if (drag) {
      if (Math.abs(event.clientX - drag.x) + Math.abs(event.clientY - drag.y) > 3) drag.moved = true;
      if (drag.kind === "move") {
        this.shift(event.clientX - drag.x, event.clientY - drag.y);
        drag.x = event.clientX;
        drag.y = event.clientY;
      } else if (drag.moved && drag.kind === "line") {
        viewer.line.value = { pane: picture.pane, from: this.within(drag), to: this.within(place) };
      } else if (drag.moved) {
        viewer.region.value = { pane: picture.pane, box: this.boxOf(drag, place) };
      }
    }
    const inside = place.fy >= 0 && place.fy < 1 && place.fx >= 0 && place.fx < 1;
    if (inside) this.point(place.fy, place.fx);
    else if (!drag) {
      viewer.cursor.value = null;
      this.onValue("");
    }
  };

  private up = () => {
    const { drag, viewer, picture } = this;
    this.drag = null;
    if (!drag || drag.moved || drag.kind === "move") return;
    const { height, width } = picture.pane.extent;
    if (drag.row < 0 || drag.row >= height || drag.column < 0 || drag.column >= width) viewer.region.value = null;
    else this.choose(drag.row, drag.column);
  };

  /** An element was clicked: the cross goes there, or its series is shown. */
  private choose(row: number, column: number): void {
    const { viewer, picture } = this;
    if (picture.pane.cross) viewer.moveCross(picture.pane, row, column);
    else viewer.series.value = { pane: picture.pane, row, column };
  }

  /** The nearest element of the plane. */
  private within({ row, column }: { row: number; column: number }): { row: number; column: number } {
    const { height, width } = this.picture.pane.extent;
    const clip = (value: number, end: number) => Math.max(0, Math.min(end - 1, value));
    return { row: clip(row, height), column: clip(column, width) };
  }

  private boxOf(one: { row: number; column: number }, two: { row: number; column: number }): Box {
    const { height, width } = this.picture.pane.extent;
    const clip = (value: number, end: number) => Math.max(0, Math.min(end - 1, value));
    const rows = [clip(one.row, height), clip(two.row, height)].sort((a, b) => a - b);
    const columns = [clip(one.column, width), clip(two.column, width)].sort((a, b) => a - b);
    return { y0: rows[0], y1: rows[1] + 1, x0: columns[0], x1: columns[1] + 1 };
  }

  private point(fy: number, fx: number): void {
    const { pane } = this.picture;
    const { height, width } = pane.extent;
    const before = this.viewer.cursor.value;
    const row = Math.floor(fy * height);
    const column = Math.floor(fx * width);
    this.viewer.cursor.value = { pane, fy, fx };
    if (before?.pane === pane && Math.floor(before.fy * height) === row && Math.floor(before.fx * width) === column) return;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.ask(row, column), 40);
  }

  private async ask(row: number, column: number): Promise<void> {
    const { viewer } = this;
    const { pane } = this.picture;
    const { y, x, c } = pane.axes.value;
    const index = viewer.indexOf(pane).map((value, axis) => {
      if (axis === y) return String(row);
      if (axis === x) return String(column);
      return axis === c && pane.node.shape[axis] <= 16 ? ":" : String(value);
    });
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    try {
      if (pane.projection.value) return await this.askProjected(row, column, asking.signal);
      const value = await viewer.api.value(pane.node.path, index.join(","), { field: pane.field.value, as: pane.form }, asking.signal);
      if (asking.signal.aborted) return;
      const text = this.described(row, column, value) + (await this.ofSecond(row, column, asking.signal));
      if (asking.signal.aborted) return;
      this.onValue(text);
      if (document.activeElement === this.element) viewer.spoken.value = text;
    } catch (error) {
      if (!asking.signal.aborted) {
        this.onValue(error instanceof Error ? error.message : String(error));
        viewer.note(error);
      }
    }
  }

  /** The value of the second array of the picture, as text. */
  private async ofSecond(row: number, column: number, signal: AbortSignal): Promise<string> {
    const { viewer } = this;
    const { pane } = this.picture;
    const over = pane.over.value;
    if (!over) return "";
    const index = over.placeOf(viewer.indexOf(pane), row, column);
    const { text, texts, meant } = await viewer.api.value(over.pane.node.path, index, { as: over.pane.form }, signal);
    return `; ${over.pane.node.path}: ${meant?.[0] ?? text ?? texts?.join(", ")}`;
  }

  /** The largest, smallest or mean value along the axis of a projection. */
  private async askProjected(row: number, column: number, signal: AbortSignal): Promise<void> {
    const { viewer } = this;
    const { pane } = this.picture;
    const projection = pane.projection.value;
    if (!projection) return;
    const sel = viewer.selectionOf(pane, { y0: row, y1: row + 1, x0: column, x1: column + 1 });
    const found = await viewer.api.stats(pane.node.path, sel, { bins: 1, field: pane.field.value, as: pane.form }, signal);
    if (signal.aborted) return;
    const number = found[projection.how];
    const unit = pane.node.unit && pane.node.unit !== "1" ? ` ${symbol(pane.node.unit)}` : "";
    this.onValue(`${this.placed(row, column)}: ${number === null ? "no number" : `${number}${unit}`}, ${pane.projected}`);
  }

  private described(row: number, column: number, value: Value): string {
    const { pane } = this.picture;
    const stated = value.texts ? `(${value.texts.join(", ")})` : value.text;
    const unit = pane.node.unit && pane.node.unit !== "1" ? ` ${symbol(pane.node.unit)}` : "";
    const meant = value.meant && (value.meant.length > 1 ? `(${value.meant.join(", ")})` : value.meant[0]);
    const text = meant ? `${meant}${meant === "missing" ? "" : unit} (stored ${stated})` : `${stated}${pane.form === "raw" && pane.node.decodes ? "" : unit}`;
    const missing = missingOf(this.viewer, pane, this.viewer.indexOf(pane), () => {});
    const stored = missing?.at(missing.rows.find(row), missing.columns.find(column)) ? ", not stored" : "";
    const map = pane.chunkMap.value;
    const measured = map?.at(row, column);
    const told = map && typeof measured === "number" ? `, ${map.measure} ${map.text(measured)}` : "";
    return `${this.placed(row, column)}: ${text}, chunk ${value.chunk.join(".")}${stored}${told}`;
  }

  private placed(row: number, column: number): string {
    const { pane } = this.picture;
    const { y = 0, x = 0 } = pane.axes.value;
    return `${pane.placeOf(y, row)} ${pane.placeOf(x, column)}`;
  }

  private shift(dx: number, dy: number): void {
    const { height, width } = this.picture.pane.extent;
    const [cx, cy, span] = this.picture.seen();
    const { scale, scaleY } = this.picture.viewport();
    const shownHeight = (span * height * scaleY) / (width * scale);
    const down = this.picture.pane.flipped.value ? -dy : dy;
    this.viewer.viewOf(this.picture.pane).value = [cx - dx / span, cy - down / shownHeight, span];
  }

  /** Zooms so that a point of the plane, in fractions, stays where it is on the screen. */
  private zoom(factor: number, fy: number, fx: number): void {
    const [cx, cy, span] = this.picture.seen();
    const { width } = this.picture.pane.extent;
    const next = Math.max(16, Math.min((width * 128) / devicePixelRatio, span * factor));
    const real = next / span;
    this.viewer.viewOf(this.picture.pane).value = [fx + (cx - fx) / real, fy + (cy - fy) / real, next];
  }

  private wheel = (event: WheelEvent) => {
    event.preventDefault();
    const { fy, fx } = this.elementAt(event);
    const pixels = event.deltaMode === 1 ? event.deltaY * 16 : event.deltaY;
    this.zoom(2 ** (-pixels / 240), fy, fx);
  };

  private key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { viewer, picture } = this;
    const { pane } = picture;
    const { height, width } = pane.extent;
    const cursor = viewer.cursor.value?.pane === pane ? viewer.cursor.value : { fy: 0.5, fx: 0.5 };
    const row = Math.min(height - 1, Math.floor(cursor.fy * height));
    const column = Math.min(width - 1, Math.floor(cursor.fx * width));
    const go = (down: number, dx: number) => {
      if (event.shiftKey) return this.shift(-dx * 40, -down * 40);
      const dy = pane.flipped.value ? -down : down;
      const next = {
        row: Math.max(0, Math.min(height - 1, row + dy)),
        column: Math.max(0, Math.min(width - 1, column + dx)),
      };
      this.point((next.row + 0.5) / height, (next.column + 0.5) / width);
      if (this.anchor) viewer.region.value = { pane, box: this.boxOf(this.anchor, next) };
      if (this.begin) viewer.line.value = { pane, from: this.begin, to: next };
    };
    const actions: Record<string, () => void> = {
      ArrowUp: () => go(-1, 0),
      ArrowDown: () => go(1, 0),
      ArrowLeft: () => go(0, -1),
      ArrowRight: () => go(0, 1),
      "+": () => this.zoom(1.5, cursor.fy, cursor.fx),
      "=": () => this.zoom(1.5, cursor.fy, cursor.fx),
      "-": () => this.zoom(1 / 1.5, cursor.fy, cursor.fx),
      "0": () => viewer.fit(),
      "1": () => (viewer.viewOf(pane).value = [cursor.fx, cursor.fy, width / devicePixelRatio]),
      Enter: () => this.choose(row, column),
      r: () => {
        this.anchor = this.anchor ? null : { row, column };
        if (this.anchor) viewer.region.value = { pane, box: this.boxOf(this.anchor, this.anchor) };
        viewer.spoken.value = this.anchor ? "A region begins. Move the cursor and press r." : "The region ends.";
      },
      s: () => viewer.pin(),
      l: () => {
        this.begin = this.begin ? null : { row, column };
        viewer.spoken.value = this.begin ? "A line begins. Move the cursor and press l." : "The line ends.";
      },
      Escape: () => {
        this.anchor = null;
        this.begin = null;
        viewer.line.value = null;
        viewer.region.value = null;
      },
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };
}
