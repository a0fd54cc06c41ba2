import { BLOCK_GAS_LIMIT_MIN } from "../../params/gas.ts";
import { EMPTY_BYTES, equalBytes } from "../../primitives/bytes.ts";
import type { Hash } from "../../primitives/hash.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { BLOOM_LENGTH } from "../../types/bloom.ts";
import { EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from "../../types/constants.ts";
import type { Header } from "../../types/header.ts";
import { decodeHeader, encodeHeader } from "../../types/header-codec.ts";
import { ForkHeaderError, ForkRemoteError } from "./errors.ts";
import { addressOf, bigintOf, bytesOf, hashOf, type JsonObject, objectOf } from "./remote-json.ts";

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
/** Room for the fee to rise in. */
const BASE_FEE_MAX = 2n ** 128n;
const NONCE_ZERO = "0x0000000000000000";

export type RemoteHeader = {
  readonly header: Header;
  /** keccak256 of its RLP */
  readonly hash: Hash;
  /** What the remote node says that the hash is. */
  readonly claimedHash: Hash;
};

/**
 * The header of a block as a remote node answers it, decoded by the same rules as one in the block log.
 *
 * Nonce, difficulty and uncles are constants since the merge (EIP-3675), and some nodes answer null for them.
 * @throws ForkRemoteError where it is no header
 */
export function remoteHeaderOf(json: unknown): RemoteHeader {
  const block = objectOf(json);
  const header = headerOf(block);
  let bytes: Uint8Array;
  try {
    bytes = encodeHeader(header);
    // The exact reading that the store will do at every start from now on.
    if (!equalBytes(encodeHeader(decodeHeader(bytes)), bytes)) throw new Error("another encoding");
  } catch (cause) {
    throw new ForkRemoteError("the remote chain answered no header", {}, { cause });
  }
  return { header, hash: keccak256Hash(bytes), claimedHash: hashOf(block["hash"]) };
}

/** @throws ForkHeaderError where no chain can continue `header` */
export function assertContinuable(header: Header): void {
  const { number, timestamp, gasLimit, gasUsed, baseFeePerGas = 0n } = header;
  const { excessBlobGas = 0n, blobGasUsed = 0n, extraData, stateRoot } = header;
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
  if (extraData.length > EXTRA_DATA_LENGTH_MAX) reject(`${extraData.length} bytes of extra data`);
  // The root is the name of what this chain adds, which is never nothing.
  if (stateRoot === EMPTY_TRIE_ROOT) reject("its state is empty");
}

/** @throws ForkRemoteError */
function headerOf(json: JsonObject): Header {
  const optional = <T>(name: string, read: (value: unknown) => T) =>
    json[name] === undefined || json[name] === null ? {} : { [name]: read(json[name]) };
  const word = (value: unknown) => bigintOf(value, 256);
  const gas = (value: unknown) => bigintOf(value, 64);
  return {
    parentHash: hashOf(json["parentHash"]),
    sha3Uncles: hashOf(json["sha3Uncles"] ?? EMPTY_UNCLES_HASH),
    coinbase: addressOf(json["miner"]),
    stateRoot: hashOf(json["stateRoot"]),
    transactionsRoot: hashOf(json["transactionsRoot"]),
    receiptsRoot: hashOf(json["receiptsRoot"]),
    logsBloom: bytesOf(json["logsBloom"], BLOOM_LENGTH),
    difficulty: word(json["difficulty"] ?? "0x0"),
    number: Number(bigintOf(json["number"], 53)),
    gasLimit: gas(json["gasLimit"]),
    gasUsed: gas(json["gasUsed"]),
    timestamp: Number(bigintOf(json["timestamp"], 53)),
    extraData: json["extraData"] == null ? EMPTY_BYTES : bytesOf(json["extraData"]),
    mixHash: hashOf(json["mixHash"]),
    nonce: bytesOf(json["nonce"] ?? NONCE_ZERO, 8),
    ...optional("baseFeePerGas", word),
    ...optional("withdrawalsRoot", hashOf),
    ...optional("blobGasUsed", gas),
    ...optional("excessBlobGas", gas),
    ...optional("parentBeaconBlockRoot", hashOf),
    ...optional("requestsHash", hashOf),
  };
}
