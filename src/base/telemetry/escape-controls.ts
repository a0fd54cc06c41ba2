/**
 * Characters that do something to a terminal, or to how the text around them is read, in place of being read: controls (C0, DEL
 * and C1), formatting (bidirectional overrides, zero width, tags), separators of lines and paragraphs, and halves of surrogate pairs.
 */
const CONTROLS = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The same without line feed and tab. */
const CONTROLS_IN_LINES = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/**
 * `text` with every control character as `\uXXXX`: what a stranger has written must not drive a terminal, forge a line or turn the
 * order of what is read. The form is that of JSON, so JSON stays the same value.
 */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, escapeCharacter);
}

/** As `escapeControls`, for texts of more than one line: line feeds and tabs stay. */
export function escapeControlsInLines(text: string): string {
  return text.replace(CONTROLS_IN_LINES, escapeCharacter);
}

/** UTF-16 units, as JSON has characters above U+FFFF. */
function escapeCharacter(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, "0")}`,
  ).join("");
}
