import { type CompiledCode, withPlaceholders } from "../../dev/artifacts/contracts.ts";
import { equalBytes } from "../../primitives/bytes.ts";

/** How deployed code relates to compiled code. */
export type CodeMatch =
  /** every byte but immutables and addresses of libraries */
  | "exact"
  /** all but the metadata at the end: other comments, names of files or settings */
  | "same instructions"
  | "different"
  /** the artifact has no code: an interface, or an ABI */
  | "no code";

/** Compares `deployed` with what the compiler made. */
export function compareCode(deployed: Uint8Array, compiled: CompiledCode): CodeMatch {
  const { bytes } = compiled;
  if (bytes.length === 0) return "no code";
  const comparable = withPlaceholders(deployed, compiled);
  if (equalBytes(comparable, bytes)) return "exact";
  const ours = withoutMetadata(comparable);
  const theirs = withoutMetadata(bytes);
  const isShortened = ours.length < comparable.length && theirs.length < bytes.length;
  return isShortened && equalBytes(ours, theirs) ? "same instructions" : "different";
}

/** CBOR's maps of up to 23 pairs: what solc's metadata is. */
const isMap = (byte: number | undefined) => byte !== undefined && byte >= 0xa1 && byte <= 0xb7;

/** `code` without the CBOR map that solc appends, whose length is in the last two bytes; `code` itself where there is none. */
function withoutMetadata(code: Uint8Array): Uint8Array {
  const { length } = code;
  if (length < 2) return code;
  const start = length - 2 - (code[length - 2]! * 256 + code[length - 1]!);
  return start >= 0 && isMap(code[start]) ? code.subarray(0, start) : code;
}
