import { NodeError } from "../../base/errors.ts";
import { ADDRESS_LENGTH, type Address } from "../../base/primitives/address.ts";
import { concatBytes, EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { decodeRlp, encodeRlp } from "../../base/primitives/rlp.ts";
import type { Block } from "../../base/types/block.ts";
import { decodeBlockAccessList } from "../../base/types/block-access-list.ts";
import { decodeBlock, encodeBlock, readBlockHeader } from "../../base/types/block-codec.ts";
import type { Header } from "../../base/types/header.ts";
import type { Chain } from "../../chain/chain.ts";
import { importBlock } from "../../chain/chain.ts";
import { decodeConsensusData } from "../../consensus/consensus-data.ts";
import { governanceEffect } from "../../consensus/voting/block-effect.ts";
import type { ExecutionModules } from "../../evm/execution/block/block-execution.ts";
import { openChainFile } from "./chain-file-io.ts";

/**
 * A chain file: concatenated RLP of blocks in ascending order, the format of `geth export` and `geth import`. If a block carries a vote about
 * validators or rules, or removes a validator for an offence, its consensus data precedes it as an RLP string: its state depends on it. The
 * block's access list (EIP-7928) may precede it as well; a block that disagrees with its list is rejected with the first difference. Readers
 * detect gzip by the first two bytes; writers use it if the name ends in `.gz`.
 */

/** The file does not hold a block where one must start. */
class InvalidChainFileError extends NodeError {
  readonly code = "INVALID_CHAIN_FILE";
}

/** A longer item is not a block: EIP-7934 allows 8 MiB, and chains without it need some room. */
const BLOCK_BYTES_MAX = 64 << 20;

export type FileBlock = {
  readonly block: Block;
  /** Empty if the file has none. */
  readonly consensusData: Uint8Array;
  /** RLP of the access list, if the file has one. */
  readonly accessList?: Uint8Array | undefined;
};

/** A block with only its header decoded. */
export type EncodedBlock = Pick<Block, "hash" | "header"> & {
  /** RLP of the block. */
  readonly bytes: Uint8Array;
};

/**
 * A block of a chain file that waits for its turn. Only its header is decoded: a decoded block takes several times the memory of its bytes and
 * would survive collections while it waits.
 */
export type WaitingBlock = EncodedBlock & {
  /** Number of blocks before it in the file. */
  readonly ordinal: number;
  /** Empty if the file has none. */
  readonly consensusData: Uint8Array;
  /** RLP of the preceding access list, if there is one. */
  readonly encodedAccessList: Uint8Array | undefined;
  /** Bytes of the file read so far, as stored, for showing progress. */
  readonly bytesRead: number;
};

/**
 * The blocks of the file at `path`, in order; holds one block and a little more in memory.
 * @throws InvalidChainFileError
 */
export async function* readChainFile(path: string): AsyncGenerator<WaitingBlock> {
  const { chunks, bytesRead, close } = await openChainFile(path);
  try {
    yield* blocksIn(chunks, bytesRead);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    // Codes of zlib's errors start with Z_.
    if (!(cause instanceof InvalidChainFileError) && !code?.startsWith("Z_")) throw cause;
    throw new InvalidChainFileError(`${path}: ${message}`, { path }, { cause });
  } finally {
    close();
  }
}

async function* blocksIn(source: AsyncIterable<Uint8Array>, bytesRead: () => number): AsyncGenerator<WaitingBlock> {
  let pending: Uint8Array = EMPTY_BYTES;
  let consensusData: Uint8Array = EMPTY_BYTES;
  let encodedAccessList: Uint8Array | undefined;
  let ordinal = 0;
  for await (const chunk of source) {
    pending = pending.length === 0 ? chunk : concatBytes(pending, chunk);
    let offset = 0;
    for (let end = itemEnd(pending, offset); end <= pending.length; ) {
      const item = pending.subarray(offset, end);
      if (isString(item)) consensusData = contentOf(item);
      else if (isAccessList(item)) encodedAccessList = Uint8Array.from(item);
      else {
        const { hash, header } = readInFile(item, ordinal, readBlockHeader);
        yield { hash, header, bytes: item, ordinal, consensusData, encodedAccessList, bytesRead: bytesRead() };
        consensusData = EMPTY_BYTES;
        encodedAccessList = undefined;
        ordinal++;
      }
      offset = end;
      end = itemEnd(pending, offset);
    }
    // Copied: blocks are views of the chunk, and the remainder must not keep the whole chunk in memory.
    pending = Uint8Array.from(pending.subarray(offset));
  }
  if (pending.length > 0) {
    throw new InvalidChainFileError(`the file ends inside its block ${ordinal}`, { ordinal });
  }
}

/** @throws InvalidChainFileError */
export function decodeWaitingBlock({ header, bytes, ordinal, consensusData, ...waiting }: WaitingBlock): FileBlock {
  const { encodedAccessList: accessList } = waiting;
  // The list that the header commits to is compared with the block's execution. Any other list must at least be well-formed.
  if (accessList !== undefined && keccak256Hash(accessList) !== header.blockAccessListHash) {
    readInFile(accessList, ordinal, decodeBlockAccessList);
  }
  return { block: readInFile(bytes, ordinal, decodeBlock), consensusData, accessList };
}

/** The result of `read` for block `ordinal` of the file. */
function readInFile<T>(bytes: Uint8Array, ordinal: number, read: (bytes: Uint8Array) => T): T {
  try {
    return read(bytes);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidChainFileError(`block ${ordinal} of the file: ${reason}`, { ordinal }, { cause });
  }
}

function isString(item: Uint8Array): boolean {
  return item[0]! < 0xc0;
}

/** A block's first item is a header, which begins with a hash. An access list's first item is an account, which begins with an address. */
function isAccessList(item: Uint8Array): boolean {
  const first = contentAt(item, 0);
  return first === item.length || item[contentAt(item, first)] === 0x80 + ADDRESS_LENGTH;
}

function contentAt(bytes: Uint8Array, offset: number): number {
  const prefix = bytes[offset] ?? 0;
  return offset + 1 + (prefix > 0xf7 ? prefix - 0xf7 : 0);
}

function contentOf(item: Uint8Array): Uint8Array {
  try {
    return Uint8Array.from(decodeRlp(item) as Uint8Array);
  } catch (cause) {
    throw new InvalidChainFileError("consensus data is not canonical RLP", {}, { cause });
  }
}

/** End of the item at `offset`; infinite while its prefix is incomplete. */
function itemEnd(bytes: Uint8Array, offset: number): number {
  const first = bytes[offset];
  if (first === undefined) return Number.POSITIVE_INFINITY;
  if (first < 0x80) throw new InvalidChainFileError("not a block where one should begin");
  const base = first < 0xc0 ? 0x80 : 0xc0;
  if (first < base + 0x38) return offset + 1 + first - base;
  const size = first - base - 0x37;
  if (offset + 1 + size > bytes.length) return Number.POSITIVE_INFINITY;
  let length = 0;
  for (let i = 1; i <= size; i++) length = length * 256 + bytes[offset + i]!;
  if (length > BLOCK_BYTES_MAX) throw new InvalidChainFileError(`block of ${length} bytes`);
  return offset + 1 + size + length;
}

/**
 * Executes a block of a chain file with the vote it carries, and makes it the head.
 * @param fileBlock.senders senders of the first transactions, as far as they are recovered
 * @throws as `importBlock`, InvalidChainFileError
 */
export function importFileBlock(
  chain: Chain,
  { block, consensusData, accessList, senders }: FileBlock & { readonly senders?: readonly Address[] },
  execution: ExecutionModules,
): void {
  importBlock(chain, block, execution, {
    data: consensusData,
    accessList,
    ...(senders && { senders }),
    ...systemUpdateOf(chain, consensusData, block.header),
  });
}

/** The state changes by the votes and offences of a block whose parent is in the chain, if it has any. */
export function systemUpdateOf(
  chain: Pick<Chain, "config" | "stateAt">,
  consensusData: Uint8Array,
  { number, timestamp }: Header,
) {
  const data = consensusDataIn(consensusData, number);
  if (data?.cast === undefined) return {};
  const { proposer, cast } = data;
  const { offences, ...votes } = cast;
  const position = { proposer, timestamp, height: number, config: chain.config };
  const { systemUpdate } = governanceEffect(chain.stateAt(number - 1), position, {
    ...votes,
    ...(offences && chain.config.jail && { offences }),
  });
  return systemUpdate ? { systemUpdate } : {};
}

export type ExportedChain = Pick<Chain, "block" | "consensusDataOf" | "accessList">;

/** Block `number` as a chain file holds it, with its access list if requested; other clients do not read lists. */
export function exportFileBlock(chain: ExportedChain, number: number, hasAccessList = false): Uint8Array {
  const data = chain.consensusDataOf(number);
  const isNeeded = decodeConsensusData(data)?.cast !== undefined;
  const list = hasAccessList ? chain.accessList(number) : undefined;
  return concatBytes(
    isNeeded ? encodeRlp(data) : EMPTY_BYTES,
    list ?? EMPTY_BYTES,
    encodeBlock(chain.block(number)!.block),
  );
}

function consensusDataIn(consensusData: Uint8Array, number: number) {
  try {
    return decodeConsensusData(consensusData);
  } catch (cause) {
    throw new InvalidChainFileError(`the consensus data of block ${number} is malformed`, { number }, { cause });
  }
}
