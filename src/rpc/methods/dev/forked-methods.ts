import { ForkUnsupportedError, stateReadFailure } from "../../../dev/fork/errors.ts";
import { createPrefetch, type PrefetchedCall } from "../../../dev/fork/prefetch.ts";
import type { RemoteCall, RemoteCalls } from "../../../dev/fork/remote-calls.ts";
import type { Hash } from "../../../primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../../primitives/hex.ts";
import { toQuantity } from "../../../primitives/quantity.ts";
import { decodePooledTransaction } from "../../../types/transaction/decode.ts";
import { recoverSender } from "../../../types/transaction/sender.ts";
import { blockSelector } from "../../ports/block-selector.ts";
import { jsonString } from "../../transport/codec.ts";
import type { Method, Registry } from "../../transport/dispatch/method.ts";
import { callArguments } from "../params/call-arguments.ts";
import type { RpcPorts } from "../rpc-ports.ts";
import {
  FINDS_TRANSACTION,
  IN_CONTEXT,
  OF_BLOCK,
  OF_LOG_RANGE,
  OF_STATE,
  OF_TRANSACTION,
  PREFETCHED,
  READING,
  UNSUPPORTED,
} from "./forked-tables.ts";
import { assertRemoteResult, assertSameTransaction } from "./remote-result.ts";

/** What the remote chain answers: everything about blocks up to the fork, and states before it. */
export type ForkedBlocks = {
  readonly number: number;
  readonly hash: Hash;
  readonly call: RemoteCalls;
  /** What `run`, synchronous, reads of the remote chain that is not known yet. */
  readonly missedBy: (run: () => unknown) => readonly RemoteCall[];
};

const HASH = /^0x[0-9a-fA-F]{64}$/;
const NUMBER = /^0x[0-9a-fA-F]{1,13}$/;
/** All name the newest block: on this chain every block is final. */
const NEWEST: readonly unknown[] = [undefined, null, "latest", "safe", "finalized"];

function withItem(params: Params, at: number, item: unknown): Params {
  const copy = [...params];
  copy[at] = item;
  return copy;
}

type Params = readonly unknown[];

/** What the method is about to execute on the newest state; undefined: not known. */
function prefetchedCall(name: string, [first, block]: Params): PrefetchedCall | undefined {
  if (name === "eth_sendRawTransaction") return callOfRaw(first);
  const isNewest = OF_STATE[name] === undefined || block === "pending" || NEWEST.includes(block);
  return isNewest && typeof first === "object" && first !== null ? first : undefined;
}

/** undefined: no transaction, which its method says */
function callOfRaw(raw: unknown): PrefetchedCall | undefined {
  try {
    const { tx } = decodePooledTransaction(hexToBytes(String(raw)));
    return { from: recoverSender(tx), to: tx.to, data: bytesToHex(tx.data) };
  } catch {
    return undefined;
  }
}

function ignoreFailure(outcome: unknown): void {
  if (outcome instanceof Promise) outcome.catch(() => {});
}

/** Executes `request` on the newest state, for what it reads alone. */
function execute(request: PrefetchedCall, execution: RpcPorts["execution"]): void {
  ignoreFailure(
    execution.call({
      args: callArguments.decode(request),
      at: blockSelector.decode("latest"),
      overrides: {},
    }),
  );
}

type RunArguments = Parameters<Method<RpcPorts>["run"]>;
type Runner = (method: Method<RpcPorts>, args: RunArguments) => ReturnType<Method<RpcPorts>["run"]>;

