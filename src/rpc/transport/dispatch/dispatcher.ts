import { errorClassOf } from "../../../base/errors.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { errorTypeOf, type Span } from "../../../base/telemetry/tracer.ts";
import { allAtOnce, inSlices } from "../../../base/threads/in-slices.ts";
import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import { SharedSlices } from "../../../base/threads/shared-slices.ts";
import { opens } from "../auth/credential.ts";
import type { JsonPart, JsonText } from "../codec.ts";
import {
  InvalidRequestError,
  MethodNotFoundError,
  NotificationsUnsupportedError,
  ParseError,
  RequestTimeoutError,
  ResponseTooLargeError,
  TooManyError,
  UnauthorizedError,
} from "../errors.ts";
import type { RpcLimits } from "../limits.ts";
import type { MemoryBudget } from "../memory-budget.ts";
import { type Answer, answerParts, errorAnswer, resultAnswer } from "./answer.ts";
import { BatchRun } from "./batch-run.ts";
import type { CallAdmission } from "./call-admission.ts";
import { CallQueue, type ComingWork } from "./call-queue.ts";
import type { RequestContext } from "./context.ts";
import { toErrorObject } from "./error-codes.ts";
import { jsonSyntaxError } from "./json-error.ts";
import { scanJson, skipBlanks } from "./json-scan.ts";
import { type Message, type RawParams, readMessage } from "./message.ts";
import type { Method, Registry } from "./method.ts";
import type { RpcObserver } from "./observer.ts";
import { PlainMessageReader } from "./plain-messages.ts";
import { bytesInSteps, textInSteps } from "./text-in-steps.ts";

/** What goes back for one body: JSON text in pieces, to be written one after the other. */
export type Reply = {
  readonly parts: readonly JsonPart[];
  /** Of all parts, where it is known: it takes long to find for a long string. */
  readonly byteLength: number | undefined;
  /** The body was no JSON: nothing after it in a stream can be read. */
  readonly isParseError: boolean;
  /** One single call that lacked the credential: HTTP 401. */
  readonly isUnauthorized: boolean;
};

/** A message that runs a method. */
type Runnable = Extract<Message, { readonly method: string }>;

/** A body as JSON, and the ids of its messages as they were written. */
type ReadBody = { readonly value: unknown; readonly ids: readonly (string | undefined)[] };

/** Heap of one parsed value, on average: 16 MB of `{"a":1}` become 600 MB. */
const VALUE_BYTES = 128;

/**
 * Bodies from here on are parsed in turn, and in steps. Hostile ones of 5 MB take up to 200 ms each (objects of many keys, numbers of many digits):
 * twenty that arrived together held up everything else for seconds.
 */
const LARGE_BODY_BYTES = 128 << 10;

/** Stands for the method's name if it is missing. */
const NO_METHOD = "request";

/** Shorter results are encoded in a millisecond. */
const LARGE_TEXT_CHARS = 2 << 20;

const OUTPUT_MEMORY = "too much memory in answers, try again later";

/** The one place that knows JSON-RPC 2.0: messages, batches, limits, access, errors, counting. */
export class Dispatcher<Modules> {
  readonly #limits: RpcLimits;
  readonly #observer: RpcObserver;
  readonly #output: MemoryBudget | undefined;
  readonly #registry: Registry<Modules>;
  readonly #modules: Modules;
  readonly #admission: CallAdmission | undefined;
  readonly #queue: CallQueue;
  readonly #plainMessages: PlainMessageReader;
  readonly #timers: Timers;
  readonly #batchSlices: SharedSlices;
  readonly #parseSlices: SharedSlices;
  readonly #encodeSlices: SharedSlices;
  /** Ends when the large body is read that arrived last. */
  #reading: Promise<undefined> = Promise.resolve(undefined);
  readonly #beforeWork = new Set<(work: ComingWork) => void>();
  /** When the last call ended: a batch reads the clock once for each of its calls. */
  #endedMs = 0;

