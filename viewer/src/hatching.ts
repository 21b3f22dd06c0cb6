// Hatching: the patterns of what has no values to show, so that none is taken for a picture.
type Hatching = "invalid" | "missing" | "broken";

/** Two colours of each hatching, and the direction of its lines. */
const HATCHINGS: Record<Hatching, [string, string, number]> = {
  invalid: ["#50505a", "#787882", 1],
  missing: ["#2e2614", "#c8912a", -1],
  broken: ["#3c0f14", "#d2323c", 1],
};
const patterns = new Map<Hatching, HTMLCanvasElement>();

/** The pattern of a hatching, to fill rectangles with. */
export function hatch(context: CanvasRenderingContext2D, name: Hatching): CanvasPattern {
  let tile = patterns.get(name);
  if (!tile) {
    tile = document.createElement("canvas");
    tile.width = 8;
    tile.height = 8;
    const drawing = tile.getContext("2d") as CanvasRenderingContext2D;
    const [one, two, direction] = HATCHINGS[name];
    for (let y = 0; y < 8; y++) {
      for (let x = 0; x < 8; x++) {
        drawing.fillStyle = ((x + direction * y) & 7) < 4 ? one : two;
        drawing.fillRect(x, y, 1, 1);
      }
    }
    patterns.set(name, tile);
  }
  return context.createPattern(tile, "repeat") as CanvasPattern;
}

