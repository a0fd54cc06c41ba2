import type { Address } from "../../../base/primitives/address.ts";
import { bytesToBigint } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint, hashToBytes, ZERO_HASH } from "../../../base/primitives/hash.ts";
import { inSlices, StepWork } from "../../../base/threads/in-slices.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import { EMPTY_TRIE_ROOT } from "../../../base/types/constants.ts";
import { EMPTY_ACCOUNT } from "../../../evm/state/account.ts";
import { blockSelector } from "../../ports/block-selector.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import {
  address,
  array,
  data,
  hash,
  jsonKind,
  optional,
  type ParamCodec,
  quantity,
  rawJsonOf,
  string,
  typeFault,
} from "../../transport/codec.ts";
import { InvalidParamsError, LimitExceededError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { DATA, HASH, listOf, mapOf, orNull, PROOF, QUANTITY, shape } from "../json/schemas.ts";
import { dataText, plainListText, plainText, quantityText } from "../json/write.ts";
import { parseStorageKey } from "../params/storage-key.ts";

/**
 * `eth_getBalance`: balance of `account` in wei, in the state after `block`.
 *
 * An unused account has balance 0; it is not an error.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError
 * @see execution-apis `src/eth/state.yaml`; EIP-1898 for the block parameter
 */
export const getBalance = defineMethod({
  name: "eth_getBalance",
  params: { account: address, block: optional(blockSelector, "latest") },
  example: [SAMPLE.alice, "latest"],
  result: quantity,
  handle: ({ account, block }, { chain }) =>
    andThen(chain.account({ address: account, at: block }), (found) => found?.balance ?? 0n),
});

/**
 * `eth_getStorageAt`: the 32 bytes in a slot of `account` in the state after `block`; zero if nothing was stored.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, InvalidParamsError
 */
export const getStorageAt = defineMethod({
  name: "eth_getStorageAt",
  params: { account: address, position: string, block: optional(blockSelector, "latest") },
  example: [SAMPLE.bob, "0x0", "latest"],
  result: hash,
  handle({ account, position, block }, { chain }) {
    let slot = ZERO_HASH;
    let fault: unknown;
    try {
      slot = parseStorageKey(position);
    } catch (error) {
      // As in geth, an unknown block is reported before a position that cannot be read.
      fault = error;
    }
    return andThen(chain.storage({ address: account, slot, at: block }), (value) => {
      if (fault !== undefined) throw fault;
      return hashFromBigint(value);
    });
  },
});

/** geth's, over all accounts together. */
const SLOTS_MAX = 1024;

const slotList = array(hash, "[]common.Hash");

const slotsByAccount: ParamCodec<readonly (readonly [Address, readonly Hash[]])[]> = {
  schema: mapOf(listOf(HASH)),
  decode(value) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw typeFault(jsonKind(value), "map[common.Address][]common.Hash");
    }
    // Before any of them is decoded: a request has room for forty thousand.
    const lists = Object.values(value as Readonly<Record<string, unknown>>);
    const count = lists.reduce<number>((sum, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
    if (count > SLOTS_MAX) throw new LimitExceededError(`too many slots (max ${SLOTS_MAX})`);
    return Object.entries(value).map(([account, slots]) => [address.decode(account), slotList.decode(slots)]);
  },
};

/**
 * `eth_getStorageValues`: 32-byte values of many slots of many accounts in the state after `block`, in the order asked.
 *
 * @throws InvalidParamsError for no slots at all, LimitExceededError, UnknownBlockError, BlockNotCanonicalError
 */
export const getStorageValues = defineMethod({
  name: "eth_getStorageValues",
  params: { slots: slotsByAccount, block: optional(blockSelector, "latest") },
  example: [{ [SAMPLE.bob]: [SAMPLE.zero] }, "latest"],
  result: rawJsonOf(mapOf(listOf(HASH))),
  handle({ slots, block }, { chain }) {
    if (slots.every(([, keys]) => keys.length === 0)) throw new InvalidParamsError("empty request");
    return andThen(chain.storageValues({ slots, at: block }), (values) => {
      const members = slots.map(([account], i) => `"${account}":${plainListText(values[i]!.map(hashFromBigint))}`);
      return `{${members.join(",")}}`;
    });
  },
});

/**
 * `eth_getTransactionCount`: nonce of `account` in the state after `block`. For `pending` it is the pool's next nonce, without building a
 * block.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError
 */
export const getTransactionCount = defineMethod({
  name: "eth_getTransactionCount",
  params: { account: address, block: optional(blockSelector, "latest") },
  example: [SAMPLE.alice, "pending"],
  result: quantity,
  handle({ account, block }, { chain }) {
    if (block === "pending") return chain.nextNonce({ address: account });
    return andThen(chain.account({ address: account, at: block }), (found) => found?.nonce ?? 0n);
  },
});

/**
 * `eth_getCode`: code of `account` in the state after `block`, or `0x`. A delegation (EIP-7702) is returned as stored.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError
 */
export const getCode = defineMethod({
  name: "eth_getCode",
  params: { account: address, block: optional(blockSelector, "latest") },
  example: [SAMPLE.bob, "latest"],
  result: data,
  handle: ({ account, block }, { chain }) => chain.code({ address: account, at: block }),
});

/** geth's: each key is a walk through the storage trie. */
const KEYS_MAX = 1024;

/**
 * `eth_getProof`: Merkle proofs (EIP-1186) of an account and some of its slots against the state root of `block`.
 *
 * A key of exactly 32 bytes is echoed unchanged, any other key as QUANTITY, as geth's clients expect.
 *
 * @throws InvalidParamsError, UnknownBlockError, BlockNotCanonicalError, PendingProofError
 */
export const getProof = defineMethod({
  name: "eth_getProof",
  params: {
    account: address,
    keys: array(string, "[]string"),
    block: optional(blockSelector, "latest"),
  },
  example: [SAMPLE.alice, [SAMPLE.zero], "latest"],
  result: rawJsonOf(PROOF),
  heavy: true,
  handle({ account, keys, block }, { chain, sessions }) {
    if (keys.length > KEYS_MAX) {
      throw new InvalidParamsError(`too many storage keys requested (max ${KEYS_MAX}, got ${keys.length})`);
    }
    const slots = keys.map(parseStorageKey);
    return andThen(chain.proof({ address: account, slots, at: block }), (proven) =>
      inSlices(proofTextInSteps(account, keys, proven), sessions.slices.json),
    );
  },
});

type ProvenAccount = Awaited<ReturnType<ChainView["proof"]>>;

/** JSON of a proof, in steps. @param keys as the caller wrote them */
export function* proofTextInSteps(
  account: Address,
  keys: readonly string[],
  { account: found, proof }: ProvenAccount,
): Generator<undefined, string> {
  const work = new StepWork();
  const storage: string[] = [];
  for (const [i, { value, proof: nodes }] of proof.storageProofs.entries()) {
    const nodeTexts = nodesText(nodes);
    const key = echoedKey(keys[i]!);
    storage.push(`{"key":${key},"value":${quantityText(value)},"proof":${nodeTexts}}`);
    if (work.add(nodeTexts.length)) yield;
  }
  return (
    `{"address":"${account}","accountProof":${nodesText(proof.accountProof)}` +
    `,"balance":${quantityText(found?.balance ?? 0n)}` +
    `,"codeHash":${plainText(found?.codeHash ?? ZERO_HASH)}` +
    `,"nonce":${quantityText(found?.nonce ?? 0n)}` +
    `,"storageHash":${plainText(proof.storageRoot ?? ZERO_HASH)}` +
    `,"storageProof":[${storage.join(",")}]}`
  );
}

function echoedKey(key: string): string {
  const slot = parseStorageKey(key);
  const digits = key.replace(/^0[xX]/, "");
  return digits.length === 64 ? plainText(slot) : quantityText(bytesToBigint(hashToBytes(slot)));
}

function nodesText(nodes: readonly Uint8Array[]): string {
  return `[${nodes.map(dataText).join(",")}]`;
}

/**
 * `eth_getAccount`: the account as stored in the state trie after `block`; null if it does not exist.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError, PendingProofError
 */
export const getAccount = defineMethod({
  name: "eth_getAccount",
  params: { account: address, block: optional(blockSelector, "latest") },
  example: [SAMPLE.alice, "latest"],
  result: rawJsonOf(
    orNull(shape("Account", { balance: QUANTITY, codeHash: HASH, nonce: QUANTITY, storageRoot: HASH })),
  ),
  heavy: true,
  handle: ({ account, block }, { chain }) =>
    andThen(chain.proof({ address: account, slots: [], at: block }), ({ account: found, proof }) => {
      if (!found) return "null";
      const { balance, codeHash, nonce } = found;
      return (
        `{"balance":${quantityText(balance)},"codeHash":${plainText(codeHash)}` +
        `,"nonce":${quantityText(nonce)}` +
        `,"storageRoot":${plainText(proof.storageRoot ?? EMPTY_TRIE_ROOT)}}`
      );
    }),
});

/**
 * `eth_getAccountInfo`: balance, nonce and code of `account` after `block`.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError
 */
export const getAccountInfo = defineMethod({
  name: "eth_getAccountInfo",
  params: { account: address, block: optional(blockSelector, "latest") },
  example: [SAMPLE.alice, "latest"],
  result: rawJsonOf(shape("AccountInfo", { balance: QUANTITY, nonce: QUANTITY, code: DATA })),
  handle: ({ account, block }, { chain }) =>
    andThen(chain.accountWithCode({ address: account, at: block }), ({ account: found, code }) => {
      const { balance, nonce } = found ?? EMPTY_ACCOUNT;
      return `{"balance":${quantityText(balance)},"nonce":${quantityText(nonce)}` + `,"code":${dataText(code)}}`;
    }),
});
