// Curves by uPlot: an array of one axis, and the series through an element.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { type Series, toNumber } from "../api";
import type { Pane, Viewer } from "../state";

/** Colours of the page, so that curves are seen in light and dark. */
function colours(element: Element): { text: string; grid: string; line: string } {
  const style = getComputedStyle(element);
  return {
    text: style.getPropertyValue("--text").trim() || "#000",
    grid: style.getPropertyValue("--border").trim() || "#ccc",
    line: style.getPropertyValue("--accent").trim() || "#07c",
  };
}

interface PlotProps {
  series: Series;
  marked: number | null;
  height: number;
  title: string;
  /** A part was outlined: from its first index to the one after its last. */
  onPart?(ends: [number, number]): void;
  /** The curve below the pointer, as text. */
  onValue?(text: string): void;
}

function Plot({ series, marked, height, title, onPart, onValue }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    let plot: uPlot | null = null;
    const make = () => {
      plot?.destroy();
      const { text, grid, line } = colours(element);
      const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "11px system-ui" };
      const numbers = (values: Series["min"]) =>
        values.map((value) => {
          const number = toNumber(value);
          return Number.isFinite(number) ? number : null;
        });
      const lowest = numbers(series.min);
      const data: (number | null)[][] = [lowest.map((_, at) => series.begin + at * series.step), lowest];
      if (series.max) data.push(numbers(series.max));
      plot = new uPlot(
        {
          width: Math.max(120, element.clientWidth),
          height,
          scales: { x: { time: false } },
          legend: { show: false },
          // What is outlined is read again, with more detail.
          cursor: { drag: { x: true, y: false, setScale: false } },
          axes: [axis, { ...axis, size: 56 }],
          series: [{}, { stroke: line, width: 1.5, points: { show: lowest.length < 60 } }, ...(series.max ? [{ stroke: line, width: 1.5 }] : [])],
          bands: series.max ? [{ series: [2, 1] as [number, number], fill: `${line}40` }] : [],
          hooks: {
            setSelect: [
              (drawn: uPlot) => {
                const { left, width } = drawn.select;
                if (width < 3 || !onPart) return;
                const at = (x: number) => Math.round(drawn.posToVal(x, "x"));
                onPart([at(left), at(left + width) + 1]);
                drawn.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              },
            ],
            setCursor: [(drawn: uPlot) => onValue?.(pointed(series, drawn.cursor.idx))],
            draw: [
              (drawn: uPlot) => {
                if (marked === null) return;
                const x = Math.round(drawn.valToPos(marked, "x", true)) + 0.5;
                drawn.ctx.strokeStyle = text;
                drawn.ctx.beginPath();
                drawn.ctx.moveTo(x, drawn.bbox.top);
                drawn.ctx.lineTo(x, drawn.bbox.top + drawn.bbox.height);
                drawn.ctx.stroke();
              },
            ],
          },
        },
        data as uPlot.AlignedData,
        element,
      );
    };
    make();
    const observer = new ResizeObserver(() => plot?.setSize({ width: Math.max(120, element.clientWidth), height }));
    observer.observe(element);
    scheme.addEventListener("change", make);
    return () => {
      observer.disconnect();
      scheme.removeEventListener("change", make);
      plot?.destroy();
    };
  }, [series, marked, height]);
  return <div class="plot" ref={box} role="img" aria-label={title} />;
}

/** The values at a place of a curve, as text. */
function pointed(series: Series, at: number | null | undefined): string {
  if (at === null || at === undefined) return "";
  const first = series.begin + at * series.step;
  const last = Math.min(series.begin + series.length, first + series.step) - 1;
  const [low, high] = [series.min[at], series.max?.[at]];
  if (low === null) return `${first}: NaN`;
  return series.max ? `${first} to ${last}: ${low} to ${high}` : `${first}: ${low}`;
}

const SAMPLES = 1000;

