import type { Socket } from "node:net";
import { CRASH_EXIT_CODE } from "../../observe/crash-policy.ts";
import { composeRpcWorker, type RpcWorker } from "./rpc/compose-rpc-worker.ts";
import { createForwardingLogger } from "./rpc/forwarding-logger.ts";
import { Outbox } from "./rpc/outbox.ts";
import type { FromWorker, ToWorker } from "./rpc/rpc-protocol.ts";

/** The program of an RPC process. It lives as long as the chain's process, which decides when it stops. */

const outbox = new Outbox<FromWorker>((messages) => process.send?.(messages), {
  isAfterTurn: false,
});
const post = (message: FromWorker): void => outbox.post(message);
const log = createForwardingLogger(post);
let worker: RpcWorker | undefined;
const early: (readonly [ToWorker, Socket | undefined])[] = [];

function receive(message: ToWorker, socket: Socket | undefined): void {
  if (message.kind === "start") void start(message);
  else if (worker === undefined) early.push([message, socket]);
  else worker.receive(message, socket);
}

async function start({ data }: ToWorker & { kind: "start" }): Promise<void> {
  worker = await composeRpcWorker(data, log, post);
  for (const [message, socket] of early.splice(0)) worker.receive(message, socket);
  post({ kind: "ready" });
}

/** The state of the program is unknown: the chain's process starts another one. */
function crash(error: unknown): void {
  log.error("RPC process crashed", { error });
  outbox.flush();
  process.exit(CRASH_EXIT_CODE);
}

process.on("uncaughtException", crash);
process.on("unhandledRejection", crash);
// Stopping the node stops the chain's process, which lets running calls end.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
process.on("disconnect", () => process.exit(0));
process.on("message", (messages: readonly ToWorker[], socket: Socket | undefined) => {
  for (const message of messages) receive(message, socket);
});
