// Numbers as text.

/** "58.3 MiB". */
export function bytes(count: number | null | undefined): string {
  if (count === null || count === undefined) return "unknown";
  let value = count;
  for (const unit of ["B", "KiB", "MiB", "GiB", "TiB"]) {
    if (value < 1024) return `${unit === "B" ? value : value.toPrecision(3)} ${unit}`;
    value /= 1024;
  }
  return `${value.toPrecision(3)} PiB`;
}

/** A number with at most six digits that matter. */
export function number(value: number | string | null | undefined): string {
  if (value === null || value === undefined) return "none";
  if (typeof value === "string") return value;
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en");
  return String(Number(value.toPrecision(6)));
}

/** Puts text on the clipboard; false where the browser refuses. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
