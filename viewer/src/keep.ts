// Keeping what is seen: a picture with its axes, and the numbers as files.
import { drawScaleBar, MARGIN } from "./axes";
import { drawCoast } from "./coast";
import { labelAt } from "./labels";
import { drawLegend } from "./legend";
import type { Picture } from "./picture";
import type { Pane } from "./pane";
import type { Viewer } from "./state";

/** Offers bytes as a file of this name. */
export function offer(content: BlobPart, name: string): void {
  const address = URL.createObjectURL(new Blob([content]));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}

/** The last part of a path, as the beginning of the name of a file. */
export function fileName(pane: Pane): string {
  return pane.node.path.split("/").pop() || "array";
}

/** What a picture shows: the array, and the labels of the axes that are not seen. */
export function titleOf(viewer: Viewer, pane: Pane): string {
  const index = viewer.indexOf(pane);
  const places = pane.otherAxes.map((axis) => {
    const label = labelAt(pane.labels.value?.[axis], index[axis]);
    return `${pane.dimension(axis)} ${label ?? index[axis]}`;
  });
  return [pane.node.path || viewer.connection.hello.value?.title || "array", ...places, pane.projected].filter(Boolean).join(", ");
}

const TITLE = 24;

/** The picture of a pane with its axes, its bar of colours and a title, as a canvas. */
export function composed(viewer: Viewer, picture: Picture, around: HTMLCanvasElement): HTMLCanvasElement {
  const ratio = devicePixelRatio;
  const canvas = document.createElement("canvas");
  canvas.width = around.width;
  canvas.height = around.height + TITLE * ratio;
  const context = canvas.getContext("2d") as CanvasRenderingContext2D;
  const style = getComputedStyle(around);
  context.fillStyle = style.getPropertyValue("--canvas").trim();
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.getPropertyValue("--text").trim();
  context.font = `600 ${13 * ratio}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(titleOf(viewer, picture.pane), canvas.width / 2, (TITLE / 2) * ratio, canvas.width - 8 * ratio);
  context.translate(0, TITLE * ratio);
  context.drawImage(around, 0, 0);
  context.translate(Math.round(MARGIN.left * ratio), Math.round(MARGIN.top * ratio));
  context.drawImage(picture.canvas, 0, 0);
  drawLegend(context, picture.pane, picture.canvas.width, picture.canvas.height, ratio);
  drawCoast(context, picture.viewport(), picture.pane, ratio);
  drawScaleBar(context, picture.viewport(), picture.pane, ratio);
  return canvas;
}
