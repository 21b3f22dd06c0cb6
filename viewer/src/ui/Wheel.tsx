// The legend of a picture whose colours are directions: of motion, or of complex numbers.
import { useEffect, useRef } from "preact/hooks";
import { legendOf, SIDE } from "../legend";
import type { Pane } from "../pane";

export function Wheel({ pane }: { pane: Pane }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const legend = legendOf(pane);
  const side = Math.round(SIDE * devicePixelRatio);
  useEffect(() => {
    const context = canvas.current?.getContext("2d");
    if (context && legend) context.putImageData(legend.disk(side), 0, 0);
  }, [pane.kind.value, side, legend !== null]);
  if (!legend) return null;
  return (
    <figure class="wheel" aria-label={legend.words}>
      <canvas ref={canvas} width={side} height={side} aria-hidden="true" />
      <figcaption aria-hidden="true">
        {legend.caption.map((line) => <span key={line}>{line}</span>)}
      </figcaption>
    </figure>
  );
}
