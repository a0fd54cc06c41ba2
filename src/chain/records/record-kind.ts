import type { ByteReader } from "../../storage/byte-io.ts";
import { UnknownFormatError } from "../../storage/schema.ts";

/**
 * The first byte of every record of the block log and of state files; the second is the version of that kind's layout.
 * Numbers are never reused. A log whose first block is not block 0 has a state file beside it, or that first block changes
 * all of the state, as a genesis block does.
 */
export const RECORD_KIND = {
  block: 1,
  /** a part of the state after some block (state-file.ts) */
  statePart: 2,
  /** number and hash of the block after which the parts before it are the state */
  stateEnd: 3,
} as const;

/** @throws UnknownFormatError unless the next two bytes are `kind` and a version up to `version` */
export function assertRecordKind(reader: ByteReader, kind: number, version: number): void {
  const foundKind = reader.byte();
  if (foundKind !== kind) {
    throw new UnknownFormatError({ what: "kind of a log record", found: foundKind, known: kind });
  }
  const foundVersion = reader.byte();
  if (foundVersion !== version) {
    const what = `log record of kind ${kind}`;
    throw new UnknownFormatError({ what, found: foundVersion, known: version });
  }
}
