// The whole viewer: tree, panes, side panel, sliders.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import type { Picture } from "../picture";
import { Player } from "../play";
import type { Viewer } from "../state";
import { Help } from "./Help";
import { Info } from "./Info";
import { PaneView } from "./Pane";
import { Sliders } from "./Sliders";
import { Tree } from "./Tree";

export function App({ viewer }: { viewer: Viewer }) {
  const pictures = useRef(new Set<Picture>());
  const player = useMemo(() => new Player(viewer, () => [...pictures.current]), [viewer]);
  const help = useSignal(false);
  // In a narrow window, the panels lie above the picture, and are closed at first.
  const narrow = matchMedia("(max-width: 900px)");
  const side = useSignal(!narrow.matches);
  const tree = useSignal(!narrow.matches);
  const root = useRef<HTMLDivElement>(null);
  const hello = viewer.connection.hello.value;

  useEffect(() => {
    const element = root.current;
    const onKey = (event: KeyboardEvent) => {
      const target = event.target as HTMLElement;
      const typing = target.closest("input, select, textarea, [contenteditable]");
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Escape" && help.value) help.value = false;
      if (typing) return;
      const dimension = viewer.playing.value ?? viewer.dimensions[0];
      const step = (by: number) => {
        const length = viewer.lengthOf(dimension);
        if (!length) return;
        viewer.setIndex(dimension, ((viewer.at.value[dimension] ?? 0) + by + length) % length);
      };
      if (event.key === "?") help.value = !help.value;
      else if (event.key === "/") element?.querySelector<HTMLInputElement>(".tree-filter")?.focus();
      else if (event.key === "[" && dimension) step(-1);
      else if (event.key === "]" && dimension) step(1);
      else if (event.key === "p" && dimension) player.toggle(dimension);
      else if (event.key === "g") viewer.showGrid.value = !viewer.showGrid.value;
      else if (event.key === "m") viewer.showMissing.value = !viewer.showMissing.value;
      else return;
      event.preventDefault();
    };
    // In a notebook, keys outside of the widget are the notebook's.
    element?.addEventListener("keydown", onKey);
    const page = element?.parentElement?.id === "zarrix-viewer" ? document.body : null;
    const onBody = (event: KeyboardEvent) => event.target === document.body && onKey(event);
    page?.addEventListener("keydown", onBody);
    return () => {
      element?.removeEventListener("keydown", onKey);
      page?.removeEventListener("keydown", onBody);
      player.stop();
    };
  }, [viewer]);

  const panes = viewer.panes.value;
  // A click in a picture has its answer in a panel that is closed.
  const waiting = !side.value && Boolean(viewer.series.value || viewer.region.value || viewer.line.value);
  return (
    <div class={`app ${side.value ? "" : "no-side"} ${tree.value ? "" : "no-tree"}`} ref={root}>
      <header class="bar">
        <h1>
          <bdi>{hello?.title ?? "zarrix view"}</bdi>
        </h1>
        <button type="button" aria-pressed={tree.value} onClick={() => {
          tree.value = !tree.value;
          if (narrow.matches) side.value = false;
        }}>
          Tree
        </button>
        <button type="button" aria-pressed={viewer.showGrid.value} title="Draw the borders of chunks and shards (g)" onClick={() => (viewer.showGrid.value = !viewer.showGrid.value)}>
          Chunk grid
        </button>
        <button type="button" aria-pressed={viewer.showMissing.value} title="Hatch chunks that are not stored (m)" onClick={() => (viewer.showMissing.value = !viewer.showMissing.value)}>
          Missing
        </button>
        <button type="button" aria-pressed={viewer.drawsLine.value} title="A drag draws a line whose values are shown (l)" onClick={() => (viewer.drawsLine.value = !viewer.drawsLine.value)}>
          Line
        </button>
        <button type="button" onClick={() => viewer.fit()} title="Show whole planes (0)">
          Fit
        </button>
        <button type="button" aria-pressed={side.value} title={waiting ? "What was chosen in a picture is shown here" : undefined} onClick={() => {
          side.value = !side.value;
          if (narrow.matches) tree.value = false;
        }}>
          Facts{waiting && " •"}
        </button>
        <button type="button" aria-expanded={help.value} onClick={() => (help.value = !help.value)}>
          Keys
        </button>
      </header>
      {viewer.connection.offline.value && (
        <p class="notice" role="alert">
          The server does not answer. The viewer goes on as soon as it is back.
        </p>
      )}
      {viewer.failure.value && (
        <p class="notice" role="alert">
          <bdi>{viewer.failure.value}</bdi>{" "}
          <button type="button" onClick={() => (viewer.failure.value = "")}>
            Close
          </button>
        </p>
      )}
      {hello?.left_out && (
        <section class="exported quiet" aria-label="This page">
          A page without a server.{" "}
          {hello.left_out.length ? <>Left out: <bdi>{hello.left_out.join(", ")}</bdi>.</> : "All arrays are in it."}
        </section>
      )}
      {tree.value && (
        <nav class="tree" aria-label="Arrays and groups">
          {hello && <Tree viewer={viewer} onChosen={() => narrow.matches && (tree.value = false)} />}
        </nav>
      )}
      <main class={`panes panes-${panes.length}`} aria-label="Panes">
        {panes.map((pane) => (
          <PaneView key={pane.id} viewer={viewer} pane={pane} pictures={pictures.current} />
        ))}
        {hello && !panes.length && <p class="empty">Choose an array in the tree.</p>}
      </main>
      {side.value && (
        <aside class="side" aria-label="Facts" tabIndex={0}>
          <Info viewer={viewer} />
        </aside>
      )}
      <footer class="sliders" aria-label="Axes that are not shown">
        <Sliders viewer={viewer} player={player} />
      </footer>
      <div class="spoken" aria-live="polite">
        {viewer.spoken.value}
      </div>
      {help.value && <Help onClose={() => (help.value = false)} />}
    </div>
  );
}
