// An array of one axis, or one line of it, as a curve.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { type Series, toNumber } from "../api";
import { symbol } from "../labels";
import type { Pane } from "../pane";
import type { Viewer } from "../state";
import { Plot, rounded } from "./Plot";

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
  const curves = useMemo(() => (series.value ? [{ series: series.value }] : []), [series.value]);
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
            curves={curves} marked={null} height={320} title={`Curve along ${pane.dimension(axis)}`} labels={pane.labels.value?.[axis]}
            onPart={([first, after]) => show(first, after)} onValue={(text) => (value.value = text)}
          />
          <output class="value"><bdi>{value.value ? `${pane.dimension(axis)} ${value.value}` : "\u00a0"}</bdi></output>
          <Summary series={series.value} name={pane.dimension(axis)} unit={pane.form === "cf" || !pane.node.decodes ? pane.node.unit : null} />
        </>
      )}
    </div>
  );
}

export function Summary({ series, name, unit }: { series: Series; name: string; unit?: string | null }) {
  const values = [...series.min, ...(series.max ?? [])].map(toNumber).filter(Number.isFinite);
  const extent = values.length ? `from ${rounded(Math.min(...values))} to ${rounded(Math.max(...values))}${unit ? ` ${symbol(unit)}` : ""}` : "without a finite value";
  return (
    <p class="quiet">
      {series.length} values along <bdi>{name}</bdi>
      {series.begin ? ` from index ${series.begin}` : ""}, {extent}
      {series.max ? `; smallest and largest of each ${series.step}` : ""}
    </p>
  );
}

