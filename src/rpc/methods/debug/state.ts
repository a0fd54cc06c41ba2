import type { DumpedAccount, StateDump } from "../../../chain/inspect/state-dump.ts";
import { checksumAddress } from "../../../primitives/address.ts";
import { EMPTY_BYTES } from "../../../primitives/bytes.ts";
import { type Hash, hashFromBigint, hashToBytes } from "../../../primitives/hash.ts";
import { bytesToHex } from "../../../primitives/hex.ts";
import { andThen } from "../../../threads/maybe-promise.ts";
import { type BlockNumberOrTag, blockNumberOrTag, blockSelector } from "../../ports/block-selector.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import type { InspectionPort } from "../../ports/inspection.ts";
import { address, boolean, data, json, jsonInteger, lenientInteger, type ParamCodec } from "../../transport/codec.ts";
import { defineMethod } from "../../transport/dispatch/method.ts";
import { SAMPLE } from "../example-values.ts";
import { DebugError } from "./database.ts";

/** A block number as JSON number or QUANTITY, or a tag: geth's older methods took the first, its newer ones take the others. */
export const numberOrTag: ParamCodec<BlockNumberOrTag> = {
  ...(blockNumberOrTag.schema && {
    schema: { title: "block", oneOf: [{ type: "integer" }, blockNumberOrTag.schema] },
  }),
  decode: (value, field) =>
    typeof value === "number" ? lenientInteger.decode(value, field) : blockNumberOrTag.decode(value, field),
};

/** The most accounts of one answer, in geth as well. */
export const DUMP_ACCOUNTS_MAX = 256;

/** geth's JSON of a dump: keys sorted, hashes of the top without prefix, `next` in base64. */
export function dumpJson({ root, accounts, next }: StateDump & { readonly root: Hash }): unknown {
  const entries = accounts.map((account) => [checksumAddress(account.address), dumpedAccountJson(account)] as const);
  return {
    root: root.slice(2),
    accounts: sortedObject(entries),
    ...(next !== undefined && { next: Buffer.from(hashToBytes(next)).toString("base64") }),
  };
}

/** geth's JSON of one account, of `geth dump` too. */
export function dumpedAccountJson(account: DumpedAccount): object {
  const { address, hash, balance, nonce, storageRoot, codeHash, code, storage } = account;
  return {
    balance: balance.toString(),
    nonce: Number(nonce),
    root: storageRoot,
    codeHash,
    ...(code.length > 0 && { code: bytesToHex(code) }),
    ...(storage.length > 0 && { storage: storageJson(storage) }),
    address,
    key: hash,
  };
}

/** Values without prefix and leading zero bytes. */
function storageJson(storage: readonly (readonly [slot: Hash, value: bigint])[]): object {
  return sortedObject(
    storage.map(([slot, value]) => {
      const digits = value.toString(16);
      return [slot, digits.length % 2 === 0 ? digits : `0${digits}`] as const;
    }),
  );
}

function sortedObject<T>(entries: readonly (readonly [string, T])[]): Readonly<Record<string, T>> {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * `debug_dumpBlock`: the accounts of the state after a block with code and storage, the first 256; `debug_accountRange` has the rest.
 *
 * @throws UnknownBlockError, TraceTooLargeError, TracingTimeoutError
 */
export const dumpBlock = defineMethod({
  name: "debug_dumpBlock",
  params: { block: numberOrTag },
  example: ["latest"],
  result: json,
  heavy: true,
  handle: ({ block }, { inspection }: { inspection: Pick<InspectionPort, "dumpState"> }) =>
    andThen(
      inspection.dumpState({
        at: block,
        request: {
          start: EMPTY_BYTES,
          accountsMax: DUMP_ACCOUNTS_MAX,
          withCode: true,
          withStorage: true,
        },
      }),
      dumpJson,
    ),
});

/**
 * `debug_accountRange`: accounts of the state after a block from the hash `start`, at most 256. The address of every account is known here, so
 * that none is `incomplete`.
 *
 * @throws UnknownBlockError, TraceTooLargeError, TracingTimeoutError
 */
export const accountRange = defineMethod({
  name: "debug_accountRange",
  params: {
    block: blockSelector,
    start: data,
    maxResults: jsonInteger,
    noCode: boolean,
    noStorage: boolean,
    incompletes: boolean,
  },
  example: ["latest", "0x", 10, true, true, false],
  result: json,
  heavy: true,
  handle(
    { block, start, maxResults, noCode, noStorage },
    { inspection }: { inspection: Pick<InspectionPort, "dumpState"> },
  ) {
    const isInRange = maxResults > 0 && maxResults <= DUMP_ACCOUNTS_MAX;
    const dump = inspection.dumpState({
      at: block,
      request: {
        start,
        accountsMax: isInRange ? maxResults : DUMP_ACCOUNTS_MAX,
        withCode: !noCode,
        withStorage: !noStorage,
      },
    });
    return andThen(dump, dumpJson);
  },
});

/**
 * `debug_storageRangeAt`: storage of an account before transaction `txIndex` of the block, from the hashed slot `keyStart`, in the order of the
 * storage trie. `storage` is null where there is none, as in geth.
 *
 * @throws UnknownBlockError, NotTraceableError, TraceTooLargeError
 */
export const storageRangeAt = defineMethod({
  name: "debug_storageRangeAt",
  params: {
    block: blockSelector,
    txIndex: jsonInteger,
    address,
    keyStart: data,
    maxResult: jsonInteger,
  },
  example: ["latest", 0, SAMPLE.bob, "0x", 10],
  result: json,
  heavy: true,
  handle(
    { block, txIndex, address, keyStart, maxResult },
    { inspection }: { inspection: Pick<InspectionPort, "storageRange"> },
  ) {
    const slotsMax = Math.max(0, maxResult);
    const range = inspection.storageRange({
      at: block,
      txIndex,
      address,
      start: keyStart,
      slotsMax,
    });
    return andThen(range, ({ slots, next = null, isEmpty }) => ({
      storage: isEmpty
        ? null
        : Object.fromEntries(slots.map(({ hash, slot, value }) => [hash, { key: slot, value: hashFromBigint(value) }])),
      nextKey: next,
    }));
  },
});

/**
 * `debug_getAccessibleState`: the first block of `from` … `to`, whichever is the higher, whose state can be read.
 *
 * @throws DebugError with geth's text where `from` is no block, or `to` the same one
 */
export const getAccessibleState = defineMethod({
  name: "debug_getAccessibleState",
  params: { from: numberOrTag, to: numberOrTag },
  example: ["latest", "earliest"],
  result: jsonInteger,
  async handle({ from, to }, { chain }: { chain: Pick<ChainView, "head" | "header" | "oldest"> }) {
    const { block, state } = await chain.oldest();
    const head = (await chain.head()).header.number;
    // There is no state of the pending block on disk: it counts as the head.
    const numberOf = (at: BlockNumberOrTag) => (typeof at === "number" ? at : at === "earliest" ? block : head);
    const [first, last] = [numberOf(from), numberOf(to)];
    if (first === last) throw new DebugError("from and to needs to be different");
    if (!(await chain.header({ at: first }))) throw new DebugError(`missing header ${first}`);
    if (first >= state) return first;
    // As in geth, `to` itself is not looked at.
    if (state >= last) throw new DebugError("no state found");
    return state;
  },
});
