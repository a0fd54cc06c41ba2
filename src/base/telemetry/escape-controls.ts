/**
 * Characters that control a terminal or how nearby text is read, instead of being read: controls (C0, DEL and C1), formatting (bidirectional
 * overrides, zero width, tags), line and paragraph separators, and lone surrogates.
 */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** CONTROLS without line feed and tab. */
const CONTROLS_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * `text` with every control character as `\uXXXX`: a stranger's text must not control a terminal, forge a line or reorder what is read. The form
 * is JSON's, so JSON keeps its value.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, escapeCharacter);
}

/** Like `escapeControls`, but keeps line feeds and tabs. */
export function escapeControlsInLines(text: string): string {
  return text.replace(CONTROLS_IN_LINES, escapeCharacter);
}

/** UTF-16 units, as JSON writes characters above U+FFFF. */
function escapeCharacter(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
}
