import type { Hash } from "../../../base/primitives/hash.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import type { CancelToken } from "../../../base/threads/cancel-token.ts";
import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import type { SizeOfKind } from "../../../chain/inspect/state-size.ts";
import { type BlockSelector, blockSelector, byHash } from "../../ports/block-selector.ts";
import type { SealedHeader } from "../../ports/chain-view.ts";
import {
  address,
  array,
  data,
  hash,
  type JsonText,
  json,
  lenientInteger,
  optional,
  rawJson,
} from "../../transport/codec.ts";
import { UnknownBlockError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import { DebugError } from "./database.ts";

/**
 * `debug_getModifiedAccountsByNumber`: accounts that differ between blocks `start` and `end`; with one number, accounts which that block
 * changed.
 *
 * @throws UnknownBlockError, TraceTooLargeError, TracingTimeoutError
 */
export const getModifiedAccountsByNumber = defineMethod({
  name: "debug_getModifiedAccountsByNumber",
  params: { start: lenientInteger, end: optional(lenientInteger) },
  example: [0],
  result: array(address),
  heavy: true,
  async handle({ start, end }, { chain, inspection }) {
    if (!(await chain.header({ at: start }))) {
      throw new UnknownBlockError(`start block ${start.toString(16)} not found`);
    }
    if (end === undefined) return changedIn({ number: start, at: start }, inspection);
    if (!(await chain.header({ at: end }))) throw new UnknownBlockError(`end block ${end} not found`);
    return changedBetween(start, { number: end, at: end }, inspection);
  },
});

/** `debug_getModifiedAccountsByHash`: as `debug_getModifiedAccountsByNumber`, with block hashes. */
export const getModifiedAccountsByHash = defineMethod({
  name: "debug_getModifiedAccountsByHash",
  params: { start: hash, end: optional(hash) },
  example: [SAMPLE.hash],
  result: array(address),
  heavy: true,
  async handle({ start, end }, { chain, inspection }) {
    const numberOf = async (blockHash: Hash, which: string): Promise<number> => {
      const sealed = await chain.header({ at: byHash(blockHash) });
      if (sealed) return sealed.header.number;
      throw new UnknownBlockError(`${which} block ${blockHash.slice(2)} not found`);
    };
    const first = await numberOf(start, "start");
    if (end === undefined) return changedIn({ number: first, at: byHash(start) }, inspection);
    return changedBetween(first, { number: await numberOf(end, "end"), at: byHash(end) }, inspection);
  },
});

type Last = { readonly number: number; readonly at: BlockSelector };

function changedIn({ number, at }: Last, inspection: ServingPorts["inspection"]) {
  if (number === 0) throw new UnknownBlockError("block 0 has no parent");
  return inspection.modifiedAccounts({ first: number - 1, at });
}

function changedBetween(first: number, { number, at }: Last, inspection: ServingPorts["inspection"]) {
  if (first >= number) {
    throw new UnknownBlockError(`start block height (${first}) must be less than end block height (${number})`);
  }
  return inspection.modifiedAccounts({ first, at });
}

/**
 * `debug_preimage`: the address or slot behind a hashed key of the state tries, of the newest or an older block. Data that contracts hash
 * is not recorded; use `keccak256PreimageTracer` for it.
 *
 * @throws DebugError with geth's text if it is missing, TracingTimeoutError
 */
export const preimage = defineMethod({
  name: "debug_preimage",
  params: { hash },
  example: [SAMPLE.hash],
  result: data,
  heavy: true,
  handle: ({ hash }, { inspection }) =>
    andThen(inspection.preimage({ hash }), (found) => {
      if (found === undefined) throw new DebugError("unknown preimage");
      return found;
    }),
});

/**
 * `debug_stateSize`: accounts, slots, trie nodes and codes of the state after a block (the newest unless given), with their size in geth's
 * database. geth keeps a running count; this node walks the state, within the time limit of a trace.
 *
 * @throws UnknownBlockError, StatePrunedError, TracingTimeoutError
 */
export const stateSize = defineMethod({
  name: "debug_stateSize",
  params: { block: optional(blockSelector) },
  example: ["latest"],
  result: json,
  heavy: true,
  handle: ({ block = "latest" }, { inspection }) =>
    andThen(
      inspection.stateSize({ at: block }),
      ({ root, number, accounts, slots, accountNodes, storageNodes, codes }) => ({
        stateRoot: root,
        blockNumber: toQuantity(number),
        ...sizeOf("accounts", "accountBytes", accounts),
        ...sizeOf("storages", "storageBytes", slots),
        ...sizeOf("accountTrienodes", "accountTrienodeBytes", accountNodes),
        ...sizeOf("storageTrienodes", "storageTrienodeBytes", storageNodes),
        ...sizeOf("contractCodes", "contractCodeBytes", codes),
      }),
    ),
});

function sizeOf(countName: string, bytesName: string, { count, bytes }: SizeOfKind) {
  return { [countName]: toQuantity(count), [bytesName]: toQuantity(bytes) };
}

/**
 * `debug_executionWitness`: the data needed to execute a block without a state: headers back to the oldest one BLOCKHASH read, codes, and
 * trie nodes of the parent's state. `keys` is null, as in geth.
 *
 * @throws DebugError, TraceTooLargeError
 */
export const executionWitness = defineMethod({
  name: "debug_executionWitness",
  params: { block: blockSelector },
  example: ["0x1"],
  result: rawJson,
  heavy: true,
  async handle({ block }, modules, context) {
    const sealed = await modules.chain.header({ at: block === "pending" ? "latest" : block });
    if (sealed === undefined) throw new DebugError(`block ${selectorText(block)} not found`);
    return witnessOf(sealed, modules, context);
  },
});

/** `debug_executionWitnessByHash`: as `debug_executionWitness`, for a block hash. geth had this method up to 1.17.0. */
export const executionWitnessByHash = defineMethod({
  name: "debug_executionWitnessByHash",
  params: { blockHash: hash },
  example: [SAMPLE.hash],
  result: rawJson,
  heavy: true,
  async handle({ blockHash }, modules, context) {
    const sealed = await modules.chain.header({ at: byHash(blockHash) });
    if (sealed === undefined) throw new DebugError(`block hash ${blockHash.slice(2)} not found`);
    return witnessOf(sealed, modules, context);
  },
});

function witnessOf(
  { hash, header }: SealedHeader,
  { execution }: ServingPorts,
  cancel: CancelToken,
): MaybePromise<JsonText> {
  if (header.number === 0) throw new DebugError("block 0x0 found, but parent missing");
  return execution.executionWitness({ hash, cancel });
}

function selectorText(block: BlockSelector): string {
  if (typeof block === "object") return block.blockHash;
  return typeof block === "number" ? `0x${block.toString(16)}` : block;
}