/** An array, or one line of it, as a curve. A part that is outlined is read again, down to single elements. */
export function Line({ viewer, pane }: { viewer: Viewer; pane: Pane }) {
  const part = useSignal<[number, number] | null>(null);
  const value = useSignal("");
  const series = useSignal<Series | null>(null);
  const failure = useSignal("");
  const axis = pane.axes.value.x ?? 0;
  const index = viewer.indexOf(pane).join(",");
  const total = pane.node.shape[axis] ?? 0;
  const [begin, end] = part.value ?? [0, total];
  const show = (first: number, after: number) => {
    // At least two elements, and within the array.
    const length = Math.max(2, Math.min(total, Math.round(after - first)));
    const from = Math.max(0, Math.min(total - length, Math.round(first)));
    part.value = length >= total ? null : [from, from + length];
  };
  const zoom = (factor: number) => {
    const middle = (begin + end) / 2;
    const half = ((end - begin) / 2) * factor;
    show(middle - half, middle + half);
  };
  useEffect(() => {
    let current = true;
    viewer.api
      .series(pane.node.path, axis, index, {
        width: SAMPLES, field: pane.field.value, as: pane.form, begin: part.value?.[0], end: part.value?.[1],
      })
      .then((found) => {
        if (!current) return;
        series.value = found;
        failure.value = "";
      })
      .catch((error: unknown) => {
        if (current) failure.value = error instanceof Error ? error.message : String(error);
        viewer.note(error);
      });
    return () => {
      current = false;
    };
  }, [pane, axis, index, pane.field.value, pane.form, part.value, viewer.connection.offline.value]);
  const step = (end - begin) / 2;
  return (
    <div class="frame curve">
      <p class="parts">
        <button type="button" onClick={() => zoom(0.5)} disabled={end - begin <= 2}>Zoom in</button>
        <button type="button" onClick={() => zoom(2)} disabled={!part.value}>Zoom out</button>
        <button type="button" aria-label="Earlier part" onClick={() => show(begin - step, end - step)} disabled={begin === 0}>◂</button>
        <button type="button" aria-label="Later part" onClick={() => show(begin + step, end + step)} disabled={end >= total}>▸</button>
        <button type="button" onClick={() => (part.value = null)} disabled={!part.value}>Whole curve</button>
        <span class="quiet">A drag across the curve shows that part of it.</span>
      </p>
      {failure.value && <p class="notice"><bdi>{failure.value}</bdi></p>}
      {series.value && (
        <>
          <Plot
            series={series.value} marked={null} height={320} title={`Curve along ${pane.dimension(axis)}`}
            onPart={([first, after]) => show(first, after)} onValue={(text) => (value.value = text)}
          />
          <output class="value"><bdi>{value.value ? `${pane.dimension(axis)} ${value.value}` : "\u00a0"}</bdi></output>
          <Summary series={series.value} name={pane.dimension(axis)} />
        </>
      )}
    </div>
  );
}

function Summary({ series, name }: { series: Series; name: string }) {
  const values = [...series.min, ...(series.max ?? [])].map(toNumber).filter(Number.isFinite);
  const extent = values.length ? `from ${Math.min(...values)} to ${Math.max(...values)}` : "without a finite value";
  return (
    <p class="quiet">
      {series.length} values along <bdi>{name}</bdi>
      {series.begin ? ` from index ${series.begin}` : ""}, {extent}
      {series.max ? `; smallest and largest of each ${series.step}` : ""}
    </p>
  );
}

/** The series through the element that was clicked, with the current frame marked. */
export function SeriesBox({ viewer }: { viewer: Viewer }) {
  const chosen = viewer.series.value;
  const axis = useSignal<number | null>(null);
  const series = useSignal<Series | null>(null);
  const failure = useSignal("");
  const pane = chosen?.pane;
  const axes = pane ? pane.node.shape.map((_, at) => at).filter((at) => pane.node.shape[at] > 1) : [];
  const along = axis.value !== null && axes.includes(axis.value) ? axis.value : (pane?.projection.value?.axis ?? pane?.otherAxes.find((at) => axes.includes(at)) ?? pane?.axes.value.x ?? 0);
  const index = pane ? viewer.indexOf(pane) : [];
  if (chosen && pane) {
    const { y, x } = pane.axes.value;
    if (y !== undefined) index[y] = chosen.row;
    if (x !== undefined) index[x] = chosen.column;
  }
  // The index along the axis does not matter: play must not ask again for each frame.
  const key = index.map((value, at) => (at === along ? "" : value)).join(",");
  useEffect(() => {
    if (!pane) return;
    let current = true;
    const request = index.map((value, at) => (at === along ? 0 : value)).join(",");
    failure.value = "";
    viewer.api
      .series(pane.node.path, along, request, { width: 400, field: pane.field.value, as: pane.form })
      .then((found) => current && (series.value = found))
      .catch((error: unknown) => {
        if (!current) return;
        series.value = null;
        failure.value = error instanceof Error ? error.message : String(error);
        viewer.note(error);
      });
    return () => {
      current = false;
    };
  }, [pane, along, key, pane?.form]);
  if (!chosen || !pane) return null;
  const { y = 0, x = 0 } = pane.axes.value;
  return (
    <section class="series" aria-label="Series">
      <h3>
        Series at{" "}
        <bdi>
          {pane.dimension(y)}={chosen.row} {pane.dimension(x)}={chosen.column}
        </bdi>
      </h3>
      <label>
        along{" "}
        <select value={along} onChange={(event) => (axis.value = Number(event.currentTarget.value))}>
          {axes.map((at) => (
            <option key={at} value={at}>
              {pane.dimension(at)}
            </option>
          ))}
        </select>
      </label>{" "}
      <button type="button" onClick={() => (viewer.series.value = null)}>
        Close series
      </button>
      {failure.value && <p class="notice"><bdi>{failure.value}</bdi></p>}
      {series.value && (
        <>
          <Plot series={series.value} marked={index[along]} height={150} title={`Series along ${pane.dimension(along)}`} />
          <Summary series={series.value} name={pane.dimension(along)} />
        </>
      )}
    </section>
  );
}
