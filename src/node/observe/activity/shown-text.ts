import { escapeControls } from "../../../base/telemetry/escape-controls.ts";

/**
 * `text` as a terminal may get it: on one line, without control characters, and of bounded length. Everything of the log for people that
 * was written by callers, contracts or artifacts goes through it, and is painted afterwards.
 */
export function shownText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return escapeControls(text);
  return `${escapeControls(text.slice(0, charsMax))}… (${text.length} characters)`;
}
