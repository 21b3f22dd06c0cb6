// The entry: a page that has #zarrix-viewer starts by itself, and anywidget calls `render`.
import { effect } from "@preact/signals";
import { render as draw } from "preact";
import { Api } from "./api";
import { type Data, FileTransport } from "./exported";
import { fromFragment, toFragment } from "./fragment";
import { Viewer } from "./state";
import { HttpTransport, KernelTransport, type Model, type Transport } from "./transport";
import { App } from "./ui/App";

const TOKEN = "zarrix-token";

// Takes the token out of the address, so that it is neither seen nor copied with a link.
function takeToken(): string {
  const { token } = fromFragment(location.hash);
  if (token) {
    sessionStorage.setItem(TOKEN, token);
    const rest = new URLSearchParams(location.hash.slice(1));
    rest.delete("token");
    history.replaceState(null, "", `#${rest}`);
  }
  return sessionStorage.getItem(TOKEN) ?? "";
}

/** A page without a server has its values in itself. */
function transportOf(): Transport {
  const data = document.getElementById("zarrix-data")?.textContent;
  return data ? new FileTransport(JSON.parse(data) as Data) : new HttpTransport(takeToken());
}

function startPage(root: HTMLElement): void {
  const transport = transportOf();
  const viewer = new Viewer(new Api(transport));
  draw(<App viewer={viewer} />, root);
  let subject = "";
  void viewer.start(location.hash).then(() => {
    subject = subjectOf(viewer);
    let timer = 0;
    effect(() => {
      const fragment = toFragment(viewer.toState());
      clearTimeout(timer);
      const shown = subjectOf(viewer);
      if (shown !== subject) {
        // Other arrays are another page of the history: the back button returns to these.
        subject = shown;
        history.pushState(null, "", `#${fragment}`);
      } else {
        // Browsers limit how often an address changes, and play changes it with each frame.
        // A step back or forth in the meantime is not overwritten.
        const before = location.hash;
        timer = window.setTimeout(() => {
          if (location.hash === before) history.replaceState(null, "", `#${fragment}`);
        }, 200);
      }
    });
    effect(() => {
      const title = viewer.connection.hello.value?.title ?? "";
      const path = viewer.active.value?.node.path;
      document.title = [path, title, "zarrix view"].filter(Boolean).join(" · ");
    });
  });
  addEventListener("hashchange", () => {
    if (transport instanceof HttpTransport) takeToken();
    if (location.hash.slice(1) === toFragment(viewer.toState())) return;
    // What the address names is shown without a new page of the history.
    subject = fromFragment(location.hash).panes.map(({ path, kind }) => `${path} ${kind ?? ""}`).join("\n");
    void viewer.start(location.hash);
  });
}

/** The arrays that are shown, and as what: a change of it is a step that one goes back from. */
function subjectOf(viewer: Viewer): string {
  return viewer.panes.value.map((pane) => `${pane.node.path} ${pane.toState().kind ?? ""}`).join("\n");
}

function render({ model, el }: { model: Model; el: HTMLElement }): () => void {
  const transport = new KernelTransport(model);
  const viewer = new Viewer(new Api(transport));
  const root = document.createElement("div");
  root.className = "zarrix-viewer in-notebook";
  el.append(root);
  draw(<App viewer={viewer} />, root);
  const state = model.get("state") as { fragment?: string } | null;
  const path = model.get("path") as string | undefined;
  const first = state?.fragment ?? (path ? `path=${encodeURIComponent(path)}` : "");
  const stops: (() => void)[] = [];
  void viewer.start(first).then(() => {
    stops.push(
      effect(() => {
        model.set("state", { fragment: toFragment(viewer.toState()) });
        const region = viewer.region.value;
        model.set(
          "selection",
          region && { path: region.pane.node.path, sel: viewer.selectionOf(region.pane, region.box) },
        );
        model.save_changes();
      }),
    );
  });
  return () => {
    for (const stop of stops) stop();
    viewer.dispose();
    transport.close();
    draw(null, root);
  };
}

export default { render };

const page = document.getElementById("zarrix-viewer");
if (page) startPage(page);
