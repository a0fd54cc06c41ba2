import { ERROR_CODES } from "../../base/error-codes.ts";
import { NodeError } from "../../base/errors.ts";
import {
  bytesOf,
  finite,
  isJsonObject,
  listOf,
  nothing,
  object,
  oneOf,
  optional,
  plain,
  recordOf,
  type Shape,
  text,
  textOf,
  whole,
} from "../../base/primitives/shape.ts";
import type { ChannelMessage } from "../../base/threads/channel.ts";
import { CALL_WINDOW_LIMITS } from "../observe/activity/call-window.ts";

const PROCESS_MESSAGE_LIMITS = {
  /** Message weight per body byte of a request: codecs pad short keys to 66 characters, and a value weighs as much as 8 characters. */
  weightOfBodyBytes: 16,
  /** Weight allowed besides parts of a request, for log lines and records of calls. */
  weightMin: 1 << 20,
  /** Nesting of lists and objects: that of a request (`jsonDepthMax`, 64) inside that of a call. */
  depthMax: 80,
  /** Length of an error's chain of causes. */
  causesMax: 16,
  /** Maximum length of a method name in a request. */
  nameCharsMax: 2_048,
  /** Metrics of a process as text: a few hundred kilobytes. */
  expositionCharsMax: 1 << 24,
} as const;

/** An RPC process sent an invalid message; the node ended and replaced it. */
export class ProcessMessageError extends NodeError {
  readonly code = "RPC_PROCESS_MESSAGE";
  constructor(fault: string) {
    super(`an RPC process sent an invalid message: ${fault}`);
  }
}

/** Messages without an answer. All others are calls. */
const EVENTS: ReadonlySet<string> = new Set([
  "ready",
  "charge",
  "gone",
  "took",
  "ended",
  "badToken",
  "calls",
  "log",
  "chain.subscribe",
  "chain.unsubscribe",
]);

/**
 * Decodes all messages that the chain's process accepts from one RPC process: channel messages for offered names, each with an input of its
 * shape. They are checked only here; handlers get what they declare.
 */
export class ProcessMessages {
  readonly #names: ReadonlySet<string>;
  readonly #inputs: ReadonlyMap<string, Shape>;
  readonly #portInput: Shape;
  readonly #error: Shape;
  #lastCall = 0;

  /**
   * @param names of the offered handlers
   * @param bodyBytesMax of a request
   */
  constructor(names: Iterable<string>, bodyBytesMax: number) {
    const { weightOfBodyBytes, weightMin, depthMax } = PROCESS_MESSAGE_LIMITS;
    const anything = plain(weightMin + weightOfBodyBytes * bodyBytesMax, depthMax);
    this.#names = new Set(names);
    this.#error = errorOf(anything);
    this.#inputs = new Map(Object.entries(inputsOf(anything, this.#error, bodyBytesMax)));
    this.#portInput = (input) => {
      if (input !== undefined && !isJsonObject(input)) {
        return "is not an object";
      }
      return anything(input);
    };
  }

  /** @param value a list of messages, unchecked. @throws ProcessMessageError */
  *decode(value: unknown): Generator<ChannelMessage> {
    if (!Array.isArray(value)) throw new ProcessMessageError("no list");
    for (const message of value) {
      const fault = this.#faultOf(message);
      if (fault !== undefined) throw new ProcessMessageError(fault);
      yield message as ChannelMessage;
    }
  }

  #faultOf(message: unknown): string | undefined {
    if (typeof message !== "object" || message === null) return "no message";
    const { kind, id, name, input, value, error } = message as Readonly<Record<string, unknown>>;
    switch (kind) {
      case "event":
        return this.#faultOfInput(name, input, true);
      case "call":
        // Ids ascend: an answer belongs to one call.
        if (whole(id) !== undefined || (id as number) <= this.#lastCall) return "a call without a unique number";
        this.#lastCall = id as number;
        return this.#faultOfInput(name, input, false);
      case "abort":
        return whole(id) ?? ((id as number) > this.#lastCall ? "an abort of an unknown call" : undefined);
      case "result":
        return whole(id) ?? optional(textOf(PROCESS_MESSAGE_LIMITS.expositionCharsMax))(value);
      case "error":
        return whole(id) ?? this.#error(error);
      default:
        return "a message of unknown kind";
    }
  }

  #faultOfInput(name: unknown, input: unknown, isEvent: boolean): string | undefined {
    if (typeof name !== "string" || !this.#names.has(name)) return "for an unknown receiver";
    if (EVENTS.has(name) !== isEvent) return `${name} is ${isEvent ? "no event" : "no call"}`;
    const fault = (this.#inputs.get(name) ?? this.#portInput)(input);
    return fault === undefined ? undefined : `${name}: its input ${fault}`;
  }
}

/** Shapes by name, except for ports' inputs that their users decode further. */
function inputsOf(anything: Shape, error: Shape, bodyBytesMax: number): Readonly<Record<string, Shape>> {
  const { nameCharsMax } = PROCESS_MESSAGE_LIMITS;
  const connection = object({ connection: whole });
  const id = object({ id: whole });
  const params: Shape = (value) => (value === undefined || Array.isArray(value) ? anything(value) : "is not a list");
  const caller = object({
    remoteAddress: text,
    apiKey: optional(text),
    certified: optional(text),
    subject: optional(text),
  });
  return {
    ready: nothing,
    run: object({
      method: textOf(nameCharsMax),
      params,
      transport: oneOf(["http", "ws"]),
      connection: optional(whole),
      address: optional(textOf(nameCharsMax)),
      traceparent: optional(textOf(nameCharsMax)),
    }),
    admit: both(anything, object({ caller, connection: optional(whole) })),
    charge: object({ id: whole, cost: finite }),
    gone: connection,
    took: id,
    ended: object({ listener: oneOf(["http", "ws"]) }),
    badToken: both(anything, object({ source: text })),
    calls: both(anything, object({ records: listOf(callRecord(), CALL_WINDOW_LIMITS.entriesMax), more: whole })),
    log: both(
      anything,
      object({
        level: oneOf(["error", "warn", "info"]),
        message: text,
        data: recordOf((value) => (typeof value === "object" && value !== null ? "is an object" : undefined)),
        error: optional(error),
      }),
    ),
    "chain.subscribe": object({ id: whole, names: listOf(oneOf(["onBlock", "onRemoved", "onPending"]), 3) }),
    "chain.unsubscribe": id,
    "chain.submit": object({ transaction: bytesOf(bodyBytesMax) }),
  };
}

function callRecord(): Shape {
  const failed = object({ code: text, message: text, data: optional(text), facts: recordOf(text) });
  return object({
    method: text,
    target: optional(object({ to: optional(text), data: text })),
    failed: optional(failed),
    result: optional(text),
    block: optional(text),
    head: optional(whole),
    count: whole,
    totalMs: finite,
    notes: listOf(text),
  });
}

function errorOf(anything: Shape): Shape {
  const rejection = object({
    code: (code) => (Object.hasOwn(ERROR_CODES, String(code)) ? undefined : "is unknown"),
    details: recordOf(anything),
  });
  const error = (causes: number): Shape =>
    object({
      name: text,
      message: text,
      stack: optional(text),
      cause: optional(causes === 0 ? () => "has too many causes" : error(causes - 1)),
      rejection: optional(rejection),
    });
  return both(anything, error(PROCESS_MESSAGE_LIMITS.causesMax));
}

function both(first: Shape, second: Shape): Shape {
  return (value) => first(value) ?? second(value);
}
