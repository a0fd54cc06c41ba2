/** Records one request and its answer for each method: the examples of docs/rpc/. */
import { shapeOf, shortened } from "./shape.ts";

/** What is shown of a method. */
export type Example = {
  readonly params: readonly unknown[];
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
  /** Of what kind the node was that answered, where it is not a plain dev chain. */
  readonly on?: string;
  /** The notification that followed a subscription. */
  readonly notice?: unknown;
};

export type Examples = ReadonlyMap<string, Example>;

type Answer = Pick<Example, "result" | "error">;
/** One call of a node. */
export type Send = (method: string, params: readonly unknown[]) => Promise<Answer>;

// biome-ignore lint/suspicious/noExplicitAny: a session passes on what was answered
type Result = any;

export class Recorder {
  readonly #found = new Map<string, Example>();
  readonly #standIns = new Map<string, string>();
  /** Calls go there; a session sets it to its node. */
  send: Send = () => Promise.reject(new Error("no node"));
  /** `Example.on` of what is recorded from now on. */
  on: string | undefined;

  /** A call that is no example. @throws Error when it is rejected */
  async call(method: string, ...params: unknown[]): Promise<Result> {
    const { result, error } = await this.send(method, params);
    if (error) throw new Error(`${method} ${JSON.stringify(params).slice(0, 300)}: ${error.message}`);
    return result;
  }

  /** A call whose answer is the example of its method. @throws Error when it is rejected */
  async example(method: string, ...params: unknown[]): Promise<Result> {
    const result = await this.call(method, ...params);
    this.#add(method, { params, result });
    return result;
  }

  /** A call that this node rejects: the error is the example. */
  async rejected(method: string, ...params: unknown[]): Promise<void> {
    const { result, error } = await this.send(method, params);
    if (!error)
      throw new Error(`${method} ${JSON.stringify(params).slice(0, 300)} was answered: ${JSON.stringify(result)}`);
    this.#add(method, { params, error });
  }

  /** A call whose outcome, whichever it is, is the example. */
  async outcome(method: string, ...params: unknown[]): Promise<void> {
    this.#add(method, { params, ...(await this.send(method, params)) });
  }

  /** Adds the notification that a subscription of `method` has sent. */
  notice(method: string, notice: unknown): void {
    this.#found.set(method, { ...this.#found.get(method)!, notice });
  }

  /** `value`, which is another one at each run, is `standIn` in what is recorded. */
  standIn(value: string, standIn: string): void {
    this.#standIns.set(value, standIn);
  }

  #add(method: string, example: Example): void {
    if (this.#found.has(method)) throw new Error(`${method} has two examples`);
    this.#found.set(method, { ...example, ...(this.on !== undefined && { on: this.on }) });
  }

  /** Everything recorded, by name, with long values cut. */
  examples(): Examples {
    const sorted = [...this.#found].sort(([a], [b]) => (a < b ? -1 : 1));
    return new Map(sorted.map(([name, example]) => [name, this.#shown(example)]));
  }

  #shown(example: Example): Example {
    let text = JSON.stringify(example);
    for (const [value, standIn] of this.#standIns) text = text.replaceAll(value, standIn);
    const { params, ...answer } = JSON.parse(text) as Example;
    return { params: params.map(shortened), ...(shortened(answer) as Omit<Example, "params">) };
  }
}

/** Where `found` is of another form than `recorded`; undefined when names and types of all members are the same. */
export function shapeFault(recorded: Example, found: Example): string | undefined {
  const [before, now] = [recorded, found].map(({ result, error, notice }) =>
    JSON.stringify(error ? { error: { code: error.code } } : { result: shapeOf(result), notice: shapeOf(notice) }),
  );
  return before === now ? undefined : `recorded ${before}, answered ${now}`;
}
