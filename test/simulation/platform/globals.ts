/** What programs in a simulation find as globals: the bundler puts these exports in the place of the names. */
import { currentProcess, currentSimulation } from "../kernel/current.ts";
import { START_OF_TIME } from "../kernel/simulation.ts";
import * as timers from "./timers.ts";

export const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate } = timers;

const RealDate = globalThis.Date;

function wallClock(): number {
  const process = currentSimulation()?.current;
  return process === undefined ? START_OF_TIME : Math.floor(process.machine.clock.wall());
}

class SimulatedDate extends RealDate {
  constructor(...args: unknown[]) {
    if (args.length === 0) super(wallClock());
    else super(...(args as [number]));
  }

  static override now(): number {
    return wallClock();
  }
}

export { SimulatedDate as Date };

export const performance = {
  get timeOrigin() {
    return START_OF_TIME;
  },
  now(): number {
    return currentSimulation()?.current?.machine.clock.monotonic() ?? 0;
  },
  mark() {},
  eventLoopUtilization: () => ({ idle: 0, active: 0, utilization: 0 }),
};

/** Replaces `Math.random`. */
export function simulatedRandom(): number {
  return currentProcess().random.fraction();
}

const { AbortSignal: RealAbortSignal } = globalThis;

export const AbortSignal = new Proxy(RealAbortSignal, {
  get(target, name) {
    if (name !== "timeout") return Reflect.get(target, name);
    return (ms: number) => {
      const controller = new AbortController();
      // Most calls are answered in time, and the stack of an exception takes longer than they do.
      timers.setTimeout(() => {
        controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
      }, ms);
      return controller.signal;
    };
  },
});

export const fetch = async () => {
  throw new Error("a simulated machine has no internet");
};

export const crypto = {
  getRandomValues<T extends Uint8Array>(bytes: T): T {
    currentProcess().random.fill(bytes);
    return bytes;
  },
};

const realProcess = globalThis.process;

/** `process` of the program that runs. */
export const process = new Proxy(realProcess, {
  get(target, name) {
    if (name in PROCESS) return PROCESS[name as keyof typeof PROCESS];
    if (name === "pid") return currentSimulation()?.current?.id ?? 0;
    return Reflect.get(target, name);
  },
});

const noListener = () => process;

const PROCESS = {
  env: {} as Record<string, string>,
  argv: ["node", "simulation"],
  cwd: () => "/home",
  hrtime: Object.assign(
    () => {
      const ms = performance.now();
      return [Math.floor(ms / 1000), Math.floor((ms % 1000) * 1e6)];
    },
    { bigint: () => BigInt(Math.floor(performance.now() * 1e6)) },
  ),
  uptime: () => performance.now() / 1000,
  memoryUsage: Object.assign(() => ({ rss: 1e8, heapTotal: 5e7, heapUsed: 4e7, external: 1e7, arrayBuffers: 1e6 }), {
    rss: () => 1e8,
  }),
  cpuUsage: () => ({ user: 0, system: 0 }),
  resourceUsage: () => ({ userCPUTime: 0, systemCPUTime: 0, maxRSS: 1e5 }),
  on: noListener,
  once: noListener,
  off: noListener,
  addListener: noListener,
  removeListener: noListener,
  kill() {
    throw Object.assign(new Error("kill ESRCH"), { code: "ESRCH" });
  },
  exit: (code = 0) => currentProcess().exit(code),
};
