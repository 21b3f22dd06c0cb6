// One pane: a picture, a curve, a table or text of one array.
import { effect, untracked, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Kind } from "../api";
import { drawAxes, hasColourBar } from "../axes";
import { isMap } from "../coast";
import { type Measure, MEASURES } from "../chunkmap";
import { WAYS } from "../fragment";
import { composed, fileName, offer } from "../keep";
import { legendOf } from "../legend";
import { MAPS } from "../paint/colours";
import type { Transform } from "../paint/values";
import { Picture } from "../picture";
import { CLIPPED } from "../range";
import type { Viewport } from "../plane";
import { allKinds, type ChannelChoice, type Pane } from "../pane";
import { crossSides, described } from "../sides";
import { type Viewer } from "../state";
import { Cells } from "./Cells";
import { Compare } from "./Compare";
import { Line } from "./Curve";
import { Pointer } from "./pointer";
import { Wheel } from "./Wheel";

interface Props { viewer: Viewer; pane: Pane; pictures: Set<Picture> }

export function PaneView({ viewer, pane, pictures }: Props) {
  const { node } = pane;
  const active = viewer.active.value === pane;
  const kind = pane.kind.value;
  const name = node.path || viewer.connection.hello.value?.title || "array";
  const { y, x } = pane.axes.value;
  // Planes of one array differ by their axes.
  const plane = pane.cross && y !== undefined && x !== undefined ? `${pane.dimension(y)} × ${pane.dimension(x)}` : "";
  return (
    <section class={`pane ${active ? "active" : ""}`} aria-label={[name, plane].filter(Boolean).join(", ")} onFocusCapture={() => viewer.activate(pane)} onPointerDown={() => viewer.activate(pane)}>
      <header>
        <h2 title={name}>
          <bdi>{name}</bdi>
        </h2>
        <span class="facts">
          {plane && `${plane} of `}
          {node.shape.map((length, axis) => `${node.dims?.[axis] ? `${node.dims[axis]} ` : ""}${length}`).join(" × ")}{" "}
          {node.dtype.length > 40 ? "struct" : node.dtype}
        </span>
        <Beside viewer={viewer} pane={pane} />
        {viewer.panes.value.length > 1 && (
          <button type="button" aria-label={`Close ${[name, plane].filter(Boolean).join(", ")}`} onClick={() => viewer.close(pane)}>
            ✕
          </button>
        )}
      </header>
      {/* Three planes look alike: the controls of the first one are those of all. */}
      {(!pane.cross || viewer.panes.value.find((one) => one.cross) === pane) && <div class="controls">
        <label>
          <span>kind</span>{" "}
          <select value={kind} onChange={(event) => viewer.setKind(pane, event.currentTarget.value as Kind)}>
            {allKinds(node).map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
        {node.fields && (
          <label>
            <span>field</span>{" "}
            <select value={pane.field.value ?? ""} onChange={(event) => {
              pane.field.value = event.currentTarget.value || undefined;
              pane.found.value = null;
            }}>
              {!pane.picture && kind !== "line" && <option value="">all fields</option>}
              {node.fields.map((field) => (
                <option key={field.name} value={field.name}>
                  {field.name} {field.dtype}
                </option>
              ))}
            </select>
          </label>
        )}
        {pane.picture && !pane.chunkMap.value && <Looks pane={pane} />}
        {pane.picture && pane.tileType && <Depth viewer={viewer} pane={pane} />}
        {pane.picture && pane.tileType && (
          <label>
            <span>chunks</span>{" "}
            <select
              aria-label="By what chunks are coloured" value={pane.chunkMap.value?.measure ?? ""}
              onChange={(event) => viewer.mapChunks(pane, (event.currentTarget.value || null) as Measure | null)}
            >
              <option value="">off</option>
              {MEASURES.map((measure) => (
                <option key={measure} value={measure}>{measure}</option>
              ))}
            </select>
          </label>
        )}
        {pane.picture && pane.tileType && <Compare viewer={viewer} pane={pane} />}
        {node.decodes && (
          <label title="Stored values: packed, with the numbers that stand for missing ones">
            <input
              type="checkbox" checked={pane.raw.value}
              onChange={(event) => {
                pane.raw.value = event.currentTarget.checked;
                pane.range.value = null;
                pane.found.value = null;
                pane.origin.value = null;
              }}
            />
            raw values
          </label>
        )}
        {pane.picture && pane.labels.value?.[pane.axes.value.y ?? -1] && (
          <label title="The first row is at the bottom">
            <input type="checkbox" checked={pane.flipped.value} onChange={(event) => (pane.upright.value = !event.currentTarget.checked)} />
            flipped
          </label>
        )}
        {pane.picture && isMap(pane) && (
          <label>
            <input type="checkbox" checked={pane.showCoast.value} onChange={(event) => (pane.showCoast.value = event.currentTarget.checked)} />
            coast
          </label>
        )}
      </div>}
      {pane.picture && pane.tileType ? (
        <Canvas viewer={viewer} pane={pane} pictures={pictures} />
      ) : kind === "line" ? (
        <Line viewer={viewer} pane={pane} />
      ) : (
        <Cells viewer={viewer} pane={pane} />
      )}
    </section>
  );
}

function Looks({ pane }: { pane: Pane }) {
  const kind = pane.kind.value;
  const ranged = kind !== "labels" && kind !== "mask" && kind !== "channels";
  const range = pane.look.value.range;
  const set = (at: 0 | 1, text: string) => {
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value)) return;
    const next: [number, number] = [...range];
    next[at] = value;
    pane.range.value = next;
  };
  return (
    <>
      {(kind === "gray" || kind === "depth") && (
          <label>
            <span>map</span>{" "}
            <select value={pane.map.value} onChange={(event) => (pane.map.value = event.currentTarget.value)}>
              {MAPS.map((map) => (
                <option key={map} value={map}>
                  {map}
                </option>
              ))}
            </select>
          </label>
      )}
      {(kind === "gray" || kind === "depth" || kind === "complex") && (
        <label>
          <span>scale</span>{" "}
          <select value={pane.transform.value} onChange={(event) => {
            pane.scaleChosen = true;
            pane.setTransform(event.currentTarget.value as Transform);
          }}>
            {["linear", "inverse", "log"].filter((one) => kind !== "complex" || one !== "inverse").map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        </label>
      )}
      {ranged && (
        <span class="range">
          {kind === "complex" && "|z| "}
          {kind !== "flow" && (
            <input type="number" step="any" aria-label="Lowest value of the range" value={shortest(range[0])} onChange={(event) => set(0, event.currentTarget.value)} />
          )}
          {kind === "flow" ? "longest " : " to "}
          <input type="number" step="any" aria-label="Highest value of the range" value={shortest(range[1])} onChange={(event) => set(1, event.currentTarget.value)} />
          <button
            type="button" title="From the smallest to the largest value of this plane"
            onClick={() => pane.findRange()}
          >
            auto
          </button>
          <label title={`The range leaves out the lowest and the highest ${CLIPPED} % of the values of this plane`}>
            <input
              type="checkbox" checked={pane.clip.value > 0 && pane.range.value === null}
              onChange={(event) => pane.findRange(event.currentTarget.checked ? CLIPPED : 0)}
            />
            {CLIPPED}–{100 - CLIPPED} %
          </label>
          <label title="A range of its own for each frame">
            <input
              type="checkbox" checked={pane.perFrame.value}
              onChange={(event) => {
                pane.perFrame.value = event.currentTarget.checked;
                pane.findRange(pane.clip.value);
              }}
            />
            each frame
          </label>
        </span>
      )}
      {kind === "labels" && (
        <label>
          <input type="checkbox" checked={pane.outlines.value} onChange={(event) => (pane.outlines.value = event.currentTarget.checked)} />
          outlines
        </label>
      )}
      {kind === "channels" && <Channels pane={pane} />}
    </>
  );
}

