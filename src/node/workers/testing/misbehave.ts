import { parentPort } from "node:worker_threads";
import type { ExecutionReply, ExecutionRequest } from "../execution-protocol.ts";
import type { ModuleMessage, ModuleRequest } from "../requested-modules.ts";

const port = parentPort!;

/** Messages besides requests. */
const received: string[] = [];

/** An execution thread for tests: its argument says what it does. */
const BEHAVIOURS: Readonly<Record<string, (detail: unknown) => unknown>> = {
  echo: (detail) => detail,
  reject() {
    throw Object.assign(new Error("rejected"), { name: "Rejected" });
  },
  crash: () => process.exit(3),
  loop() {
    for (;;);
  },
  compile(detail) {
    const request = detail as ModuleRequest;
    port.postMessage({ kind: "compile", request } satisfies ExecutionReply);
  },
  received: () => received,
  fill() {
    const rows: number[][] = [];
    for (;;) rows.push(Array.from({ length: 10_000 }, (_, i) => i));
  },
};

port.on("message", (message: ExecutionRequest | ModuleMessage) => {
  if ("kind" in message) {
    received.push(`${message.kind} ${message.key}`);
    return;
  }
  const [behaviour, detail] = message.args;
  const epoch =
    detail !== null && typeof detail === "object" && "epoch" in detail ? detail.epoch : 0;
  let reply: ExecutionReply;
  try {
    const value = BEHAVIOURS[behaviour as string]!(detail);
    reply = { kind: "result", epoch: Atomics.load(epochOf(epoch), 0), value };
  } catch (error) {
    const { name, message } = error as Error;
    reply = {
      kind: "error",
      epoch: 0,
      error: { name, message, stack: undefined, cause: undefined },
    };
  }
  port.postMessage(reply);
});
port.postMessage({ kind: "ready" } satisfies ExecutionReply);

function epochOf(shared: unknown): Int32Array {
  return shared instanceof SharedArrayBuffer ? new Int32Array(shared) : new Int32Array(1);
}
