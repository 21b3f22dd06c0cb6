import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { Connection } from "../src/connection";
import { fromFragment, parseSelection, toFragment } from "../src/fragment";
import { KernelTransport, type Model, RequestError, Unreachable } from "../src/transport";
import { Tiles } from "../src/tiles";
import type { Api, Hello, Tile } from "../src/api";

test("a state survives its address, with hostile names", () => {
  const state = {
    panes: [
      { path: 'a/<script>&#=;:"', kind: "gray" as const, range: [0.5, 2] as [number, number], map: "turbo", axes: { y: 0, x: 2, c: null } },
      { path: "\u202egnp", transform: "log", clip: 1, eachFrame: true, outlines: true },
      { path: "linear", transform: "linear", clip: 0 },
      { path: "s", field: "a;kind:labels;b:c%3B%25 é+&=#<i>", chunks: "bytes" as const },
    ],
    at: { "t=1&x": 5 },
    view: [0.5, 0.25, 800] as [number, number, number],
    sel: "0,:,1:2",
  };
  const { token, ...back } = fromFragment(`#${toFragment(state)}`);
  assert.equal(token, null);
  assert.deepEqual(JSON.parse(JSON.stringify(back)), JSON.parse(JSON.stringify(state)));
});

test("a name in an address is what it was, whatever it looks like", () => {
  const names = [";", ":", "%", "%3B", "%253A", "range:0:1;raw:1", "a=b&path=c", "\u0000", "\ud83d\ude00;", "%zz", "__proto__", " "];
  for (const name of names) {
    const over = { path: name, mode: "blink" as const, opacity: 1, outlines: true };
    const state = { panes: [{ path: name, field: name, over }], at: { [`${name}=`]: 3 } };
    const { panes, at } = fromFragment(`#${toFragment(state)}`);
    assert.deepEqual(JSON.parse(JSON.stringify(panes)), state.panes, name);
    assert.deepEqual({ ...at }, state.at, name);
  }
  // What people write themselves, and what older addresses have.
  assert.equal(fromFragment("#path=a&as=field:a:b").panes[0].field, "a:b");
  assert.equal(fromFragment("#path=a&as=field:100%25").panes[0].field, "100%");
});

test("an address of nonsense is an empty state", () => {
  assert.deepEqual(fromFragment("#path=a&as=clip:50;clip:-1;clip:;clip:x").panes, [{ path: "a" }]);
  const state = fromFragment("#at=t=-1&at==&at=x=1e400&view=1,NaN,2&as=range:a:b");
  assert.deepEqual([state.panes, state.at, state.view], [[], {}, undefined]);
});

test("a selection is parsed as on the command line", () => {
  const items = parseSelection("-1,...,2:4", [9, 3, 10])!;
  assert.deepEqual(items.map(({ begin, end }) => [begin, end]), [[8, 9], [0, 3], [2, 4]]);
  assert.equal(parseSelection("1,2,3", [5, 5]), null);
  assert.equal(parseSelection("x", [5]), null);
});

class Kernel implements Model {
  sent: any[] = [];
  private callback: ((...args: any[]) => void) | null = null;
  get = () => null;
  set = () => {};
  save_changes = () => {};
  send = (content: unknown) => void this.sent.push(content);
  on = (_: string, callback: (...args: any[]) => void) => void (this.callback = callback);
  off = () => void (this.callback = null);
  answer(message: unknown, buffers: DataView[] = []) {
    this.callback?.(message, buffers);
  }
}

test("messages of a kernel answer the request of their number", async () => {
  const kernel = new Kernel();
  const transport = new KernelTransport(kernel);
  const one = transport.request("tile", { path: "a" });
  const two = transport.request("node", { path: "b", field: undefined });
  assert.deepEqual(kernel.sent[1], { id: 1, route: "node", params: { path: "b" } });
  const memory = new Uint8Array([9, 1, 2, 3, 4]).buffer;
  kernel.answer({ id: 1, status: 404, headers: {} });
  kernel.answer({ id: 0, status: 200, headers: { "x-zarrix-type": "f4" } }, [new DataView(memory, 1, 4)]);
  assert.equal((await two).status, 404);
  assert.deepEqual([...new Uint8Array((await one).body)], [1, 2, 3, 4]);
});