function shortest(value: number): string {
  return String(Number(value.toPrecision(7)));
}

function Channels({ pane }: { pane: Pane }) {
  const change = (at: number, part: Partial<ChannelChoice>) => {
    pane.channels.value = pane.channels.value.with(at, { ...pane.channels.value[at], ...part });
  };
  const names = pane.node.guess.channels ?? [];
  const ranges = pane.look.value.channels;
  return (
    <span class="channels">
      {pane.channels.value.map((channel, at) => {
        const name = names[at]?.name || `channel ${at}`;
        return (
          <span class="channel" key={name + at}>
            <label>
              <input type="checkbox" checked={channel.active} onChange={(event) => change(at, { active: event.currentTarget.checked })} />
              <bdi>{name}</bdi>
            </label>
            <input type="color" aria-label={`Colour of ${name}`} value={channel.color} onInput={(event) => change(at, { color: event.currentTarget.value })} />
            <span aria-hidden="true">γ</span>
            <input
              type="number" min="0.1" max="5" step="0.1" class="gamma" title="Gamma: below 1, dark values are brighter" aria-label={`Gamma of ${name}`} value={channel.gamma}
              onChange={(event) => {
                const gamma = Number(event.currentTarget.value);
                if (gamma >= 0.1 && gamma <= 5) change(at, { gamma });
              }}
            />
            <button type="button" aria-label={`auto: range of ${name} from its values`} onClick={() => {
              pane.foundChannels.value = [];
              change(at, { range: null });
            }}>
              auto
            </button>
            {([0, 1] as const).map((end) => (
              <input
                key={end} type="number" step="any" aria-label={`${end ? "Highest" : "Lowest"} value of ${name}`} value={shortest(ranges[at].range[end])}
                onChange={(event) => {
                  const value = Number(event.currentTarget.value);
                  const [low, high] = ranges[at].range;
                  if (Number.isFinite(value)) change(at, { range: end ? [low, value] : [value, high] });
                }}
              />
            ))}
          </span>
        );
      })}
    </span>
  );
}

