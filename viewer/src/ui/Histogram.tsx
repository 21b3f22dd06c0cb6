// The histogram of the plane that is seen, with a range that can be dragged.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Stats } from "../api";
import type { Pane } from "../pane";
import type { Viewer } from "../state";
import { number } from "./text";

const HEIGHT = 72;

export function Histogram({ viewer, pane }: { viewer: Viewer; pane: Pane }) {
  const stats = useSignal<Stats | null>(null);
  const failure = useSignal("");
  const canvas = useRef<HTMLCanvasElement>(null);
  const dragged = useRef<0 | 1 | null>(null);
  // Channels have a histogram each: that of the one that is chosen.
  const ofChannels = pane.kind.value === "channels";
  const chosen = useSignal(0);
  const channel = Math.min(chosen.value, pane.channels.value.length - 1);
  const plane = viewer.selectionOf(pane, null);
  const sel = ofChannels
    ? plane.split(",").map((item, axis) => (axis === pane.axes.value.c ? String(channel) : item)).join(",")
    : plane;
  const playing = viewer.playing.value !== null;
  const field = pane.field.value;
  const { form } = pane;
  useEffect(() => {
    if (playing || pane.kind.value === "labels") return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      viewer.api
        .stats(pane.node.path, sel, { bins: 256, field, as: form }, abort.signal)
        .then((found) => {
          stats.value = found;
          failure.value = "";
        })
        .catch((error: unknown) => {
          if (abort.signal.aborted) return;
          failure.value = error instanceof Error ? error.message : String(error);
          viewer.note(error);
        });
    }, 200);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [pane, sel, field, form, playing, viewer.connection.offline.value]);

  const range = ofChannels ? pane.look.value.channels[channel].range : pane.look.value.range;
  const ranged = pane.kind.value !== "mask";
  const edges = stats.value?.edges ?? [0, 1];
  const low = edges[0];
  const high = edges[edges.length - 1];
  useEffect(() => {
    const element = canvas.current;
    if (element && stats.value) drawBars(element, stats.value, ranged ? range : null);
  }, [stats.value, range[0], range[1], ranged]);

  const valueAt = (event: PointerEvent) => {
    const rect = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return low + Math.max(0, Math.min(1, (event.clientX - rect.left) / rect.width)) * (high - low);
  };
  const set = (end: 0 | 1, value: number) => {
    const next: [number, number] = [...range];
    next[end] = Number(value.toPrecision(6));
    if (next[0] > next[1]) next[1 - end] = next[end];
    if (ofChannels) pane.channels.value = pane.channels.value.with(channel, { ...pane.channels.value[channel], range: next });
    else pane.range.value = next;
  };
  if (!stats.value && !failure.value) return <section aria-label="Histogram"><h3>Histogram</h3><p class="quiet">being counted…</p></section>;
  const found = stats.value;
  return (
    <section aria-label="Histogram">
      <h3>Histogram of the {ofChannels ? "channel" : "plane"}</h3>
      {ofChannels && (
        <select aria-label="Channel of the histogram" value={channel} onChange={(event) => (chosen.value = Number(event.currentTarget.value))}>
          {pane.channels.value.map((_, at) => (
            <option key={at} value={at}>
              {pane.node.guess.channels?.[at]?.name || `channel ${at}`}
            </option>
          ))}
        </select>
      )}
      {failure.value && <p class="notice"><bdi>{failure.value}</bdi></p>}
      {found && found.histogram.length > 0 && (
        <>
          <canvas
            ref={canvas} width={300} height={HEIGHT} class="histogram" aria-hidden="true"
            onPointerDown={(event) => {
              if (!ranged) return;
              const value = valueAt(event);
              dragged.current = Math.abs(value - range[0]) < Math.abs(value - range[1]) ? 0 : 1;
              event.currentTarget.setPointerCapture(event.pointerId);
              set(dragged.current, value);
            }}
            onPointerMove={(event) => dragged.current !== null && set(dragged.current, valueAt(event))}
            onPointerUp={() => (dragged.current = null)}
          />
          {ranged && (
            <div class="range-sliders">
              {([0, 1] as const).map((end) => (
                <input
                  key={end} type="range" min={low} max={high} step="any" value={range[end]}
                  aria-label={`${end ? "Highest" : "Lowest"} value that is drawn`}
                  onInput={(event) => set(end, Number(event.currentTarget.value))}
                />
              ))}
            </div>
          )}
        </>
      )}
      {found && (
        <p class="quiet">
          {number(found.min)} to {number(found.max)}, mean {number(found.mean)}, deviation {number(found.std)}
          {found.nan ? `, ${number(found.nan)} NaN` : ""}
          {found.inf ? `, ${number(found.inf)} infinite` : ""}
          {found.damaged ? `, ${number(found.damaged)} in damaged chunks` : ""}
          {found.exact ? "" : `, of a sample of ${number(found.sampled)}`}
        </p>
      )}
    </section>
  );
}

function drawBars(canvas: HTMLCanvasElement, { histogram, edges }: Stats, range: [number, number] | null): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const style = getComputedStyle(canvas);
  const { width, height } = canvas;
  context.clearRect(0, 0, width, height);
  // Square roots, so that small counts are seen beside a large one.
  const largest = Math.sqrt(Math.max(1, ...histogram));
  context.fillStyle = style.getPropertyValue("--accent").trim();
  const bar = width / histogram.length;
  histogram.forEach((count, at) => {
    const tall = (Math.sqrt(count) / largest) * (height - 2);
    context.fillRect(at * bar, height - tall, Math.max(1, bar), tall);
  });
  if (!range) return;
  const extent = edges[edges.length - 1] - edges[0] || 1;
  const at = (value: number) => Math.max(0, Math.min(width, ((value - edges[0]) / extent) * width));
  context.fillStyle = style.getPropertyValue("--veil").trim();
  context.fillRect(0, 0, at(range[0]), height);
  context.fillRect(at(range[1]), 0, width - at(range[1]), height);
  context.fillStyle = style.getPropertyValue("--text").trim();
  for (const value of range) context.fillRect(Math.max(0, Math.min(width - 2, at(value) - 1)), 0, 2, height);
}
