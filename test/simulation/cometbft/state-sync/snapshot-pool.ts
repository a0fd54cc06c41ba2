import type { SnapshotOffer } from "../messages.ts";

/** Snapshots of one peer, at most; a server offers its newest ones. */
export const SNAPSHOTS_MAX = 10;

/** Snapshots that peers offer, and rejected ones: statesync/snapshots.go. */
export class SnapshotPool {
  readonly #offers = new Map<string, { readonly offer: SnapshotOffer; readonly peers: Set<string> }>();
  readonly #rejected = new Set<string>();
  readonly #rejectedFormats = new Set<number>();
  readonly #rejectedPeers = new Set<string>();

  add(peer: string, offer: SnapshotOffer): void {
    const key = keyOf(offer);
    const isRejected = this.#rejected.has(key) || this.#rejectedFormats.has(offer.format);
    const known = [...this.#offers.values()].filter(({ peers }) => peers.has(peer)).length;
    if (isRejected || this.#rejectedPeers.has(peer) || known >= SNAPSHOTS_MAX) return;
    const { peers } = this.#offers.get(key) ?? { peers: new Set<string>() };
    this.#offers.set(key, { offer, peers: peers.add(peer) });
  }

  /** The highest, of the highest format, that most peers have. */
  get best(): SnapshotOffer | undefined {
    return [...this.#offers.values()].sort(
      (a, b) => b.offer.height - a.offer.height || b.offer.format - a.offer.format || b.peers.size - a.peers.size,
    )[0]?.offer;
  }

  peersOf(offer: SnapshotOffer): readonly string[] {
    return [...(this.#offers.get(keyOf(offer))?.peers ?? [])].sort();
  }

  reject(offer: SnapshotOffer): void {
    const key = keyOf(offer);
    this.#rejected.add(key);
    this.#offers.delete(key);
  }

  rejectFormat(format: number): void {
    this.#rejectedFormats.add(format);
    for (const [key, { offer }] of this.#offers) if (offer.format === format) this.#offers.delete(key);
  }

  rejectPeer(id: string): void {
    this.#rejectedPeers.add(id);
    this.removePeer(id);
  }

  removePeer(id: string): void {
    for (const [key, { peers }] of this.#offers) if (peers.delete(id) && peers.size === 0) this.#offers.delete(key);
  }
}

function keyOf({ height, format, chunks, hash, metadata }: SnapshotOffer): string {
  return [height, format, chunks, Buffer.from(hash).toString("hex"), Buffer.from(metadata).toString("hex")].join("/");
}
