import type { Socket } from "node:net";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { Channel, type ChannelMessage } from "../../base/threads/channel.ts";
import { Inbox, Outbox } from "../../base/threads/message-lists.ts";
import { CRASH_EXIT_CODE } from "../observe/crash-policy.ts";
import { createForwardingLogger } from "../processes/forwarding-logger.ts";
import type { ChainHandlers, RpcProcessData } from "../processes/protocol.ts";
import { composeRpcProcess } from "./rpc/compose-rpc-process.ts";

/** The program of an RPC process. It runs until the chain's process stops it or ends. */

const outbox = new Outbox<ChannelMessage>((messages) => process.send?.(messages), fatalTimers, {
  isAfterTurn: false,
});
const channel = new Channel<ChainHandlers>((message) => outbox.post(message));
const inbox = new Inbox<ChannelMessage>(fatalTimers);
const log = createForwardingLogger(channel);

async function start(data: RpcProcessData): Promise<void> {
  channel.serve(await composeRpcProcess(data, log, channel, fatalTimers));
  inbox.deliverTo((message, socket) => channel.receive(message, socket));
  channel.emit("ready", undefined);
}

/** The program's state is unknown: it exits, and the chain's process starts another one. */
function crash(error: unknown): void {
  log.error("RPC process crashed", { error });
  outbox.flush();
  process.exit(CRASH_EXIT_CODE);
}

process.on("uncaughtException", crash);
process.on("unhandledRejection", crash);
// Stopping the node stops the chain's process, which lets running calls finish.
process.on("SIGINT", () => {});
process.on("SIGTERM", () => {});
// Node.js would open a debugger that every user of the machine can reach.
process.on("SIGUSR1", () => {});
process.on("disconnect", () => process.exit(0));
process.once("message", (data: RpcProcessData) => {
  process.on("message", (messages: readonly ChannelMessage[], socket: Socket | undefined) => {
    inbox.receive(messages, socket);
  });
  void start(data);
});
// Signals that it is ready for its data.
process.send?.([]);
