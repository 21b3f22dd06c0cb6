// Verification in the background: progress, and the chunks that do not decode.
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Node } from "../api";
import type { Broken, Viewer } from "../state";

export function Health({ viewer, node }: { viewer: Viewer; node: Node }) {
  const state = useSignal<"idle" | "running" | "ended" | "lost">("idle");
  const done = useSignal(0);
  const total = useSignal(0);
  const stop = useRef<(() => void) | null>(null);
  useEffect(() => () => stop.current?.(), []);
  const mine = viewer.broken.value.filter(({ path }) => path === node.path || node.path === "" || path.startsWith(`${node.path}/`));

  const start = () => {
    viewer.broken.value = viewer.broken.value.filter((broken) => !mine.includes(broken));
    state.value = "running";
    done.value = 0;
    stop.current = viewer.api.transport.listen("verify", { path: node.path }, (event, data) => {
      const facts = data as { done: number; total: number } & Broken;
      if (event === "progress") {
        done.value = facts.done;
        total.value = facts.total;
      } else if (event === "broken") viewer.broken.value = [...viewer.broken.value, facts].slice(-10_000);
      else if (event === "end") {
        state.value = "ended";
        viewer.spoken.value = `Verification ended: ${viewer.broken.value.length} broken.`;
      } else if (event === "closed" && state.value === "running") state.value = "lost";
    });
  };
  return (
    <section aria-label="Verification" class="health">
      <h3>Verification</h3>
      {state.value === "running" ? (
        <p>
          <progress max={total.value || 1} value={done.value} aria-label="Verified chunks" /> {done.value} of {total.value}{" "}
          <button type="button" onClick={() => {
            stop.current?.();
            state.value = "idle";
          }}>
            Stop
          </button>
        </p>
      ) : (
        <p>
          <button type="button" onClick={start}>
            Verify every chunk
          </button>{" "}
          {state.value === "ended" && (mine.length ? `${mine.length} broken` : "ok: every stored chunk decodes")}
          {state.value === "lost" && "The server ended before all was verified."}
        </p>
      )}
      {mine.length > 0 && (
        <ul class="broken">
          {mine.slice(0, 50).map(({ key, reason }) => (
            <li key={key}>
              <code><bdi>{key}</bdi></code> <bdi>{reason}</bdi>
            </li>
          ))}
          {mine.length > 50 && <li>and {mine.length - 50} more</li>}
        </ul>
      )}
    </section>
  );
}
