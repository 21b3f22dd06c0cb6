// A slider, a number and a play button for each dimension that is not shown, with its coordinate value.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { labelAt } from "../labels";
import type { Player } from "../play";
import type { Pane } from "../pane";
import type { Viewer } from "../state";

export function Sliders({ viewer, player }: { viewer: Viewer; player: Player }) {
  const { dimensions } = viewer;
  if (!dimensions.length) return <p class="quiet">{viewer.panes.value.some((pane) => pane.projection.value) ? "All other axes are shown." : "All axes are shown."}</p>;
  return (
    <>
      {dimensions.map((dimension) => (
        <Slider key={dimension} viewer={viewer} player={player} dimension={dimension} />
      ))}
      {viewer.panes.value.some((pane) => pane.picture) && (
        <p class="speed">
          <label>
            <input
              type="number" min="1" max="60" value={player.fps.value}
              onInput={(event) => (player.fps.value = Math.min(60, Math.max(1, Number(event.currentTarget.value) || 1)))}
            />{" "}
            frames a second
          </label>
          {viewer.playing.value !== null && (
            <output class="rate">
              {player.measured.value.toFixed(1)} shown, {player.late.value} late
            </output>
          )}
        </p>
      )}
    </>
  );
}

function Slider({ viewer, player, dimension }: { viewer: Viewer; player: Player; dimension: string }) {
  const length = viewer.lengthOf(dimension);
  const index = Math.min(viewer.at.value[dimension] ?? 0, Math.max(0, length - 1));
  const set = (text: string) => {
    const value = Math.round(Number(text));
    if (Number.isFinite(value)) viewer.setIndex(dimension, Math.max(0, Math.min(length - 1, value)));
  };
  const playing = viewer.playing.value === dimension;
  return (
    <div class="slider">
      <bdi class="dimension">{dimension}</bdi>
      <button
        type="button" aria-label={`${playing ? "Stop" : "Play"} ${dimension}`} aria-pressed={playing}
        disabled={length < 2} onClick={() => player.toggle(dimension)}
      >
        {playing ? "■" : "▶"}
      </button>
      <input
        type="range" min="0" max={Math.max(0, length - 1)} value={index} aria-label={`Index of ${dimension}`}
        onInput={(event) => set(event.currentTarget.value)}
      />
      <input
        type="number" min="0" max={Math.max(0, length - 1)} value={index} aria-label={`Index of ${dimension} as a number`}
        onInput={(event) => set(event.currentTarget.value)}
      />
      <span class="of">of {length}</span>
      <Label viewer={viewer} dimension={dimension} index={index} />
    </div>
  );
}

/** A place to type a label: the slider goes to the first index that it means. */
function GoTo({ viewer, dimension, pane, axis }: { viewer: Viewer; dimension: string; pane: Pane; axis: number }) {
  const failure = useSignal("");
  const go = (text: string) => {
    failure.value = "";
    if (!text.trim()) return;
    viewer.api
      .find(pane.node.path, axis, text)
      .then(({ index }) => viewer.setIndex(dimension, index))
      .catch((error: unknown) => {
        failure.value = error instanceof Error ? error.message : String(error);
        viewer.note(error);
      });
  };
  return (
    <>
      <input
        type="text" class="go-to" placeholder="go to…" aria-label={`Label of ${dimension}`} aria-invalid={failure.value !== ""}
        onChange={(event) => go(event.currentTarget.value)}
      />
      {failure.value && <span class="notice" role="alert"><bdi>{failure.value}</bdi></span>}
    </>
  );
}

const PAGE = 1000;
const cells = new WeakMap<Viewer, Map<string, Promise<string[]>>>();

/** The value of the coordinate array of a dimension. Values come in pages of a thousand. */
function coordinate(viewer: Viewer, path: string, length: number, index: number): Promise<string | undefined> {
  let pages = cells.get(viewer);
  if (!pages) cells.set(viewer, (pages = new Map()));
  const begin = Math.floor(index / PAGE) * PAGE;
  const key = `${begin} ${path}`;
  let page = pages.get(key);
  if (!page) {
    page = viewer.api.cells(path, `${begin}:${Math.min(length, begin + PAGE)}`).then(({ cells: texts }) => texts);
    pages.set(key, page);
  }
  return page.then((texts) => texts[index - begin]);
}

/** The label of the index, and a place to type another one. */
function Label({ viewer, dimension, index }: { viewer: Viewer; dimension: string; index: number }) {
  for (const pane of viewer.panes.value) {
    const axis = pane.otherAxes.find((one) => pane.dimension(one) === dimension);
    const labels = axis === undefined ? null : pane.labels.value?.[axis];
    if (axis === undefined || !labels) continue;
    const label = labelAt(labels, index);
    return (
      <>
        {label === null ? <CoordinateValue viewer={viewer} dimension={dimension} index={index} /> : (
          <output class="coordinate">
            <bdi>{label}</bdi>
          </output>
        )}
        {labels.path !== undefined && <GoTo viewer={viewer} dimension={dimension} pane={pane} axis={axis} />}
      </>
    );
  }
  return <CoordinateValue viewer={viewer} dimension={dimension} index={index} />;
}

function CoordinateValue({ viewer, dimension, index }: { viewer: Viewer; dimension: string; index: number }) {
  const text = useSignal("");
  const found = coordinateOf(viewer.panes.value, dimension);
  useEffect(() => {
    let current = true;
    text.value = "";
    if (found) {
      coordinate(viewer, found.path, found.length, index)
        .then((value) => current && (text.value = value ?? ""))
        .catch((error: unknown) => viewer.note(error));
    }
    return () => {
      current = false;
    };
  }, [found?.path, index]);
  return text.value ? (
    <output class="coordinate">
      <bdi>{text.value}</bdi>
      {found?.unit && <bdi> {found.unit}</bdi>}
    </output>
  ) : null;
}

function coordinateOf(panes: Pane[], dimension: string) {
  for (const { node, otherAxes, related } of panes) {
    for (const axis of otherAxes) {
      const found = related.value?.coordinates[axis];
      if (found && (node.dims?.[axis] ?? "") === dimension) return { ...found, unit: node.units?.[axis] };
    }
  }
  return null;
}
