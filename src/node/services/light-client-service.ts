import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import { readBalances, writeBalances } from "../../heritage/les/client-id.ts";
import { createServingPort, type LightClientControl, type ServingPort } from "../../heritage/les/port.ts";
import { CAPACITY_MIN, LightClients } from "../../heritage/les/serving/light-clients.ts";
import type { Kv } from "../../store/storage/kv.ts";
import { openDurableLmdbKv } from "../../store/storage/lmdb/lmdb-kv.ts";
import type { Config } from "../config/config.ts";
import { invalidSetting } from "../config/errors.ts";
import { dataPath } from "../config/home.ts";

/** Cost units per millisecond for one percent of a core. */
const UNITS_PER_PERCENT = 10_000;
/** Interval at which balances are stored; after a kill, clients regain what they spent since. */
const SWEEP_MS = 10_000;

/** The light clients of this node, their capacities and their payments. */
export class LightClientService {
  readonly control: LightClientControl;
  /** undefined: `les.serve` is 0 */
  readonly serving: ServingPort | undefined;
  readonly #directory: string;
  readonly #clients: LightClients;
  readonly #timer: Timer | undefined;
  #kv: Kv | undefined;

  /** @throws InvalidConfigError */
  constructor(
    { les, home }: Pick<Config, "les" | "home">,
    { timers, metrics }: { readonly timers: Timers; readonly metrics: Metrics },
  ) {
    const totalCapacity = les.serve * UNITS_PER_PERCENT;
    if (les.serve > 0 && totalCapacity < CAPACITY_MIN) {
      const key = "les.serve";
      throw invalidSetting(key, `${les.serve} is less than one client needs; use 0, or at least 2`);
    }
    this.#directory = join(dataPath(home), "les");
    const clients = new LightClients(
      { totalCapacity },
      {
        nowMs: () => timers.now(),
        random: Math.random,
        balances: existsSync(this.#directory) ? readBalances(this.#store()) : new Map(),
        save: (changes) => writeBalances(this.#store(), changes),
      },
    );
    this.#clients = clients;
    this.control = {
      serverInfo: () => clients.serverInfo(),
      clientInfo: ({ ids }) => clients.clientInfo(ids),
      priorityClientInfo: ({ start, stop, maxCount }) => clients.priorityClientInfo(start, stop, maxCount),
      addBalance: ({ id, amount, meta }) => clients.addBalance(id, amount, meta),
      setClientParameters: ({ ids, parameters }) => clients.setClientParameters(ids, parameters),
      setDefaultParameters: ({ parameters }) => clients.setDefaultParameters(parameters),
      setConnectedBias: ({ ns }) => clients.setConnectedBias(ns),
      freeze: ({ id }) => clients.freeze(id),
    };
    if (les.serve === 0) return;
    this.serving = createServing(clients, metrics);
    this.#timer = timers.every(SWEEP_MS, "light clients", () => clients.sweep(), { keepsAlive: true });
  }

  close(): void {
    this.#timer?.cancel();
    this.#clients.sweep();
    this.#kv?.close();
  }

  #store(): Kv {
    this.#kv ??= openDurableLmdbKv(this.#directory);
    return this.#kv;
  }
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
