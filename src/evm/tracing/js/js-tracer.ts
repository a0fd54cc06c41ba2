import { haltText } from "../../machine/halts.ts";
import type { Step } from "../../machine/tracer.ts";
import { errorOf, isFaultOf } from "../faults.ts";
import { ScriptFailedError } from "../trace-budget.ts";
import type { TracedOutcome, TracedTransaction, TracerFactory } from "../tracer-config.ts";
import type { ScriptEngines } from "./quickjs.ts";
import { type Handle, ScriptError, ScriptMemoryError } from "./quickjs.ts";
import { FrameStack, ScriptHost } from "./script-host.ts";

/**
 * A tracer whose functions are JavaScript of the caller (geth's "JavaScript tracing"): `code` is an expression whose value has
 * `result` and `fault`, and may have `setup`, `step`, and `enter` with `exit`. The script runs on this thread, in an engine that
 * has nothing but its own memory and the objects geth gives it; the request's deadline ends it wherever it is.
 *
 * A script that throws ends its own trace only: the transaction runs on without it, and `result` throws.
 *
 * @throws ScriptFailedError, TracingTimeoutError
 */
export function createJsTracer(code: string, engines: ScriptEngines): TracerFactory {
  return (config, traced) => {
    const engine = engines.acquire();
    const { quickJs, guest } = engine;
    const host = new ScriptHost(engine, traced);
    let failure: ScriptFailedError | undefined;
    quickJs.owner = { checkTime: () => traced.budget.assertInTime(), onHostCall: () => host.onCall() };

    /** Why the script failed, of an error it caused. @throws every other error */
    function reasonOf(error: unknown): string {
      const reason = host.failure ?? scriptReason(error);
      if (reason === undefined) throw error;
      return reason;
    }

    /** Runs a part of the script. @throws ScriptFailedError */
    function inScript<T>(run: () => T, where = ""): T {
      try {
        const value = run();
        if (host.failure === undefined) return value;
      } catch (error) {
        throw new ScriptFailedError(`${reasonOf(error)}${where}`);
      }
      throw new ScriptFailedError(`${host.failure}${where}`);
    }

    /** Calls a function of the tracer, whose failure ends the trace. */
    function attempt(name: string, fn: Handle, argc: number, argv: number): void {
      try {
        quickJs.run(fn, script.tracer, argc, argv);
        if (host.failure === undefined) return;
        failure = new ScriptFailedError(`${host.failure}${inFunction(name)}`);
      } catch (error) {
        failure = new ScriptFailedError(`${reasonOf(error)}${inFunction(name)}`);
      }
    }

    function begin() {
      const precompiles = quickJs.string(JSON.stringify([...traced.precompiles.keys()]));
      quickJs.release(quickJs.call(guest.begin, precompiles, [precompiles]));
      const tracer = inScript(() => quickJs.evaluate(`(${code})`));
      const method = (name: string): Handle | undefined =>
        inScript(() => {
          const has = quickJs.call(guest.has, tracer, [tracer, quickJs.string(name)]);
          return quickJs.text(has) === "1" ? quickJs.property(tracer, name) : undefined;
        });
      const required = (name: string) => {
        const found = method(name);
        if (found === undefined) {
          throw new ScriptFailedError(`trace object must expose a function ${name}()`);
        }
        return found;
      };
      const [result, fault] = [required("result"), required("fault")];
      const [step, enter, exit, setup] = ["step", "enter", "exit", "setup"].map(method);
      if ((enter === undefined) !== (exit === undefined)) {
        throw new ScriptFailedError("trace object must expose either both or none of enter() and exit()");
      }
      if (setup !== undefined) {
        inScript(() => quickJs.call(setup, tracer, [quickJs.string(JSON.stringify(config))]));
      }
      return { tracer, result, fault, step, enter, exit };
    }

    let script: ReturnType<typeof begin>;
    try {
      script = begin();
    } catch (error) {
      engines.release(engine);
      throw error;
    }
    const { tracer, fault, step: onStep, enter, exit } = script;
    const frames = new FrameStack();
    /** The last step, if its frame is the running one: what fails next is its opcode. */
    let last: Step | undefined;
    let output: Uint8Array | undefined;

    return {
      hooks: {
        onEnter(start, depth) {
          frames.enter(start);
          last = undefined;
          if (depth === 0 || enter === undefined || failure) return;
          host.atFrame(start);
          attempt("enter", enter, 1, engine.enterArguments);
        },
        onExit(end, depth) {
          if (!failure && last !== undefined && isFaultOf(last, end, depth)) {
            host.atStep(last, frames.top(), errorOf(end));
            attempt("fault", fault, 2, engine.stepArguments);
          }
          frames.exit();
          last = undefined;
          if (depth === 0) output = end.output;
          if (depth === 0 || exit === undefined || failure) return;
          host.atExit(end, errorOf(end));
          attempt("exit", exit, 1, engine.exitArguments);
        },
        onStep(step) {
          if (failure) return;
          last = step;
          if (onStep === undefined) return;
          host.atStep(step, frames.top(), step.halt && haltText(step.halt));
          attempt("step", onStep, 2, engine.stepArguments);
        },
      },
      result(outcome) {
        if (failure) throw failure;
        const known = JSON.stringify(contextOf(traced, outcome));
        host.atEnd(outcome, output);
        return inScript(() => {
          const args = [script.result, tracer, quickJs.string(known)];
          return quickJs.text(quickJs.call(guest.result, tracer, args));
        }, inFunction("result"));
      },
      dispose: () => engines.release(engine),
    };
  };
}

const inFunction = (name: string) => `    in server-side tracer function '${name}'`;

/** The text of an error that the script caused; undefined for any other. */
function scriptReason(error: unknown): string | undefined {
  const isOfScript = error instanceof ScriptError || error instanceof ScriptMemoryError;
  return isOfScript ? error.message : undefined;
}

/** Members of `ctx` as JSON: addresses and hashes as hex, big numbers in decimal. */
function contextOf({ message, block, place }: Omit<TracedTransaction, "budget">, { result }: TracedOutcome) {
  const { from, to, value, gasLimit, gasPrice } = message;
  const error = errorOf(result);
  return {
    ...(place && { blockHash: place.blockHash, txIndex: place.index, txHash: place.hash }),
    block: block.number,
    gas: Number(gasLimit),
    // The tip. A call may pay less than the base fee.
    gasPrice: (gasPrice > block.baseFeePerGas ? gasPrice - block.baseFeePerGas : 0n).toString(),
    coinbase: block.coinbase,
    type: to === null ? "CREATE" : "CALL",
    from,
    to: to ?? result.contractAddress ?? undefined,
    value: value.toString(),
    ...(error !== undefined && { error }),
    gasUsed: Number(result.gasUsed),
  };
}
