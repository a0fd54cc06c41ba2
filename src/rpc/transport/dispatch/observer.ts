import type { ErrorClass } from "../../../base/error-codes.ts";
import type { Span } from "../../../base/telemetry/tracer.ts";
import type { JsonText } from "../codec.ts";
import type { CallContext } from "./context.ts";
import type { RawParams } from "./message.ts";

/**
 * What each call was and how it ended: with a result, or with `error`. `method` is the caller's word, of any length that the listener takes.
 */
export type CallListener = (
  method: string,
  params: RawParams,
  milliseconds: number,
  result: JsonText | undefined,
  error: unknown,
) => void;

/** What the server reports for counting and logging. Called on the hot path: implementations must be quick and never throw. */
export interface RpcObserver {
  /** A call or notification ended. `method` is "unknown" for unknown names, `errorCode` 0 for a result. */
  callEnded(method: string, errorCode: number, milliseconds: number): void;
  /** Absent if single calls are not observed. */
  readonly onCall?: CallListener | undefined;
  /**
   * A call or notification begins, and the dispatcher ends its span. Absent while tracing is disabled.
   * @param method "unknown" for unknown names
   */
  readonly traceCall?: ((method: string, context: CallContext) => Span) | undefined;
  /** A call failed for a reason that is not the caller's. */
  failed(method: string, fault: Exclude<ErrorClass, "caller">, error: unknown): void;
  /**
   * A request, connection or message was rejected before any call; `reason` is one of a fixed few words.
   * @param subject the rejected value, in the caller's words
   */
  rejected(transport: string, reason: string, subject?: string): void;
  /** Open connections of a transport changed. */
  connections(transport: string, count: number): void;
  /** The number of calls that wait for their turn changed. */
  waiting(count: number): void;
  /** Bytes in use of a memory budget changed. */
  memory(budget: "input" | "output", bytes: number): void;
}

/** Counts and logs nothing. */
export const SILENT_OBSERVER: RpcObserver = {
  callEnded() {},
  failed() {},
  rejected() {},
  connections() {},
  waiting() {},
  memory() {},
};
