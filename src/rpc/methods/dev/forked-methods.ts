import type { Hash } from "../../../base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../../base/primitives/hex.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import { decodePooledTransaction } from "../../../base/types/transaction/decode.ts";
import { recoverSender } from "../../../base/types/transaction/sender.ts";
import { ForkUnsupportedError, stateReadFailure } from "../../../dev/fork/errors.ts";
import { createPrefetch, type PrefetchedCall } from "../../../dev/fork/prefetch.ts";
import type { RemoteCall, RemoteCalls } from "../../../dev/fork/remote-calls.ts";
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

/** Executes `request` on the newest state, only to collect its reads. */
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
type Runner = (
  this: ForkedMethods,
  method: Method<RpcPorts>,
  args: RunArguments,
) => ReturnType<Method<RpcPorts>["run"]>;

/** Index of the parameter that names a block, and the last block that the remote chain is asked about. */
type BlockParameter = { readonly at: number; readonly last: number };

/** `methods` of a forked chain: those about blocks of the remote chain are answered by it. */
export function forkedMethods(methods: Registry<RpcPorts>, fork: ForkedBlocks): Registry<RpcPorts> {
  return new ForkedMethods(methods, fork).registry();
}

function rejectUnsupported({ name }: Method<RpcPorts>): never {
  throw new ForkUnsupportedError(`${name} needs what JSON-RPC does not give of the forked chain`);
}

class ForkedMethods {
  readonly #methods: Registry<RpcPorts>;
  readonly #fork: ForkedBlocks;
  readonly #prefetch: ReturnType<typeof createPrefetch>;
  /** Parameters of the filters that begin before the fork. */
  readonly #oldFilters = new Map<string, Params>();

  constructor(methods: Registry<RpcPorts>, fork: ForkedBlocks) {
    this.#methods = methods;
    this.#fork = fork;
    this.#prefetch = createPrefetch(fork.call, toQuantity(fork.number));
  }

