// Play: frames along one axis, in order, each shown once. A frame that is not there in time is waited
// for and counted, so that what is seen is never wrong.
import { type Signal, signal } from "@preact/signals";
import type { Picture } from "./picture";
import type { Viewer } from "./state";

const AHEAD = 8;

export class Player {
  readonly fps: Signal<number> = signal(matchMedia("(prefers-reduced-motion: reduce)").matches ? 2 : 12);
  readonly late = signal(0);
  readonly measured = signal(0);
  private frame = 0;
  private due = 0;
  private times: number[] = [];
  private waited = false;

  constructor(
    private readonly viewer: Viewer,
    private readonly pictures: () => Picture[],
  ) {}

  toggle(dimension: string): void {
    if (this.viewer.playing.value === dimension) this.stop();
    else this.play(dimension);
  }

  play(dimension: string): void {
    this.stop();
    this.viewer.playing.value = dimension;
    this.late.value = 0;
    this.measured.value = 0;
    this.times = [];
    this.waited = false;
    this.due = performance.now() + 1000 / this.fps.value;
    this.frame = requestAnimationFrame(this.step);
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
    this.viewer.playing.value = null;
    this.viewer.loaded.value++;
  }

  private length(dimension: string): number {
    return this.viewer.lengthOf(dimension);
  }

  private step = (now: number) => {
    const dimension = this.viewer.playing.value;
    if (dimension === null) return;
    this.frame = requestAnimationFrame(this.step);
    const length = this.length(dimension);
    if (length < 2) return this.stop();
    const at = this.viewer.at.value;
    const current = Math.min(at[dimension] ?? 0, length - 1);
    const ahead = Array.from({ length: Math.min(AHEAD, length - 1) }, (_, k) => ({
      ...at,
      [dimension]: (current + 1 + k) % length,
    }));
    const pictures = this.pictures();
    for (const picture of pictures) picture.want(ahead.map((next) => this.viewer.indexOf(picture.pane, next)));
    // A screen shows frames at its own times: one that is due within four milliseconds is due now.
    if (now + 4 < this.due) return;
    const next = ahead[0];
    const ready = pictures.every((picture) => picture.has(this.viewer.indexOf(picture.pane, next)));
    const drawn = pictures.every((picture) => picture.shown === this.viewer.indexOf(picture.pane).join(","));
    if (!ready || !drawn) {
      if (!this.waited) this.late.value++;
      this.waited = true;
      return;
    }
    this.viewer.at.value = next;
    this.due = this.waited ? now + 1000 / this.fps.value : this.due + 1000 / this.fps.value;
    this.waited = false;
    this.times.push(now);
    if (this.times.length > 50) this.times.shift();
    const elapsed = now - this.times[0];
    if (this.times.length > 4) this.measured.value = ((this.times.length - 1) * 1000) / elapsed;
  };
}
