import { BLOCK_GAS_LIMIT_MIN } from "../../base/params/gas.ts";
import { equalBytes } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import type { Header } from "../../base/types/header.ts";
import { decodeHeader, encodeHeader } from "../../base/types/header-codec.ts";
import { type HeaderReaders, headerFromJson } from "../../base/types/header-json.ts";
import { ForkHeaderError, ForkRemoteError } from "./errors.ts";
import { addressOf, bigintOf, bytesOf, hashOf, objectOf } from "./remote-json.ts";

/** Tables of the store have six bytes for a number; the rest is room for the blocks of this chain. */
const NUMBER_MAX = 2 ** 47;
/** The year 36,812: dates can still be written, and `evm_increaseTime` has room. */
const TIMESTAMP_MAX = 2 ** 40;
/** Of the protocol: geth's limit. */
const GAS_LIMIT_MAX = 2n ** 63n - 1n;
/** Chains with votes or validators in it have some thousand bytes. */
const EXTRA_DATA_LENGTH_MAX = 1 << 16;
/** A blob base fee of 10^46 wei and more, by the schedule of forked chains; a little beyond, it has no room in a word, and far beyond it takes minutes to compute. */
const BLOB_GAS_MAX = 2n ** 29n;
/** Of 64 bits: the rest is room for the slots of this chain. */
const SLOT_NUMBER_MAX = 2n ** 63n - 1n;
/** Room for the fee to rise in. */
const BASE_FEE_MAX = 2n ** 128n;

/** Each throws ForkRemoteError. */
const READERS: HeaderReaders = {
  hash: hashOf,
  address: addressOf,
  bytes: bytesOf,
  word: (value) => bigintOf(value, 256),
  gas: (value) => bigintOf(value, 64),
  number: (value) => Number(bigintOf(value, 53)),
};

/** What a block of Ethereum has in JSON. */
const KNOWN_MEMBERS: ReadonlySet<string> = new Set([
  ...["hash", "parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot", "logsBloom"],
  ...["difficulty", "number", "gasLimit", "gasUsed", "timestamp", "extraData", "mixHash", "nonce", "baseFeePerGas"],
  ...["withdrawalsRoot", "blobGasUsed", "excessBlobGas", "parentBeaconBlockRoot", "requestsHash"],
  ...["blockAccessListHash", "slotNumber", "totalDifficulty", "size", "transactions", "uncles", "withdrawals"],
]);

export type RemoteHeader = {
  readonly header: Header;
  /** keccak256 of its RLP */
  readonly hash: Hash;
  /** What the remote node says that the hash is. */
  readonly claimedHash: Hash;
  /** Members of the block that this program knows nothing of; a header may have them from a later fork on. */
  readonly unknownMembers: readonly string[];
};

/**
 * The header of a block as a remote node answers it, decoded by the same rules as one in the block log.
 * @throws ForkRemoteError if it is not a header
 */
export function remoteHeaderOf(json: unknown): RemoteHeader {
  const block = objectOf(json);
  const header = headerFromJson(block, READERS);
  let bytes: Uint8Array;
  try {
    bytes = encodeHeader(header);
    // The exact reading that the store will do at every start from now on.
    if (!equalBytes(encodeHeader(decodeHeader(bytes)), bytes)) throw new Error("another encoding");
  } catch (cause) {
    throw new ForkRemoteError("the remote chain answered no header", {}, { cause });
  }
  const unknownMembers = Object.keys(block).filter((name) => block[name] !== null && !KNOWN_MEMBERS.has(name));
  return { header, hash: keccak256Hash(bytes), claimedHash: hashOf(block["hash"]), unknownMembers };
}

/** @throws ForkHeaderError where no chain can continue `header` */
export function assertContinuable(header: Header): void {
  const { number, timestamp, gasLimit, gasUsed, baseFeePerGas = 0n } = header;
  const { excessBlobGas = 0n, blobGasUsed = 0n, slotNumber = 0n, extraData } = header;
  const reject = (text: string) => {
    throw new ForkHeaderError(`the block cannot be continued: ${text}`, { number });
  };
  if (number > NUMBER_MAX) reject(`number ${number}`);
  if (timestamp > TIMESTAMP_MAX) reject(`timestamp ${timestamp}`);
  if (gasLimit < BLOCK_GAS_LIMIT_MIN || gasLimit > GAS_LIMIT_MAX) reject(`gas limit ${gasLimit}`);
  if (gasUsed > gasLimit) reject(`${gasUsed} gas used of ${gasLimit}`);
  if (baseFeePerGas > BASE_FEE_MAX) reject(`base fee ${baseFeePerGas}`);
  if (excessBlobGas + blobGasUsed > BLOB_GAS_MAX) {
    reject(`excess blob gas ${excessBlobGas}, blob gas ${blobGasUsed}`);
  }
  if (slotNumber > SLOT_NUMBER_MAX) reject(`slot number ${slotNumber}`);
  if (extraData.length > EXTRA_DATA_LENGTH_MAX) reject(`${extraData.length} bytes of extra data`);
}