  constructor(
    options: {
      readonly limits: RpcLimits;
      readonly observer: RpcObserver;
      /** Answers of all connections that are not sent; absent: not limited. */
      readonly output?: MemoryBudget;
    },
    modules: {
      readonly registry: Registry<Modules>;
      readonly modules: Modules;
      readonly timers: Timers;
      /** Absent: every caller is served alike. */
      readonly admission?: CallAdmission;
    },
  ) {
    const { limits, observer, output } = options;
    this.#limits = limits;
    this.#observer = observer;
    this.#output = output;
    this.#registry = modules.registry;
    this.#modules = modules.modules;
    this.#admission = modules.admission;
    this.#timers = modules.timers;
    this.#batchSlices = new SharedSlices(modules.timers);
    this.#parseSlices = new SharedSlices(modules.timers);
    this.#encodeSlices = new SharedSlices(modules.timers);
    this.#plainMessages = new PlainMessageReader(limits);
    this.#queue = new CallQueue(
      {
        waitingMax: limits.callQueueMax,
        onWaiting: (count) => observer.waiting(count),
        beforeWork: (work) => this.#announceWork(work),
      },
      modules.timers,
    );
  }

  /**
   * Runs the JSON value that `body` is: a message or a batch. undefined: nothing is to be answered.
   * Never throws or rejects; synchronous when all its handlers are.
   */
  dispatch(body: Buffer, context: RequestContext): Reply | undefined | Promise<Reply | undefined> {
    try {
      if (body.length < LARGE_BODY_BYTES) return this.#run(body, context);
      context.inputBytes = body.length;
      return this.#readLarge(body, context)
        .then((read) => (context.isAborted ? undefined : this.#answerBody(read, context)))
        .catch((error) => this.#crashed(error));
    } catch (error) {
      return this.#crashed(error);
    }
  }

  /** A bug in the code that reads bodies. As with a bug of a method, the node goes on, or a stranger's bytes could stop it. */
  #crashed(error: unknown): Reply {
    this.#observer.failed(NO_METHOD, "internal", error);
    return plainReply(answerParts(errorAnswer("null", error)));
  }

  /** One large body after the other, so that only one of them is text and value besides its bytes. */
  #readLarge(body: Buffer, context: RequestContext): Promise<ReadBody | Reply | undefined> {
    const read = this.#reading.then(() =>
      context.isAborted ? undefined : inSlices(this.#readInSteps(body, context), this.#parseSlices),
    );
    const isRead = () => undefined;
    this.#reading = read.then(isRead, isRead);
    return read;
  }

  /** Has `task` called before this thread works on a heavy call or on a batch. @returns what ends that */
  beforeWork(task: (work: ComingWork) => void): () => void {
    this.#beforeWork.add(task);
    return () => void this.#beforeWork.delete(task);
  }

  #announceWork(work: ComingWork): void {
    for (const task of this.#beforeWork) task(work);
  }

  #run(body: Buffer, context: RequestContext) {
    const plain = this.#plainMessages.read(body);
    if (plain !== undefined) {
      context.inputBytes = body.length + VALUE_BYTES * plain.items;
      return plain.isBatch
        ? this.#dispatchBatch(plain.messages, context)
        : this.#dispatchSingle(plain.messages[0]!, context);
    }
    return this.#answerBody(allAtOnce(this.#readInSteps(body, context)), context);
  }

  /** Reads a body that is not plain; a reply where it cannot be read. Of a large one each step takes some milliseconds, and so do its parameters after the last. */
  *#readInSteps(body: Buffer, context: RequestContext): Generator<undefined, ReadBody | Reply | undefined> {
    // Over IPC blanks are between values; a frame of a WebSocket is a value, as in geth.
    if (context.transport !== "ws" && skipBlanks(body, 0) === body.length) return undefined;
    try {
      const { ids, items, end } = scanJson(body, this.#limits);
      context.inputBytes = body.length + VALUE_BYTES * items;
      yield;
      // A second value would be lost without a word: its caller would wait for ever.
      if (skipBlanks(body, end) !== body.length) throw new SyntaxError("more than one JSON value");
      const text = yield* textInSteps(body, end);
      const value: unknown = JSON.parse(text);
      yield;
      return { value, ids };
    } catch (error) {
      const isParseError = !(error instanceof InvalidRequestError);
      this.#observer.rejected(context.transport, isParseError ? "parse" : "json");
      this.#observer.onCall?.(NO_METHOD, undefined, 0, undefined, isParseError ? new ParseError() : error);
      // geth names the fault on connections, not over HTTP. Depth is bounded where the scan came to its end alone.
      const text = isParseError && context.transport !== "http" ? jsonSyntaxError(body) : undefined;
      const answer = errorAnswer("null", isParseError ? new ParseError(text) : error);
      return { ...plainReply(answerParts(answer)), isParseError };
    }
  }

  #answerBody(read: ReadBody | Reply | undefined, context: RequestContext) {
    if (read === undefined || "parts" in read) return read;
    const { value, ids } = read;
    if (Array.isArray(value)) {
      const messages = value.map((message, index) => this.#read(message, ids[index], context));
      return this.#dispatchBatch(messages, context);
    }
    return this.#dispatchSingle(this.#read(value, ids[0], context), context);
  }

  #read(value: unknown, id: string | undefined, context: RequestContext): Message {
    return readMessage(value, id, this.#limits.idBytesMax, context.transport === "ws");
  }

  #dispatchSingle(message: Message, context: RequestContext) {
    const answer = this.#answerTo(message, context, this.#callTimeoutMs(context));
    if (answer instanceof Promise) return answer.then((done) => this.#singleReply(message, done, context));
    return this.#singleReply(message, answer, context);
  }

  #singleReply(message: Message, answer: Answer | undefined, context: RequestContext): Reply | undefined {
    if (answer === undefined) return undefined;
    const isUnauthorized = message.kind === "call" && this.#lacksCredential(message.method, context);
    return { parts: answerParts(answer), byteLength: answer.byteLength, isParseError: false, isUnauthorized };
  }

  #dispatchBatch(
    messages: readonly Message[],
    context: RequestContext,
  ): Reply | undefined | Promise<Reply | undefined> {
    if (messages.length === 0) {
      return plainReply(answerParts(errorAnswer("null", new InvalidRequestError("empty batch"))));
    }
    if (messages.length > this.#limits.batchItemsMax) {
      this.#observer.rejected(context.transport, "batch");
      return rejectedBatch(messages, new InvalidRequestError("batch too large"));
    }
    const deadline = this.#timers.now() + this.#callTimeoutMs(context);
    const batch = new BatchRun<Modules>(messages, context, deadline, this.#output);
    const wait = this.#batchSlices.enter() ?? this.#advance(batch, true);
    return wait === undefined ? this.#batchReply(batch) : this.#finishBatch(batch, wait);
  }

  async #finishBatch(batch: BatchRun<Modules>, first: Promise<Answer | undefined>): Promise<Reply | undefined> {
    let wait: Promise<Answer | undefined> | undefined = first;
    while (wait !== undefined) {
      const answer: Answer | undefined = await wait;
      if (answer !== undefined) batch.answer.add(answer);
      // What is not an answer was a turn of this batch.
      wait = this.#advance(batch, !batch.isCalling);
    }
    return this.#batchReply(batch);
  }

  /**
   * Runs calls of a batch until its end, or up to one that it has to wait for: nearly all are synchronous, and a thousand awaits of values
   * take their time.
   *
   * @param isTurn whether this turn is the batch's own: its next call runs however long others took
   * @returns the answer of that call, or the next turn
   */
  #advance(batch: BatchRun<Modules>, isTurn: boolean): Promise<Answer | undefined> | undefined {
    const { context, deadline, answer: answers } = batch;
    let now = this.#timers.now();
    this.#announceWork({ nowMs: now, isLong: true });
    let isOver = !isTurn && this.#batchSlices.isOver(now);
    batch.isCalling = false;
    while (batch.next < batch.messages.length && !answers.isEvicted) {
      if (isOver) return this.#batchSlices.next();
      const message = batch.messages[batch.next++]!;
      const answer = this.#isFull(batch)
        ? this.#unrun(message, new ResponseTooLargeError())
        : now > deadline || context.isAborted
          ? this.#unrun(message, new RequestTimeoutError())
          : this.#answerTo(message, context, deadline - now, now, batch);
      if (answer instanceof Promise) {
        batch.isCalling = true;
        return answer;
      }
      if (answer !== undefined) answers.add(answer);
      now = Math.max(now, this.#endedMs);
      isOver = this.#batchSlices.isOver(now);
    }
    return undefined;
  }

  #isFull(batch: BatchRun<Modules>): boolean {
    if (!batch.isTooLarge && batch.answer.size > this.#limits.batchResponseBytesMax) {
      batch.isTooLarge = true;
      this.#observer.rejected(batch.context.transport, "batchResponse");
    }
    return batch.isTooLarge;
  }

  #batchReply(batch: BatchRun<Modules>): Reply | undefined {
    if (batch.answer.isEvicted) {
      this.#observer.rejected(batch.context.transport, "outputMemory");
      return rejectedBatch(batch.messages, new TooManyError(OUTPUT_MEMORY));
    }
    this.#isFull(batch);
    const done = batch.answer.end();
    return done && plainReply(done.parts, done.byteLength);
  }

  /** The answer to a call of a batch that is not run any more. */
  #unrun(message: Message, error: Error): Answer | undefined {
    if (message.kind === "call") return errorAnswer(message.id, error);
    return message.kind === "invalid" ? errorAnswer(message.id, new InvalidRequestError()) : undefined;
  }

  #answerTo(
    message: Message,
    context: RequestContext,
    timeoutMs: number,
    startMs = this.#timers.now(),
    batch?: BatchRun<Modules>,
  ): Answer | undefined | Promise<Answer | undefined> {
    if (message.kind === "response") return undefined;
    if (message.kind === "invalid") {
      this.#observer.rejected(context.transport, "request");
      this.#observer.onCall?.(NO_METHOD, undefined, 0, undefined, new InvalidRequestError());
      return errorAnswer(message.id, new InvalidRequestError());
    }
    const span = this.#observer.traceCall === undefined ? undefined : this.#trace(message, context);
    try {
      const method = batch?.methodOf(message.method) ?? this.#available(message.method, context);
      batch?.remember(message.method, method);
      const result = this.#runMethod(method, message.params, context);
      const succeeded = (json: JsonText) => this.#succeeded(message, method, startMs, json, span);
      if (!(result instanceof Promise)) return andThen(this.#inPieces(result), succeeded);
      const awaited = method.isUntimed ? result : this.#withTimeout(result, timeoutMs, context);
      return awaited.then(
        (done) => andThen(this.#inPieces(done), succeeded),
        (error) => this.#failed(message, startMs, error, span),
      );
    } catch (error) {
      return this.#failed(message, startMs, error, span);
    }
  }

  #trace(message: Runnable, context: RequestContext): Span | undefined {
    context.span = this.#observer.traceCall?.(this.#labelOf(message), context);
    return context.span;
  }

  /** The caller's method name, if the method exists. */
  #labelOf({ method }: Runnable): string {
    return this.#registry.has(method) ? method : "unknown";
  }

  /** A long text as bytes, which are written to a connection without a pass over them. */
  #inPieces(result: JsonText): MaybePromise<JsonText> {
    if (typeof result !== "string" || result.length < LARGE_TEXT_CHARS) return result;
    return inSlices(bytesInSteps(result), this.#encodeSlices);
  }

  #succeeded(
    message: Runnable,
    method: Method<Modules>,
    startMs: number,
    result: JsonText,
    span: Span | undefined,
  ): Answer | undefined {
    // The name of the declaration: looking up that of the message would read its letters again.
    this.#ended(method.name, 0, startMs);
    span?.end();
    this.#observer.onCall?.(method.name, message.params, this.#endedMs - startMs, result, undefined);
    return message.kind === "call" ? resultAnswer(message.id, result, method.isAscii) : undefined;
  }

  #failed(message: Runnable, startMs: number, error: unknown, span: Span | undefined): Answer | undefined {
    const label = this.#labelOf(message);
    const fault = errorClassOf(error);
    if (fault !== "caller") this.#observer.failed(label, fault, error);
    const { code } = toErrorObject(error);
    this.#ended(label, code, startMs);
    span?.describe({ "rpc.response.status_code": String(code) });
    span?.end(errorTypeOf(error));
    this.#observer.onCall?.(message.method, message.params, this.#endedMs - startMs, undefined, error);
    return message.kind === "call" ? errorAnswer(message.id, error) : undefined;
  }

  #ended(method: string, errorCode: number, startMs: number): void {
    this.#endedMs = this.#timers.now();
    this.#observer.callEnded(method, errorCode, this.#endedMs - startMs);
  }

  #runMethod(method: Method<Modules>, params: RawParams, context: RequestContext): JsonText | Promise<JsonText> {
    if (this.#admission) {
      return this.#admission.run(context, (meter) =>
        this.#start(method, context, () => meter(() => method.run(this.#modules, params, context))),
      );
    }
    if (!method.isHeavy) return method.run(this.#modules, params, context);
    return this.#start(method, context, () => method.run(this.#modules, params, context));
  }

  /** Runs `work` at once, or when it is its turn. */
  #start<T>({ isHeavy }: Method<Modules>, context: RequestContext, work: () => T | Promise<T>): T | Promise<T> {
    return isHeavy ? this.#queue.run(context, work) : work();
  }

  /** The method, if this caller may run it. */
  #available(name: string, context: RequestContext): Method<Modules> {
    if (name.length > this.#limits.methodNameCharsMax) {
      throw new InvalidRequestError(`method name too long: ${name.length} > ${this.#limits.methodNameCharsMax}`);
    }
    const method = this.#registry.get(name);
    const { namespaces, deniedMethods } = context.access;
    if (!method || !(method.namespace === "rpc" || namespaces.has(method.namespace))) {
      throw new MethodNotFoundError(name);
    }
    if (deniedMethods?.has(name)) throw new MethodNotFoundError(name);
    if (this.#lacksCredential(name, context)) throw new UnauthorizedError();
    if (method.needsConnection && context.connection === undefined) {
      throw new NotificationsUnsupportedError();
    }
    return method;
  }

  #lacksCredential(name: string, { access, credential }: RequestContext): boolean {
    const method = access.isOpen ? undefined : this.#registry.get(name);
    if (method === undefined || !(method.isPrivate || access.isClosed)) return false;
    const { namespace } = method;
    // A token would not help where the method is not served.
    if (!access.namespaces.has(namespace) || access.deniedMethods?.has(name)) return false;
    return !opens(credential, namespace, name);
  }

  #withTimeout(result: Promise<JsonText>, timeoutMs: number, context: RequestContext): Promise<JsonText> {
    if (timeoutMs === Number.POSITIVE_INFINITY) return result;
    return new Promise((resolve, reject) => {
      const end = () => {
        reject(new RequestTimeoutError());
        context.abort();
      };
      const timer = this.#timers.after(timeoutMs, "call timeout", end, { keepsAlive: true });
      result.then(resolve, reject).finally(() => timer.cancel());
    });
  }

  #callTimeoutMs(context: RequestContext): number {
    return context.transport === "http" ? this.#limits.httpCallTimeoutMs : Number.POSITIVE_INFINITY;
  }
}

/** One error in a list, under the id of the first call. */
function rejectedBatch(messages: readonly Message[], error: Error): Reply {
  const firstCall = messages.find((message) => message.kind === "call");
  return plainReply(["[", ...answerParts(errorAnswer(firstCall?.id ?? "null", error)), "]"]);
}

function plainReply(parts: readonly JsonPart[], byteLength?: number): Reply {
  return { parts, byteLength, isParseError: false, isUnauthorized: false };
}
