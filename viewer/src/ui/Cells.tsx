// Exact values as a table: two axes of numbers, text, structures, ragged arrays, scalars.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import type { Cells as Found } from "../api";
import type { Pane } from "../pane";
import type { Viewer } from "../state";

const ROWS = 50;
const COLUMNS = 20;

export function Cells({ viewer, pane }: { viewer: Viewer; pane: Pane }) {
  const found = useSignal<Found | null>(null);
  const failure = useSignal("");
  const row = useSignal(0);
  const column = useSignal(0);
  const { shape, path } = pane.node;
  const rank = shape.length;
  // One axis is shown downwards; a second one across.
  const { y, x } = pane.axes.value;
  const down = rank < 2 ? (rank ? 0 : null) : (y ?? x ?? rank - 2);
  const across = rank < 2 || pane.kind.value === "ragged" ? null : (y === undefined ? null : (x ?? null));
  const rows = down === null ? 1 : shape[down];
  const columns = across === null ? 1 : shape[across];
  const at = viewer.indexOf(pane);
  const sel = shape
    .map((_, axis) => {
      if (axis === down) return `${row.value}:${Math.min(rows, row.value + ROWS)}`;
      if (axis === across) return `${column.value}:${Math.min(columns, column.value + COLUMNS)}`;
      return String(at[axis]);
    })
    .join(",");
  useEffect(() => {
    let current = true;
    viewer.api
      .cells(path, sel, pane.field.value)
      .then((cells) => {
        if (!current) return;
        found.value = cells;
        failure.value = "";
      })
      .catch((error: unknown) => {
        if (current) failure.value = error instanceof Error ? error.message : String(error);
        viewer.note(error);
      });
    return () => {
      current = false;
    };
  }, [path, sel, pane.field.value, viewer.connection.offline.value]);
  const cells = found.value?.cells ?? [];
  const swapped = down !== null && across !== null && across < down;
  const table = found.value;
  if (table?.columns && table.rows) return <Fields pane={pane} table={table} begin={row.value} pages={down === null ? null : (
    <Pages name={pane.dimension(down)} begin={row.value} step={ROWS} length={rows} onBegin={(begin) => (row.value = begin)} />
  )} />;
  const shownColumns = across === null ? 1 : Math.min(COLUMNS, columns - column.value);
  const shownRows = down === null ? 1 : Math.min(ROWS, rows - row.value);
  const cell = (r: number, c: number) => cells[swapped ? c * shownRows + r : r * shownColumns + c] ?? "";
  return (
    <div class="frame cells" tabIndex={0} role="region" aria-label={`Values of ${path || "the array"}`}>
      {failure.value && <p class="notice"><bdi>{failure.value}</bdi></p>}
      <p class="pages">
        {down !== null && <Pages name={pane.dimension(down)} begin={row.value} step={ROWS} length={rows} onBegin={(begin) => (row.value = begin)} />}
        {across !== null && <Pages name={pane.dimension(across)} begin={column.value} step={COLUMNS} length={columns} onBegin={(begin) => (column.value = begin)} />}
      </p>
      {found.value && (
        <table>
          {across !== null && (
            <thead>
              <tr>
                <td />
                {Array.from({ length: shownColumns }, (_, c) => (
                  <th scope="col" key={c}>
                    {column.value + c}
                  </th>
                ))}
              </tr>
            </thead>
          )}
          <tbody>
            {Array.from({ length: shownRows }, (_, r) => (
              <tr key={r}>
                {down === null ? null : <th scope="row">{row.value + r}</th>}
                {Array.from({ length: shownColumns }, (_, c) => (
                  <td key={c}>
                    <bdi>{cell(r, c)}</bdi>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

/** Structured elements: a row for each, and a column for each field. */
function Fields({ pane, table, begin, pages }: { pane: Pane; table: Found; begin: number; pages: ComponentChildren }) {
  return (
    <div class="frame cells" tabIndex={0} role="region" aria-label={`Values of ${pane.node.path || "the array"}`}>
      <p class="pages">{pages}</p>
      <table>
        <thead>
          <tr>
            <td />
            {table.columns?.map((name) => (
              <th scope="col" key={name}>
                <bdi>{name}</bdi>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows?.map((texts, r) => (
            <tr key={r}>
              <th scope="row">{begin + r}</th>
              {texts.map((text, c) => (
                <td key={c}>
                  <bdi>{text}</bdi>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface PagesProps { name: string; begin: number; step: number; length: number; onBegin(begin: number): void }

function Pages({ name, begin, step, length, onBegin }: PagesProps) {
  if (length <= step) return null;
  const to = (value: number) => onBegin(Math.max(0, Math.min(Math.max(0, length - step), value)));
  return (
    <span class="page">
      <button type="button" aria-label={`${name} before`} disabled={begin === 0} onClick={() => to(begin - step)}>
        ◂
      </button>
      <label>
        <bdi>{name}</bdi>{" "}
        <input type="number" min="0" max={length - 1} value={begin} onChange={(event) => to(Math.round(Number(event.currentTarget.value)) || 0)} />
      </label>{" "}
      to {Math.min(length, begin + step) - 1} of {length}
      <button type="button" aria-label={`${name} after`} disabled={begin + step >= length} onClick={() => to(begin + step)}>
        ▸
      </button>
    </span>
  );
}
