// The tree of arrays and groups: one page of members at a time, and only the rows that are seen.
import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import type { Member } from "../api";
import type { Viewer } from "../state";
import { bytes } from "./text";

const ROW = 26;
const PAGE = 500;

interface Branch { total: number; members: (Member | undefined)[]; asked: Set<number> }

interface Row { path: string; member: Member | null; level: number; position: number; total: number; page: [string, number] | null }

export function Tree({ viewer, onChosen }: { viewer: Viewer; onChosen(): void }) {
  const hello = viewer.connection.hello.value;
  const branches = useMemo(() => new Map<string, Branch>(), [viewer]);
  const changed = useSignal(0);
  const open = useSignal<Set<string>>(new Set([""]));
  const filter = useSignal("");
  const found = useSignal<{ members: Member[]; truncated: boolean } | null>(null);
  const focused = useSignal<string>(viewer.active.value?.node.path ?? "");
  const top = useSignal(0);
  const height = useSignal(600);
  const box = useRef<HTMLDivElement>(null);

  const fetchPage = (path: string, page: number) => {
    const branch = branches.get(path) ?? { total: -1, members: [], asked: new Set<number>() };
    branches.set(path, branch);
    if (branch.asked.has(page)) return;
    branch.asked.add(page);
    viewer.api
      .tree(path, page * PAGE, PAGE)
      .then(({ total, members }) => {
        branch.total = total;
        members.forEach((member, at) => (branch.members[page * PAGE + at] = member));
        changed.value++;
      })
      .catch((error: unknown) => {
        branch.asked.delete(page);
        viewer.report(error);
      });
  };

  // The members above the array that is shown first are opened, so that it is seen.
  const shown = viewer.active.value?.node.path;
  useEffect(() => {
    if (!shown) return;
    const parts = shown.split("/");
    const paths = parts.slice(0, -1).map((_, at) => parts.slice(0, at + 1).join("/"));
    open.value = new Set([...open.value, ...paths]);
  }, [shown]);

  useEffect(() => {
    const text = filter.value.trim();
    if (!text) {
      found.value = null;
      return;
    }
    const timer = setTimeout(() => {
      viewer.api
        .tree("", 0, PAGE, text)
        .then(({ members, truncated }) => {
          if (filter.value.trim() === text) found.value = { members, truncated: truncated ?? false };
        })
        .catch((error: unknown) => viewer.report(error));
    }, 150);
    return () => clearTimeout(timer);
  }, [filter.value]);

  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => (height.value = element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const rows = useMemo(() => {
    void changed.value;
    if (found.value) {
      const { members } = found.value;
      return members.map((member, at): Row => ({ path: member.path, member, level: 1, position: at + 1, total: members.length, page: null }));
    }
    const list: Row[] = [];
    if (hello?.root.kind === "array") {
      const { root } = hello;
      const member: Member = { path: root.path, name: hello.title, kind: "array", shape: root.shape, dtype: root.dtype, badges: root.badges };
      return [{ path: root.path, member, level: 1, position: 1, total: 1, page: null }];
    }
    const add = (path: string, level: number) => {
      const branch = branches.get(path);
      if (!branch || branch.total < 0) {
        list.push({ path: `${path}/…`, member: null, level, position: 1, total: 1, page: [path, 0] });
        return;
      }
      for (let at = 0; at < branch.total; at++) {
        const member = branch.members[at];
        const row = { level, position: at + 1, total: branch.total };
        if (!member) list.push({ ...row, path: `${path}/…${at}`, member: null, page: [path, Math.floor(at / PAGE)] });
        else {
          list.push({ ...row, path: member.path, member, page: null });
          if (member.kind === "group" && open.value.has(member.path)) add(member.path, level + 1);
        }
      }
    };
    add("", 1);
    return list;
  }, [changed.value, open.value, found.value, hello]);

  const first = Math.max(0, Math.floor(top.value / ROW) - 10);
  const last = Math.min(rows.length, Math.ceil((top.value + height.value) / ROW) + 10);
  const seen = rows.slice(first, last);
  useEffect(() => {
    for (const { page } of seen) if (page) fetchPage(page[0], page[1]);
  });

  const focusRow = (at: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, at))];
    const element = box.current;
    if (!row || !element) return;
    focused.value = row.path;
    const y = rows.indexOf(row) * ROW;
    if (y < element.scrollTop) element.scrollTop = y;
    else if (y + ROW > element.scrollTop + element.clientHeight) element.scrollTop = y + ROW - element.clientHeight;
    top.value = element.scrollTop;
    requestAnimationFrame(() => element.querySelector<HTMLElement>('[role="treeitem"][tabindex="0"]')?.focus());
  };

  const toggle = (path: string, wanted?: boolean) => {
    const next = new Set(open.value);
    if (wanted ?? !next.has(path)) next.add(path);
    else next.delete(path);
    open.value = next;
  };

  const choose = (member: Member, beside: boolean) => {
    if (member.kind === "broken") viewer.failure.value = `${member.path}: ${member.reason ?? "cannot be read"}`;
    else {
      if (member.kind === "group") toggle(member.path);
      void viewer.open(member.path, beside);
      if (member.kind === "array") onChosen();
    }
  };

  const onKey = (event: KeyboardEvent) => {
    const at = rows.findIndex(({ path }) => path === focused.value);
    const member = rows[at]?.member;
    const isOpen = member?.kind === "group" && open.value.has(member.path);
    const keys: Record<string, () => void> = {
      ArrowDown: () => focusRow(at + 1),
      ArrowUp: () => focusRow(at - 1),
      Home: () => focusRow(0),
      End: () => focusRow(rows.length - 1),
      PageDown: () => focusRow(at + Math.floor(height.value / ROW)),
      PageUp: () => focusRow(at - Math.floor(height.value / ROW)),
      ArrowRight: () => {
        if (member?.kind === "group" && !isOpen) toggle(member.path, true);
        else if (isOpen) focusRow(at + 1);
      },
      ArrowLeft: () => {
        if (member && isOpen) toggle(member.path, false);
        else for (let up = at - 1; up >= 0; up--) if (rows[up].level < rows[at].level) return focusRow(up);
      },
      Enter: () => member && choose(member, event.shiftKey),
      " ": () => member && choose(member, event.shiftKey),
    };
    const action = keys[event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    action();
  };

  // One row can be reached by Tab: the one with the focus, or the first one seen.
  const reachable = seen.some(({ path }) => path === focused.value) ? focused.value : seen[0]?.path;
  return (
    <>
      <input
        class="tree-filter" type="search" placeholder="Filter" aria-label="Filter arrays and groups by their paths"
        value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)}
      />
      <div class="rows" ref={box} onScroll={(event) => (top.value = event.currentTarget.scrollTop)}>
        <div role="tree" aria-label="Arrays and groups" onKeyDown={onKey} class="rows-inner" ref={(element) => {
          if (element) element.style.height = `${rows.length * ROW}px`;
        }}>
          {seen.map((row, at) => (
            <TreeRow
              key={row.path} row={row} top={(first + at) * ROW} viewer={viewer} open={open} full={found.value !== null}
              reachable={row.path === reachable} onFocus={() => (focused.value = row.path)} onChoose={choose}
            />
          ))}
        </div>
        {found.value && !found.value.members.length && <p class="quiet">No path contains this text.</p>}
        {found.value?.truncated && <p class="quiet">There are more.</p>}
      </div>
    </>
  );
}

