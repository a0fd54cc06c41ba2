import { packDump, unpackDump } from "../../../dev/state-dump.ts";
import { bytesToHex } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import type { Forking } from "../../ports/dev.ts";
import { array, boolean, data, optional, type ParamCodec, quantity } from "../../transport/codec.ts";
import { InvalidValueError } from "../../transport/errors.ts";
import { remoteUrl } from "./client.ts";
import { bothNames, controlMethods, type DevModules, lenientCount } from "./control-methods.ts";

/** Remembers the chain with its clock, settings and pool; the id is for one `evm_revert`. */
export const snapshot = controlMethods({
  names: ["evm_snapshot", "anvil_snapshot"],
  params: {},
  result: quantity,
  handle: async (_params, { dev }: DevModules) => toQuantity(await dev.snapshot()),
});

/** Goes back to a snapshot, which is used up with all after it; false when there is none. */
export const revert = controlMethods({
  names: ["evm_revert", "anvil_revert"],
  params: { id: lenientCount },
  result: boolean,
  handle: ({ id }, { dev }: DevModules) => dev.revert({ id }),
});

/** Removes the newest blocks, 1 unless more are asked for; their transactions are not pooled again. */
export const rollback = controlMethods({
  names: ["anvil_rollback"],
  params: { depth: optional(lenientCount, 1) },
  handle: ({ depth }, { dev }: DevModules) => dev.rollback({ depth }),
});

type PlacedTransaction = { readonly raw: Uint8Array; readonly block: number };

/** `[raw transaction, index of its block among the new ones]` */
const placedTransaction: ParamCodec<PlacedTransaction> = {
  decode(value, field) {
    if (!Array.isArray(value) || value.length !== 2) {
      throw new InvalidValueError("a pair of a raw transaction and the index of its block is wanted");
    }
    return { raw: data.decode(value[0], field), block: lenientCount.decode(value[1], field) };
  },
};

/**
 * `anvil_reorg`: replaces the newest blocks by as many others. Subscribers get the logs of the old ones again with `removed`, and the
 * pool takes their transactions back.
 *
 * @throws DevControlError where there are not so many blocks
 */
export const reorg = controlMethods({
  names: ["anvil_reorg"],
  params: { depth: lenientCount, transactions: optional(array(placedTransaction), []) },
  handle: ({ depth, transactions }, { dev }: DevModules) => dev.reorg({ depth, transactions }),
});

/** `{forking: {jsonRpcUrl?, blockNumber?}}`; without `forking` nothing is forked. */
const resetOptions: ParamCodec<Forking | undefined> = {
  schema: {
    title: "ResetOptions",
    type: "object",
    properties: {
      forking: {
        type: "object",
        properties: { jsonRpcUrl: remoteUrl.schema!, blockNumber: lenientCount.schema! },
      },
    },
  },
  decode(value) {
    const { forking } = object(value, "options");
    if (forking === undefined || forking === null) return undefined;
    const { jsonRpcUrl: url, blockNumber } = object(forking, "forking");
    return {
      ...(url != null && { url: remoteUrl.decode(url, "jsonRpcUrl") }),
      // viem sends NaN, null over a wire, where its caller gave no number.
      ...(blockNumber != null &&
        !Number.isNaN(blockNumber) && {
          blockNumber: lenientCount.decode(blockNumber, "blockNumber"),
        }),
    };
  },
};

function object(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new InvalidValueError(`${name}: an object is wanted`);
}

/**
 * Begins anew with nothing set, an empty pool, no snapshots and no filters: at the genesis block, or with `forking` at a block of another chain,
 * the newest unless a number is given, through the node at `jsonRpcUrl` or, left out, the one in use.
 *
 * @throws DevControlError where no node is known to fork from, ForkRemoteError when it does not answer: nothing has changed then
 */
export const reset = controlMethods({
  names: bothNames("reset"),
  params: { options: optional(resetOptions) },
  handle: ({ options }, { dev }: DevModules) => dev.reset({ forking: options }),
});

/** Every account with code and storage, as gzip of the JSON that anvil loads. */
export const dumpState = controlMethods({
  names: bothNames("dumpState"),
  params: {},
  result: data,
  handle: async (_params, { dev }: DevModules) => bytesToHex(await packDump(await dev.dumpState())),
});

/** Adds the accounts of a dump of ours or anvil's to the newest state; true. */
export const loadState = controlMethods({
  names: bothNames("loadState"),
  params: { state: data },
  result: boolean,
  async handle({ state }, { dev }: DevModules) {
    await dev.edit({ edits: await unpackDump(state) });
    return true;
  },
});
