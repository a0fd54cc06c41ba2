import { hashFromBigint } from "../../base/primitives/hash.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { toQuantity } from "../../base/primitives/quantity.ts";
import { ForkRemoteError } from "./errors.ts";
import type { RemoteCall } from "./remote-calls.ts";
import { remoteHeaderOf } from "./remote-header.ts";
import { addressOf, bigintOf, bytesOf, hashOf, listOf, objectOf } from "./remote-json.ts";

/** EIP-2294: the largest that fits signatures. */
const CHAIN_ID_BITS = 63;
/** EIP-2681 */
const NONCE_BITS = 64;
/** Some chains allow more than mainnet's 24 KiB, none so much. */
const CODE_LENGTH_MAX = 1 << 20;
/** Entries of an access list, and slots of one: a block's gas has room for less. */
const ACCESS_LIST_LENGTH_MAX = 20_000;

type Decode = (result: unknown, params: readonly unknown[]) => unknown;

/** Forms and ranges of the fork's own reads. The output has one spelling, so that the cache stores what a decoder has accepted. */
const DECODERS: Readonly<Record<string, Decode>> = {
  eth_chainId: (result) => toQuantity(bigintOf(result, CHAIN_ID_BITS)),
  eth_getBalance: (result) => toQuantity(bigintOf(result)),
  eth_getTransactionCount: (result) => toQuantity(bigintOf(result, NONCE_BITS)),
  eth_getCode: (result) => bytesToHex(bytesOf(result, CODE_LENGTH_MAX)),
  eth_getStorageAt: (result) => hashFromBigint(bigintOf(result)),
  eth_getBlockByNumber: (result, [number]) => block(result, { number }),
  eth_getBlockByHash: (result, [hash]) => block(result, { hash }),
  eth_createAccessList(result) {
    const { accessList } = objectOf(result);
    for (const entry of listOf(accessList, ACCESS_LIST_LENGTH_MAX)) {
      const { address, storageKeys } = objectOf(entry);
      addressOf(address);
      listOf(storageKeys, ACCESS_LIST_LENGTH_MAX).forEach(hashOf);
    }
    return result;
  },
};

/** Envelope, and a number or the text of an error. */
const SMALL_BYTES = 8_192;
/** A proof for one key: twice as many digits as bytes in at most 65 nodes, of which even those of mainnet's largest tries need a dozen. */
const PROOF_BYTES = 64 << 10;
/** 50,000 hashes of transactions. */
const BLOCK_BYTES = 4 << 20;
const ACCESS_LIST_BYTES = 2 << 20;

/**
 * Size limit of an answer to `call`, if its method bounds it: most reads of a fork are small, and no node may answer them with large texts.
 */
export function answerBytesMax({ method, params }: RemoteCall): number {
  switch (method) {
    case "eth_chainId":
    case "eth_getBalance":
    case "eth_getTransactionCount":
    case "eth_getStorageAt":
      return SMALL_BYTES;
    case "eth_getCode":
      return SMALL_BYTES + 2 * CODE_LENGTH_MAX;
    case "eth_getProof":
      return PROOF_BYTES * (1 + (Array.isArray(params[1]) ? params[1].length : 0));
    case "eth_getBlockByNumber":
    case "eth_getBlockByHash":
      return params[1] === false ? BLOCK_BYTES : Number.POSITIVE_INFINITY;
    case "eth_createAccessList":
      return ACCESS_LIST_BYTES;
    default:
      return Number.POSITIVE_INFINITY;
  }
}

/**
 * `result` of `call` where it has the form of the method's results, in its one spelling; of methods that the fork does not read itself, as it is.
 * @throws ForkRemoteError
 */
export function checkResult({ method, params }: RemoteCall, result: unknown): unknown {
  const decode = Object.hasOwn(DECODERS, method) ? DECODERS[method] : undefined;
  return decode === undefined ? result : decode(result, params);
}

/** The block that was requested, or null. */
function block(result: unknown, wanted: { readonly number?: unknown; readonly hash?: unknown }) {
  if (result === null) return null;
  const { header, claimedHash } = remoteHeaderOf(result);
  const { number, hash } = wanted;
  const isNumber = typeof number === "string" && number.startsWith("0x");
  const isOther =
    (isNumber && Number(number) !== header.number) || (typeof hash === "string" && hash.toLowerCase() !== claimedHash);
  if (isOther) throw new ForkRemoteError("the remote chain answered another block", { ...wanted });
  return result;
}

/** How some reads are requested on the wire, and what its answers say about them. */
type ReadPlan = {
  readonly calls: readonly RemoteCall[];
  /**
   * Results of the reads, in order, from the results of `calls`.
   * @throws ForkRemoteError, ForkProofError
   */
  resultsOf(answers: readonly unknown[]): readonly unknown[];
};

export type PlanReads = (reads: readonly RemoteCall[]) => ReadPlan;

/** Each read is requested as it is, and believed where it has the form of its method. */
export const planPlainReads: PlanReads = (reads) => ({
  calls: reads,
  resultsOf: (answers) => reads.map((read, i) => checkResult(read, answers[i])),
});
