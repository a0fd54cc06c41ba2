import { escapeControls } from "../../../base/telemetry/escape-controls.ts";

/**
 * `text` made safe for a terminal: on one line, without control characters, and of bounded length. All text of callers, contracts and artifacts
 * passes through it before it is coloured.
 */
export function shownText(text: string, charsMax: number): string {
  if (text.length <= charsMax) return escapeControls(text);
  return `${escapeControls(text.slice(0, charsMax))}… (${text.length} characters)`;
}
