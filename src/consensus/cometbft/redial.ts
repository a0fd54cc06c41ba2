import type { Logger } from "../../base/telemetry/logger.ts";
import { peerIdOf } from "../peer-lists.ts";

type RedialModules = {
  /** Addresses of the peers to stay connected to, `id@host:port`. */
  readonly persistent: () => readonly string[];
  /** Whether this node would accept a connection to the node with this id. */
  readonly mayConnect: (id: string) => boolean;
  /** Has CometBFT connect to these addresses, and to no others again whenever a connection is lost. */
  readonly dial: (addresses: readonly string[]) => Promise<void>;
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
  readonly log: Logger;
};

/** CometBFT tries again each 5 s at first; each try of a peer that refuses this node costs both some connections. */
const REDIAL_MS = 30_000;

/**
 * Has CometBFT dial persistent peers that have been missing for a while. It does so without being asked, but not reliably: a peer that closes the
 * connection just after the handshake, as one does that refuses this node, is forgotten where the loss is seen before the dialing is over. The two
 * would stay apart after the refusal has ended, until one of them restarts.
 */
export class Redial {
  readonly #modules: RedialModules;
  /** When a missing peer was seen to be missing, or dialed, by id. */
  #since: ReadonlyMap<string, number> = new Map();

  constructor(modules: RedialModules) {
    this.#modules = modules;
  }

  /** To be called every few seconds. @param connected ids; undefined while CometBFT does not answer */
  async refresh(connected: readonly string[] | undefined): Promise<void> {
    const { persistent, mayConnect, dial, now, log } = this.#modules;
    if (connected === undefined) {
      this.#since = new Map();
      return;
    }
    const addresses = persistent();
    const missing = addresses.map(peerIdOf).filter((id) => !connected.includes(id) && mayConnect(id));
    this.#since = new Map(missing.map((id) => [id, this.#since.get(id) ?? now()]));
    const isDue = missing.some((id) => now() - this.#since.get(id)! >= REDIAL_MS);
    if (!isDue) return;
    this.#since = new Map(missing.map((id) => [id, now()]));
    try {
      // With the others: those that are not among them would not be dialed again.
      await dial(addresses);
    } catch (error) {
      log.debug("missing peers are not dialed", { missing, error });
    }
  }
}
