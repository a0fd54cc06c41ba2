import type { Logger } from "../../base/telemetry/logger.ts";
import { peerIdOf } from "../peer-lists.ts";

type RedialModules = {
  /** Addresses of the peers to stay connected to, `id@host:port`. */
  readonly persistent: () => readonly string[];
  /** Whether this node would accept a connection with the node of this id. */
  readonly mayConnect: (id: string) => boolean;
  /** Makes CometBFT dial these addresses, and redial only these whenever a connection is lost. */
  readonly dial: (addresses: readonly string[]) => Promise<void>;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly log: Logger;
};

/**
 * CometBFT retries after 5 to 8 s, twenty times, and then at growing intervals, for which a network waits after a partition. Each attempt at a
 * peer that refuses this node costs both some connections, so attempts become rarer the longer a peer is missing.
 */
const REDIAL_MS_MIN = 3_000;
const REDIAL_MS_MAX = 30_000;
/** Share of a peer's missing time between two attempts. */
const REDIAL_SHARE = 1 / 20;

/**
 * Makes CometBFT dial persistent peers that have been missing for a while. CometBFT does so itself, but not reliably. If a peer closes the
 * connection just after the handshake, as one that refuses this node does, CometBFT forgets it when it sees the loss before dialing is over. The
 * two would stay apart after the refusal has ended, until one of them restarts. CometBFT also waits long after a partition.
 */
export class Redial {
  readonly #modules: RedialModules;
  /** When a peer went missing, and when it was last dialed, by id. */
  #missing: ReadonlyMap<string, { readonly since: number; dialed: number }> = new Map();

  constructor(modules: RedialModules) {
    this.#modules = modules;
  }

  /** Call it every few seconds. @param connected ids; undefined while CometBFT does not answer */
  async refresh(connected: readonly string[] | undefined): Promise<void> {
    const { persistent, mayConnect, dial, now, log } = this.#modules;
    if (connected === undefined) {
      this.#missing = new Map();
      return;
    }
    const addresses = persistent();
    const time = now();
    const missing = addresses.map(peerIdOf).filter((id) => !connected.includes(id) && mayConnect(id));
    this.#missing = new Map(missing.map((id) => [id, this.#missing.get(id) ?? { since: time, dialed: time }]));
    const tries = [...this.#missing.values()];
    if (!tries.some(({ since, dialed }) => time - dialed >= pauseAfter(time - since))) return;
    for (const each of tries) each.dialed = time;
    try {
      // Includes all others: CometBFT stops dialing every peer that the list omits.
      await dial(addresses);
    } catch (error) {
      log.debug("missing peers are not dialed", { missing, error });
    }
  }
}

/** Pause between two attempts at a peer that has been missing for `ms`. */
function pauseAfter(ms: number): number {
  return Math.min(REDIAL_MS_MAX, Math.max(REDIAL_MS_MIN, ms * REDIAL_SHARE));
}
