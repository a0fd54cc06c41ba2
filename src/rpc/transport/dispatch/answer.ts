import type { JsonPart, JsonText } from "../codec.ts";
import { toErrorObject } from "./error-codes.ts";

/** The answer to one call: `text`, or `text` and pieces that are not joined with it and end the answer. */
export type Answer = {
  readonly text: string;
  readonly pieces: readonly JsonPart[] | undefined;
  /** The bytes of it that count against the batch limit. */
  readonly size: number;
  /** Of all of it, where it is known. */
  readonly byteLength: number | undefined;
};

/** What an answer is written as. */
export function answerParts({ text, pieces }: Answer): readonly JsonPart[] {
  return pieces === undefined ? [text] : [text, ...pieces];
}

/** Results of fewer bytes are joined with the text around them: one write costs less than the copy. */
const TEXT_BYTES_MAX = 8 << 10;
/** Of an answer with a result, around its id: `{"jsonrpc":"2.0","id":,"result":`. */
const HEAD_BYTES = 32;
const SHORT_ID_CHARS = 16;

/** The answer with a result. @param isAscii whether a result that is a string has as many bytes as letters */
export function resultAnswer(id: string, result: JsonText, isAscii: boolean): Answer {
  const head = `{"jsonrpc":"2.0","id":${id},"result":`;
  if (typeof result === "string") {
    const size = result.length;
    const byteLength = isAscii ? utf8Length(id) + HEAD_BYTES + size + 1 : undefined;
    return { text: `${head}${result}}`, pieces: undefined, size, byteLength };
  }
  const pieces = result instanceof Uint8Array ? [result] : result;
  const size = pieces.reduce((sum, { length }) => sum + length, 0);
  if (size <= TEXT_BYTES_MAX) {
    const text = Buffer.concat(pieces).toString();
    return { text: `${head}${text}}`, pieces: undefined, size, byteLength: undefined };
  }
  return { text: head, pieces: [...pieces, "}"], size, byteLength: undefined };
}

/** The answer with an error object. */
export function errorAnswer(id: string, error: unknown): Answer {
  const text = JSON.stringify(toErrorObject(error));
  return {
    text: `{"jsonrpc":"2.0","id":${id},"error":${text}}`,
    pieces: undefined,
    size: text.length,
    byteLength: undefined,
  };
}

/** Of an id as it is echoed: counted in native code unless it is as short as nearly all are. */
function utf8Length(id: string): number {
  if (id.length > SHORT_ID_CHARS) return Buffer.byteLength(id);
  for (let i = 0; i < id.length; i++) if (id.charCodeAt(i) > 0x7f) return Buffer.byteLength(id);
  return id.length;
}
