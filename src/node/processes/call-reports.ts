import type { Timers } from "../../base/telemetry/timers.ts";
import type { Channel } from "../../base/threads/channel.ts";
import type { CallListener } from "../../rpc/transport/dispatch/observer.ts";
import { CallWindow } from "../observe/activity/call-window.ts";
import type { ChainHandlers } from "./protocol.ts";

/** Between two reports: a message for each call would cost the chain's process more than the call. */
const REPORT_MS = 100;

/** Reports the calls of this process, for the log of the chain's process: some records a message, whatever the number of calls. */
export function createCallReports(channel: Channel<ChainHandlers>, timers: Pick<Timers, "after">): CallListener {
  const window = new CallWindow();
  const report = () => channel.emit("calls", window.take());
  return (...call) => {
    if (window.isEmpty) timers.after(REPORT_MS, "report of calls", report);
    window.add(...call);
  };
}
