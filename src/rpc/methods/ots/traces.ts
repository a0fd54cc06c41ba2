import { hardforkAt } from "../../../base/params/hardforks.ts";
import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Hex } from "../../../base/primitives/hex.ts";
import { delegationTarget } from "../../../evm/execution/transaction/authorizations.ts";
import { precompilesAt } from "../../../evm/machine/precompiles/index.ts";
import { textString } from "../../../evm/tracing/json-writer.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import type { ExecutionPort } from "../../ports/execution.ts";
import { address, hash, rawJson } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import { resultOf } from "../trace/blocks.ts";

/** A frame as `callTracer` shows it. */
export type TracedCall = {
  readonly type: string;
  readonly from: Address;
  /** Absent for a creation that failed. */
  readonly to?: Address;
  readonly value?: string;
  readonly input: string;
  readonly output?: string;
  readonly error?: string;
  readonly calls?: readonly TracedCall[];
};

/** A frame with its depth; 0 is the outermost. */
export type CallAtDepth = {
  readonly call: TracedCall;
  readonly depth: number;
  readonly isReverted: boolean;
};

/** The frames of a mined transaction, in execution order, without precompiles; undefined for an unknown transaction. */
async function callsOf(
  transactionHash: Hash,
  { chain, execution }: ServingPorts,
): Promise<readonly CallAtDepth[] | undefined> {
  const mined = await chain.transaction({ hash: transactionHash });
  if (!mined) return undefined;
  const sealed = await chain.header({ at: mined.position.blockNumber });
  if (!sealed) return undefined;
  const precompiles = precompilesAt(hardforkAt(chain.config, sealed.header));
  const text = await execution.traceTransaction({
    hash: transactionHash,
    request: { tracer: "callTracer" },
  });
  return [...flatten(JSON.parse(textString(text)) as TracedCall)].filter(
    ({ call, depth }) => depth === 0 || call.to === undefined || !precompiles.has(call.to),
  );
}

/** `call` and all frames below it, in execution order; frames below a failed frame are reverted with it. */
export function* flatten(call: TracedCall, depth = 0, isReverted = false): Generator<CallAtDepth> {
  const isUndone = isReverted || call.error !== undefined;
  yield { call, depth, isReverted: isUndone };
  for (const child of call.calls ?? []) yield* flatten(child, depth + 1, isUndone);
}

/** They pass no ether on. */
const WITHOUT_VALUE: ReadonlySet<string> = new Set(["STATICCALL", "DELEGATECALL"]);

/**
 * `ots_traceTransaction`: the call frames of a transaction with their depth, in execution order; null for an unknown transaction.
 *
 * @throws TracingTimeoutError, TraceTooLargeError
 */
export const traceTransaction = defineMethod({
  name: "ots_traceTransaction",
  params: { transactionHash: hash },
  example: [SAMPLE.hash],
  result: rawJson,
  heavy: true,
  async handle({ transactionHash }, modules) {
    const calls = await callsOf(transactionHash, modules);
    if (!calls) return "null";
    const frames = calls.map(({ call, depth }) => {
      const { type, from, to = null, value = "0x0", input, output = "0x" } = call;
      return {
        type,
        depth,
        from,
        to,
        value: WITHOUT_VALUE.has(type) ? null : value,
        input,
        output,
      };
    });
    return JSON.stringify(frames);
  },
});

/** Otterscan's numbers. */
const TYPES: Readonly<Record<string, number>> = { CALL: 0, SELFDESTRUCT: 1, CREATE: 2, CREATE2: 3 };

/**
 * `ots_getInternalOperations`: transfers of ether, creations and self-destructions inside a transaction that were not reverted; null for
 * an unknown transaction.
 *
 * @throws TracingTimeoutError, TraceTooLargeError
 */
export const getInternalOperations = defineMethod({
  name: "ots_getInternalOperations",
  params: { transactionHash: hash },
  example: [SAMPLE.hash],
  result: rawJson,
  heavy: true,
  async handle({ transactionHash }, modules) {
    const calls = await callsOf(transactionHash, modules);
    if (!calls) return "null";
    const operations = calls.flatMap(({ call, depth, isReverted }) => {
      const { from, to, value = "0x0" } = call;
      const type = TYPES[call.type];
      const isTransfer = type !== TYPES["CALL"] || value !== "0x0";
      if (depth === 0 || isReverted || type === undefined || !isTransfer) return [];
      return [{ type, from, to, value }];
    });
    return JSON.stringify(operations);
  },
});

/**
 * `ots_getTransactionError`: the revert data of a transaction; `0x` if it succeeded or reverted without data, null for an unknown
 * transaction.
 *
 * @throws TracingTimeoutError
 */
export const getTransactionError = defineMethod({
  name: "ots_getTransactionError",
  params: { transactionHash: hash },
  example: [SAMPLE.hash],
  result: rawJson,
  heavy: true,
  async handle({ transactionHash }, { chain, execution }) {
    const mined = await chain.receipt({ hash: transactionHash });
    if (!mined) return "null";
    if (mined.receipt.status === 1) return '"0x"';
    const request = { tracer: "callTracer", tracerConfig: { onlyTopCall: true } };
    const text = await execution.traceTransaction({ hash: transactionHash, request });
    const { output = "0x", error } = JSON.parse(textString(text)) as TracedCall;
    return JSON.stringify(error === undefined ? "0x" : output);
  },
});

/**
 * `ots_getContractCreator`: the transaction that created a contract, and its sender; null for an address without code, or with
 * code from genesis.
 *
 * @throws TracingTimeoutError
 */
export const getContractCreator = defineMethod({
  name: "ots_getContractCreator",
  params: { address },
  example: [SAMPLE.bob],
  result: rawJson,
  heavy: true,
  async handle({ address }, modules) {
    const creation = await creationOf(address, modules);
    return creation === undefined ? "null" : JSON.stringify({ hash: creation.hash, creator: creation.creator });
  },
});

export type CreationModules = {
  readonly chain: Pick<ChainView, "head" | "code">;
  readonly execution: Pick<ExecutionPort, "traceBlock">;
};

/** How a contract came to be. */
export type Creation = {
  /** of the transaction */
  readonly hash: Hash;
  readonly creator: Address;
  /** Code of the constructor with its arguments. */
  readonly initCode: Hex;
  readonly number: number;
};

/**
 * The creation of the contract at `address`; undefined for accounts without code, and contracts that are part of genesis or were set by
 * hand.
 * @throws TracingTimeoutError
 */
export async function creationOf(
  address: Address,
  { chain, execution }: CreationModules,
): Promise<Creation | undefined> {
  const head = (await chain.head()).header.number;
  const code = await chain.code({ address, at: head });
  if (code.length === 0 || delegationTarget(code)) return undefined;
  const number = await blockThatCreated(address, head, chain);
  if (number === 0) return undefined;
  const traces = await execution.traceBlock({ at: number, request: { tracer: "callTracer" } });
  for (const trace of traces) {
    for (const { call, isReverted } of flatten(JSON.parse(resultOf(trace)) as TracedCall)) {
      const isCreation = call.type === "CREATE" || call.type === "CREATE2";
      if (!isCreation || isReverted || call.to !== address) continue;
      return { hash: trace.txHash, creator: call.from, initCode: call.input as Hex, number };
    }
  }
  return undefined;
}

/** By halving: the first block after which there is code, where the contract was created once. */
async function blockThatCreated(address: Address, head: number, chain: Pick<ChainView, "code">): Promise<number> {
  let low = -1;
  let high = head;
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if ((await chain.code({ address, at: middle })).length > 0) high = middle;
    else low = middle;
  }
  return high;
}
