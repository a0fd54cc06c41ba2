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

/**
 * CometBFT tries again after 5 to 8 s, twenty times, and then ever later: a network that was parted waits for that. Each try of a peer that refuses this node
 * costs both some connections, so the longer a peer is missing, the fewer.
 */
const REDIAL_MS_MIN = 3_000;
const REDIAL_MS_MAX = 30_000;
/** Of the time that a peer is missing, what passes between two tries. */
const REDIAL_SHARE = 1 / 20;

/**
 * Has CometBFT dial persistent peers that have been missing for a while. It does so without being asked, but not reliably: a peer that closes the
 * connection just after the handshake, as one does that refuses this node, is forgotten where the loss is seen before the dialing is over. The two
 * would stay apart after the refusal has ended, until one of them restarts. And it waits long after a partition.
 */
export class Redial {
  readonly #modules: RedialModules;
  /** When a missing peer was first seen to be missing, and when it was dialed, by id. */
  #missing: ReadonlyMap<string, { readonly since: number; dialed: number }> = new Map();

  constructor(modules: RedialModules) {
    this.#modules = modules;
  }

  /** To be called every few seconds. @param connected ids; undefined while CometBFT does not answer */
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
      // Together with the others: CometBFT stops dialing every peer that the list omits.
      await dial(addresses);
    } catch (error) {
      log.debug("missing peers are not dialed", { missing, error });
    }
  }
}

/** Between two tries of a peer that is missing for so long. */
function pauseAfter(ms: number): number {
  return Math.min(REDIAL_MS_MAX, Math.max(REDIAL_MS_MIN, ms * REDIAL_SHARE));
}