test("a request that is taken back tells the kernel", async () => {
  const kernel = new Kernel();
  const transport = new KernelTransport(kernel);
  const abort = new AbortController();
  const request = transport.request("tile", {}, abort.signal);
  abort.abort();
  await assert.rejects(request);
  assert.deepEqual(kernel.sent[1], { id: 0, cancel: true });
});

test("a stream of a kernel ends with its last event", () => {
  const kernel = new Kernel();
  const events: unknown[] = [];
  const transport = new KernelTransport(kernel);
  transport.listen("verify", { path: "a" }, (event, data) => events.push([event, data]));
  kernel.answer({ id: 0, event: "progress", data: { done: 1 } });
  kernel.answer({ id: 0, end: true });
  kernel.answer({ id: 0, event: "late", data: 0 });
  assert.deepEqual(events, [["progress", { done: 1 }], ["closed", null]]);
});

test("at most six tiles are in flight, and what is not wanted any more is taken back", async () => {
  const loads: { key: string; signal: AbortSignal; end(): void }[] = [];
  const tiles = new Tiles({} as Api, () => {}, () => {});
  const request = (key: string) => ({
    key,
    load: (_: Api, signal: AbortSignal) =>
      new Promise<Tile>((resolve) => {
        const tile: Tile = { type: "u1", shape: [1], data: new Uint8Array(1), min: 0, max: 0, headers: {} };
        loads.push({ key, signal, end: () => resolve(tile) });
      }),
  });
  tiles.want("pane", Array.from({ length: 10 }, (_, i) => request(`a${i}`)));
  assert.equal(loads.length, 6);
  loads[0].end();
  await new Promise((resolve) => setTimeout(resolve));
  assert.ok(tiles.has("a0"));
  assert.equal(loads.length, 7);
  tiles.want("pane", [request("b0")]);
  assert.ok(loads.slice(1, 7).every(({ signal }) => signal.aborted));
  assert.equal(loads.at(-1)?.key, "b0");
});

test("a lost server is asked once a second until it answers", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const answers: (Error | Hello)[] = [new Unreachable(), new Unreachable(), { title: "back" } as Hello];
  const asked: number[] = [];
  const api = {
    hello: async () => {
      asked.push(asked.length);
      const answer = answers.shift() as Error | Hello;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  let returned = 0;
  const connection = new Connection(api as unknown as Api, () => returned++, assert.fail);
  try {
    connection.lost();
    connection.lost();
    for (let second = 0; second < 2; second++) {
      mock.timers.tick(1000);
      await settled();
      assert.deepEqual([connection.offline.value, returned], [true, 0]);
    }
    mock.timers.tick(1000);
    await settled();
    assert.deepEqual([asked.length, connection.offline.value, returned], [3, false, 1]);
    assert.equal(connection.hello.value?.title, "back");
    connection.lost();
    connection.dispose();
    mock.timers.tick(5000);
    await settled();
    assert.equal(asked.length, 3);
  } finally {
    mock.timers.reset();
  }
});

test("a server that is back and refuses is not asked again", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const errors: unknown[] = [];
  const refused = new RequestError(401, "no", "refused");
  const api = { hello: () => Promise.reject(refused) };
  const connection = new Connection(api as unknown as Api, () => {}, (error) => errors.push(error));
  try {
    connection.lost();
    mock.timers.tick(1000);
    await settled();
    mock.timers.tick(5000);
    await settled();
    assert.deepEqual([errors, connection.offline.value], [[refused], false]);
  } finally {
    mock.timers.reset();
  }
});

// Promises end before the next turn of the event loop; timers of this file are mocked.
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
