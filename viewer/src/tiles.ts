// Tiles: what was asked for, is in flight, or is cached.
//
// Each pane says which tiles it wants, the most urgent first. What no pane wants any more is taken back,
// also when it is in flight: then a fast pan over a large plane costs what is seen at its end.
import type { Api, Tile } from "./api";
import { Unreachable } from "./transport";

export interface Request {
  key: string;
  load(api: Api, signal: AbortSignal): Promise<Tile>;
}

export interface Entry {
  tile: Tile | null;
  error: string | null;
  /** The picture, and the look that it was painted with. */
  canvas: HTMLCanvasElement | null;
  painted: string;
  bytes: number;
}

const IN_FLIGHT = 6;
const CACHE_BYTES = 384 << 20;

export class Tiles {
  private readonly entries = new Map<string, Entry>();
  private readonly flying = new Map<string, AbortController>();
  private readonly wanted = new Map<unknown, Request[]>();
  private bytes = 0;
  /** The server cannot be reached: nothing is asked for until it is back. */
  private stopped = false;
  loads = 0;

  constructor(
    private readonly api: Api,
    private readonly onLoaded: () => void,
    private readonly onUnreachable: () => void,
  ) {}

  /** The tile if it is there; it then counts as used. */
  get(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    if (entry) {
      this.entries.delete(key);
      this.entries.set(key, entry);
    }
    return entry;
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  /** Replaces what `owner` wants. */
  want(owner: unknown, requests: Request[]): void {
    const missing = requests.filter(({ key }) => !this.entries.has(key));
    if (missing.length) this.wanted.set(owner, missing);
    else this.wanted.delete(owner);
    const keys = new Set([...this.wanted.values()].flat().map(({ key }) => key));
    for (const [key, abort] of this.flying) {
      if (!keys.has(key)) {
        this.flying.delete(key);
        abort.abort();
      }
    }
    this.pump();
  }

  /** Forgets everything that was loaded for nodes whose values changed, or all. */
  clear(): void {
    this.entries.clear();
    this.bytes = 0;
  }

  /** Forgets failures, so that they are asked for again. */
  forgetErrors(): void {
    for (const [key, entry] of this.entries) if (entry.error !== null) this.entries.delete(key);
  }

  /** Adds the memory of a picture to what is counted. */
  grew(entry: Entry, bytes: number): void {
    entry.bytes += bytes;
    this.bytes += bytes;
    this.evict();
  }

  private pump(): void {
    if (this.stopped) return;
    // Panes take turns, so that one of many tiles does not hold up another.
    const lists = [...this.wanted.values()];
    const longest = Math.max(0, ...lists.map((list) => list.length));
    for (let turn = 0; turn < longest; turn++) {
      for (const list of lists) {
        if (this.flying.size >= IN_FLIGHT) return;
        const request = list[turn];
        if (request && !this.flying.has(request.key) && !this.entries.has(request.key)) this.fly(request);
      }
    }
  }

  private fly(request: Request): void {
    const abort = new AbortController();
    this.flying.set(request.key, abort);
    const mine = () => this.flying.get(request.key) === abort;
    request
      .load(this.api, abort.signal)
      .then((tile) => {
        if (!mine()) return;
        this.loads++;
        this.keep(request.key, { tile, error: null, canvas: null, painted: "", bytes: tile.data.byteLength });
      })
      .catch((error: unknown) => {
        if (!mine()) return;
        if (error instanceof Unreachable) {
          this.stopped = true;
          return this.onUnreachable();
        }
        const message = error instanceof Error ? error.message : String(error);
        this.keep(request.key, { tile: null, error: message, canvas: null, painted: "", bytes: 0 });
      })
      .finally(() => {
        if (!mine()) return;
        this.flying.delete(request.key);
        for (const [owner, list] of this.wanted) {
          const rest = list.filter(({ key }) => !this.entries.has(key));
          if (rest.length) this.wanted.set(owner, rest);
          else this.wanted.delete(owner);
        }
        this.onLoaded();
        this.pump();
      });
  }

  /** Goes on after the server could not be reached. */
  resume(): void {
    this.stopped = false;
    this.pump();
  }

  private keep(key: string, entry: Entry): void {
    this.entries.set(key, entry);
    this.bytes += entry.bytes;
    this.evict();
  }

  private evict(): void {
    for (const [key, entry] of this.entries) {
      if (this.bytes <= CACHE_BYTES || this.entries.size <= 64) break;
      this.entries.delete(key);
      this.bytes -= entry.bytes;
    }
  }
}
