import { hashFromBigint } from "../../primitives/hash.ts";
import { bytesToHex } from "../../primitives/hex.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import { ForkRemoteError } from "./errors.ts";
import type { RemoteCall } from "./remote-calls.ts";
import { remoteHeaderOf } from "./remote-header.ts";
import { addressOf, bigintOf, bytesOf, hashOf, listOf, objectOf } from "./remote-values.ts";

/** EIP-2294: the largest that fits signatures. */
const CHAIN_ID_BITS = 63;
/** EIP-2681 */
const NONCE_BITS = 64;
/** Some chains allow more than mainnet's 24 KiB, none so much. */
const CODE_LENGTH_MAX = 1 << 20;
/** Entries of an access list, and slots of one: a block's gas has room for less. */
const ACCESS_LIST_LENGTH_MAX = 20_000;

type Decode = (result: unknown, params: readonly unknown[]) => unknown;

/** Forms and ranges of what the fork itself reads. One spelling comes out, so that a cache has what a decoder has seen. */
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

/**
 * `result` of `call` where it has the form of the method's results, in its one spelling; of methods that the fork does not read itself, as it is.
 * @throws ForkRemoteError
 */
export function checkResult({ method, params }: RemoteCall, result: unknown): unknown {
  const decode = Object.hasOwn(DECODERS, method) ? DECODERS[method] : undefined;
  return decode === undefined ? result : decode(result, params);
}

/** The block that was asked for, or null. */
function block(result: unknown, wanted: { readonly number?: unknown; readonly hash?: unknown }) {
  if (result === null) return null;
  const { header, claimedHash } = remoteHeaderOf(result);
  const { number, hash } = wanted;
  const isNumber = typeof number === "string" && number.startsWith("0x");
  const isOther =
    (isNumber && Number(number) !== header.number) ||
    (typeof hash === "string" && hash.toLowerCase() !== claimedHash);
  if (isOther) throw new ForkRemoteError("the remote chain answered another block", { ...wanted });
  return result;
}
