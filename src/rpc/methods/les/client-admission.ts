import type { NodeError } from "../../../base/errors.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import type { CapacityExceededError } from "../../../heritage/les/errors.ts";
import type { AdmittedCall, ServingPort } from "../../../heritage/les/port.ts";
import type { ClientConnection } from "../../../heritage/les/serving/light-clients.ts";
import type { CallAdmission, Meter } from "../../transport/dispatch/call-admission.ts";
import type { Connection, RequestContext } from "../../transport/dispatch/context.ts";
import { RequestTimeoutError } from "../../transport/errors.ts";

/** What reading and answering any call takes besides its handler, in nanoseconds. */
const COST_MIN = 25_000;
/** A rejection is answered after this time: 160 callers that retry at once then make 320 requests a second, not thousands. */
const REJECTED_AFTER_MS = 500;
const CAPACITY_EXCEEDED: CapacityExceededError["code"] = "LES_CAPACITY_EXCEEDED";

export type ClientAdmissionModules = {
  readonly serving: ServingPort;
  readonly timers: Pick<Timers, "now" | "sleep">;
};

/** Serves every caller within its capacity. What a call costs is the time from its begin to its end. */
export function createClientAdmission({ serving, timers }: ClientAdmissionModules): CallAdmission {
  async function serve<T>(
    call: AdmittedCall,
    context: RequestContext,
    start: (meter: Meter) => T | Promise<T>,
  ): Promise<T> {
    let cost = 0;
    try {
      if (call.waitMs > 0) {
        await timers.sleep(call.waitMs);
        if (context.isAborted) throw new RequestTimeoutError();
      }
      return await start((work) => {
        const beginMs = timers.now();
        const end = () => {
          cost = Math.max(COST_MIN, (timers.now() - beginMs) * 1e6);
        };
        let isPending = false;
        try {
          const result = work();
          if (!(result instanceof Promise)) return result;
          isPending = true;
          return result.finally(end);
        } finally {
          // Here, and not when the promise of this call settles: other calls may have run until then.
          if (!isPending) end();
        }
      });
    } finally {
      serving.charge(call, cost);
    }
  }

  return {
    async run(context, start) {
      const { source, credential, connection } = context;
      if (source === undefined) return start((work) => work());
      const caller = { ...source, subject: credential?.subject };
      let call: AdmittedCall;
      try {
        call = await serving.admit(caller, closable(connection));
      } catch (error) {
        // Rejections of a caller that retries at once would cost more time than its quota.
        if ((error as NodeError).code === CAPACITY_EXCEEDED) await timers.sleep(REJECTED_AFTER_MS);
        throw error;
      }
      context.priority = call.priority;
      return serve(call, context, start);
    },
  };
}

function closable(connection: Connection | undefined): ClientConnection | undefined {
  return connection?.overCapacity === undefined ? undefined : (connection as ClientConnection);
}