  registry(): Registry<RpcPorts> {
    return new Map(
      Array.from(this.#methods, ([name, method]): [string, Method<RpcPorts>] => {
        const runner = PREFETCHED.has(name)
          ? this.#runPrefetched
          : READING.has(name)
            ? this.#runReading
            : this.#runnerOf(name);
        if (runner === undefined) return [name, method];
        // What the remote chain answers may hold any letters.
        return [name, { ...method, isAscii: false, run: (...args) => runner.call(this, method, args) }];
      }),
    );
  }

  async #remote(method: string, params: Params): Promise<unknown> {
    const [result] = await this.#fork.call([{ method, params }], {
      check: (call, answer) => this.#check(call, answer),
    });
    return result;
  }

  /** Before anything of it is stored. */
  #check({ method, params }: RemoteCall, result: unknown): unknown {
    assertRemoteResult(method, this.#methods.get(method)?.resultSchema ?? {}, result);
    if (OF_TRANSACTION.has(method)) assertSameTransaction(params, result);
    return result;
  }

  /** The block that `selector` names if it is at most `last`, in the form of a request to the remote chain. */
  async #oldBlock(selector: unknown, last: number, { chain }: RpcPorts) {
    if (selector === "earliest") return 0 <= last ? "0x0" : undefined;
    if (NEWEST.includes(selector)) {
      return (await chain.head()).header.number <= last ? toQuantity(last) : undefined;
    }
    if (typeof selector === "object") {
      const { blockNumber, blockHash } = selector as Record<string, unknown>;
      return this.#oldNumber(blockNumber, last) ?? (await this.#oldHash(blockHash, last, chain));
    }
    return this.#oldNumber(selector, last) ?? (await this.#oldHash(selector, last, chain));
  }

  #oldNumber(selector: unknown, last: number): string | undefined {
    const isOld = typeof selector === "string" && NUMBER.test(selector) && Number(selector) <= last;
    return isOld ? toQuantity(Number(selector)) : undefined;
  }

  async #oldHash(selector: unknown, last: number, chain: RpcPorts["chain"]) {
    if (typeof selector !== "string" || !HASH.test(selector)) return undefined;
    const hash = selector.toLowerCase() as Hash;
    if (hash === this.#fork.hash) return this.#fork.number <= last ? hash : undefined;
    if ((await chain.header({ at: { blockHash: hash, requireCanonical: false } })) !== undefined) {
      return undefined;
    }
    const block = await this.#remote("eth_getBlockByHash", [hash, false]);
    return this.#isOldEnough(block) ? hash : undefined;
  }

  /** False for null, and for data of the remote chain after the fork. */
  #isOldEnough(result: unknown): boolean {
    const { number, blockNumber } = (result ?? {}) as Record<string, unknown>;
    return this.#oldNumber(number ?? blockNumber, this.#fork.number) !== undefined;
  }

  async #runWithBlock(
    method: Method<RpcPorts>,
    { at, last }: BlockParameter,
    [ports, params = [], context]: RunArguments,
  ) {
    const block = await this.#oldBlock(params[at], last, ports);
    if (block === undefined) return method.run(ports, params, context);
    return JSON.stringify(await this.#remote(method.name, withItem(params, at, block)));
  }

  async #runWithTransaction(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    if (await this.#isOldTransaction(params[0], [ports, params, context])) {
      return JSON.stringify(await this.#remote(method.name, params));
    }
    return method.run(ports, params, context);
  }

  /** True for a transaction of the remote chain up to the fork, and not of this chain. */
  async #isOldTransaction(hash: unknown, [ports, , context]: RunArguments) {
    if (typeof hash !== "string" || !HASH.test(hash)) return false;
    const lookUp = this.#methods.get("eth_getTransactionByHash")!;
    const found = await lookUp.run(ports, [hash], context);
    return jsonString(found) === "null" && this.#isOldEnough(await this.#remote(lookUp.name, [hash]));
  }

  async #runSearch(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const found = await method.run(ports, params, context);
    if (jsonString(found) !== "null") return found;
    const result = await this.#remote(method.name, params);
    const { hash } = (result ?? {}) as Record<string, unknown>;
    const isOld = await this.#isOldTransaction(hash ?? result, [ports, params, context]);
    return isOld ? JSON.stringify(result) : "null";
  }

  async #runInContext(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const { blockNumber } = (params[1] ?? {}) as Record<string, unknown>;
    const old = await this.#oldBlock(blockNumber, this.#fork.number - 1, ports);
    if (old === undefined) return method.run(ports, params, context);
    throw new ForkUnsupportedError(`${method.name} does not reach before the fork`, { block: old });
  }

  /** @throws ForkUnsupportedError for traces of both chains */
  async #runTraceFilter(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const { fromBlock, toBlock } = (params[0] ?? {}) as Record<string, unknown>;
    const first = await this.#oldBlock(fromBlock ?? "earliest", this.#fork.number, ports);
    if (first === undefined) return method.run(ports, params, context);
    const last = await this.#oldBlock(toBlock, this.#fork.number, ports);
    if (last !== undefined) {
      const filter = { ...(params[0] as object), fromBlock: first, toBlock: last };
      return JSON.stringify(await this.#remote(method.name, [filter]));
    }
    throw new ForkUnsupportedError(
      `trace_filter over the fork: ask for the blocks up to ${this.#fork.number} and for those after it`,
      { fromBlock: first, fork: this.#fork.number },
    );
  }

  /** `eth_newFilter`: remembers a filter that begins before the fork, for `eth_getFilterLogs`. */
  async #runNewFilter(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const { fromBlock } = (params[0] ?? {}) as Record<string, unknown>;
    const id = await method.run(ports, params, context);
    if ((await this.#oldBlock(fromBlock, this.#fork.number, ports)) === undefined) return id;
    const { filters } = ports.sessions;
    for (const known of this.#oldFilters.keys()) if (!filters.has(known)) this.#oldFilters.delete(known);
    this.#oldFilters.set(JSON.parse(jsonString(id)) as string, params);
    return id;
  }

  async #runFilterLogs(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const logs = await method.run(ports, params, context);
    const filter = this.#oldFilters.get(params[0] as string);
    if (filter === undefined) return logs;
    return this.#runLogs(this.#methods.get("eth_getLogs")!, [ports, filter, context]);
  }

  /** Fees of blocks up to the fork, or of those after it; a range that spans the fork begins after it. */
  async #runFeeHistory(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const [count, newest] = params;
    const old = await this.#oldBlock(newest, this.#fork.number, ports);
    if (old !== undefined) {
      return JSON.stringify(await this.#remote(method.name, withItem(params, 1, old)));
    }
    const head = (await ports.chain.head()).header.number;
    const isNumber = typeof newest === "string" && NUMBER.test(newest);
    const last = isNumber ? Number(newest) : newest === "pending" ? head + 1 : head;
    const countMax = Math.min(last, head + 1) - this.#fork.number;
    const isMore = Number(count) > countMax;
    return method.run(ports, isMore ? withItem(params, 0, countMax) : params, context);
  }

  /** Logs of a range over the fork come from both chains. */
  async #runLogs(method: Method<RpcPorts>, [ports, params = [], context]: RunArguments) {
    const filter = params[0] as Readonly<Record<string, unknown>> | undefined;
    if (typeof filter !== "object" || filter === null) return method.run(ports, params, context);
    const { blockHash, fromBlock, toBlock } = filter;
    if (blockHash !== undefined) {
      const old = await this.#oldHash(blockHash, this.#fork.number, ports.chain);
      if (old === undefined) return method.run(ports, params, context);
      return JSON.stringify(await this.#remote(method.name, params));
    }
    const first = await this.#oldBlock(fromBlock, this.#fork.number, ports);
    if (first === undefined) return method.run(ports, params, context);
    const last = await this.#oldBlock(toBlock, this.#fork.number, ports);
    const old = { ...filter, fromBlock: first, toBlock: last ?? toQuantity(this.#fork.number) };
    const before = (await this.#remote(method.name, [old])) as unknown[];
    const head = (await ports.chain.head()).header.number;
    if (last !== undefined || head === this.#fork.number) return JSON.stringify(before);
    const next = { ...filter, fromBlock: toQuantity(this.#fork.number + 1) };
    const after = jsonString(await method.run(ports, [next], context));
    return JSON.stringify([...before, ...(JSON.parse(after) as unknown[])]);
  }

  /** The trie has only this chain's changes: its proofs would show that accounts of the remote chain do not exist. */
  async #runProof(method: Method<RpcPorts>, { at, last }: BlockParameter, [ports, params = []]: RunArguments) {
    const block = await this.#oldBlock(params[at], last, ports);
    if (block !== undefined) return JSON.stringify(await this.#remote(method.name, withItem(params, at, block)));
    throw new ForkUnsupportedError("no node can prove the state of a fork", { fork: this.#fork.number });
  }

  #runnerOf(name: string): Runner | undefined {
    const { number } = this.#fork;
    const block = OF_BLOCK[name];
    if (block !== undefined) {
      return (method, args) => this.#runWithBlock(method, { at: block, last: number }, args);
    }
    const state = OF_STATE[name];
    if (state !== undefined) {
      return (method, args) => this.#runWithBlock(method, { at: state, last: number - 1 }, args);
    }
    if (OF_TRANSACTION.has(name)) return this.#runWithTransaction;
    if (FINDS_TRANSACTION.has(name)) return this.#runSearch;
    if (OF_LOG_RANGE.has(name)) return this.#runLogs;
    if (IN_CONTEXT.has(name)) return this.#runInContext;
    if (UNSUPPORTED.has(name)) return rejectUnsupported;
    switch (name) {
      case "eth_feeHistory":
        return this.#runFeeHistory;
      case "eth_getProof":
        return (method, args) => this.#runProof(method, { at: 2, last: number - 1 }, args);
      // A witness proves the state before the block.
      case "debug_executionWitness":
      case "debug_executionWitnessByHash":
        return (method, args) => this.#runProof(method, { at: 0, last: number }, args);
      case "eth_newFilter":
        return this.#runNewFilter;
      case "eth_getFilterLogs":
        return this.#runFilterLogs;
      case "trace_filter":
        return this.#runTraceFilter;
      default:
        return undefined;
    }
  }

  /** A call that the remote chain does not answer fails here: run without the results, it would stop all others as well. */
  async #runReading(method: Method<RpcPorts>, args: RunArguments) {
    const missed = this.#fork.missedBy(() => ignoreFailure(method.run(...args)));
    try {
      if (missed.length > 0) await this.#fork.call(missed);
    } catch (error) {
      throw stateReadFailure(error);
    }
    return this.#runnerOf(method.name)!.call(this, method, args);
  }

  async #runPrefetched(method: Method<RpcPorts>, args: RunArguments) {
    const request = prefetchedCall(method.name, args[1] ?? []);
    if (request !== undefined) {
      const { execution } = args[0];
      await this.#prefetch(request, () => this.#fork.missedBy(() => execute(request, execution)));
    }
    const runner = this.#runnerOf(method.name);
    return runner === undefined ? method.run(...args) : runner.call(this, method, args);
  }
}