function Beside({ viewer, pane }: { viewer: Viewer; pane: Pane }) {
  const shown = new Set(viewer.panes.value.map(({ node }) => node.path));
  const siblings = (pane.related.value?.siblings ?? []).filter(({ path }) => !shown.has(path));
  if (!siblings.length || viewer.panes.value.length >= 6) return null;
  return (
    <select
      class="beside" aria-label={`Show beside ${pane.node.path}`} value=""
      onChange={(event) => {
        const path = event.currentTarget.value;
        event.currentTarget.value = "";
        if (path) void viewer.open(path, true);
      }}
    >
      <option value="">beside…</option>
      {siblings.map(({ path, shape, guess }) => (
        <option key={path} value={path}>
          {path} ({guess.kind} {shape.join("×")})
        </option>
      ))}
    </select>
  );
}

/** What is shown along an axis that is not of the picture: one plane, a projection, or three planes. */
function Depth({ viewer, pane }: { viewer: Viewer; pane: Pane }) {
  const { depths } = pane;
  if (!depths.length) return null;
  const { projection } = pane;
  const now = projection.value ? `${projection.value.how}:${projection.value.axis}` : pane.cross ? "cross" : "";
  const named = (axis: number) => pane.dimension(axis);
  const choose = (choice: string) => {
    const [how, axis] = choice.split(":");
    if (how === "planes") return viewer.showPlanes(pane, Number(axis));
    if (pane.cross && how === "") return viewer.showOnePlane(pane);
    pane.project(how === "" || how === "cross" ? null : { axis: Number(axis), how: how as "max" });
  };
  return (
    <label>
      <span>depth</span>{" "}
      <select class="depth" value={now} aria-label="What is shown along the other axes" onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">one plane</option>
        {pane.cross && <option value="cross">three planes</option>}
        {!pane.cross && depths.map((axis) => (
          <option key={`p${axis}`} value={`planes:${axis}`}>three planes with {named(axis)}</option>
        ))}
        {depths.flatMap((axis) => WAYS.map((how) => (
          <option key={how + axis} value={`${how}:${axis}`}>{how} along {named(axis)}</option>
        )))}
      </select>
    </label>
  );
}

interface SaveProps { viewer: Viewer; pane: Pane; picture(): HTMLCanvasElement | null }

/** What is seen as a file: the picture, or the numbers of the plane or of its outlined region. */
function Save({ viewer, pane, picture }: SaveProps) {
  const numbers = async (route: "npy" | "csv") => {
    const region = viewer.region.value;
    const sel = viewer.selectionOf(pane, region?.pane === pane ? region.box : null);
    const { body } = await viewer.api.octets(route, { path: pane.node.path, sel, as: pane.form });
    offer(body, `${fileName(pane)}.${route}`);
  };
  const png = () => picture()?.toBlob((blob) => blob && offer(blob, `${fileName(pane)}.png`));
  return (
    <select
      class="save" aria-label={`Save ${fileName(pane)}`} value=""
      onChange={(event) => {
        const choice = event.currentTarget.value;
        event.currentTarget.value = "";
        if (choice === "png") png();
        else if (choice) void numbers(choice as "npy" | "csv").catch((error: unknown) => viewer.report(error));
      }}
    >
      <option value="">save…</option>
      <option value="png">picture as PNG</option>
      {!pane.projection.value && <option value="npy">numbers as npy</option>}
      {!pane.projection.value && pane.channelCount === 1 && <option value="csv">numbers as CSV</option>}
    </select>
  );
}