interface RowProps {
  row: Row;
  top: number;
  viewer: Viewer;
  open: Signal<Set<string>>;
  full: boolean;
  reachable: boolean;
  onFocus(): void;
  onChoose(member: Member, beside: boolean): void;
}

function TreeRow({ row, top, viewer, open, full, reachable, onFocus, onChoose }: RowProps) {
  const { member, level, position, total } = row;
  const place = (element: HTMLElement | null) => {
    if (!element) return;
    element.style.top = `${top}px`;
    element.style.paddingInlineStart = `${level * 14 - 8}px`;
  };
  const shared = {
    role: "treeitem" as const, "aria-level": level, "aria-posinset": position, "aria-setsize": total,
    tabIndex: reachable ? 0 : -1, onFocus, ref: place,
  };
  if (!member) return <div class="row" {...shared} aria-label="being read">…</div>;
  const group = member.kind === "group";
  const expanded = group && !full ? open.value.has(member.path) : undefined;
  const shown = viewer.panes.value.some(({ node }) => node.path === member.path);
  const facts = member.kind === "array" ? `${(member.shape ?? []).join(" × ")} ${member.dtype ?? ""}` : "";
  return (
    <div
      class={`row ${member.kind}`} {...shared} aria-expanded={expanded} aria-selected={shown}
      title={[member.path, facts, member.nbytes === undefined ? "" : bytes(member.nbytes)].filter(Boolean).join("\n")}
      onClick={(event) => onChoose(member, event.shiftKey || event.ctrlKey)}
    >
      <span class="twist" aria-hidden="true">{group && !full ? (expanded ? "▾" : "▸") : ""}</span>
      <bdi class="name">{full ? member.path : member.name}</bdi>
      {member.badges?.map((badge) => <span class="badge" key={badge}>{badge}</span>)}
      {member.kind === "array" && (
        <span class="facts">
          {short(member.dtype ?? "")} {member.shape?.join("×")}
        </span>
      )}
      {member.kind === "broken" && <span class="facts">broken</span>}
    </div>
  );
}

function short(dtype: string): string {
  const match = /^(u?int|float|complex)(\d+)$/.exec(dtype);
  if (!match) return dtype.length > 15 ? `${dtype.slice(0, 14)}…` : dtype;
  return `${{ uint: "u", int: "i", float: "f", complex: "c" }[match[1]]}${Number(match[2]) / 8}`;
}
