// Writes src/coast-lines.ts: the coast lines of Natural Earth at 1:110 million, as whole twentieths of a degree.
//
// `npm run build` runs it. The edges of the map, where Antarctica and Siberia are cut, are left out.
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "node_modules", "world-atlas", "land-110m.json");
const { arcs, transform } = JSON.parse(await readFile(source, "utf8"));

const PER_DEGREE = 20;

/** The points of an arc in degrees. */
function pointsOf(arc) {
  let [x, y] = [0, 0];
  return arc.map(([dx, dy]) => {
    x += dx;
    y += dy;
    return [x * transform.scale[0] + transform.translate[0], y * transform.scale[1] + transform.translate[1]];
  });
}

function isEdge([lon0, lat0], [lon1, lat1]) {
  return (Math.abs(lon0) > 179.9 && Math.abs(lon1) > 179.9) || (lat0 < -89.9 && lat1 < -89.9);
}

const lines = [];
for (const arc of arcs) {
  const points = pointsOf(arc);
  let line = [points[0]];
  for (let at = 1; at < points.length; at++) {
    const [before, point] = [points[at - 1], points[at]];
    const around = before[0] - point[0] > 180 ? 360 : point[0] - before[0] > 180 ? -360 : 0;
    if (isEdge(before, point)) {
      if (line.length > 1) lines.push(line);
      line = [];
    } else if (around) {
      // Across the line of dates: to the point beyond it, and from the one before it.
      lines.push([...line, [point[0] + around, point[1]]]);
      line = [[before[0] - around, before[1]]];
    }
    line.push(point);
  }
  if (line.length > 1) lines.push(line);
}

/** The first point, and the difference of each further one. */
function encoded(line) {
  const whole = line.map((point) => point.map((degrees) => Math.round(degrees * PER_DEGREE)));
  const found = [...whole[0]];
  for (let at = 1; at < whole.length; at++) {
    const [dx, dy] = [whole[at][0] - whole[at - 1][0], whole[at][1] - whole[at - 1][1]];
    if (dx || dy) found.push(dx, dy);
  }
  return found.join(" ");
}

const text = lines.map((line) => `  "${encoded(line)}",`).join("\n");
await writeFile(
  join(here, "src", "coast-lines.ts"),
  `// Made by coast.mjs of Natural Earth (public domain), as world-atlas has it. See coast-lines.txt.\n` +
    `export const PER_DEGREE = ${PER_DEGREE};\n\n` +
    `/** Lines: longitude and latitude of the first point, and differences of the further ones. */\n` +
    `export const LINES: readonly string[] = [\n${text}\n];\n`,
);
