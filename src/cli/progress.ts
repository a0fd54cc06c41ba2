import { escapeControls } from "../base/telemetry/escape-controls.ts";
import type { Progress } from "../node/roles/types.ts";
import type { CliContext } from "./context.ts";

/** A bar is redrawn and a line written at most this often. */
const BAR_INTERVAL_MS = 100;
const LINE_INTERVAL_MS = 2000;
const BAR_WIDTH = 30;

/** Shows how far long work is: a bar where somebody watches, one JSON object a line elsewhere. On standard error. */
export function createProgress(
  label: string,
  { stderr, now }: Pick<CliContext, "stderr" | "now">,
): { show(progress: Progress): void; end(): void } {
  const started = now();
  const watched = stderr.isTTY === true;
  const interval = watched ? BAR_INTERVAL_MS : LINE_INTERVAL_MS;
  let shownAt = Number.NEGATIVE_INFINITY;
  let pending: Progress | undefined;

  function write(progress: Progress): void {
    shownAt = now();
    pending = undefined;
    const elapsedMs = shownAt - started;
    const text = watched
      ? bar(label, progress, elapsedMs)
      : JSON.stringify({ progress: label, ...progress, elapsedMs });
    const shown = escapeControls(text);
    stderr.write(watched ? `\r${shown}\x1b[K` : `${shown}\n`);
  }

  return {
    show(progress) {
      if (now() - shownAt >= interval) write(progress);
      else pending = progress;
    },
    /** Shows the last state, and leaves the line of the bar. */
    end() {
      if (pending !== undefined) write(pending);
      if (watched && shownAt !== Number.NEGATIVE_INFINITY) stderr.write("\n");
    },
  };
}

function bar(label: string, { done, total, unit }: Progress, elapsedMs: number): string {
  const shown = (value: number) => (unit === "bytes" ? `${(value / 1e6).toFixed(1)} MB` : `${value} blocks`);
  if (total === undefined || total === 0) return `${label} ${shown(done)}`;
  const share = Math.min(1, done / total);
  const filled = Math.round(share * BAR_WIDTH);
  const left = share > 0 ? `, ${Math.ceil((elapsedMs * (1 / share - 1)) / 1000)} s left` : "";
  const drawn = "=".repeat(filled).padEnd(BAR_WIDTH);
  return `${label} [${drawn}] ${Math.floor(share * 100)} % ${shown(done)} of ${shown(total)}${left}`;
}
