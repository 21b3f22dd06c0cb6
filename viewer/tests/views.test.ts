import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { test } from "node:test";
import { asTile, type Tile } from "../src/api";
import { coastLines, positions } from "../src/coast";
import { FileTransport } from "../src/exported";
import { fromFragment, toFragment } from "../src/fragment";
import { missingGrid } from "../src/missing";
import { subtracted } from "../src/over";

test("planes, projections, second arrays, pins and lines survive their address", () => {
  const state = {
    panes: [
      {
        path: "a", projection: { axis: 1, how: "mean" as const }, cross: true, chunks: "age" as const, coast: false,
        view: [0.5, 0.25, 300] as [number, number, number],
        over: { path: "b;c:d/é&#<script>", mode: "labels" as const, opacity: 0.35, outlines: false },
      },
    ],
    at: {},
    pins: [[0, 5, 7], [0, 1, 2]],
    line: [0, 1, 2, 3, 4],
  };
  const { token, ...back } = fromFragment(`#${toFragment(state)}`);
  assert.equal(token, null);
  assert.deepEqual(JSON.parse(JSON.stringify(back)), JSON.parse(JSON.stringify(state)));
});

test("nonsense in an address names nothing", () => {
  const options = "along:x:max;along:0:median;over:labels:9:1:a;over:blink:0.5:1:%zz;chunks:colour;view:1:2";
  const state = fromFragment(`#path=a&as=${encodeURIComponent(options)}&pin=1,2&pin=-1,0,0&pin=a,b,c&line=1,2,3,4`);
  assert.deepEqual(JSON.parse(JSON.stringify(state.panes)), [{ path: "a" }]);
  assert.deepEqual([state.pins, state.line], [[], undefined]);
});

test("a chunk of a projection is missing where all of its depth is", () => {
  // Two planes of two by two chunks: the first has one, the second has two.
  const runs = [1, 1, 2, 2, 2];
  assert.deepEqual([...missingGrid(runs, [2, 2, 2], 1, 2)], [1, 0, 1, 1]);
  assert.deepEqual([...missingGrid(runs, [2, 2, 2], 1, 2, true)], [0, 0, 1, 1]);
});

test("a difference has the origins of both tiles, and none where a value is missing", () => {
  const tile = (data: number[], count: string): Tile => ({
    type: "f4", shape: [data.length], data: Float32Array.from(data), min: 0, max: 1, headers: {}, origin: { text: count, count }, damage: null,
  });
  const found = subtracted(tile([1, 2, Number.NaN], "1152921504606846986"), tile([1, 0, 0], "1152921504606846976"));
  assert.deepEqual([...found.data], [10, 12, Number.NaN]);
  assert.deepEqual([found.min, found.max, found.origin], [10, 12, null]);
  assert.throws(() => subtracted(tile([1], "0"), tile([1, 2], "0")), /chunks of other shapes/);
});

test("coast lines are in the world, and cross it nowhere", () => {
  for (const line of coastLines()) {
    assert.ok(line.length > 1);
    line.forEach(([longitude, latitude], at) => {
      assert.ok(Math.abs(longitude) <= 190 && Math.abs(latitude) <= 90);
      if (at) assert.ok(Math.abs(longitude - line[at - 1][0]) < 25, `${line[at - 1]} to ${line[at]}`);
    });
  }
});

test("degrees become elements of even, uneven and falling labels", () => {
  const labels = { kind: "number", unit: "degrees_north" };
  const even = positions({ ...labels, begin: 90, step: -2 }, 91)!;
  assert.deepEqual([even(88), even(-90), even(1)], [1, 90, 44.5]);
  const uneven = positions({ ...labels, labels: [-80, -20, 0, 10, 80] }, 5)!;
  assert.deepEqual([uneven(-80), uneven(-50), uneven(5), uneven(80)], [0, 0.5, 2.5, 4]);
  const falling = positions({ ...labels, labels: [80, 10, 0, -20] }, 4)!;
  assert.deepEqual([falling(45), falling(-10)], [0.5, 2.5]);
  assert.equal(positions({ ...labels, labels: [0, 1, 1] }, 3), null);
});

test("a page without a server cuts tiles out of its arrays", async () => {
  const values = Float32Array.from({ length: 24 }, (_, at) => (at === 7 ? Number.NaN : at));
  const body = gzipSync(new Uint8Array(values.buffer)).toString("base64");
  const headers = { "x-zarrix-shape": "2,3,4", "x-zarrix-type": "f4", "x-zarrix-min": "0", "x-zarrix-max": "23" };
  const node = { shape: [2, 3, 4], chunks: [1, 2, 2], shards: null, dtype: "float32", components: 1 };
  const stored = { box: [[0, 2], [0, 2], [0, 2]], runs: [0, 3, 1, 4], stored: 7, bytes: 9, unit: "chunk" };
  const transport = new FileTransport({
    answers: { "node a": node, "stored a": stored, hello: {} }, tiles: { "raw a": { headers, body } },
  });
  const text = async (route: string, params: Record<string, string | number>) => {
    const answer = await transport.request(route, { path: "a", ...params });
    return JSON.parse(new TextDecoder().decode(answer.body));
  };
  const tile = asTile(await transport.request("tile", { path: "a", sel: "1,0:2,1:3" }));
  assert.deepEqual([tile.shape, [...tile.data], tile.min, tile.max], [[2, 2], [13, 14, 17, 18], 13, 18]);
  const across = asTile(await transport.request("tile", { path: "a", sel: ":,2,3" }));
  assert.deepEqual([...across.data], [11, 23]);
  const highest = asTile(await transport.request("projection", { path: "a", sel: "0,:,:", along: 1, how: "max" }));
  assert.deepEqual([highest.shape, [...highest.data]], [[4], [8, 9, 10, 11]]);
  assert.deepEqual((await text("series", { axis: 2, index: "0,1,0", width: 2 })).min, [4, 6]);
  assert.deepEqual((await text("series", { axis: 2, index: "0,1,0" })).min, [4, 5, 6, null]);
  const { count, nan, mean, histogram } = await text("stats", { sel: "0,1,:", bins: 2 });
  assert.deepEqual([count, nan, mean, histogram], [4, 1, 5, [1, 2]]);
  assert.deepEqual((await text("value", { index: "0,1,3" })).text, "NaN");
  assert.deepEqual((await text("profile", { index: "0,0,0", axes: "1,2", ends: "0,0,2,2" })).values, [0, 5, 10]);
  // The last chunk of the first plane is missing.
  assert.deepEqual((await text("stored", { sel: "0,:,:" })).runs, [0, 3, 1]);
  assert.deepEqual((await text("stored", { sel: "1,2,3" })).runs, [0, 1]);
  const refused = await transport.request("npy", { path: "a" });
  assert.equal(refused.status, 404);
});
