// What zarrita does: the same jobs and the same report as in peer.py, for numbers, booleans and text.
//
//     node peer.mjs zarrita JOBS REPORT
//
// It runs in the folder that has node_modules, and takes the packages from there.
import * as fs from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";

const [, , , jobsFile, reportFile] = process.argv;
const root = path.join(process.cwd(), "node_modules");
const { version } = JSON.parse(fs.readFileSync(path.join(root, "zarrita", "package.json")));
const zarr = await import(pathToFileURL(path.join(root, "zarrita", "dist", "src", "index.js")).href);
const storage = path.join(root, "@zarrita", "storage", "dist", "src", "fs.js");
const { default: FileSystemStore } = await import(pathToFileURL(storage).href);

const report = (line) => fs.appendFileSync(reportFile, JSON.stringify(line) + "\n");

function inOrderC(data, shape, stride) {
  // Elements lie as the chunks have them; `stride` says where each is.
  let at = [0];
  shape.forEach((length, axis) => {
    at = at.flatMap((start) => Array.from({ length }, (_, i) => start + i * stride[axis]));
  });
  if (at.every((place, i) => place === i)) return data;
  if (ArrayBuffer.isView(data)) {
    // As bytes: a number of JavaScript does not keep all bits of a NaN.
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
    const width = data.BYTES_PER_ELEMENT;
    return Buffer.concat(at.map((place) => bytes.subarray(place * width, (place + 1) * width)));
  }
  const all = [...data];
  const ordered = at.map((place) => all[place]);
  return data instanceof zarr.BoolArray ? Uint8Array.from(ordered, Number) : ordered;
}

function elementsOf(data) {
  // Text of fixed and of variable length becomes JSON; a view of bytes is what numbers are.
  if (Array.isArray(data) || data instanceof zarr.UnicodeStringArray) return JSON.stringify([...data]);
  if (data instanceof zarr.ByteStringArray) return JSON.stringify([...data]);
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength);
}

async function read(job) {
  const array = await zarr.open(new FileSystemStore(job.path), { kind: "array" });
  const { data, shape, stride } = await zarr.get(array);
  fs.writeFileSync(job.values, elementsOf(inOrderC(data, shape, stride)));
  return { shape };
}

async function write(job) {
  const array = await zarr.open(new FileSystemStore(job.path), { kind: "array" });
  const bytes = fs.readFileSync(job.values);
  const copy = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const probe = await array.getChunk(array.shape.map(() => 0));
  let data;
  if (job.dtype === "text") data = JSON.parse(bytes.toString());
  else data = new probe.data.constructor(copy);
  const stride = job.shape.map((_, axis) => job.shape.slice(axis + 1).reduce((a, b) => a * b, 1));
  await zarr.set(array, null, { data, shape: job.shape, stride });
  return {};
}

report({ version });
for (const job of JSON.parse(fs.readFileSync(jobsFile))) {
  const done = { name: job.name, way: job.way };
  try {
    Object.assign(done, await (job.way === "read" ? read : write)(job));
  } catch (error) {
    done.error = String(error).slice(0, 300);
  }
  report(done);
}
