import { type Address, ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import { packDump, unpackDump } from "../../../dev/state-dump.ts";
import type { CallArguments } from "../../../evm/execution/call/call-arguments.ts";
import type { Forking } from "../../ports/dev.ts";
import { array, boolean, data, optional, type ParamCodec, quantity } from "../../transport/codec.ts";
import { InvalidValueError } from "../../transport/errors.ts";
import { signFields } from "../eth/sign.ts";
import { DEFAULT_GAS } from "../eth/submit.ts";
import { fillTransactionFields } from "../eth/transaction-defaults.ts";
import { callArguments } from "../params/call-arguments.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import { remoteUrl } from "./client.ts";
import { bothNames, controlMethods, lenientCount } from "./control-methods.ts";

/** Takes a snapshot of the chain with its clock, settings and pool; the returned id is valid for one `evm_revert`. */
export const snapshot = controlMethods({
  names: ["evm_snapshot", "anvil_snapshot"],
  params: {},
  result: quantity,
  handle: async (_params, { dev }) => toQuantity(await dev.snapshot()),
});

/** Reverts to a snapshot, and deletes it and all later ones; false if there is no such snapshot. */
export const revert = controlMethods({
  names: ["evm_revert", "anvil_revert"],
  params: { id: lenientCount },
  result: boolean,
  handle: ({ id }, { dev }) => dev.revert({ id }),
});

/** Removes the given number of newest blocks, 1 by default; their transactions do not return to the pool. */
export const rollback = controlMethods({
  names: ["anvil_rollback"],
  params: { depth: optional(lenientCount, 1) },
  handle: ({ depth }, { dev }) => dev.rollback({ depth }),
});

type PlacedTransaction = {
  /** Signed, or a description of one that the node signs. */
  readonly transaction: Uint8Array | CallArguments;
  readonly block: number;
};

/** `[raw transaction or what eth_sendTransaction takes, index of its block among the new ones]` */
const placedTransaction: ParamCodec<PlacedTransaction> = {
  decode(value, field) {
    if (!Array.isArray(value) || value.length !== 2) {
      throw new InvalidValueError("not a pair of a transaction and the index of its block");
    }
    const [transaction, block] = value;
    const codec = typeof transaction === "string" ? data : callArguments;
    return { transaction: codec.decode(transaction, field), block: lenientCount.decode(block, field) };
  },
};

/** Signs the described transactions, with the account's next nonces after block `base` if none is given. */
async function signPlaced(
  transactions: readonly PlacedTransaction[],
  base: number,
  modules: ServingPorts,
): Promise<readonly { readonly raw: Uint8Array; readonly block: number }[]> {
  const { chain, keys } = modules;
  const nonces = new Map<Address, bigint>();
  const signed: { readonly raw: Uint8Array; readonly block: number }[] = [];
  for (const { transaction, block } of transactions) {
    if (transaction instanceof Uint8Array) {
      signed.push({ raw: transaction, block });
      continue;
    }
    const from = transaction.from ?? (await keys.accounts())[0] ?? ZERO_ADDRESS;
    const next = nonces.get(from) ?? (await chain.account({ address: from, at: base }))?.nonce ?? 0n;
    const nonce = transaction.nonce ?? next;
    nonces.set(from, nonce + 1n);
    const fields = await fillTransactionFields({ ...transaction, from, nonce }, modules, DEFAULT_GAS);
    const { raw } = await signFields(fields, (digest) => keys.signTransaction({ address: from, digest }));
    signed.push({ raw, block });
  }
  return signed;
}

/**
 * `anvil_reorg`: replaces the newest blocks by the same number of new blocks with the given transactions. Subscribers receive the old logs
 * again with `removed: true`, and the old transactions return to the pool.
 *
 * @throws DevControlError where there are not so many blocks, and what filling in and signing a described transaction throws
 */
export const reorg = controlMethods({
  names: ["anvil_reorg"],
  params: { depth: lenientCount, transactions: optional(array(placedTransaction), []) },
  async handle({ depth, transactions }, modules) {
    const head = (await modules.chain.head()).header.number;
    const base = Math.max(0, head - depth);
    await modules.dev.reorg({ depth, transactions: await signPlaced(transactions, base, modules) });
  },
});

/** `{forking: {jsonRpcUrl?, blockNumber?}}`, or only its members; without any of them nothing is forked. */
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
    const options = object(value, "options");
    // cast's users leave the member away that surrounds the others, which anvil takes, too.
    const forking = options["forking"] ?? ("jsonRpcUrl" in options || "blockNumber" in options ? options : undefined);
    if (forking === undefined) return undefined;
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
  throw new InvalidValueError(`${name} is not an object`);
}

/**
 * Resets the chain, its settings, pool, snapshots and filters. Without `forking` it restarts at the genesis block; with `forking`, at a
 * block of a remote chain (the newest by default), read from `jsonRpcUrl` or the current node.
 *
 * @throws DevControlError where no node is known to fork from, ForkRemoteError when it does not answer: nothing has changed then
 */
export const reset = controlMethods({
  names: bothNames("reset"),
  params: { options: optional(resetOptions) },
  handle: ({ options }, { dev }) => dev.reset({ forking: options }),
});

/**
 * Every account with code and storage, and the blocks with their transactions, as gzip of the JSON that anvil loads. Historical states, an
 * option of anvil, are never included.
 */
export const dumpState = controlMethods({
  names: bothNames("dumpState"),
  params: { preserveHistoricalStates: optional(boolean) },
  result: data,
  handle: async (_params, { dev, sessions }) => bytesToHex(await packDump(await dev.dumpState(), sessions.slices.json)),
});

/**
 * Loads a dump of this node or of anvil; true. The dump's blocks replace the chain, without states before the newest one, and its accounts
 * are added to the existing accounts. A dump without blocks, or any dump on a fork, only adds accounts.
 */
export const loadState = controlMethods({
  names: bothNames("loadState"),
  params: { state: data },
  result: boolean,
  async handle({ state }, { dev, sessions }) {
    // Half a megabyte unpacks to sixty-four, and to ten times that as values: one of all callers at a time.
    return sessions.sendLock.run("state", async () => {
      await dev.loadState({ state: await unpackDump(state, sessions.slices.json) });
      return true;
    });
  },
});
