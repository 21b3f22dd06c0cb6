// Builds the viewer: `npm run build` writes the bundle, `node build.mjs --tests FOLDER` the unit tests.
//
// The output is committed, so that no user needs npm, and it is not minified, so that a change of it
// can be read. It is a function of the sources and the lock file alone.
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "python", "zarrix", "viewer", "static");

const shared = {
  absWorkingDir: here,
  bundle: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "inline",
  logLevel: "warning",
};

const bundled = ["preact", "@preact/signals", "@preact/signals-core", "uplot"];

async function licences() {
  const parts = ["Licences of the software that is bundled in view.js and view.css.\n"];
  for (const name of bundled) {
    const folder = join(here, "node_modules", name);
    const { version, license } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
    const text = await readFile(join(folder, "LICENSE"), "utf8");
    parts.push(`${"=".repeat(72)}\n${name} ${version} (${license})\n\n${text.trim()}\n`);
  }
  for (const name of ["colour-maps.txt", "coast-lines.txt"]) parts.push(await readFile(join(here, name), "utf8"));
  return parts.join("\n");
}

const tests = process.argv.indexOf("--tests");
if (tests >= 0) {
  await build({
    ...shared,
    entryPoints: ["tests/all.test.ts"],
    platform: "node",
    outdir: process.argv[tests + 1],
    outExtension: { ".js": ".mjs" },
  });
} else {
  await build({ ...shared, entryPoints: { view: "src/main.tsx" }, outdir: target });
  await build({ ...shared, entryPoints: { view: "src/view.css" }, outdir: target });
  await writeFile(join(target, "index.html"), await readFile(join(here, "src", "index.html")));
  await writeFile(join(target, "icon.svg"), await readFile(join(here, "src", "icon.svg")));
  await writeFile(join(target, "licenses.txt"), await licences());
}
