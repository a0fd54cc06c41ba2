import { invariant, NodeError } from "../../base/errors.ts";

/**
 * The on-disk format. A home's `data` holds two things: `log/`, the segment files of the block log
 * (log-segment.ts, block-record.ts), and `index/`, everything that can be derived from it, one
 * key-value store whose tables are told apart by the first byte of the key. Prefixes are never
 * reused for something else.
 *
 * Numbers in keys are six bytes big-endian, so that they sort; in values they are varints
 * (byte-io.ts). "position" is a byte position in the block log.
 */
export const TABLE = {
  /** name → see `META`; written by the code that changes what it states, in the same transaction */
  meta: 0x01,
  /** block number → position of its record; each block */
  position: 0x02,
  /** block hash → block number; each block */
  blockByHash: 0x03,
  /** first 16 bytes of a transaction hash → block number ‖ index; each block; the whole hash before format 6 */
  transaction: 0x04,
  /** address → number of the last merged change ‖ account value (changes-record.ts); merge; absent: no account */
  account: 0x05,
  /** address ‖ slot → number of the last merged change ‖ slot value; merge; absent: 0 */
  slot: 0x06,
  /** address → posting list of the newest changes; address ‖ first number → a full one; merge */
  accountHistory: 0x07,
  /** address ‖ slot → as account history; merge */
  slotHistory: 0x08,
  /** code hash → code; each block */
  code: 0x09,
  /** path ‖ 0x10 → node of the account trie at the checkpoint, and its version before (trie-node-table.ts); merge */
  accountTrieNode: 0x0a,
  /** keccak256(address) ‖ path ‖ 0x10 → the same of a storage trie; merge */
  storageTrieNode: 0x0b,
  // 0x0c was the checkpoints of format 2.
  /** first 16 bytes of a state root → number of the first block that has it; each block */
  stateRoot: 0x0d,
  /** term (log-filter.ts) ‖ chunk of 65,536 blocks u32 big-endian → offsets in it (offset-set.ts); log merge */
  logPosting: 0x0e,
  /** block number → its logs (block-logs.ts); log merge; absent: it has none */
  blockLogs: 0x0f,
  /** address ‖ block number ‖ index u32 big-endian → roles (block-addresses.ts); in the background, where `index.addresses` is on */
  addressTransaction: 0x10,
  /** owner ‖ path of 0 to 2 nibbles ‖ 0x10 ‖ block number → oldest version of that trie node (node-history.ts); first merge, pruning; all versions before format 5 */
  trieNodeVersion: 0x11,
  /** first 8 bytes of keccak256(address) ‖ address → nothing; first merge of the address */
  hashedAddress: 0x12,
  /** address ‖ first 8 bytes of keccak256(slot) ‖ slot → nothing; first merge of the slot */
  hashedSlot: 0x13,
  /** address → account value at the oldest state, where the latest is newer and no version in its history is older; pruning, and merge */
  accountBase: 0x14,
  /** address ‖ slot → as account base */
  slotBase: 0x15,
  /** owner ‖ path of 0 to 2 nibbles ‖ 0x10 ‖ number of the first → later versions of that trie node (node-history.ts); merge */
  trieNodeVersions: 0x16,
} as const;

/** Rows of the `meta` table. */
export const META = {
  /** u16 little-endian: INDEX_FORMAT of the code that made the index */
  format: "format",
  /** number ‖ hash ‖ position after the record of the last block that is in the index */
  applied: "applied",
  /** number of completely merged blocks, from genesis; the rows of trie nodes hold the state after the last of them */
  checkpoint: "checkpoint",
  /** number of the last merge that ended in a checkpoint */
  lastMerge: "last-merge",
  /** number of merged blocks, from genesis, once the running merge ends; 0: no merge runs */
  mergingBlocks: "merging-blocks",
  /** number of blocks, from genesis, whose rows in the two tables of logs are all there */
  logIndexedBlocks: "log-indexed-blocks",
  /** number of blocks, from genesis, whose rows in the table of addresses are all there */
  addressIndexedBlocks: "address-indexed-blocks",
  /** oldest block that is served ‖ first block whose rows are not pruned yet; likewise for states and for trie nodes (pruned-range.ts) */
  prunedBlocks: "pruned-blocks",
  prunedStates: "pruned-states",
  prunedProofs: "pruned-proofs",
} as const;

/**
 * Stored in the header of every segment of the block log. Format 1 had records without kind, version and
 * offsets; `migrateLog` rewrites it.
 */
export const LOG_FORMAT = 2;

/**
 * Raised when a table changes. In format 3 each block wrote the latest values. In format 4 each version of a trie node had its own row. In
 * format 5 versions held all references, and rows of transactions the whole hash. All are readable; the next block turns the index into format 6.
 */
export const INDEX_FORMAT = 6;
/** An older index is rebuilt from the log. */
export const INDEX_FORMAT_MIN = 3;

/** Data of a format this program does not know: written by a newer one, or by one too old. */
export class UnknownFormatError extends NodeError {
  readonly code: "STORE_FORMAT_TOO_NEW" | "STORE_FORMAT_TOO_OLD";
  constructor(details: { readonly what: string; readonly found: number; readonly known: number }) {
    const { what, found, known } = details;
    const isNewer = found > known;
    super(
      `${what} has format ${found}, this program knows ${known}: ${isNewer ? "use the newer program that wrote it" : "no migration exists"}`,
      details,
    );
    this.code = isNewer ? "STORE_FORMAT_TOO_NEW" : "STORE_FORMAT_TOO_OLD";
  }
}

/** @throws UnknownFormatError unless `found` is `known` */
export function assertKnownFormat(what: string, found: number, known: number): void {
  if (found !== known) throw new UnknownFormatError({ what, found, known });
}

const NUMBER_LENGTH = 6;
/** Above every number in a key, and still six bytes when one is added. */
export const NUMBER_MAX = 2 ** 48 - 2;

/** `number` as a key holds it. */
export function numberKey(number: number): Uint8Array {
  invariant(number >= 0 && number <= NUMBER_MAX + 1, "a number in a key has 48 bits");
  const bytes = new Uint8Array(NUMBER_LENGTH);
  for (let at = NUMBER_LENGTH - 1, rest = number; rest > 0; at--, rest = Math.floor(rest / 256)) bytes[at] = rest % 256;
  return bytes;
}

/** The number at `offset` of a key. */
export function numberFromKey(key: Uint8Array, offset: number): number {
  let number = 0;
  for (let at = offset; at < offset + NUMBER_LENGTH; at++) number = number * 256 + key[at]!;
  return number;
}

/** Key of a row: the table's prefix, then the parts in order. */
export function tableKey(table: number, ...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 1;
  for (let i = 0; i < parts.length; i++) length += parts[i]!.length;
  const key = new Uint8Array(length);
  key[0] = table;
  // Loops: parts are short, and a key is made for every row.
  for (let i = 0, at = 1; i < parts.length; i++) {
    const part = parts[i]!;
    for (let byte = 0; byte < part.length; byte++) key[at++] = part[byte]!;
  }
  return key;
}
