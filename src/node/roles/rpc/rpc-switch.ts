import type { Timers } from "../../../base/telemetry/timers.ts";
import type { RpcPorts } from "../../../rpc/methods/rpc-ports.ts";
import type { JsonText } from "../../../rpc/transport/codec.ts";
import type { Method, Registry } from "../../../rpc/transport/dispatch/method.ts";

/** The methods of a chain and the ports to it. */
export type RpcTarget = { readonly registry: Registry<RpcPorts>; readonly ports: RpcPorts };

/** Running calls may finish in this time before their chain is closed. */
const DRAIN_MS_MAX = 2_000;
const DRAIN_STEP_MS = 5;

/**
 * Methods whose chain can be replaced while listeners and connections stay: calls go to the newest target, and calls that arrive during a
 * replacement wait for its end.
 */
export class RpcSwitch {
  readonly registry: Registry<RpcPorts>;
  readonly #methods: readonly SwitchedMethod[];
  readonly #timers: Pick<Timers, "now" | "sleep">;
  #target: RpcTarget;
  #running = 0;
  #exclusive: Promise<void> | undefined;

  constructor(target: RpcTarget, timers: Pick<Timers, "now" | "sleep">) {
    this.#timers = timers;
    this.#target = target;
    this.#methods = Array.from(target.registry.values(), (method) => this.#switched(method));
    this.registry = new Map(this.#methods.map((method) => [method.name, method]));
  }

  /** Directs calls to `target` from now on. */
  set target(target: RpcTarget) {
    this.#target = target;
    for (const method of this.#methods) {
      method.inner = target.registry.get(method.name)!;
      // Never becomes true again: a call of the previous target may still run.
      method.isAscii &&= method.inner.isAscii;
    }
  }

  #switched(method: Method<RpcPorts>): SwitchedMethod {
    const switched: SwitchedMethod = {
      ...method,
      inner: method,
      run: (_ports, params, context) =>
        this.#exclusive === undefined
          ? this.#run(switched, params, context)
          : this.#exclusive.then(() => this.#run(switched, params, context)),
    };
    return switched;
  }

  /** Runs `work` while no other call runs; new calls wait for its end. For calls that replace state that all others read. */
  async whileIdle(work: () => Promise<void>): Promise<void> {
    // The caller does not read the chain while it waits.
    this.#running--;
    try {
      while (this.#exclusive !== undefined) await this.#exclusive;
      let end = () => {};
      this.#exclusive = new Promise((resolve) => {
        end = resolve;
      });
      try {
        const deadline = this.#timers.now() + DRAIN_MS_MAX;
        while (this.#running > 0 && this.#timers.now() < deadline) await this.#timers.sleep(DRAIN_STEP_MS);
        await work();
      } finally {
        this.#exclusive = undefined;
        end();
      }
    } finally {
      this.#running++;
    }
  }

  #run({ inner }: SwitchedMethod, ...[params, context]: RunArguments): JsonText | Promise<JsonText> {
    this.#running++;
    let result: JsonText | Promise<JsonText> | undefined;
    try {
      result = inner.run(this.#target.ports, params, context);
      return result instanceof Promise ? result.finally(() => this.#running--) : result;
    } finally {
      if (!(result instanceof Promise)) this.#running--;
    }
  }
}

/** A method as all targets have it, with the newest target's implementation. */
type SwitchedMethod = { -readonly [K in keyof Method<RpcPorts>]: Method<RpcPorts>[K] } & { inner: Method<RpcPorts> };

type RunArguments = Parameters<Method<RpcPorts>["run"]> extends [unknown, ...infer Rest] ? Rest : never;
