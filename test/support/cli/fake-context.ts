import { EventEmitter } from "node:events";
import { PassThrough } from "node:stream";
import { fatalTimers } from "../../../src/base/telemetry/fatal-timers.ts";
import type { Timers } from "../../../src/base/telemetry/timers.ts";
import type { CliContext } from "../../../src/cli/context.ts";
import type { Listener } from "../../../src/node/adapters/rpc-endpoints.ts";
import { DEV_ACCOUNTS, DEV_WALLET } from "../../../src/node/keystore/dev-accounts.ts";
import type { NodeOperations, RunningNode } from "../../../src/node/roles/types.ts";

/** A world in memory: what was printed, and signals on demand. */
export function fakeContext(
  options: {
    readonly operations?: Partial<NodeOperations>;
    readonly stdin?: string;
    readonly environment?: Record<string, string>;
    /** Replaces the event loop's. */
    readonly timers?: Timers;
  } = {},
) {
  const output = { stdout: "", stderr: "" };
  const listeners = new Set<(signal: "SIGINT" | "SIGTERM") => void>();
  const exits: number[] = [];
  const crashes = new EventEmitter();
  const stream = (name: "stdout" | "stderr") =>
    new PassThrough().on("data", (chunk) => {
      output[name] += chunk;
    });
  const stdin = new PassThrough();
  stdin.end(options.stdin ?? "");
  const context: CliContext = {
    environment: options.environment ?? {},
    stdin,
    stdout: stream("stdout"),
    stderr: stream("stderr"),
    now: () => 1_700_000_000_000,
    timers: options.timers ?? fatalTimers,
    loadOperations: async () => options.operations as NodeOperations,
    onSignal(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    crashSource: crashes,
    exitNow: (code) => exits.push(code),
  };
  return {
    context,
    output,
    exits,
    signal(name: "SIGINT" | "SIGTERM" = "SIGTERM") {
      for (const listener of [...listeners]) listener(name);
    },
    crash: (error: unknown) => crashes.emit("uncaughtException", error),
    listening: () => listeners.size,
  };
}

/** A node that does nothing, well. */
export function fakeNode(options: Partial<RunningNode> = {}): RunningNode {
  return {
    listeners: [fakeListener()],
    chain: {
      chainId: 31337n,
      head: 0,
      headTimestamp: 1_700_000_000,
      resumed: false,
      first: { number: 0, timestamp: 1_700_000_000, gasLimit: 60_000_000n, baseFeePerGas: 1_000_000_000n },
      devWallet: DEV_WALLET,
      devAccounts: DEV_ACCOUNTS,
    },
    failure: new Promise(() => {}),
    failures: { report: () => "internal" },
    stop: async () => {},
    ...options,
  };
}

export function fakeListener(options: Partial<Listener> = {}): Listener {
  return {
    kind: "http",
    url: "http://127.0.0.1:8545",
    namespaces: ["eth", "net"],
    needsToken: true,
    ...options,
  };
}
