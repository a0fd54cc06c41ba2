import { countText } from "./amounts.ts";
import type { CallRecord } from "./call-window.ts";
import type { Paint } from "./paint.ts";
import { shownText } from "./shown-text.ts";

/** Maximum length of a call's function, result or reason. */
const PART_CHARS_MAX = 300;

/** The log's words for equal calls, besides method, count and time. */
export type CallWords = {
  /** `Token.balanceOf(owner: 0x…)`; empty if unknown. */
  readonly target: string;
  /** Empty if the result is long or differs among the calls. */
  readonly result: string;
  /** Why the calls failed. */
  readonly reason: string;
};

/** `eth_getBalance ×14 → 0x5  0.1 ms each`, and the notes below it. */
export function callLines(record: CallRecord, words: CallWords, paint: Paint): string[] {
  const notes = record.notes.map((note) => {
    const shown = shownText(note, PART_CHARS_MAX);
    return `    ${record.failed === undefined ? shown : paint.red(shown)}`;
  });
  return [callLine(record, words, paint), ...notes];
}

function callLine(record: CallRecord, words: CallWords, paint: Paint): string {
  const { method, count, totalMs, failed } = record;
  const name = shownText(method, PART_CHARS_MAX);
  const target = words.target === "" ? "" : ` ${shownText(words.target, PART_CHARS_MAX)}`;
  const times = count === 1 ? "" : paint.bold(` ×${countText(count)}`);
  const took = paint.dim(`${millisecondsText(totalMs / count)}${count === 1 ? "" : " each"}`);
  if (failed !== undefined) {
    return `${paint.red(`${name}${target} ✗ ${shownText(words.reason, PART_CHARS_MAX)}`)}${times}  ${took}`;
  }
  const result = words.result === "" ? "" : paint.dim(` → ${shownText(words.result, PART_CHARS_MAX)}`);
  return `${name}${target}${times}${result}  ${took}`;
}

function millisecondsText(ms: number): string {
  if (ms < 0.1) return "<0.1 ms";
  return ms < 10 ? `${ms.toFixed(1)} ms` : `${countText(Math.round(ms))} ms`;
}
