import type { Hash } from "../../base/primitives/hash.ts";
import type { Hex } from "../../base/primitives/hex.ts";
import { isJsonObject } from "../../base/primitives/shape.ts";
import { RpcResponseError } from "../console/connection.ts";
import { CommandError } from "../errors.ts";
import type { AskedNode } from "./ask.ts";

export type BlockView = { readonly number: number; readonly hash: Hash; readonly timestamp: number };

/** The last fork that a node knows, and the EIP-2124 hash over block 0 and all forks until then. */
export type ScheduleView = { readonly forkId: Hex; readonly lastTime: number };

/** A node as it describes itself over JSON-RPC. */
export type NodeView = {
  readonly name: string;
  readonly clientVersion: string;
  readonly chainId: bigint;
  /** undefined where the node has pruned block 0. */
  readonly genesisHash: Hash | undefined;
  readonly head: BlockView;
  /** null before the first fork by time; undefined where a pruned node does not say. */
  readonly schedule: ScheduleView | null | undefined;
};

/** @throws CommandError for answers that a node does not give, ConnectionFailedError, RpcResponseError */
export async function viewNode(node: AskedNode): Promise<NodeView> {
  const { ask, name } = node;
  const [version, chainId, genesis, head, config] = await Promise.all([
    ask("web3_clientVersion"),
    ask("eth_chainId"),
    unlessPruned(blockAt(node, 0)),
    blockAt(node, "latest"),
    unlessPruned(ask("eth_config")),
  ]);
  return {
    name,
    clientVersion: textOf(version, name, "web3_clientVersion"),
    chainId: quantityOf(chainId, name, "eth_chainId"),
    genesisHash: genesis?.hash,
    head,
    schedule: config === undefined ? undefined : scheduleOf(config, name),
  };
}

/** EIP-4444: history is pruned. */
const PRUNED = 4444;

/** A node that retains only its newest blocks can still be compared by them. */
async function unlessPruned<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RpcResponseError && error.rpcCode === PRUNED) return undefined;
    throw error;
  }
}

/** @throws as viewNode */
export async function blockAt({ ask, name }: AskedNode, block: number | "latest"): Promise<BlockView> {
  const method = "eth_getBlockByNumber";
  const answer = objectOf(await ask(method, [block === "latest" ? block : hex(block), false]), name, method);
  const number = countOf(answer["number"], name, method);
  if (block !== "latest" && number !== block) throw malformed(name, method);
  return {
    number,
    hash: digitsOf(answer["hash"], 32, name, method) as Hash,
    timestamp: countOf(answer["timestamp"], name, method),
  };
}

/** Rules that the validators agreed on up to a block, by name; undefined where the node does not serve `clique`. @throws as viewNode */
export async function agreedAt(
  { ask, name }: AskedNode,
  block: number,
): Promise<ReadonlyMap<string, bigint> | undefined> {
  const method = "clique_parameters";
  let answer: unknown;
  try {
    answer = await ask(method, [hex(block)]);
  } catch (error) {
    if (error instanceof RpcResponseError && error.rpcCode === METHOD_NOT_FOUND) return undefined;
    throw error;
  }
  const agreed = objectOf(objectOf(answer, name, method)["agreed"], name, method);
  return new Map(
    Object.entries(agreed).map(([rule, value]) => {
      if (!Number.isSafeInteger(value) || (value as number) < 0) throw malformed(name, method);
      return [rule, BigInt(value as number)];
    }),
  );
}

/** Of JSON-RPC 2.0. */
const METHOD_NOT_FOUND = -32601;

function scheduleOf(answer: unknown, name: string): ScheduleView | null {
  const method = "eth_config";
  const { current, next, last } = objectOf(answer, name, method);
  const newest = last ?? next ?? current ?? null;
  if (newest === null) return null;
  const { activationTime, forkId } = objectOf(newest, name, method);
  if (!Number.isSafeInteger(activationTime) || (activationTime as number) < 0) throw malformed(name, method);
  return { forkId: digitsOf(forkId, 4, name, method), lastTime: activationTime as number };
}

type Members = Readonly<Record<string, unknown>>;

function objectOf(value: unknown, name: string, method: string): Members {
  if (!isJsonObject(value)) throw malformed(name, method);
  return value;
}

/** A version is a line. */
const TEXT_LENGTH_MAX = 200;

function textOf(value: unknown, name: string, method: string): string {
  if (typeof value !== "string" || value.length > TEXT_LENGTH_MAX) throw malformed(name, method);
  return value;
}

function quantityOf(value: unknown, name: string, method: string): bigint {
  if (typeof value !== "string" || !/^0x(0|[1-9a-f][0-9a-f]{0,63})$/.test(value)) throw malformed(name, method);
  return BigInt(value);
}

function countOf(value: unknown, name: string, method: string): number {
  const count = Number(quantityOf(value, name, method));
  if (!Number.isSafeInteger(count)) throw malformed(name, method);
  return count;
}

function digitsOf(value: unknown, bytes: number, name: string, method: string): Hex {
  if (typeof value !== "string" || !/^0x[0-9a-f]*$/.test(value) || value.length !== 2 + 2 * bytes) {
    throw malformed(name, method);
  }
  return value as Hex;
}

function hex(number: number): string {
  return `0x${number.toString(16)}`;
}

function malformed(name: string, method: string): CommandError {
  return new CommandError(`${name} returned an unexpected answer to ${method}`);
}
