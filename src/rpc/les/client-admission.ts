import { setTimeout } from "node:timers/promises";
import { type ClientId, clientIdOf } from "../../les/serving/client-id.ts";
import { CapacityExceededError } from "../../les/serving/errors.ts";
import type { ClientConnection, LightClients } from "../../les/serving/light-clients.ts";
import type { CallAdmission, Meter } from "../dispatch/call-admission.ts";
import type { Connection, RequestContext } from "../dispatch/context.ts";
import { RequestTimeoutError } from "../dispatch/errors.ts";

/** What reading and answering any call takes besides its handler, in nanoseconds. */
const COST_MIN = 25_000;

export type ClientAdmissionModules = {
  readonly clients: LightClients;
  /** Monotonic, milliseconds with a fraction. */
  readonly nowMs: () => number;
  /** Counts a call that was delayed or rejected. */
  readonly onLimited: (kind: "delayed" | "rejected") => void;
};

/** Serves every caller within its capacity. What a call costs is the time from its begin to its end. */
export function createClientAdmission({
  clients,
  nowMs,
  onLimited,
}: ClientAdmissionModules): CallAdmission {
  const meterOf =
    (id: ClientId): Meter =>
    (work) => {
      const start = nowMs();
      const charge = () => clients.charge(id, Math.max(COST_MIN, (nowMs() - start) * 1e6));
      let isPending = false;
      try {
        const result = work();
        if (result instanceof Promise) {
          isPending = true;
          return result.finally(charge);
        }
        return result;
      } finally {
        if (!isPending) charge();
      }
    };

  return {
    run(context, start) {
      const id = clientOf(context, clients);
      if (id === undefined) return start((work) => work());
      let waitMs: number;
      try {
        waitMs = clients.admit(id, closable(context.connection));
      } catch (error) {
        if (error instanceof CapacityExceededError) onLimited("rejected");
        throw error;
      }
      context.priority = clients.priority(id);
      if (waitMs === 0) return start(meterOf(id));
      onLimited("delayed");
      return startAfter(waitMs, context, () => start(meterOf(id)));
    },
  };
}

async function startAfter<T>(
  waitMs: number,
  context: RequestContext,
  start: () => T | Promise<T>,
): Promise<T> {
  await setTimeout(waitMs);
  if (context.isAborted) throw new RequestTimeoutError();
  return start();
}

/**
 * The client a call is charged to: the subject of its token, its API key, or its address. An API key counts only when the operator gave it
 * a balance: anybody can make up keys, and each would have the capacity of a free client.
 */
function clientOf({ source, credential }: RequestContext, clients: LightClients) {
  if (source === undefined) return undefined;
  if (credential?.subject !== undefined) return clientIdOf("key", credential.subject);
  if (source.apiKey !== undefined) {
    const id = clientIdOf("key", source.apiKey);
    if (clients.isKnown(id)) return id;
  }
  return clientIdOf("ip", source.remoteAddress);
}

function closable(connection: Connection | undefined): ClientConnection | undefined {
  return connection?.overCapacity === undefined ? undefined : (connection as ClientConnection);
}
