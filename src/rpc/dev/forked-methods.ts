import type { RemoteCalls } from "../../dev/fork/remote-calls.ts";
import type { Hash } from "../../primitives/hash.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { Method, Registry } from "../dispatch/method.ts";
import { jsonString } from "../params/codec.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";

/** What the remote chain answers: everything about blocks up to the fork, and states before it. */
export type ForkedBlocks = {
  readonly number: number;
  readonly hash: Hash;
  readonly call: RemoteCalls;
};

/** Methods about the content of a block, by the index of the parameter that names it. */
const OF_BLOCK: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 0,
  eth_getBlockByHash: 0,
  eth_getBlockReceipts: 0,
  eth_getBlockTransactionCountByNumber: 0,
  eth_getBlockTransactionCountByHash: 0,
  eth_getTransactionByBlockNumberAndIndex: 0,
  eth_getTransactionByBlockHashAndIndex: 0,
  eth_getUncleCountByBlockNumber: 0,
  eth_getUncleCountByBlockHash: 0,
};

/** The same of the state after a block. The state after the forked one is this chain's: it has the funded accounts. */
const OF_STATE: Readonly<Record<string, number>> = {
  eth_getBalance: 1,
  eth_getTransactionCount: 1,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_getProof: 2,
  eth_call: 1,
  eth_estimateGas: 1,
  eth_createAccessList: 1,
};

/** Methods about a transaction by its hash, which may be on either side of the fork. */
const OF_TRANSACTION: ReadonlySet<string> = new Set([
  "eth_getTransactionByHash",
  "eth_getTransactionReceipt",
]);

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
type Context = Parameters<Method<RpcPorts>["run"]>[2];

/** `methods` of a forked chain: those about blocks of the remote chain are answered by it. */
export function forkedMethods(methods: Registry<RpcPorts>, fork: ForkedBlocks): Registry<RpcPorts> {
  async function remote(method: string, params: Params): Promise<unknown> {
    const [result] = await fork.call([{ method, params }]);
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
    if ((await chain.header({ blockHash: hash, requireCanonical: false })) !== undefined) {
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
    [ports, params = [], context]: [RpcPorts, Params | undefined, Context],
  ) {
    const block = await oldBlock(params[at], last, ports);
    if (block === undefined) return method.run(ports, params, context);
    return JSON.stringify(await remote(method.name, withItem(params, at, block)));
  }

  /** A transaction that waits here has no receipt anywhere: it is not asked for each time a caller looks. */
  async function isPending(hash: unknown, { chain }: RpcPorts): Promise<boolean> {
    return typeof hash === "string" && HASH.test(hash)
      ? (await chain.pooled(hash.toLowerCase() as Hash)) !== undefined
      : false;
  }

  async function runWithTransaction(
    method: Method<RpcPorts>,
    [ports, params = [], context]: [RpcPorts, Params | undefined, Context],
  ) {
    const found = await method.run(ports, params, context);
    if (jsonString(found) !== "null" || (await isPending(params[0], ports))) return found;
    const result = await remote(method.name, params);
    return isOldEnough(result) ? JSON.stringify(result) : "null";
  }

  /** Fees of blocks up to the fork, or of those after it: a range over it begins after it. */
  async function runFeeHistory(
    method: Method<RpcPorts>,
    [ports, params = [], context]: [RpcPorts, Params | undefined, Context],
  ) {
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
  async function runLogs(
    method: Method<RpcPorts>,
    [ports, params = [], context]: [RpcPorts, Params | undefined, Context],
  ) {
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

  return new Map(
    Array.from(methods, ([name, method]): [string, Method<RpcPorts>] => {
      const run: Method<RpcPorts>["run"] | undefined =
        OF_BLOCK[name] !== undefined
          ? (...args) => runWithBlock(method, { at: OF_BLOCK[name]!, last: fork.number }, args)
          : OF_STATE[name] !== undefined
            ? (...args) =>
                runWithBlock(method, { at: OF_STATE[name]!, last: fork.number - 1 }, args)
            : OF_TRANSACTION.has(name)
              ? (...args) => runWithTransaction(method, args)
              : name === "eth_getLogs"
                ? (...args) => runLogs(method, args)
                : name === "eth_feeHistory"
                  ? (...args) => runFeeHistory(method, args)
                  : undefined;
      return [name, run === undefined ? method : { ...method, run }];
    }),
  );
}
