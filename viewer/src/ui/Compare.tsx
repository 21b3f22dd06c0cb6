// A second array in a picture: labels above it, or the other one of two that are compared.
import { useEffect } from "preact/hooks";
import { type Mode, MODES, modesOf, type Over } from "../over";
import type { Pane } from "../pane";
import type { Viewer } from "../state";

const WORDS: Record<Mode, string> = { labels: "labels of", blink: "take turns with", difference: "minus" };
/** How long each of two arrays is seen: fewer than three changes a second. */
const TURN_MS = 700;

export function Compare({ viewer, pane }: { viewer: Viewer; pane: Pane }) {
  const over = pane.over.value;
  if (over) return <Chosen pane={pane} over={over} />;
  const siblings = pane.related.value?.siblings ?? [];
  const choices = siblings.flatMap((sibling) => modesOf(pane, sibling).map((mode) => ({ mode, path: sibling.path })));
  if (!choices.length) return null;
  return (
    <select
      aria-label={`Compare ${pane.node.path} with another array`} value=""
      onChange={(event) => {
        const choice = choices[Number(event.currentTarget.value || Number.NaN)];
        event.currentTarget.value = "";
        if (choice) void viewer.putOver(pane, choice.path, choice.mode);
      }}
    >
      <option value="">with…</option>
      {MODES.flatMap((mode) =>
        choices.map((choice, at) => choice.mode === mode && (
          <option key={mode + choice.path} value={at}>
            {WORDS[mode]} {choice.path}
          </option>
        )),
      )}
    </select>
  );
}

function Chosen({ pane, over }: { pane: Pane; over: Over }) {
  const { path } = over.pane.node;
  const { mode } = over;
  const byHand = over.byHand.value;
  useEffect(() => {
    if (mode !== "blink" || byHand) return;
    const timer = setInterval(() => (over.isSecond.value = !over.isSecond.value), TURN_MS);
    return () => clearInterval(timer);
  }, [over, byHand]);
  return (
    <span class="over">
      {WORDS[mode]} <bdi>{path.split("/").pop()}</bdi>
      {mode === "labels" && (
        <>
          <input
            type="range" min="0" max="1" step="0.05" aria-label="Opacity of the labels" value={over.opacity.value}
            onInput={(event) => (over.opacity.value = Number(event.currentTarget.value))}
          />
          <label>
            <input type="checkbox" checked={over.outlines.value} onChange={(event) => (over.outlines.value = event.currentTarget.checked)} />
            outlines
          </label>
        </>
      )}
      {mode === "blink" && (
        <>
          <button type="button" onClick={() => {
            over.byHand.value = true;
            over.isSecond.value = !over.isSecond.value;
          }}>
            other one
          </button>
          <label>
            <input type="checkbox" checked={!byHand} onChange={(event) => (over.byHand.value = !event.currentTarget.checked)} />
            by itself
          </label>
        </>
      )}
      <button type="button" aria-label={`Remove ${path} from the picture`} onClick={() => pane.setOver(null)}>
        ✕
      </button>
    </span>
  );
}
