import { checksumAddress } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../../base/primitives/hash.ts";
import { inSlices, StepWork } from "../../../base/threads/in-slices.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import type { DumpedAccount, StateDump, StorageRange } from "../../../chain/inspect/state-dump.ts";
import { type BlockNumberOrTag, blockSelector, numberOrTag } from "../../ports/block-selector.ts";
import { address, boolean, data, type JsonText, jsonInteger, rawJson } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { dataText, joinedJson, plainText } from "../json/write.ts";
import { DebugError } from "./database.ts";

/** The most accounts of one answer, in geth as well. */
const DUMP_ACCOUNTS_MAX = 256;

/** geth's JSON of a dump, in steps: keys sorted, hashes of the top without prefix. */
export function* dumpTextInSteps({
  root,
  accounts,
  next,
}: StateDump & { readonly root: Hash }): Generator<undefined, JsonText> {
  const parts: JsonText[] = [`{"root":"${root.slice(2)}","accounts":{`];
  const byKey = accounts.map((account) => [checksumAddress(account.address), account] as const);
  const work = new StepWork();
  for (const [key, account] of sorted(byKey)) {
    parts.push(`${parts.length === 1 ? "" : ","}"${key}":`);
    for (const part of accountTexts(account)) {
      parts.push(part.length < PIECE_CHARS ? part : Buffer.from(part));
      if (work.add(part.length)) yield;
    }
  }
  const last = next === undefined ? "" : `,"next":"${next}"`;
  return joinedJson(...parts, `}${last}}`);
}

/** geth's JSON of one account, of `geth dump` too. */
export function dumpedAccountText(account: DumpedAccount): string {
  return [...accountTexts(account)].join("");
}

/** Longer parts are bytes at once: a string of all parts would be copied in one piece. */
const PIECE_CHARS = 4096;
/** Slots that are written at once: 64 KB. */
const SLOTS_PER_PART = 512;

/** Values of slots without prefix and leading zero bytes. */
function* accountTexts(account: DumpedAccount): Generator<string> {
  const { address, hash, balance, nonce, storageRoot, codeHash, code, storage } = account;
  yield `{"balance":"${balance}","nonce":${nonce},"root":"${storageRoot}","codeHash":"${codeHash}"`;
  if (code.length > 0) yield `,"code":${dataText(code)}`;
  const slots = sorted(storage);
  for (let start = 0; start < slots.length; start += SLOTS_PER_PART) {
    const texts = slots.slice(start, start + SLOTS_PER_PART).map(([slot, value]) => {
      const digits = value.toString(16);
      return `"${slot}":"${digits.length % 2 === 0 ? digits : `0${digits}`}"`;
    });
    yield `${start === 0 ? ',"storage":{' : ","}${texts.join(",")}`;
  }
  yield `${slots.length > 0 ? "}" : ""},"address":"${address}","key":"${hash}"}`;
}

function sorted<T>(entries: readonly (readonly [string, T])[]): readonly (readonly [string, T])[] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}

/**
 * `debug_dumpBlock`: the first 256 accounts of the state after a block, with code and storage; `debug_accountRange` returns the rest.
 *
 * @throws UnknownBlockError, TraceTooLargeError, TracingTimeoutError
 */
export const dumpBlock = defineMethod({
  name: "debug_dumpBlock",
  params: { block: numberOrTag },
  example: ["latest"],
  result: rawJson,
  heavy: true,
  handle: ({ block }, { inspection, sessions }) =>
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
      (dump) => inSlices(dumpTextInSteps(dump), sessions.slices.json),
    ),
});

/**
 * `debug_accountRange`: accounts of the state after a block from the hash `start`, at most 256. `incomplete` is never set, because the node
 * knows the address of every account.
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
  result: rawJson,
  heavy: true,
  handle({ block, start, maxResults, noCode, noStorage }, { inspection, sessions }) {
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
    return andThen(dump, (found) => inSlices(dumpTextInSteps(found), sessions.slices.json));
  },
});

/**
 * `debug_storageRangeAt`: storage of an account before transaction `txIndex` of the block, from the hashed slot `keyStart`, in the order of
 * the storage trie. `storage` is null if the account has no storage, as in geth.
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
  result: rawJson,
  heavy: true,
  handle({ block, txIndex, address, keyStart, maxResult }, { inspection, sessions }) {
    const slotsMax = Math.max(0, maxResult);
    const range = inspection.storageRange({
      at: block,
      txIndex,
      address,
      start: keyStart,
      slotsMax,
    });
    return andThen(range, (found) => inSlices(rangeTextInSteps(found), sessions.slices.json));
  },
});

function* rangeTextInSteps({ slots, next, isEmpty }: StorageRange): Generator<undefined, JsonText> {
  const parts: Uint8Array[] = [];
  for (let start = 0; start < slots.length; start += SLOTS_PER_PART) {
    const texts = slots
      .slice(start, start + SLOTS_PER_PART)
      .map(({ hash, slot, value }) => `"${hash}":{"key":"${slot}","value":"${hashFromBigint(value)}"}`);
    parts.push(Buffer.from(`${start === 0 ? "" : ","}${texts.join(",")}`));
    yield;
  }
  const [open, close] = isEmpty ? ["null", ""] : ["{", "}"];
  return joinedJson(`{"storage":${open}`, ...parts, `${close},"nextKey":${plainText(next ?? null)}}`);
}

/**
 * `debug_getAccessibleState`: the first block from `from` to `to`, in either direction, whose state can be read.
 *
 * @throws DebugError with geth's text if `from` does not exist, or equals `to`
 */
export const getAccessibleState = defineMethod({
  name: "debug_getAccessibleState",
  params: { from: numberOrTag, to: numberOrTag },
  example: ["latest", "earliest"],
  result: jsonInteger,
  async handle({ from, to }, { chain }) {
    const { block, state } = await chain.oldest();
    const head = (await chain.head()).header.number;
    // The pending block has no state on disk, so it counts as the head.
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
