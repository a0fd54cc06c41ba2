import type { LogData, Logger } from "../../base/telemetry/logger.ts";
import type { Channel } from "../../base/threads/channel.ts";
import { errorDataOf } from "../../base/threads/plain-data.ts";
import type { ChainHandlers } from "./protocol.ts";

type Level = "error" | "warn" | "info";

/** A logger whose lines the chain's process writes. Lines of single requests (`debug`, `trace`) are not worth a message each. */
export function createForwardingLogger(channel: Channel<ChainHandlers>, common: LogData = {}): Logger {
  function line(level: Level, message: string, { error, ...data }: LogData = {}): void {
    const texts = Object.entries({ ...common, ...data }).map(([key, value]) => [key, textOf(value)]);
    channel.emit("log", {
      level,
      message,
      data: Object.fromEntries(texts),
      error: error === undefined ? undefined : errorDataOf(error),
    });
  }
  return {
    error: (message, data) => line("error", message, data),
    warn: (message, data) => line("warn", message, data),
    info: (message, data) => line("info", message, data),
    debug() {},
    trace() {},
    enabled: (level) => level === "error" || level === "warn" || level === "info",
    child: (_module, data) => createForwardingLogger(channel, { ...common, ...data }),
  };
}

/** Values that a message between processes carries. */
function textOf(value: unknown): unknown {
  const isPlain = ["string", "number", "bigint", "boolean", "undefined"].includes(typeof value);
  return isPlain ? value : String(value);
}
