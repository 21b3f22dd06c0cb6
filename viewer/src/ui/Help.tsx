import { useEffect, useRef } from "preact/hooks";

const KEYS: [string, string][] = [
  ["arrow keys", "move the cursor of a picture; with Shift, move the picture"],
  ["+ and -", "zoom at the cursor; the wheel does the same"],
  ["0 and 1", "show the whole plane; one element for each pixel of the screen"],
  ["[ and ]", "the frame before and after"],
  ["p", "play, and stop"],
  ["Enter", "the series through the cursor; a click does the same"],
  ["r", "begin a region at the cursor, and end it; a drag does the same"],
  ["s", "pin the series, so that the next click adds another one"],
  ["l", "begin a line at the cursor, and end it: its values are shown"],
  ["Escape", "remove the region and the line"],
  ["g, m", "the chunk grid; hatching of missing chunks"],
  ["/", "filter the tree"],
  ["Shift and drag", "move the picture"],
];

export function Help({ onClose }: { onClose(): void }) {
  const close = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    close.current?.focus();
    return () => before?.focus();
  }, []);
  return (
    <div class="help" role="dialog" aria-modal="true" aria-labelledby="help-title">
      <h2 id="help-title">Keys</h2>
      <dl>
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" ref={close} onClick={onClose}>
        Close
      </button>
    </div>
  );
}
