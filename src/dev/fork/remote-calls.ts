import { isJsonObject } from "../../base/primitives/shape.ts";
import { ForkAnswerError, ForkArchiveError, ForkRemoteError, ForkRevertError } from "./errors.ts";

/** One JSON-RPC call of the remote chain. */
export type RemoteCall = { readonly method: string; readonly params: readonly unknown[] };

/** What `result` of `call` is worth, in its one spelling. @throws ForkRemoteError where it is not of its form */
export type ResultCheck = (call: RemoteCall, result: unknown) => unknown;

type CallOptions = {
  /** Of methods that `checkResult` does not know. */
  readonly check?: ResultCheck;
  /** The calls fail after this time, in ms. */
  readonly msMax?: number;
};

/**
 * Results of calls, in their order, each of the form of its method.
 * @throws ForkRemoteError, ForkArchiveError, ForkProofError, ForkAnswerError, ForkRevertError
 */
export type RemoteCalls = (calls: readonly RemoteCall[], options?: CallOptions) => Promise<readonly unknown[]>;

/** The same while the thread waits: state is synchronous. */
export type SyncRemoteCalls = (calls: readonly RemoteCall[]) => readonly unknown[];

/** JSON-RPC codes that ask to try later: geth's, QuickNode's, and the HTTP status that some providers put there. */
const BUSY_CODES: readonly unknown[] = [-32005, -32007, 429];
const PRUNED_CODE = 4444;
const PRUNED_TEXT =
  /missing trie node|header not found|pruned|archive|historical state|state .*(?:not available|unavailable)|old data not available/i;
const REVERTED_CODE = 3;
/** A reason of a revert has a line or two; ABI-encoded data is in `data`. */
const MESSAGE_LENGTH_MAX = 500;
const REVERT_DATA = /^0x(?:[0-9a-fA-F]{2})*$/;

/** This attempt failed, and the next one may not. */
export class TemporaryError extends Error {}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Results of `calls`, whose ids are their indexes, in this order; `answer` may have them in any.
 * @throws TemporaryError, ForkRemoteError where it is no answer to the batch; ForkArchiveError, ForkRevertError, ForkAnswerError for an error of one call
 */
export function resultsOfBatch(answer: unknown, calls: readonly RemoteCall[]): readonly unknown[] {
  if (!Array.isArray(answer)) throw wholeBatchError(answer);
  const items = answer.map(objectOf);
  if (items.length === 1 && items[0]!["id"] === null) throw wholeBatchError(items[0]);
  if (items.length !== calls.length) {
    throw new ForkRemoteError(`${items.length} answers to a batch of ${calls.length} calls`);
  }
  const byId = new Map(items.map((item) => [item["id"], item]));
  return calls.map((call, id) => {
    const item = byId.get(id);
    if (item === undefined) {
      throw new ForkRemoteError(`no answer to ${call.method}`, { method: call.method });
    }
    return resultOf(item, call);
  });
}

function resultOf({ result, error }: JsonObject, { method }: RemoteCall): unknown {
  const isError = error !== undefined && error !== null;
  // `result: null` beside an error is how JSON-RPC 1.0 had it, and some nodes still do.
  if (!isError && result !== undefined) return result;
  if (!isError || (result !== undefined && result !== null)) {
    throw new ForkRemoteError(`an answer to ${method} that is no JSON-RPC`, { method });
  }
  const { code, message, data } = objectOf(error);
  if (typeof code !== "number" || typeof message !== "string") {
    throw new ForkRemoteError(`an error of ${method} that is no JSON-RPC`, { method });
  }
  const text = printable(message);
  if (BUSY_CODES.includes(code)) throw new TemporaryError(text);
  if (code === REVERTED_CODE) {
    const isData = typeof data === "string" && REVERT_DATA.test(data);
    throw new ForkRevertError(text, { data: isData ? data : "0x" });
  }
  if (code === PRUNED_CODE || PRUNED_TEXT.test(message)) throw new ForkArchiveError(text);
  throw new ForkAnswerError(text, { method, remoteCode: code });
}

/**
 * Without the text: an answer of another form may come from any program. Some providers send the error alone, without what surrounds it.
 */
function wholeBatchError(answer: unknown): Error {
  const object = typeof answer === "object" && answer !== null ? (answer as JsonObject) : {};
  const { error = object } = object;
  const { code, message } = typeof error === "object" && error !== null ? (error as JsonObject) : {};
  if (BUSY_CODES.includes(code)) return new TemporaryError(`busy (${code})`);
  if (code === PRUNED_CODE || (typeof message === "string" && PRUNED_TEXT.test(message))) {
    return new ForkArchiveError("it does not have the state of that block: ask an archive node");
  }
  const suffix = Number.isSafeInteger(code) ? ` (error ${code})` : "";
  return new ForkRemoteError(`no answer to a batch${suffix}`);
}

function objectOf(value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw new ForkRemoteError("an item of a batch that is no object");
}

/** The text of a remote node goes to logs and terminals. */
function printable(message: string): string {
  return message.slice(0, MESSAGE_LENGTH_MAX).replace(/[\p{Cc}\p{Cf}]/gu, " ");
}