function Canvas({ viewer, pane, pictures }: Props) {
  const seen = useRef<Picture | null>(null);
  const frame = useRef<HTMLDivElement>(null);
  const lower = useRef<HTMLCanvasElement>(null);
  const upper = useRef<HTMLCanvasElement>(null);
  const around = useRef<HTMLCanvasElement>(null);
  const value = useSignal("");
  const offline = viewer.connection.offline.value;
  // Where the pointer is, the server was not there: that is over.
  useEffect(() => {
    if (!offline) value.value = "";
  }, [offline]);

  useEffect(() => {
    const [box, canvas, overlay, margin] = [frame.current, lower.current, upper.current, around.current];
    if (!box || !canvas || !overlay || !margin) return;
    const picture = new Picture(viewer, pane, canvas, overlay, (view) => surround(margin, view, pane));
    pictures.add(picture);
    seen.current = picture;
    const resize = () => {
      const width = Math.max(1, Math.round(box.clientWidth * devicePixelRatio));
      const height = Math.max(1, Math.round(box.clientHeight * devicePixelRatio));
      if (canvas.width !== width || canvas.height !== height) {
        for (const one of [canvas, overlay]) {
          one.width = width;
          one.height = height;
        }
        margin.width = Math.max(1, Math.round(margin.clientWidth * devicePixelRatio));
        margin.height = Math.max(1, Math.round(margin.clientHeight * devicePixelRatio));
        picture.draw();
      }
    };
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    const recolour = () => picture.schedule();
    scheme.addEventListener("change", recolour);
    const observer = new ResizeObserver(resize);
    observer.observe(box);
    const stopDraw = effect(() => {
      // What a picture depends on; reading a signal is what subscribes to it.
      void [
        viewer.loaded.value, viewer.at.value, viewer.viewOf(pane).value, pane.projection.value, viewer.showMissing.value, pane.look.value,
        pane.axes.value, pane.kind.value, pane.field.value, pane.range.value, pane.perFrame.value, pane.clip.value, viewer.playing.value,
        pane.labels.value, pane.raw.value, pane.flipped.value, pane.over.value?.opacity.value, pane.over.value?.outlines.value,
        pane.over.value?.isSecond.value, pane.chunkMap.value,
      ];
      untracked(() => picture.schedule());
    });
    const stopMarks = effect(() => {
      void [pane.showCoast.value, pane.labels.value, viewer.cursor.value, viewer.region.value, viewer.series.value, viewer.pins.value, viewer.line.value, viewer.showGrid.value, viewer.broken.value, viewer.windows.value];
      untracked(() => picture.drawMarks());
    });
    const pointer = new Pointer(viewer, picture, overlay, (text) => (value.value = text));
    return () => {
      stopDraw();
      stopMarks();
      observer.disconnect();
      scheme.removeEventListener("change", recolour);
      pointer.dispose();
      picture.dispose();
      pictures.delete(picture);
    };
  }, [viewer, pane]);

  const { height, width } = pane.extent;
  return (
    <>
      <div class="frame">
        <canvas class="around" ref={around} aria-hidden="true" />
        <div class={`plane ${hasColourBar(pane) || legendOf(pane) ? "" : "no-bar"}`} ref={frame}>
        <canvas class="lower" ref={lower} aria-hidden="true" />
        <canvas
          class="upper" ref={upper} tabIndex={0} role="application"
          aria-label={`Picture of ${pane.node.path || "the array"}, ${height} by ${width}, ${pane.kind.value}. The arrow keys move the cursor; press ? for all keys.`}
        />
        </div>
        <Save viewer={viewer} pane={pane} picture={() => {
          const margin = around.current;
          return seen.current && margin ? composed(viewer, seen.current, margin) : null;
        }} />
        <Wheel pane={pane} />
        {notes(viewer, pane) && <span class="quality"><bdi>{notes(viewer, pane)}</bdi></span>}
      </div>
      {pane.message.value && (
        <p class="notice" role="alert">
          <bdi>{pane.message.value}</bdi>
        </p>
      )}
      <output class="value">
        <bdi>{value.value || "\u00a0"}</bdi>
      </output>
    </>
  );
}

function surround(canvas: HTMLCanvasElement, view: Viewport, pane: Pane): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  context.clearRect(0, 0, canvas.width, canvas.height);
  const style = getComputedStyle(canvas);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  drawAxes({
    context, view, pane, text: colour("--text"), line: colour("--quiet"), ratio: devicePixelRatio, hasBar: hasColourBar(pane),
  });
}

/** What a picture does not show. */
function notes(viewer: Viewer, pane: Pane): string {
  if (pane.isEmpty) return "the array has no element";
  if (pane.chunkMap.value) return pane.chunkMap.value.described;
  const found = [];
  const over = pane.over.value;
  if (over?.mode === "difference") found.push(`${pane.node.path} minus ${over.pane.node.path}`);
  if (over?.mode === "blink") found.push(over.isSecond.value ? over.pane.node.path : pane.node.path);
  if (pane.projected) found.push(pane.projected);
  if (pane.exceeds.value) found.push("the first part of a long plane: Shift and a drag move it");
  if (pane.origin.value) found.push(`numbers are above ${pane.origin.value.text}`);
  if (pane.quality.value === "coarse") found.push("coarse: one element for each sampled chunk");
  if (pane.quality.value === "step") found.push("every n-th element");
  if (pane.quality.value === "reduced") found.push("pictures decoded in a smaller size");
  if (pane.hidesMissing.value) found.push("not known which chunks are missing");
  const sides = crossSides(viewer.panes.value, pane);
  if (sides) found.push(described(pane, sides));
  if (pane.every.value > 1) found.push(`one of every ${pane.every.value} planes`);
  return found.join("; ");
}
