/** The operator's decisions about peers. Ids have 40 hex digits, addresses are `id@host:port`. */
export type PeerSettings = {
  /** Addresses to stay connected to. */
  readonly persistent: readonly string[];
  /** Ids that may connect even if the peer limit is reached. */
  readonly trusted: readonly string[];
  /** Ids that are neither dialed nor accepted. */
  readonly rejected: readonly string[];
};

/** The peers of one node; each change returns whether it had an effect. */
export class PeerLists {
  #settings: PeerSettings;

  constructor(settings: PeerSettings) {
    this.#settings = settings;
  }

  get settings(): PeerSettings {
    return this.#settings;
  }

  isPersistent(id: string): boolean {
    return this.#settings.persistent.some((address) => peerIdOf(address) === id);
  }

  isTrusted(id: string): boolean {
    return this.#settings.trusted.includes(id);
  }

  isRejected(id: string): boolean {
    return this.#settings.rejected.includes(id);
  }

  add(address: string): boolean {
    const { persistent, trusted, rejected } = this.#settings;
    const id = peerIdOf(address);
    if (persistent.includes(address) && !this.isRejected(id)) return false;
    this.#settings = {
      persistent: [...persistent.filter((other) => peerIdOf(other) !== id), address],
      trusted,
      rejected: rejected.filter((other) => other !== id),
    };
    return true;
  }

  remove(id: string): boolean {
    const { persistent, trusted, rejected } = this.#settings;
    if (this.isRejected(id)) return false;
    this.#settings = {
      persistent: persistent.filter((address) => peerIdOf(address) !== id),
      trusted,
      rejected: [...rejected, id],
    };
    return true;
  }

  trust(id: string): boolean {
    if (this.isTrusted(id)) return false;
    this.#settings = { ...this.#settings, trusted: [...this.#settings.trusted, id] };
    return true;
  }

  distrust(id: string): boolean {
    if (!this.isTrusted(id)) return false;
    const trusted = this.#settings.trusted.filter((other) => other !== id);
    this.#settings = { ...this.#settings, trusted };
    return true;
  }
}

/** The id in `id@host:port`, or in a plain id. */
export function peerIdOf(address: string): string {
  return address.split("@", 1)[0]!.toLowerCase();
}

const FILTER_BY_ID = /^\/p2p\/filter\/id\/([0-9a-fA-F]{40})$/;
const FILTER_BY_ADDRESS = /^\/p2p\/filter\/addr\//;

/**
 * The subject of CometBFT's query of `path` about a peer: its id in lower case, proven by its handshake; or an address, before the id is known.
 * undefined for other queries.
 */
export function filteredPeer(path: string): { readonly id: string } | "address" | undefined {
  const id = FILTER_BY_ID.exec(path)?.[1];
  if (id !== undefined) return { id: id.toLowerCase() };
  return FILTER_BY_ADDRESS.test(path) ? "address" : undefined;
}
