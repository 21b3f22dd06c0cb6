// Series through the elements that were clicked, with the current frame marked, and values along a drawn line.
import { useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import type { Series } from "../api";
import { type Place, type Viewer } from "../state";
import { Summary } from "./Curve";
import { CURVE_COLOURS, type Curve, Plot } from "./Plot";

/** The index of a place in its array. */
function indexAt(viewer: Viewer, { pane, row, column }: Place): number[] {
  const index = viewer.indexOf(pane);
  const { y, x } = pane.axes.value;
  if (y !== undefined) index[y] = row;
  if (x !== undefined) index[x] = column;
  return index;
}

function nameOf({ pane, row, column }: Place): string {
  const { y = 0, x = 0 } = pane.axes.value;
  return `${pane.placeOf(y, row)} ${pane.placeOf(x, column)}`;
}

export function SeriesBox({ viewer }: { viewer: Viewer }) {
  const axis = useSignal<number | null>(null);
  const found = useSignal<Map<string, Series>>(new Map());
  const failure = useSignal("");
  const value = useSignal("");
  const { places } = viewer;
  const last = places.at(-1);
  const pane = last?.pane;
  const axes = pane ? pane.node.shape.map((_, at) => at).filter((at) => pane.node.shape[at] > 1) : [];
  const usual = pane?.projection.value?.axis ?? pane?.otherAxes.find((at) => axes.includes(at)) ?? pane?.axes.value.x ?? 0;
  const along = axis.value !== null && axes.includes(axis.value) ? axis.value : usual;
  // The index along the axis does not matter: play must not ask again for each frame.
  const keys = places.map((place) => {
    const index = indexAt(viewer, place).map((one, at) => (at === along ? 0 : one));
    return JSON.stringify([place.pane.node.path, along, index.join(","), place.pane.field.value ?? "", place.pane.form]);
  });
  useEffect(() => {
    const abort = new AbortController();
    failure.value = "";
    for (const key of keys) {
      if (found.value.has(key)) continue;
      const [path, on, index, field, as] = JSON.parse(key) as [string, number, string, string, string];
      viewer.api
        .series(path, on, index, { width: 400, field, as }, abort.signal)
        .then((series) => {
          // What is not shown any more is forgotten.
          const known = [...found.value].filter(([other]) => keys.includes(other));
          found.value = new Map([...known, [key, series]]);
        })
        .catch((error: unknown) => {
          if (abort.signal.aborted) return;
          failure.value = error instanceof Error ? error.message : String(error);
          viewer.note(error);
        });
    }
    return () => abort.abort();
  }, [keys.join("\n"), viewer.connection.offline.value]);
  const isSeveral = places.length > 1;
  const curves = useMemo(() => {
    const listed: Curve[] = [];
    keys.forEach((key, at) => {
      const series = found.value.get(key);
      // Series of other lengths are not beside each other.
      if (!series || (listed[0] && listed[0].series.min.length !== series.min.length)) return;
      listed.push({ series, ...(isSeveral && { colour: CURVE_COLOURS[at % 8], name: nameOf(places[at]) }) });
    });
    return listed;
  }, [found.value, keys.join("\n")]);
  if (!last || !pane) return null;
  const isPinned = viewer.series.value === null;
  return (
    <section class="series" aria-label="Series">
      <h3>
        Series at <bdi>{nameOf(last)}</bdi>
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
      <button type="button" disabled={isPinned || viewer.pins.value.length >= 7} title="The next click adds another series (s)" onClick={() => viewer.pin()}>
        Pin
      </button>{" "}
      <button type="button" onClick={() => viewer.closeSeries()}>
        Close series
      </button>
      {isSeveral && (
        <ul class="pins">
          {places.map((place, at) => (
            <li key={keys[at] + at}>
              <span class="dot" ref={(dot) => dot?.style.setProperty("background", CURVE_COLOURS[at % 8])} />
              <bdi>{nameOf(place)}</bdi>
              <button type="button" aria-label={`Remove series ${at + 1}`} onClick={() => viewer.removePlace(at)}>✕</button>
            </li>
          ))}
        </ul>
      )}
      {failure.value && <p class="notice"><bdi>{failure.value}</bdi></p>}
      {curves.length > 0 && (
        <>
          <Plot
            curves={curves} marked={viewer.indexOf(pane)[along]} height={150} title={`Series along ${pane.dimension(along)}`}
            labels={pane.labels.value?.[along]} onValue={(text) => (value.value = text)}
          />
          <output class="value"><bdi>{value.value || "\u00a0"}</bdi></output>
          <Summary series={curves[curves.length - 1].series} name={pane.dimension(along)} />
        </>
      )}
    </section>
  );
}

/** The values along the line that was drawn. */
export function ProfileBox({ viewer }: { viewer: Viewer }) {
  const line = viewer.line.value;
  const series = useSignal<{ series: Series; positions: number[] } | null>(null);
  const failure = useSignal("");
  const value = useSignal("");
  const ends = line ? [line.from.row, line.from.column, line.to.row, line.to.column].join(",") : "";
  const index = line ? viewer.indexOf(line.pane).join(",") : "";
  useEffect(() => {
    if (!line) return;
    const abort = new AbortController();
    const { pane } = line;
    const { y, x } = pane.axes.value;
    // A drag passes many lines: only where it rests is anything asked.
    const timer = setTimeout(() => {
      viewer.api
        .profile({ path: pane.node.path, index, axes: `${y},${x}`, ends, field: pane.field.value, as: pane.form }, abort.signal)
        .then(({ values, distances }) => {
          failure.value = "";
          series.value = { series: { axis: 0, begin: 0, length: values.length, step: 1, min: values, max: null }, positions: distances };
        })
        .catch((error: unknown) => {
          if (abort.signal.aborted) return;
          series.value = null;
          failure.value = error instanceof Error ? error.message : String(error);
          viewer.note(error);
        });
    }, 120);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [line?.pane, ends, index, line?.pane.form, line?.pane.field.value, viewer.connection.offline.value]);
  const curves = useMemo(() => (series.value ? [{ series: series.value.series }] : []), [series.value]);
  if (!line) return null;
  return (
    <section class="profile" aria-label="Profile">
      <h3>
        Profile from <bdi>{nameOf({ pane: line.pane, ...line.from })}</bdi> to <bdi>{nameOf({ pane: line.pane, ...line.to })}</bdi>
      </h3>
      {failure.value && <p class="notice"><bdi>{failure.value}</bdi></p>}
      {series.value && (
        <>
          <Plot
            curves={curves} marked={null} height={150} title="Values along the line, by the distance from its begin in elements"
            positions={series.value.positions} onValue={(text) => (value.value = text)}
          />
          <output class="value"><bdi>{value.value || "\u00a0"}</bdi></output>
          <Summary series={series.value.series} name="the line" />
        </>
      )}
      <button type="button" onClick={() => (viewer.line.value = null)}>
        Remove line
      </button>
    </section>
  );
}
