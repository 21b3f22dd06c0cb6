// The region that was outlined: statistics, cost, and the code that reads the same bytes.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Code, Stats } from "../api";
import { toFragment } from "../fragment";
import { offer } from "../keep";
import type { Viewer } from "../state";
import { copy, number } from "./text";

export function RegionBox({ viewer }: { viewer: Viewer }) {
  const region = viewer.region.value;
  const stats = useSignal<Stats | null>(null);
  const code = useSignal<Code | null>(null);
  const plan = useSignal("");
  const failure = useSignal("");
  const path = region?.pane.node.path ?? "";
  const sel = region ? viewer.selectionOf(region.pane, region.box) : "";
  const playing = viewer.playing.value !== null;
  useEffect(() => {
    if (!region || playing) return;
    const abort = new AbortController();
    // A drag passes many regions: only where it rests is anything asked.
    const timer = setTimeout(async () => {
      try {
        code.value = await viewer.api.code(path, sel);
        failure.value = "";
        stats.value = await viewer.api.stats(path, sel, { bins: 64, field: region.pane.field.value, as: region.pane.form }, abort.signal);
        const found = await viewer.api.plan(path, sel);
        if (!abort.signal.aborted) plan.value = String(found.text ?? "");
      } catch (error) {
        if (abort.signal.aborted) return;
        failure.value = error instanceof Error ? error.message : String(error);
        viewer.note(error);
      }
    }, 150);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [path, sel, playing, viewer.connection.offline.value]);
  if (!region) return null;
  const { box, pane } = region;
  const found = stats.value;
  const link = `${location.origin}${location.pathname}#${toFragment({ panes: [pane.toState()], at: {}, sel })}`;
  return (
    <section class="region" aria-label="Region">
      <h3>
        Region {box.y1 - box.y0} × {box.x1 - box.x0}
      </h3>
      <p>
        <code class="sel"><bdi>{sel}</bdi></code>
      </p>
      {failure.value && <p class="notice"><bdi>{failure.value}</bdi></p>}
      {found && (
        <p class="quiet region-stats">
          {number(found.count)} values, {number(found.min)} to {number(found.max)}, mean {number(found.mean)}, deviation {number(found.std)}
          {found.nan ? `, ${number(found.nan)} NaN` : ""}
        </p>
      )}
      {code.value && (
        <>
          <Text name="Python" text={code.value.python} />
          <Text name="Command line" text={code.value.cli} />
          <Text name="Address" text={link} />
        </>
      )}
      {plan.value && (
        <details>
          <summary>What reading it costs</summary>
          <pre tabIndex={0}>{plan.value}</pre>
        </details>
      )}
      <p>
        <button type="button" onClick={() => void save(viewer, path, sel).catch((error: unknown) => viewer.report(error))}>
          Save as .npy
        </button>{" "}
        <button type="button" onClick={() => (viewer.region.value = null)}>
          Remove region
        </button>
      </p>
    </section>
  );
}

function Text({ name, text }: { name: string; text: string }) {
  const copied = useSignal(false);
  return (
    <div class="code">
      <span class="code-name">{name}</span>
      <button type="button" aria-label={`Copy ${name}`} onClick={async () => (copied.value = await copy(text))}>
        {copied.value ? "Copied" : "Copy"}
      </button>
      <pre tabIndex={0} aria-label={name}>{text}</pre>
    </div>
  );
}

async function save(viewer: Viewer, path: string, sel: string): Promise<void> {
  const { body } = await viewer.api.octets("npy", { path, sel });
  offer(body, `${path.split("/").pop() || "array"}.npy`);
}
