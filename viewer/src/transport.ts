// How the viewer reaches the program that has the arrays: HTTP, or messages of a notebook's kernel.
//
// Both have the same routes and parameters, so that nothing else knows which one is used.

export interface Answer {
  status: number;
  headers: Record<string, string>;
  body: ArrayBuffer;
}

export type Params = Record<string, string | number | undefined>;
export type OnEvent = (event: string, data: unknown) => void;

export interface Transport {
  request(route: string, params: Params, signal?: AbortSignal): Promise<Answer>;
  /** Calls `onEvent` for each event until the stream ends (event "closed") or `close()` is called. */
  listen(route: string, params: Params, onEvent: OnEvent): () => void;
}

/** An answer that is not a success. `message` is a sentence of the server. */
export class RequestError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly kind: string,
  ) {
    super(message);
  }
}

/** The program that serves the page does not answer. */
export class Unreachable extends Error {}

export function given(params: Params): Record<string, string> {
  const named: Record<string, string> = {};
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== "") named[name] = String(value);
  }
  return named;
}

export class HttpTransport implements Transport {
  constructor(
    private readonly token: string,
    private readonly base = "./api/",
  ) {}

  private fetch(route: string, params: Params, signal?: AbortSignal): Promise<Response> {
    const query = new URLSearchParams(given(params)).toString();
    const headers: Record<string, string> = this.token ? { "X-Zarrix-Token": this.token } : {};
    return fetch(`${this.base}${route}${query && `?${query}`}`, { headers, signal });
  }

  async request(route: string, params: Params, signal?: AbortSignal): Promise<Answer> {
    try {
      const response = await this.fetch(route, params, signal);
      const body = await response.arrayBuffer();
      return { status: response.status, headers: Object.fromEntries(response.headers), body };
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Unreachable("The server does not answer. Is zarrix view still running?");
    }
  }

  listen(route: string, params: Params, onEvent: OnEvent): () => void {
    const abort = new AbortController();
    const read = async () => {
      const response = await this.fetch(route, params, abort.signal);
      if (!response.ok || !response.body) throw new Error(`status ${response.status}`);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value.replaceAll("\r\n", "\n");
        for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
          dispatch(text.slice(0, end), onEvent);
          text = text.slice(end + 2);
        }
      }
    };
    read()
      .then(() => onEvent("closed", null))
      .catch((error: unknown) => {
        if (!abort.signal.aborted) onEvent("closed", String(error));
      });
    return () => abort.abort();
  }
}

function dispatch(block: string, onEvent: OnEvent): void {
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).trim());
  }
  if (data.length) onEvent(event, JSON.parse(data.join("\n")));
}

/** What the viewer uses of anywidget's model. */
export interface Model {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
  save_changes(): void;
  send(content: unknown): void;
  on(event: string, callback: (...args: any[]) => void): void;
  off(event: string, callback: (...args: any[]) => void): void;
}

interface Pending {
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

interface KernelMessage {
  id: number;
  status?: number;
  headers?: Record<string, string>;
  event?: string;
  data?: unknown;
  end?: boolean;
}

export class KernelTransport implements Transport {
  private next = 0;
  private readonly pending = new Map<number, Pending>();
  private readonly streams = new Map<number, OnEvent>();

  constructor(private readonly model: Model) {
    model.on("msg:custom", this.receive);
  }

  /** Stops to listen to the kernel, and ends all requests. */
  close(): void {
    this.model.off("msg:custom", this.receive);
    for (const waiting of this.pending.values()) waiting.reject(new Unreachable("The widget was closed."));
    this.pending.clear();
    this.streams.clear();
  }

  request(route: string, params: Params, signal?: AbortSignal): Promise<Answer> {
    const id = this.next++;
    return new Promise((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      signal?.addEventListener("abort", () => {
        if (!this.pending.delete(id)) return;
        this.model.send({ id, cancel: true });
        reject(signal.reason);
      });
      this.model.send({ id, route, params: given(params) });
    });
  }

  listen(route: string, params: Params, onEvent: OnEvent): () => void {
    const id = this.next++;
    this.streams.set(id, onEvent);
    this.model.send({ id, route, params: given(params) });
    return () => {
      if (this.streams.delete(id)) this.model.send({ id, cancel: true });
    };
  }

  private receive = (message: KernelMessage, buffers: (DataView | ArrayBuffer)[] = []) => {
    const stream = this.streams.get(message.id);
    if (stream) {
      if (message.event) stream(message.event, message.data);
      if (message.end || (message.status ?? 200) >= 400) {
        this.streams.delete(message.id);
        stream("closed", null);
      }
      return;
    }
    const waiting = this.pending.get(message.id);
    if (!waiting) return;
    this.pending.delete(message.id);
    waiting.resolve({
      status: message.status ?? 500,
      headers: message.headers ?? {},
      body: octets(buffers[0]),
    });
  };
}

// A copy, because the view may begin at any byte, and elements need alignment.
function octets(buffer: DataView | ArrayBuffer | undefined): ArrayBuffer {
  if (!buffer) return new ArrayBuffer(0);
  if (buffer instanceof ArrayBuffer) return buffer;
  const { byteOffset, byteLength } = buffer;
  return buffer.buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
}
