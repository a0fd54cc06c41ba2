import type { Timers } from "../../base/telemetry/timers.ts";
import type { Channel } from "../../base/threads/channel.ts";
import type { CallListener } from "../../rpc/transport/dispatch/observer.ts";
import { CallWindow } from "../observe/activity/call-window.ts";
import type { ChainHandlers } from "./protocol.ts";

/** Interval of reports: a message per call would cost the chain's process more than the call. */
const REPORT_MS = 100;

/** Reports this process's calls for the log of the chain's process, in a few records per message, whatever the number of calls. */
export function createCallReports(channel: Channel<ChainHandlers>, timers: Pick<Timers, "after">): CallListener {
  const window = new CallWindow();
  const report = () => channel.emit("calls", window.take());
  return (...call) => {
    if (window.isEmpty) timers.after(REPORT_MS, "report of calls", report);
    window.add(...call);
  };
}
