// Ask the search of the built site, which is a program for browsers, from Node.
//
//     node .ci/search.mjs build/site QUERY...
//
// It prints a JSON list for each query: the addresses of the results, best first.
import { readFileSync, readdirSync } from "node:fs";

const [folder, ...queries] = process.argv.slice(2);
const workers = `${folder}/assets/javascripts/workers`;
const worker = readdirSync(workers).find((name) => name.startsWith("search"));
const index = JSON.parse(readFileSync(`${folder}/search.json`, "utf8"));

// The search is a worker: it takes messages through `self` and posts its answers there.
let answered;
globalThis.self = { postMessage: (message) => answered(message) };
(0, eval)(readFileSync(`${workers}/${worker}`, "utf8"));

function ask(type, data) {
  return new Promise((resolve) => {
    answered = resolve;
    self.onmessage({ data: { type, data } });
  });
}

const [SETUP, READY, QUERY, RESULT] = [0, 1, 2, 3];
if ((await ask(SETUP, index)).type !== READY) throw new Error("the search does not start");
for (const input of queries) {
  const all = { type: "operator", data: { operator: "and", operands: [] } };
  const answer = await ask(QUERY, { input, filter: { input: all, aggregation: [] } });
  if (answer.type !== RESULT) throw new Error(`the search has no answer to ${input}`);
  console.log(JSON.stringify(answer.data.items.map(({ id }) => index.items[id].location)));
}
