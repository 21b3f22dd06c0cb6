// Curves by uPlot, in the colours of the page: one with the extremes of each bin, or several.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { type AxisLabels, type Series, toNumber } from "../api";
import { labelAt } from "../labels";

/** One curve of a plot: an axis of indices, values, and the largest values of bins. */
export interface Curve {
  series: Series;
  /** Of several curves; one alone has the colour of the page. */
  colour?: string;
  name?: string;
}

/** Colours of several curves, which are seen on light and on dark. */
export const CURVE_COLOURS = ["#d98200", "#2f8fd0", "#0a9a6f", "#c0589a", "#d1502a", "#7a6fe0", "#8f8a1e", "#808891"];

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
  curves: Curve[];
  marked: number | null;
  height: number;
  title: string;
  /** Of the axis that the curves are along. */
  labels?: AxisLabels | null;
  /** Where the elements lie; omitted: at their indices. */
  positions?: number[];
  /** A part was outlined: from its first index to the one after its last. */
  onPart?(ends: [number, number]): void;
  /** The curves below the pointer, as text. */
  onValue?(text: string): void;
}

function finite(values: Series["min"]): (number | null)[] {
  return values.map((value) => {
    const number = toNumber(value);
    return Number.isFinite(number) ? number : null;
  });
}

export function Plot({ curves, marked, height, title, labels, positions, onPart, onValue }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (!element || !curves.length) return;
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    let plot: uPlot | null = null;
    const make = () => {
      plot?.destroy();
      const { text, grid, line } = colours(element);
      const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "11px system-ui" };
      const { begin, step, min } = curves[0].series;
      const data: (number | null)[][] = [positions ?? min.map((_, at) => begin + at * step)];
      const drawn: uPlot.Series[] = [{}];
      const bands: uPlot.Band[] = [];
      for (const { series, colour } of curves) {
        const stroke = colour ?? line;
        data.push(finite(series.min));
        drawn.push({ stroke, width: 1.5, points: { show: series.min.length < 60 } });
        if (!series.max) continue;
        data.push(finite(series.max));
        drawn.push({ stroke, width: 1.5 });
        bands.push({ series: [data.length - 1, data.length - 2], fill: `${stroke}40` });
      }
      // Half of the first and of the last tick lie beside the curve.
      const [first, middle, last] = [0, data[0].length >> 1, -1].map((at) => textAt(labels, data[0].at(at)));
      const room = (shown: uPlot) => 2 * Math.max(halfOf(shown, first), halfOf(shown, middle), halfOf(shown, last)) + 10;
      plot = new uPlot(
        {
          padding: [null, (shown) => Math.max(17, halfOf(shown, last)), null, null],
          width: Math.max(120, element.clientWidth),
          height,
          scales: { x: { time: false } },
          legend: { show: false },
          // What is outlined is read again, with more detail.
          cursor: { drag: { x: Boolean(onPart), y: false, setScale: false } },
          axes: [
            { ...axis, size: 30, ...(labels && { values: (_: uPlot, at: number[]) => at.map((one) => tickOf(labels, one)), space: (shown: uPlot) => Math.max(80, room(shown)) }) },
            { ...axis, size: (shown, texts) => Math.max(widthOf(shown, texts), halfOf(shown, first)) },
          ],
          series: drawn,
          bands,
          hooks: {
            setSelect: [
              (shown: uPlot) => {
                const { left, width } = shown.select;
                if (width < 3 || !onPart) return;
                const at = (x: number) => Math.round(shown.posToVal(x, "x"));
                onPart([at(left), at(left + width) + 1]);
                shown.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
              },
            ],
            setCursor: [(shown: uPlot) => onValue?.(pointed(curves, shown.cursor.idx, labels, positions))],
            draw: [
              (shown: uPlot) => {
                if (marked === null) return;
                const x = Math.round(shown.valToPos(marked, "x", true)) + 0.5;
                shown.ctx.strokeStyle = text;
                shown.ctx.beginPath();
                shown.ctx.moveTo(x, shown.bbox.top);
                shown.ctx.lineTo(x, shown.bbox.top + shown.bbox.height);
                shown.ctx.stroke();
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
  }, [curves, marked, height, labels]);
  return <div class="plot" ref={box} role="img" aria-label={title} />;
}

/** A value without what floating-point arithmetic adds at its end. */
export function rounded(value: number | string | null): string {
  return typeof value === "number" && !Number.isInteger(value) ? String(Number(value.toPrecision(9))) : String(value);
}

/** The room of the numbers at the left, in CSS pixels: as wide as the widest of them. */
function widthOf(plot: uPlot, texts: string[] | null): number {
  plot.ctx.font = `${11 * devicePixelRatio}px system-ui`;
  const widest = Math.max(0, ...(texts ?? []).map((text) => plot.ctx.measureText(text).width));
  return Math.max(40, Math.ceil(widest / devicePixelRatio) + 18);
}

/** What a tick at an index says. */
function textAt(labels: AxisLabels | null | undefined, at: number | null | undefined): string {
  return labelAt(labels, at ?? 0) ?? String(at);
}

/** Half of the width of a text, in CSS pixels. */
function halfOf(plot: uPlot, text: string): number {
  plot.ctx.font = `${11 * devicePixelRatio}px system-ui`;
  return Math.ceil(plot.ctx.measureText(text).width / devicePixelRatio / 2) + 2;
}

/** The label of a tick, which lies at an element or between two. */
function tickOf(labels: AxisLabels, at: number): string {
  return Number.isInteger(at) ? (labelAt(labels, at) ?? String(at)) : "";
}

/** The values of all curves at a place, as text. */
function pointed(curves: Curve[], at: number | null | undefined, labels?: AxisLabels | null, positions?: number[]): string {
  if (at === null || at === undefined) return "";
  const { series } = curves[0];
  const first = series.begin + at * series.step;
  const last = Math.min(series.begin + series.length, first + series.step) - 1;
  const named = (index: number) => {
    const label = labelAt(labels, index);
    return label === null ? String(index) : `${label} [${index}]`;
  };
  const place = positions ? positions[at].toPrecision(4) : series.max ? `${named(first)} to ${named(last)}` : named(first);
  const values = curves.map(({ series: { min, max }, name }) => {
    const value = min[at] === null || min[at] === undefined ? "NaN" : max ? `${rounded(min[at])} to ${rounded(max[at])}` : rounded(min[at]);
    return name ? `${name}: ${value}` : value;
  });
  return `${place}: ${values.join("; ")}`;
}
