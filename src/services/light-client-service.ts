import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { InvalidConfigError } from "../config/errors.ts";
import { dataPath } from "../config/home.ts";
import { createServingPort, type LightClientControl, type ServingPort } from "../les/port.ts";
import { readBalances, writeBalances } from "../les/serving/client-id.ts";
import { CAPACITY_MIN, LightClients } from "../les/serving/light-clients.ts";
import type { Kv } from "../storage/kv.ts";
import { openDurableLmdbKv } from "../storage/lmdb-kv.ts";
import type { Failures } from "../telemetry/failures.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** Cost units a millisecond of one percent of a core. */
const UNITS_PER_PERCENT = 10_000;
/** Balances are stored so often; what was spent since the last time comes back after a kill. */
const SWEEP_MS = 10_000;

export type LightClientService = {
  readonly control: LightClientControl;
  /** undefined: `les.serve` is 0 */
  readonly serving: ServingPort | undefined;
  close(): void;
};

/** @throws InvalidConfigError */
export function createLightClientService(
  { les, home }: Pick<Config, "les" | "home">,
  { failures, metrics }: { readonly failures: Failures; readonly metrics: Metrics },
): LightClientService {
  const totalCapacity = les.serve * UNITS_PER_PERCENT;
  if (les.serve > 0 && totalCapacity < CAPACITY_MIN) {
    const key = "les.serve";
    throw new InvalidConfigError(`${key}: ${les.serve} is less than one client takes; 0 or 2`, {
      key,
    });
  }
  const directory = join(dataPath(home), "les");
  let kv: Kv | undefined;
  const store = () => {
    kv ??= openDurableLmdbKv(directory);
    return kv;
  };
  const nowMs = () => performance.now();
  const clients = new LightClients(
    { totalCapacity },
    {
      nowMs,
      random: Math.random,
      balances: existsSync(directory) ? readBalances(store()) : new Map(),
      save: (changes) => writeBalances(store(), changes),
    },
  );
  const timer =
    les.serve === 0
      ? undefined
      : setInterval(
          failures.guard("light clients", () => clients.sweep()),
          SWEEP_MS,
        );
  return {
    control: {
      serverInfo: () => clients.serverInfo(),
      clientInfo: (ids) => clients.clientInfo(ids),
      priorityClientInfo: (start, stop, maxCount) =>
        clients.priorityClientInfo(start, stop, maxCount),
      addBalance: (id, amount, meta) => clients.addBalance(id, amount, meta),
      setClientParameters: (ids, parameters) => clients.setClientParameters(ids, parameters),
      setDefaultParameters: (parameters) => clients.setDefaultParameters(parameters),
      setConnectedBias: (ns) => clients.setConnectedBias(ns),
      freeze: (id) => clients.freeze(id),
    },
    serving: les.serve === 0 ? undefined : createServing(clients, metrics),
    close() {
      clearInterval(timer);
      clients.sweep();
      kv?.close();
    },
  };
}

function createServing(clients: LightClients, metrics: Metrics): ServingPort {
  const limited = metrics.counter({
    name: "les_limited_calls_total",
    help: "Calls delayed or rejected because their client used up its capacity.",
    labels: ["kind"],
  });
  metrics.gaugeOf(
    { name: "les_connected_capacity", help: "Capacities of all connected clients." },
    () => clients.serverInfo().totalConnectedCapacity,
  );
  return createServingPort(clients, (kind) => limited.add(1, { kind }));
}
