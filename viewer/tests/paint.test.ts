// The painter alone: tables, formulas, layouts. The browser tests compare whole pictures with NumPy.
import assert from "node:assert/strict";
import { test } from "node:test";
import { colourMap, rgb } from "../src/paint/colours";
import { wheelTable } from "../src/paint/flow";
import { labelColour, type Look, paint } from "../src/paint/paint";
import { fromHalf, NOT_VALID, numbersOf, Scale } from "../src/paint/values";

const look: Look = { kind: "gray", range: [0, 255], map: "gray", transform: "linear", outlines: false, channels: [] };
const row = (width: number) => ({ height: 1, width, sy: width, sx: 1, sc: 0, channels: 1 });

function painted(type: "u1" | "i2" | "f2" | "f4" | "u4", data: any, changes: Partial<Look> = {}, layout = row(data.length)) {
  const out = new Uint32Array(layout.height * layout.width);
  paint({ type, data, layout }, { ...look, ...changes }, out);
  return [...out];
}

test("every float16 means what the hardware says", () => {
  for (let bits = 0; bits < 65536; bits++) {
    const exponent = (bits >> 10) & 31;
    const value = fromHalf(bits);
    // The same number as a float32, whose bits are those of the float16 moved.
    const words = new Uint32Array(1);
    if (exponent > 0 && exponent < 31) {
      words[0] = ((bits & 0x8000) << 16) | ((exponent + 112) << 23) | ((bits & 0x3ff) << 13);
      assert.equal(value, new Float32Array(words.buffer)[0]);
    }
  }
  assert.equal(fromHalf(0x0001), 2 ** -24);
  assert.equal(fromHalf(0x83ff), -1023 * 2 ** -24);
  assert.equal(fromHalf(0x7c00), Infinity);
  assert.ok(Number.isNaN(fromHalf(0x7e00)));
  assert.ok(Object.is(fromHalf(0x8000), -0));
});

test("bytes in the range 0 to 255 are their own gray", () => {
  const data = Uint8Array.from({ length: 256 }, (_, i) => i);
  assert.deepEqual(painted("u1", data), [...data].map((v) => rgb(v, v, v)));
});

test("signed integers go through the table by their bits", () => {
  const data = Int16Array.of(-32768, -1, 0, 1, 32767);
  const expected = [0, 127, 128, 128, 255].map((v) => rgb(v, v, v));
  assert.deepEqual(painted("i2", data, { range: [-32768, 32767] }), expected);
});

test("values that are not finite are transparent, and stay so with every range", () => {
  for (const range of [[0, 1], [5, 5], [1, 0]] as [number, number][]) {
    const wide = painted("f4", Float32Array.of(NaN, Infinity, -Infinity, 0.5), { range });
    assert.deepEqual(wide.slice(0, 3), [0, 0, 0]);
    assert.notEqual(wide[3], 0);
    const half = painted("f2", Uint16Array.of(0x7e00, 0x7c00, 0xfc00, 0x3800), { range });
    assert.deepEqual(half, wide);
  }
});

test("float16 and float32 of the same values have the same colours", () => {
  const numbers = numbersOf("f2") as Float64Array;
  const half = Uint16Array.from({ length: 65536 }, (_, i) => i);
  const single = Float32Array.from(numbers);
  for (const transform of ["linear", "log", "inverse"] as const) {
    const changes = { range: [0.5, 80] as [number, number], map: "turbo", transform };
    assert.deepEqual(painted("f2", half, changes), painted("f4", single, changes));
  }
});

test("a scale without an extent has two levels", () => {
  const scale = new Scale([3, 3]);
  assert.deepEqual([2, 3, 4].map((value) => scale.level(value)), [0, 0, 255]);
});

test("depth that is not positive is not valid where its inverse or logarithm is drawn", () => {
  for (const transform of ["inverse", "log"] as const) {
    const scale = new Scale([1, 100], transform);
    assert.deepEqual([-1, 0].map((value) => scale.level(value)), [NOT_VALID, NOT_VALID]);
    assert.equal(scale.level(1), 0);
    assert.equal(scale.level(100), 255);
  }
});

test("planar and interleaved colours are the same picture", () => {
  const planar = Uint8Array.of(1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24);
  const interleaved = Uint8Array.of(1, 11, 21, 2, 12, 22, 3, 13, 23, 4, 14, 24);
  const one = painted("u1", planar, { kind: "rgb" }, { height: 2, width: 2, sy: 2, sx: 1, sc: 4, channels: 3 });
  const two = painted("u1", interleaved, { kind: "rgb" }, { height: 2, width: 2, sy: 6, sx: 3, sc: 1, channels: 3 });
  assert.deepEqual(new Uint32Array(one), new Uint32Array(two));
  assert.equal(new Uint32Array(one)[3], rgb(4, 14, 24));
});

test("a plane whose columns come first is drawn as its transpose", () => {
  const data = Uint8Array.of(1, 2, 3, 4, 5, 6);
  const out = painted("u1", data, {}, { height: 3, width: 2, sy: 1, sx: 3, sc: 0, channels: 1 });
  assert.deepEqual(out, [1, 4, 2, 5, 3, 6].map((v) => rgb(v, v, v)));
});

test("no motion is white, and directions have the colours of the wheel", () => {
  const at = (u: number, v: number) => wheelTable()[(128 + v) * 256 + 128 + u];
  assert.equal(at(0, 0), rgb(255, 255, 255));
  // To the right is red; beyond the largest motion, colours are darker.
  assert.equal(at(127, 0), rgb(255, 0, 0));
  assert.notEqual(at(127, 127), at(89, 89));
});

test("flow beyond the largest motion keeps its direction", () => {
  const layout = { height: 1, width: 1, sy: 1, sx: 1, sc: 1, channels: 2 };
  const draw = (u: number, v: number) => painted("f4", Float32Array.of(u, v), { kind: "flow", range: [0, 1] }, layout)[0];
  assert.equal(draw(40, 40), draw(1, 1));
  assert.equal(draw(NaN, 0), 0);
});

test("labels keep their colours, and differ", () => {
  assert.equal(labelColour(0), rgb(0, 0, 0));
  const colours = new Set(Array.from({ length: 100 }, (_, i) => labelColour(i + 1)));
  assert.ok(colours.size > 80);
  assert.ok(!colours.has(rgb(0, 0, 0)));
});

test("channels add up and stop at white", () => {
  const channels = [
    { range: [0, 255] as [number, number], color: "#ff0000", active: true, gamma: 1 },
    { range: [0, 255] as [number, number], color: "#ffff00", active: true, gamma: 1 },
    { range: [0, 255] as [number, number], color: "#0000ff", active: false, gamma: 1 },
  ];
  const layout = { height: 1, width: 1, sy: 1, sx: 1, sc: 1, channels: 3 };
  assert.equal(painted("u1", Uint8Array.of(200, 100, 50), { kind: "channels", channels }, layout)[0], rgb(255, 100, 0));
});

test("colour maps have 256 colours each", () => {
  for (const name of ["gray", "viridis", "magma", "cividis", "turbo", "coolwarm"]) assert.equal(colourMap(name).length, 256);
  assert.equal(colourMap("viridis")[0], rgb(68, 1, 84));
});
