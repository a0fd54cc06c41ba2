import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Hex } from "../../../base/primitives/hex.ts";
import { BATCH_MAX, FORWARDED_METHODS, type PageMethod } from "../page-methods.ts";
import type { Json } from "../verify/verdict.ts";

/** The members of answers that pages show, unverified. */
export type Block = Json & {
  readonly number: Hex;
  readonly hash: Hash;
  readonly parentHash: Hash;
  readonly timestamp: Hex;
  readonly miner: Address;
  readonly gasUsed: Hex;
  readonly gasLimit: Hex;
  readonly baseFeePerGas?: Hex;
  readonly blockAccessListHash?: Hash;
  readonly slotNumber?: Hex;
  readonly stateRoot: Hash;
  readonly transactionsRoot: Hash;
  readonly receiptsRoot: Hash;
  readonly extraData: Hex;
  readonly size: Hex;
  readonly transactions: readonly (Hash | Transaction)[];
};

export type Transaction = Json & {
  readonly hash: Hash;
  readonly blockHash: Hash | null;
  readonly blockNumber: Hex | null;
  readonly transactionIndex: Hex | null;
  readonly from: Address;
  readonly to: Address | null;
  readonly value: Hex;
  readonly nonce: Hex;
  readonly gas: Hex;
  readonly gasPrice: Hex;
  readonly maxFeePerGas?: Hex;
  readonly maxPriorityFeePerGas?: Hex;
  readonly input: Hex;
  readonly type: Hex;
};

export type Log = Json & {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: Hex;
  readonly logIndex: Hex;
  readonly blockNumber: Hex;
  readonly transactionHash: Hash;
};

export type Receipt = Json & {
  readonly transactionHash: Hash;
  readonly blockNumber: Hex;
  readonly status?: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
  readonly contractAddress: Address | null;
  readonly logs: readonly Log[];
};

/** JSON-RPC to the page's origin: calls of one turn share a batch. */

/** `evmintd explorer` rejects a whole batch with any other method, so other methods are not batched. */
const BATCHED: ReadonlySet<string> = new Set(FORWARDED_METHODS);

const METHOD_NOT_FOUND = -32601;
/** This node's code for a private method without a token. */
const UNAUTHORIZED = -32001;

/** A node's error response. */
export class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
  /** Whether the method or its namespace needs a setting or a token. */
  get isForbidden(): boolean {
    return this.code === METHOD_NOT_FOUND || this.code === UNAUTHORIZED;
  }
}

type Call = {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
};
type Answer = { readonly id: number | null; readonly result?: never; readonly error?: RpcError };

/** As in `evmintd explorer`: a tab does not survive much more. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;
let waiting: Call[] = [];

/** @throws RpcError, and TypeError if the node cannot be reached */
export function call<T>(method: PageMethod, ...params: readonly unknown[]): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    if (waiting.push({ method, params, resolve, reject }) === 1) queueMicrotask(sendWaiting);
  });
}

/** Like `call`, but undefined if the node returns an error, for optional data. */
export async function callIfOpen<T>(method: PageMethod, ...params: unknown[]): Promise<T | undefined> {
  try {
    return await call<T>(method, ...params);
  } catch (error) {
    if (error instanceof RpcError) return undefined;
    throw error;
  }
}

function sendWaiting(): void {
  const calls = waiting;
  waiting = [];
  const batched = calls.filter(({ method }) => BATCHED.has(method));
  for (let at = 0; at < batched.length; at += BATCH_MAX) void sendBatch(batched.slice(at, at + BATCH_MAX));
  for (const each of calls) {
    if (!BATCHED.has(each.method)) void sendBatch([each]);
  }
}

async function sendBatch(calls: readonly Call[]): Promise<void> {
  try {
    const body = calls.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
    const response = await fetch("/", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(calls.length === 1 ? body[0] : body),
    });
    const answers = [JSON.parse(await readText(response)) as Answer | readonly Answer[]].flat();
    const byId = new Map(answers.map((answer) => [answer.id, answer]));
    // The response to a batch that was rejected as a whole.
    const rejection = byId.get(null);
    calls.forEach(({ resolve, reject }, id) => {
      const answer = byId.get(id) ?? rejection;
      if (answer === undefined) reject(new RpcError(0, "no answer"));
      else if (answer.error) reject(new RpcError(answer.error.code, answer.error.message));
      else resolve(answer.result as never);
    });
  } catch (error) {
    for (const { reject } of calls) reject(error);
  }
}

/** @throws RpcError for an endless answer */
async function readText({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
    length += read.value.length;
    if (length > ANSWER_BYTES_MAX) {
      await reader?.cancel();
      throw new RpcError(0, "the answer is too large");
    }
    text += decoder.decode(read.value, { stream: true });
  }
  return text + decoder.decode();
}
