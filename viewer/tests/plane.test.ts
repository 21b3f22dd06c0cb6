import assert from "node:assert/strict";
import { test } from "node:test";
import { missingGrid } from "../src/missing";
import {
  chunkCuts, centred, fitting, layoutOf, listedCuts, onScreen, regularCuts, selection, tileCuts, tilesIn, visible,
} from "../src/plane";

test("tiles cover what is seen once, for regular and rectilinear chunks", () => {
  for (const cuts of [tileCuts(1000, 30, 100), tileCuts(1000, [100, 1, 399, 500], 256), tileCuts(1000, 5000, 128)]) {
    const box = { y0: 17, y1: 903, x0: 0, x1: 1 };
    const tiles = tilesIn(box, cuts, regularCuts(1, 1));
    assert.ok(tiles[0].y0 <= 17 && tiles.at(-1)!.y1 >= 903);
    tiles.slice(1).forEach((tile, at) => assert.equal(tile.y0, tiles[at].y1));
  }
});

test("borders of tiles are borders of chunks", () => {
  const cuts = tileCuts(1000, 30, 100);
  assert.equal(cuts.at(1), 90);
  const listed = tileCuts(1000, [300, 300, 400], 700);
  assert.deepEqual([listed.at(1), listed.at(2)], [600, 1000]);
});

test("an element is found in its chunk", () => {
  const cuts = listedCuts([3, 3, 2]);
  assert.deepEqual([0, 2, 3, 5, 6, 7].map((at) => cuts.find(at)), [0, 0, 1, 1, 2, 2]);
  assert.equal(chunkCuts(10, 4).count, 3);
});

test("what is seen is clipped to the plane", () => {
  const view = { left: -50, top: 20, scale: 2, scaleY: 2, width: 100, height: 100 };
  assert.deepEqual(visible(view, 30, 60), { y0: 0, y1: 30, x0: 25, x1: 60 });
  assert.deepEqual(visible({ ...view, left: 500 }, 30, 60), { y0: 0, y1: 30, x0: 0, x1: 0 });
});

test("a selection names ranges of shown axes and indices of the others", () => {
  const box = { y0: 1, y1: 2, x0: 3, x1: 4 };
  assert.equal(selection(4, { y: 2, x: 3, c: 1 }, [5, 0, 0, 0], box), "5,:,1:2,3:4");
  assert.equal(selection(3, { y: 2, x: 0, c: null }, [0, 7, 0], box), "3:4,7,1:2");
});

test("strides follow the order of the axes in the array", () => {
  assert.deepEqual(layoutOf([3, 5, 7], { y: 2, x: 3, c: 1 }, 1), { height: 5, width: 7, sy: 7, sx: 1, sc: 35, channels: 3 });
  assert.deepEqual(layoutOf([5, 7, 3], { y: 0, x: 1, c: 2 }, 1), { height: 5, width: 7, sy: 21, sx: 3, sc: 1, channels: 3 });
  assert.deepEqual(layoutOf([7, 5], { y: 3, x: 1, c: null }, 1), { height: 5, width: 7, sy: 1, sx: 5, sc: 0, channels: 1 });
  assert.deepEqual(layoutOf([5, 7, 2], { y: 0, x: 1, c: null }, 2), { height: 5, width: 7, sy: 14, sx: 2, sc: 1, channels: 2 });
});

test("a small plane is drawn with whole pixels for each element", () => {
  assert.equal(fitting(100, 100, 350, 900), 3);
  assert.equal(fitting(1000, 1000, 500, 900), 0.5);
});

test("a long plane is no hairline: its first part is seen", () => {
  assert.equal(fitting(20000, 12, 600, 600), 1);
  assert.equal(fitting(48, 60000, 600, 600), 0.25);
  assert.equal(fitting(20000, 20000, 500, 900), 0.025);
  assert.deepEqual([centred(100, 301), centred(400, 300)], [101, 0]);
});

test("a chunk is missing if it is so for any channel", () => {
  // Chunks (channel, row, column) of 2 x 2 x 2; the first run is of missing ones.
  assert.deepEqual([...missingGrid([1, 4, 1, 2], [2, 2, 2], 1, 2)], [1, 1, 0, 0]);
  assert.deepEqual([...missingGrid([0, 8], [2, 2, 2], 1, 2)], [0, 0, 0, 0]);
});

test("boxes that touch in the plane touch on the screen, at any scale", () => {
  for (const scale of [0.37, 1, 2.5]) {
    const view = { left: -3, top: 7, scale: 2, scaleY: scale, width: 100, height: 100 };
    const rows = [0, 1, 4, 9].map((y, at, all) => onScreen(view, { y0: y, y1: all[at + 1] ?? 20, x0: 0, x1: 5 }));
    assert.deepEqual([rows[0].top, rows[0].left], [7, -3]);
    rows.slice(1).forEach((row, at) => assert.equal(row.top, rows[at].top + rows[at].height));
  }
});
