// The side panel: region, series, histogram, facts, attributes, health, and what a loader would read.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { ArrayNode, ChunkFacts, Node } from "../api";
import { chunkCuts } from "../plane";
import type { Pane } from "../pane";
import type { Viewer } from "../state";
import { Health } from "./Health";
import { Histogram } from "./Histogram";
import { RegionBox } from "./Region";
import { ProfileBox, SeriesBox } from "./Series";
import { Sheet } from "./Sheet";
import { bytes } from "./text";

export function Info({ viewer }: { viewer: Viewer }) {
  const node = viewer.node.value;
  const pane = viewer.active.value;
  if (!node) return null;
  const same = pane && pane.node.path === node.path ? pane : null;
  return (
    <>
      <RegionBox viewer={viewer} />
      <SeriesBox viewer={viewer} />
      <ProfileBox viewer={viewer} />
      {same?.picture && same.tileType && !same.isEmpty && !same.projection.value && !same.chunkMap.value && same.over.value?.mode !== "difference" && same.node.components === 1 && !/^(datetime|timedelta)/.test(same.node.dtype) && <Histogram key={`h${same.id}`} viewer={viewer} pane={same} />}
      <Facts node={node} title={viewer.connection.hello.value?.title} />
      {same?.picture && <Chunk viewer={viewer} pane={same} />}
      <Attributes key={`a${node.path}`} node={node} />
      <Health key={`v${node.path}`} viewer={viewer} node={node} />
      {same?.picture && same.tileType && <Sheet key={`s${same.id}`} viewer={viewer} pane={same} />}
    </>
  );
}

function lengths(chunks: ArrayNode["chunks"]): string {
  return chunks.map((chunk) => (Array.isArray(chunk) ? `(${chunk.slice(0, 4).join("+")}${chunk.length > 4 ? "…" : ""})` : chunk)).join(" × ");
}

function Facts({ node, title }: { node: Node; title?: string }) {
  const rows: [string, string][] =
    node.kind === "group"
      ? typeof node.members === "number" ? [["members", node.members.toLocaleString("en")]] : []
      : [
          ["shape", node.shape.join(" × ") || "scalar"],
          ["data type", node.dtype],
          ["axes", node.dims?.some(Boolean) ? node.dims.map((name, axis) => `${name ?? "unnamed"}${node.units?.[axis] ? ` (${node.units[axis]})` : ""}`).join(", ") : "unnamed"],
          [node.shards ? "inner chunks" : "chunks", `${lengths(node.chunks)} (${node.grid.reduce((a, b) => a * b, 1).toLocaleString("en")})`],
          ...(node.shards ? [["shards", lengths(node.shards)] as [string, string]] : []),
          ["codecs", node.codecs.join(", ") || "none"],
          ["fill value", node.fill_value],
          ["size", bytes(node.nbytes)],
          ["store", `${node.store}${node.remote ? ", remote" : ""}`],
          ["shown as", `${node.guess.kind}${node.guess.reason ? `: ${node.guess.reason}` : ""}`],
        ];
  return (
    <section aria-label="Array">
      <h3>
        <bdi>{node.path || title || "root"}</bdi>{" "}
        {[`v${node.zarr_format}`, ...node.badges].map((badge) => (
          <span class="badge" key={badge}>
            {badge}
          </span>
        ))}
      </h3>
      <dl class="facts-list">
        {rows.map(([name, text]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>{text}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The chunk under the cursor: its key and size. */
function Chunk({ viewer, pane }: { viewer: Viewer; pane: Pane }) {
  const facts = useSignal<ChunkFacts | null>(null);
  const cursor = viewer.cursor.value;
  const { y, x } = pane.axes.value;
  const { node } = pane;
  let coords: number[] | null = null;
  if (cursor?.pane === pane && y !== undefined && x !== undefined && viewer.showGrid.value) {
    const { height, width } = pane.extent;
    const index = viewer.indexOf(pane);
    index[y] = Math.floor(cursor.fy * height);
    index[x] = Math.floor(cursor.fx * width);
    coords = index.map((value, axis) => chunkCuts(node.shape[axis], node.chunks[axis]).find(value));
  }
  const key = coords?.join(",");
  useEffect(() => {
    if (!coords) return;
    let current = true;
    const timer = setTimeout(() => {
      viewer.api
        .chunk(node.path, coords)
        .then((found) => current && (facts.value = found))
        .catch((error: unknown) => viewer.note(error));
    }, 80);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [key]);
  const found = facts.value;
  if (!found || !viewer.showGrid.value) return null;
  return (
    <section aria-label="Chunk">
      <h3>Chunk {found.coords.join(", ")}</h3>
      <p>
        <code><bdi>{found.key}</bdi></code>
        <br />
        {found.stored
          ? `${bytes(found.bytes)} of ${bytes(found.raw_bytes)}${found.ratio ? `, ratio ${found.ratio.toPrecision(3)}` : ""}`
          : "not stored: it reads as the fill value"}
        {found.checksum ? ", with a checksum" : ""}
      </p>
    </section>
  );
}

function Attributes({ node }: { node: Node }) {
  const names = Object.keys(node.attributes);
  const copied = useSignal(false);
  if (!names.length && !node.attributes_truncated) return null;
  return (
    <section aria-label="Attributes">
      <details>
        <summary>Attributes ({node.attributes_truncated ? "too large to show" : names.length})</summary>
        <Json name="" value={node.attributes} depth={0} />
        <button
          type="button"
          onClick={() =>
            void navigator.clipboard?.writeText(JSON.stringify(node.attributes, null, 2)).then(
              () => (copied.value = true),
              () => (copied.value = false),
            )
          }
        >
          {copied.value ? "Copied" : "Copy as JSON"}
        </button>
      </details>
    </section>
  );
}

const MOST = 100;
const LONGEST = 2000;

/** A value of JSON as text. Members beyond a hundred and long texts are left out, and it says so. */
function Json({ name, value, depth }: { name: string; value: unknown; depth: number }) {
  if (value === null || typeof value !== "object") {
    const text = JSON.stringify(value);
    return (
      <div class="json">
        {name && <bdi class="json-name">{clipped(name)}</bdi>}
        {name && ": "}
        <bdi>{clipped(text)}</bdi>
      </div>
    );
  }
  const entries = Object.entries(value);
  const members = (
    <>
      {entries.slice(0, MOST).map(([key, member]) => (
        <Json key={key} name={Array.isArray(value) ? `${key}` : key} value={member} depth={depth + 1} />
      ))}
      {entries.length > MOST && <div class="json">and {entries.length - MOST} more</div>}
    </>
  );
  if (depth === 0) return <div class="json-root">{members}</div>;
  return <JsonBranch name={clipped(name)} count={entries.length} list={Array.isArray(value)} open={depth < 2 && entries.length <= 8}>{members}</JsonBranch>;
}

// Members are made when they are opened: documents can be deep.
function JsonBranch(props: { name: string; count: number; list: boolean; open: boolean; children: ComponentChildren }) {
  const open = useSignal(props.open);
  return (
    <details class="json" open={open.value} onToggle={(event) => (open.value = event.currentTarget.open)}>
      <summary>
        <bdi class="json-name">{props.name}</bdi> {props.list ? `[${props.count}]` : `{${props.count}}`}
      </summary>
      {open.value && props.children}
    </details>
  );
}

function clipped(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}… (${text.length} characters)` : text;
}
