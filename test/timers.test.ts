import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const SRC = fileURLToPath(new URL("../src/", import.meta.url));

/**
 * Timers that do not run inside `Failures.guard`, by file: how many, and why an exception of theirs cannot end the process.
 * An exception in a timer reaches the event loop, which ends the node (`observe/crash-policy.ts`).
 */
const UNGUARDED: Readonly<Record<string, readonly [count: number, reason: string]>> = {
  "chain/store/background-work.ts": [1, "a failed merge poisons the store: caught there"],
  "cli/context.ts": [1, "joins bounded texts and writes them to a stream, which emits its errors"],
  "cli/main.ts": [1, "ends the process"],
  "observe/etherscan/etherscan-api.ts": [1, "destroys a request"],
  "cli/commands/start.ts": [3, "rejects a promise, ends the process, or does nothing"],
  "consensus/cometbft/process/engine-process.ts": [1, "sends a signal"],
  "consensus/cometbft/pace.ts": [1, "stops the engine's process, which emits its errors"],
  "consensus/cometbft/permissions/node-permissions.ts": [
    1,
    "logs, or stops the process of the engine, which emits its errors",
  ],
  "consensus/cometbft/state-sync.ts": [
    3,
    "resolves a promise; stops a process; reports a fault to the supervisor, which throws none",
  ],
  "cli/doctor/ask.ts": [1, "rejects a promise"],
  "config/tls-files.ts": [1, "notes files that cannot be used; what listeners get was checked"],
  "consensus/cometbft/process/engine-store.ts": [1, "resolves a promise"],
  "consensus/cometbft/process/supervisor.ts": [1, "starts or stops the engine's process, which emits its errors"],
  "consensus/solo/solo-engine.ts": [
    5,
    "`guarded` passes every failure to onFatal or tries again; `prepareAhead` and `scheduleInstant` throw none",
  ],
  "keystore/unlocked-keys.ts": [1, "runs a task that forgets keys: writes to Maps and byte arrays"],
  "mempool/backlog-gate.ts": [1, "sets numbers"],
  "observe/crash-policy.ts": [1, "ends the process"],
  "profiling/profiles.ts": [2, "resolves a promise; a failure of the other one is thrown by stop"],
  "adapters/provider.ts": [2, "sends notifications: the notifier catches; or does nothing"],
  "calls/execute.thread.ts": [1, "closes files: a failure is caught there"],
  "calls/speculate.thread.ts": [1, "closes files: a failure is caught there"],
  "node/rpc/compose-rpc-process.ts": [1, "closes files: a failure is caught there"],
  "processes/call-reports.ts": [1, "sends a message, whose failure is passed to a callback"],
  "processes/followed-chain.ts": [1, "sets a variable"],
  "processes/rpc-process.ts": [3, "ends a process, or resolves a promise"],
  "processes/rpc-processes.ts": [1, "starts a process, which emits its errors"],
  "rpc/transport/dispatch/call-queue.ts": [1, "resolves promises: the calls run behind them"],
  "rpc/transport/dispatch/dispatcher.ts": [1, "rejects a promise and aborts a signal"],
  "threads/shared-slices.ts": [1, "resolves promises: the steps run behind them"],
  "rpc/methods/eth/submit.ts": [1, "rejects a promise"],
  "rpc/methods/filters/filters.ts": [1, "deletes from Maps"],
  "rpc/transport/server/fast-http.ts": [2, "writes answers and destroys sockets, which emit their errors"],
  "rpc/transport/server/http-connection.ts": [1, "ends a connection"],
  "rpc/transport/server/http-listener.ts": [2, "closes connections"],
  "rpc/transport/server/http-rejection.ts": [1, "ends a response, which emits its errors"],
  "rpc/transport/server/http-request.ts": [1, "destroys a response"],
  "rpc/transport/server/ipc.ts": [1, "destroys sockets"],
  "rpc/transport/server/socket-connection.ts": [1, "closes a connection"],
  "rpc/transport/server/ws.ts": [4, "pings are caught there; the others terminate connections"],
  "threads/native-calls.ts": [1, "resolves a promise"],
  "rpc/methods/subscriptions/eth-feeds.ts": [1, "the promise of the check catches"],
  "rpc/methods/subscriptions/notifier.ts": [1, "each item of work is caught there"],
  "threads/blocking-thread.ts": [1, "counts, in a thread of its own"],
  "threads/message-lists.ts": [
    3,
    "sends messages, of which a failed one is passed to a callback, or hands them to a channel",
  ],
  "threads/pool.ts": [3, "ends a thread, rejects its call and gives the others to another"],
};

const TIMER = /(?<![.\w])(?:setInterval|setTimeout|setImmediate|queueMicrotask)\(/g;

test("every timer of the node runs inside Failures.guard, or is listed with the reason why it cannot end the process", () => {
  const found: Record<string, number> = {};
  for (const entry of readdirSync(SRC, { recursive: true, encoding: "utf8" })) {
    const isSource = entry.endsWith(".ts") && !entry.endsWith(".test.ts");
    if (!isSource || /(?:^|[\\/])testing[\\/]/.test(entry)) continue;
    // Runs in browsers.
    if (/^(?:browser|explorer[\\/]ui)[\\/]/.test(entry)) continue;
    const text = readFileSync(join(SRC, entry), "utf8");
    // Those of node:timers/promises are awaited: what follows throws to the caller.
    const isAwaited = text.includes('from "node:timers/promises"');
    const guarded = new Set(Array.from(text.matchAll(/(#?\w+) = failures\.guard\(/g), ([, name]) => name));
    for (const { index } of text.matchAll(TIMER)) {
      const call = text.slice(index);
      if (isAwaited && text.slice(0, index).endsWith("await ")) continue;
      const argument = /^\w+\(\s*(?:this\.)?(failures\.guard\(|#?\w+)/.exec(call)?.[1];
      if (argument === "failures.guard(" || guarded.has(argument)) continue;
      const name = entry.replaceAll("\\", "/");
      found[name] = (found[name] ?? 0) + 1;
    }
  }
  assert.deepEqual(
    Object.entries(found).sort(),
    Object.entries(UNGUARDED)
      .map(([name, [count]]) => [name, count])
      .sort(),
  );
});
