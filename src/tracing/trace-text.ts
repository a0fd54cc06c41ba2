/** The JSON text of a trace: a string, or its UTF-8 bytes in pieces where it may be large. */
export type TraceText = string | readonly Uint8Array[];

/** Length in characters of a string, in bytes of pieces. */
export function textLength(text: TraceText): number {
  if (typeof text === "string") return text.length;
  return text.reduce((sum, { length }) => sum + length, 0);
}

/** The text in one string. */
export function textString(text: TraceText): string {
  return typeof text === "string" ? text : Buffer.concat(text).toString();
}
