// Which tiles of an array a picture needs, and where each lies: of a level of a pyramid, of an overview
// where the plane is large, or reduced along an axis.
import { type Api, type ArrayNode, type Axes, type Level, rebase, type Tile } from "./api";
import { subtracted } from "./over";
import {
  type Box, type Cuts, levelFor, selection, tileCuts, tileSide, tilesIn, type Viewport, visible,
} from "./plane";
import type { Pane } from "./pane";
import type { Viewer } from "./state";
import type { Request } from "./tiles";

export interface Placed {
  request: Request;
  /** Where the tile lies, in elements of the plane (of level 0). */
  box: Box;
  axes: Axes;
  components: number;
  /** Elements of the plane for each of the tile. */
  factor: { y: number; x: number };
}

/** Larger parts of a plane than this many elements are drawn from an overview. */
const DIRECT_ELEMENTS = 12 << 20;
const OVERVIEW_SIDE = 1024;
/** Elements along all axes that one tile of a projection reads, about. */
const PROJECTED_ELEMENTS = 24 << 20;

export class Placing {
  /** Facts of the arrays of levels, for their chunks. */
  private readonly levels = new Map<string, ArrayNode>();

  constructor(
    private readonly viewer: Viewer,
    private readonly pane: Pane,
    /** Called when more is known. */
    private readonly again: () => void,
  ) {}

  /** The tiles that are seen at an index, in reading order; boxes are in elements of `plane`. */
  placed(index: number[], view: Viewport, plane = this.pane.extent): Placed[] {
    const { pane } = this;
    const { node } = pane;
    const axes = pane.axes.value;
    // An array without an element has nothing to ask for.
    if (node.shape.includes(0)) return [];
    const { height, width } = plane;
    const box = visible(view, height, width);
    const isDifference = pane.over.value?.mode === "difference";
    const level = isDifference ? null : levelFor(node, axes, (view.scale * width) / pane.extent.width, (view.scaleY * height) / pane.extent.height);
    const source = level ? this.levels.get(level.path) : node;
    if (level && !source) {
      this.fetchLevel(level);
      return [];
    }
    if (!source || axes.y === undefined || axes.x === undefined) return [];
    const factor = { y: height / source.shape[axes.y], x: width / source.shape[axes.x] };
    const inLevel = {
      y0: Math.floor(box.y0 / factor.y),
      y1: Math.min(source.shape[axes.y], Math.ceil(box.y1 / factor.y)),
      x0: Math.floor(box.x0 / factor.x),
      x1: Math.min(source.shape[axes.x], Math.ceil(box.x1 / factor.x)),
    };
    const depth = pane.depthOf(source);
    const elements = (inLevel.y1 - inLevel.y0) * (inLevel.x1 - inLevel.x0) * pane.channelCount * Math.sqrt(depth);
    const at = index.map((value, axis) =>
      Math.min(source.shape[axis] - 1, Math.floor((value * source.shape[axis]) / node.shape[axis])),
    );
    const isLarge = elements > DIRECT_ELEMENTS && Math.min(view.scale, view.scaleY) * width < pane.extent.width;
    const whole = { y0: 0, y1: source.shape[axes.y], x0: 0, x1: source.shape[axes.x] };
    const boxes = isLarge
      ? overviews(inLevel, whole)
      : tilesIn(inLevel, this.cuts(source, axes.y), this.cuts(source, axes.x));
    return boxes.map((part) => ({
      request: this.request(source, selection(source.shape.length, axes, at, part, pane.projection.value?.axis), isLarge),
      box: scaled(part, factor, plane),
      axes,
      components: node.components,
      factor,
    }));
  }

  private cuts(node: ArrayNode, axis: number): Cuts {
    const { pane } = this;
    const depth = pane.depthOf(node);
    const least = depth > 1 ? Math.max(64, Math.floor(Math.sqrt(PROJECTED_ELEMENTS / depth))) : Number.POSITIVE_INFINITY;
    return tileCuts(node.shape[axis], node.chunks[axis], Math.min(least, tileSide(pane.channelCount)));
  }

  private fetchLevel(level: Level): void {
    this.viewer
      .nodeAt(level.path)
      .then((node) => {
        if (node.kind === "array") this.levels.set(level.path, node);
        this.again();
      })
      .catch((error: unknown) => this.viewer.report(error));
  }

  private request(node: ArrayNode, sel: string, isLarge: boolean): Request {
    const { pane } = this;
    const over = pane.over.value;
    const asked = askedOf(pane, node, sel, isLarge);
    if (over?.mode === "difference") {
      const other = askedOf(over.pane, over.pane.node, sel, isLarge);
      const load = async (api: Api, signal: AbortSignal) => subtracted(...(await Promise.all([asked.load(api, signal), other.load(api, signal)])));
      return { key: `difference ${asked.key} ${other.key}`, load };
    }
    return { key: asked.key, load: (api, signal) => asked.load(api, signal).then((tile) => this.based(tile)) };
  }

  // The first tile decides what the numbers of all are differences from.
  private based(tile: Tile): Tile {
    const { origin } = this.pane;
    origin.value ??= tile.origin;
    if (origin.value) rebase(tile, origin.value);
    return tile;
  }
}

/** The request of a part of an array: as it is, thinned out, or reduced along an axis. */
function askedOf(pane: Pane, node: ArrayNode, sel: string, isLarge: boolean): Request {
  const field = pane.field.value;
  const as = pane.kind.value === "labels" ? "label" : pane.form;
  const side = isLarge ? OVERVIEW_SIDE : undefined;
  const { y, x } = pane.axes.value;
  const projection = pane.projection.value;
  if (projection) {
    const params = { path: node.path, sel, axes: `${y},${x}`, along: projection.axis, how: projection.how, side, field, as };
    return { key: `projection ${node.etag} ${JSON.stringify(params)}`, load: (api, signal) => api.projection(params, signal) };
  }
  if (isLarge) {
    const params = { path: node.path, sel, axes: `${y},${x}`, side, field, as };
    return { key: `overview ${node.etag} ${JSON.stringify(params)}`, load: (api, signal) => api.overview(params, signal) };
  }
  return {
    key: `tile ${node.path} ${node.etag} ${field ?? ""} ${as} ${sel}`,
    load: (api, signal) => api.tile(node.path, sel, field, as, signal),
  };
}

// The whole plane first, and above it what is seen, which has more detail.
function overviews(box: Box, whole: Box): Box[] {
  // Borders at multiples of an eighth of what is seen, so that a small movement asks for nothing new.
  const step = 2 ** Math.ceil(Math.log2(Math.max(box.y1 - box.y0, box.x1 - box.x0) / 8));
  const near = {
    y0: Math.max(0, Math.floor(box.y0 / step) * step),
    y1: Math.min(whole.y1, Math.ceil(box.y1 / step) * step),
    x0: Math.max(0, Math.floor(box.x0 / step) * step),
    x1: Math.min(whole.x1, Math.ceil(box.x1 / step) * step),
  };
  const isPart = (near.y1 - near.y0) * 2 <= whole.y1 || (near.x1 - near.x0) * 2 <= whole.x1;
  return isPart ? [whole, near] : [whole];
}

function scaled(box: Box, factor: { y: number; x: number }, plane: { height: number; width: number }): Box {
  return {
    y0: box.y0 * factor.y,
    y1: Math.min(plane.height, box.y1 * factor.y),
    x0: box.x0 * factor.x,
    x1: Math.min(plane.width, box.x1 * factor.x),
  };
}
