// The connection to the server: what it says of itself, and whether it answers.
import { batch, signal, type Signal } from "@preact/signals";
import type { Api, Hello } from "./api";
import { Unreachable } from "./transport";

const RETRY_MS = 1000;

export class Connection {
  /** What the server says of itself, once it has answered. */
  readonly hello: Signal<Hello | null> = signal(null);
  readonly offline = signal(false);
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `onBack` is called when a lost server answers again, `onError` if that answer is a failure. */
  constructor(
    private readonly api: Api,
    private readonly onBack: () => void,
    private readonly onError: (error: unknown) => void,
  ) {}

  /** Asks the server who it is. */
  async greet(): Promise<Hello> {
    const hello = await this.api.hello();
    this.hello.value = hello;
    return hello;
  }

  /** A request was not answered: asks once a second whether the server is back. */
  lost(): void {
    if (this.offline.value) return;
    this.offline.value = true;
    this.retry();
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private retry(): void {
    this.timer = setTimeout(() => void this.reconnect(), RETRY_MS);
  }

  private async reconnect(): Promise<void> {
    try {
      await this.greet();
    } catch (error) {
      if (error instanceof Unreachable) return this.retry();
      this.onError(error);
    }
    batch(() => {
      this.offline.value = false;
      this.onBack();
    });
  }
}