/** `methods` of a forked chain: those about blocks of the remote chain are answered by it. */
export function forkedMethods(methods: Registry<RpcPorts>, fork: ForkedBlocks): Registry<RpcPorts> {
  /** Parameters of the filters that begin before the fork. */
  const oldFilters = new Map<string, Params>();

  async function remote(method: string, params: Params): Promise<unknown> {
    const [result] = await fork.call([{ method, params }], { check });
    return result;
  }

  /** Before anything of it is stored. */
  function check({ method, params }: RemoteCall, result: unknown): unknown {
    assertRemoteResult(method, methods.get(method)?.resultSchema ?? {}, result);
    if (OF_TRANSACTION.has(method)) assertSameTransaction(params, result);
    return result;
  }

  /** The block that `selector` names when it is at most `last`, as the remote chain is asked for it. */
  async function oldBlock(selector: unknown, last: number, { chain }: RpcPorts) {
    if (selector === "earliest") return 0 <= last ? "0x0" : undefined;
    if (NEWEST.includes(selector)) {
      return (await chain.head()).header.number <= last ? toQuantity(last) : undefined;
    }
    if (typeof selector === "object") {
      const { blockNumber, blockHash } = selector as Record<string, unknown>;
      return oldNumber(blockNumber, last) ?? (await oldHash(blockHash, last, chain));
    }
    return oldNumber(selector, last) ?? (await oldHash(selector, last, chain));
  }

  function oldNumber(selector: unknown, last: number): string | undefined {
    const isOld = typeof selector === "string" && NUMBER.test(selector) && Number(selector) <= last;
    return isOld ? toQuantity(Number(selector)) : undefined;
  }

  async function oldHash(selector: unknown, last: number, chain: RpcPorts["chain"]) {
    if (typeof selector !== "string" || !HASH.test(selector)) return undefined;
    const hash = selector.toLowerCase() as Hash;
    if (hash === fork.hash) return fork.number <= last ? hash : undefined;
    if ((await chain.header({ at: { blockHash: hash, requireCanonical: false } })) !== undefined) {
      return undefined;
    }
    const block = await remote("eth_getBlockByHash", [hash, false]);
    return isOldEnough(block) ? hash : undefined;
  }

  /** False for null, and for what the remote chain has after the fork. */
  function isOldEnough(result: unknown): boolean {
    const { number, blockNumber } = (result ?? {}) as Record<string, unknown>;
    return oldNumber(number ?? blockNumber, fork.number) !== undefined;
  }

  async function runWithBlock(
    method: Method<RpcPorts>,
    { at, last }: { readonly at: number; readonly last: number },
    [ports, params = [], context]: RunArguments,
  ) {
    const block = await oldBlock(params[at], last, ports);
    if (block === undefined) return method.run(ports, params, context);
    return JSON.stringify(await remote(method.name, withItem(params, at, block)));
  }

  async function runWithTransaction(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    if (await isOldTransaction(params[0], [ports, params, context])) {
      return JSON.stringify(await remote(method.name, params));
    }
    return method.run(ports, params, context);
  }

  /** The hash is of a transaction of the remote chain up to the fork, and of none of this chain. */
  async function isOldTransaction(hash: unknown, [ports, , context]: RunArguments) {
    if (typeof hash !== "string" || !HASH.test(hash)) return false;
    const lookUp = methods.get("eth_getTransactionByHash")!;
    const found = await lookUp.run(ports, [hash], context);
    return jsonString(found) === "null" && isOldEnough(await remote(lookUp.name, [hash]));
  }

  async function runSearch(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const found = await method.run(ports, params, context);
    if (jsonString(found) !== "null") return found;
    const result = await remote(method.name, params);
    const { hash } = (result ?? {}) as Record<string, unknown>;
    const isOld = await isOldTransaction(hash ?? result, [ports, params, context]);
    return isOld ? JSON.stringify(result) : "null";
  }

  async function runInContext(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const { blockNumber } = (params[1] ?? {}) as Record<string, unknown>;
    const old = await oldBlock(blockNumber, fork.number - 1, ports);
    if (old === undefined) return method.run(ports, params, context);
    throw new ForkUnsupportedError(`${method.name} does not reach before the fork`, { block: old });
  }

  /** @throws ForkUnsupportedError for traces of both chains */
  async function runTraceFilter(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const { fromBlock, toBlock } = (params[0] ?? {}) as Record<string, unknown>;
    const first = await oldBlock(fromBlock ?? "earliest", fork.number, ports);
    if (first === undefined) return method.run(ports, params, context);
    const last = await oldBlock(toBlock, fork.number, ports);
    if (last !== undefined) {
      const filter = { ...(params[0] as object), fromBlock: first, toBlock: last };
      return JSON.stringify(await remote(method.name, [filter]));
    }
    throw new ForkUnsupportedError(
      `trace_filter over the fork: ask for the blocks up to ${fork.number} and for those after it`,
      { fromBlock: first, fork: fork.number },
    );
  }

  /** `eth_newFilter`: one that begins before the fork is remembered, for `eth_getFilterLogs`. */
  async function runNewFilter(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const { fromBlock } = (params[0] ?? {}) as Record<string, unknown>;
    const id = await method.run(ports, params, context);
    if ((await oldBlock(fromBlock, fork.number, ports)) === undefined) return id;
    const { filters } = ports.sessions;
    for (const known of oldFilters.keys()) if (!filters.has(known)) oldFilters.delete(known);
    oldFilters.set(JSON.parse(jsonString(id)) as string, params);
    return id;
  }

  async function runFilterLogs(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const logs = await method.run(ports, params, context);
    const filter = oldFilters.get(params[0] as string);
    if (filter === undefined) return logs;
    return runLogs(methods.get("eth_getLogs")!, [ports, filter, context]);
  }

  /** Fees of blocks up to the fork, or of those after it: a range over it begins after it. */
  async function runFeeHistory(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const [count, newest] = params;
    const old = await oldBlock(newest, fork.number, ports);
    if (old !== undefined) {
      return JSON.stringify(await remote(method.name, withItem(params, 1, old)));
    }
    const head = (await ports.chain.head()).header.number;
    const isNumber = typeof newest === "string" && NUMBER.test(newest);
    const last = isNumber ? Number(newest) : newest === "pending" ? head + 1 : head;
    const countMax = Math.min(last, head + 1) - fork.number;
    const isMore = Number(count) > countMax;
    return method.run(ports, isMore ? withItem(params, 0, countMax) : params, context);
  }

  /** Logs of a range over the fork come from both chains. */
  async function runLogs(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const filter = params[0] as Readonly<Record<string, unknown>> | undefined;
    if (typeof filter !== "object" || filter === null) return method.run(ports, params, context);
    const { blockHash, fromBlock, toBlock } = filter;
    if (blockHash !== undefined) {
      const old = await oldHash(blockHash, fork.number, ports.chain);
      if (old === undefined) return method.run(ports, params, context);
      return JSON.stringify(await remote(method.name, params));
    }
    const first = await oldBlock(fromBlock, fork.number, ports);
    if (first === undefined) return method.run(ports, params, context);
    const last = await oldBlock(toBlock, fork.number, ports);
    const old = { ...filter, fromBlock: first, toBlock: last ?? toQuantity(fork.number) };
    const before = (await remote(method.name, [old])) as unknown[];
    const head = (await ports.chain.head()).header.number;
    if (last !== undefined || head === fork.number) return JSON.stringify(before);
    const next = { ...filter, fromBlock: toQuantity(fork.number + 1) };
    const after = jsonString(await method.run(ports, [next], context));
    return JSON.stringify([...before, ...(JSON.parse(after) as unknown[])]);
  }

  /** The trie has what this chain changed alone: its proofs would show that accounts of the remote chain do not exist. */
  async function runProof(method: Method<RpcPorts>, [ports, params = []]: RunArguments) {
    const block = await oldBlock(params[2], fork.number - 1, ports);
    if (block !== undefined) return JSON.stringify(await remote(method.name, withItem(params, 2, block)));
    throw new ForkUnsupportedError("no node can prove the state of a fork", { fork: fork.number });
  }

  function runHere({ run }: Method<RpcPorts>, args: RunArguments) {
    return run(...args);
  }

  function rejectUnsupported({ name }: Method<RpcPorts>): never {
    throw new ForkUnsupportedError(`${name} needs what JSON-RPC does not give of the forked chain`);
  }

  function runnerOf(name: string): Runner | undefined {
    if (OF_BLOCK[name] !== undefined) {
      return (method, args) => runWithBlock(method, { at: OF_BLOCK[name]!, last: fork.number }, args);
    }
    if (OF_STATE[name] !== undefined) {
      const last = fork.number - 1;
      return (method, args) => runWithBlock(method, { at: OF_STATE[name]!, last }, args);
    }
    if (OF_TRANSACTION.has(name)) return runWithTransaction;
    if (FINDS_TRANSACTION.has(name)) return runSearch;
    if (OF_LOG_RANGE.has(name)) return runLogs;
    if (IN_CONTEXT.has(name)) return runInContext;
    if (UNSUPPORTED.has(name)) return rejectUnsupported;
    return OTHERS[name];
  }

  const OTHERS: Readonly<Record<string, Runner>> = {
    eth_feeHistory: runFeeHistory,
    eth_getProof: runProof,
    eth_newFilter: runNewFilter,
    eth_getFilterLogs: runFilterLogs,
    trace_filter: runTraceFilter,
  };

  const prefetch = createPrefetch(fork.call, toQuantity(fork.number));

  /** A call that the remote chain does not answer fails here: run without the results, it would stop all others as well. */
  async function runReading(method: Method<RpcPorts>, args: RunArguments) {
    const missed = fork.missedBy(() => ignoreFailure(method.run(...args)));
    try {
      if (missed.length > 0) await fork.call(missed);
    } catch (error) {
      throw stateReadFailure(error);
    }
    return runnerOf(method.name)!(method, args);
  }

  async function runPrefetched(method: Method<RpcPorts>, args: RunArguments) {
    const request = prefetchedCall(method.name, args[1] ?? []);
    if (request !== undefined) {
      const { execution } = args[0];
      await prefetch(request, () => fork.missedBy(() => execute(request, execution)));
    }
    return (runnerOf(method.name) ?? runHere)(method, args);
  }

  return new Map(
    Array.from(methods, ([name, method]): [string, Method<RpcPorts>] => {
      const runner = PREFETCHED.has(name) ? runPrefetched : READING.has(name) ? runReading : runnerOf(name);
      if (runner === undefined) return [name, method];
      // What the remote chain answers may hold any letters.
      return [name, { ...method, isAscii: false, run: (...args) => runner(method, args) }];
    }),
  );
}
