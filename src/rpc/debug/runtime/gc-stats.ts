import { defineMethod } from "../../dispatch/method.ts";
import { json } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { RuntimePort } from "../../ports/runtime.ts";

/** Go's zero time. */
const NEVER = "0001-01-01T00:00:00Z";

/** `debug_gcStats`: garbage collections in the fields of Go's `debug.GCStats`: pauses in nanoseconds, newest first. */
export const gcStats = defineMethod({
  name: "debug_gcStats",
  params: {},
  result: json,
  handle: (_params, { runtime }: { runtime: Pick<RuntimePort, "gcStats"> }) =>
    andThen(runtime.gcStats(), ({ lastGcMs, count, pauseTotal, pauses, pauseEndsMs }) => ({
      LastGC: lastGcMs === undefined ? NEVER : timeText(lastGcMs),
      NumGC: count,
      PauseTotal: pauseTotal,
      Pause: pauses,
      PauseEnd: pauseEndsMs.map(timeText),
      PauseQuantiles: null,
    })),
});

function timeText(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
