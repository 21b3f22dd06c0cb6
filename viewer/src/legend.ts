// Disks of colours: what the colours of motions and of complex numbers mean.
import { MARGIN } from "./axes";
import { phaseColour } from "./paint/complex";
import { wheelColour } from "./paint/flow";
import type { Pane } from "./pane";
import { number } from "./ui/text";

/** The side of a disk, in CSS pixels. */
export const SIDE = 44;
/** The height of a line below it. */
const LINE = 14;

export interface Legend {
  /** The lines below the disk, and what it means in words. */
  caption: string[];
  words: string;
  disk(side: number): ImageData;
}

/** The legend of a picture, if its colours are directions. */
export function legendOf(pane: Pane): Legend | null {
  if (!pane.picture || !pane.tileType || pane.chunkMap.value || pane.isEmpty) return null;
  // Four digits fit beside the picture.
  const largest = number(Number(pane.look.value.range[1].toPrecision(4)));
  if (pane.kind.value === "flow") {
    return { caption: [`${largest} px`], words: `Colours of motions of up to ${largest} pixels`, disk: (side) => disk(side, wheelColour) };
  }
  if (pane.kind.value !== "complex") return null;
  const isLog = pane.transform.value === "log";
  const least = number(Number(pane.look.value.range[0].toPrecision(4)));
  const middle = isLog || least !== "0" ? `, the middle ${least}${isLog ? ", on a logarithmic scale" : ""}` : "";
  return {
    caption: [`|z| ≤ ${largest}`, ...(middle ? [`≥ ${least}${isLog ? " log" : ""}`] : [])],
    words: `Colours of complex numbers: the phase is the hue, 0 at the right and a quarter turn at the top; the edge has the magnitude ${largest}${middle}`,
    // Rows of a screen grow downwards, imaginary parts upwards.
    disk: (side) => disk(side, (real, down) => phaseColour(real, -down)),
  };
}

/** A colour for each place of a disk, whose edge has the distance 1 from its middle. */
function disk(side: number, colour: (x: number, y: number) => number): ImageData {
  const image = new ImageData(side, side);
  const pixels = new Uint32Array(image.data.buffer);
  for (let row = 0; row < side; row++) {
    for (let column = 0; column < side; column++) {
      const x = (column + 0.5 - side / 2) / (side / 2);
      const y = (row + 0.5 - side / 2) / (side / 2);
      pixels[row * side + column] = x * x + y * y <= 1 ? colour(x, y) : 0;
    }
  }
  return image;
}

/** Draws the legend beside a picture of this size that is kept, where a bar of colours would be. */
export function drawLegend(context: CanvasRenderingContext2D, pane: Pane, width: number, height: number, ratio: number): void {
  const legend = legendOf(pane);
  if (!legend) return;
  const side = Math.round(SIDE * ratio);
  const canvas = document.createElement("canvas");
  canvas.width = side;
  canvas.height = side;
  canvas.getContext("2d")?.putImageData(legend.disk(side), 0, 0);
  const left = width + Math.round(14 * ratio);
  const top = height - side - Math.round((6 + LINE * legend.caption.length) * ratio);
  context.drawImage(canvas, left, top);
  context.textAlign = "center";
  context.textBaseline = "top";
  context.font = `${11 * ratio}px system-ui, sans-serif`;
  for (const [line, text] of legend.caption.entries()) {
    context.fillText(text, left + side / 2, top + side + (4 + LINE * line) * ratio, (MARGIN.right - 4) * ratio);
  }
}
