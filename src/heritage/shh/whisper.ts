import { isPrivateKey, publicKeyFromPrivate } from "../../base/crypto/secp256k1.ts";
import { concatBytes } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { hexDigits } from "../../base/primitives/hex.ts";
import {
  assertTimely,
  type Envelope,
  PAYLOAD_BYTES_MAX,
  type SealedEnvelope,
  sealEnvelope,
  TTL_MAX,
  wireTopic,
  workSeed,
} from "./envelope.ts";
import { type AddOutcome, EnvelopePool } from "./envelope-pool.ts";
import { UnknownIdentityError, WhisperLimitError } from "./errors.ts";
import type { Identities } from "./identities.ts";
import { type Identity, identityFromBytes, type Key, openMessage, wrapMessage } from "./message.ts";
import { type MessageCriteria, MessageFilters } from "./message-filters.ts";
import type { Work } from "./proof-of-work.ts";

/** Whisper peers, messages and identities of one node. */
export const WHISPER_LIMITS = {
  /**
   * Connected peers, inbound and outbound. Each uses a socket and receives every envelope; with 25, a message reaches a million nodes in
   * five hops.
   */
  peersMax: 25,
  /** Bytes per second that one peer may send, averaged over ten seconds. A peer that sends more is banned. */
  peerBytesPerSecondMax: 5 * 2 ** 20,
  /** Duration of the ban for a protocol violation. */
  banMs: 600_000,
  /** Total size of unexpired messages, about 40,000 of 1 KB. A full pool evicts those with the least proof of work. */
  poolBytesMax: 64 * 2 ** 20,
  /**
   * Identities and groups. The node tries each on every encrypted message that matches a filter's topics, a fraction of a millisecond per
   * try.
   */
  identitiesMax: 1_000,
  /** Message filters of all callers; the node compares every message with every filter. */
  filtersMax: 1_000,
  /** Posts that wait for the proof of work of another. The last waits 160 s if all request the longest work. */
  postsMax: 16,
} as const;

type WhisperOptions = {
  /** Memory of all envelopes. */
  readonly poolBytesMax: number;
  readonly filtersMax: number;
  readonly filterIdleMs: number;
};

type WhisperModules = {
  readonly identities: Identities;
  readonly nowSeconds: () => number;
  readonly nowMs: () => number;
  readonly newFilterId: () => string;
  /** Searches a nonce for this many milliseconds, in another thread. */
  readonly findWork: (seed: Uint8Array, milliseconds: number) => Promise<Work>;
  /** Called when this node failed to open a message. */
  readonly onFailure: (error: unknown) => void;
};

/** A program's post. */
export type Post = {
  readonly from: Identity | undefined;
  /** 65 bytes */
  readonly to: Uint8Array | undefined;
  /** In the program's form. */
  readonly topics: readonly Uint8Array[];
  readonly payload: Uint8Array;
  /** Milliseconds of work. */
  readonly priority: number;
  /** Seconds; capped at a week. */
  readonly ttl: number;
};

/** A message as programs read it. */
export type WhisperMessage = {
  readonly hash: Hash;
  readonly from: Identity | undefined;
  readonly to: Identity | undefined;
  readonly expiry: number;
  readonly ttl: number;
  readonly sent: number;
  readonly topics: readonly Uint8Array[];
  readonly payload: Uint8Array;
  readonly workProved: number;
};

/** Maximum search for a nonce. */
const PRIORITY_MS_MAX = 10_000;
/** Wire topic of invitations to groups, which a program's topic is unlikely to have. */
const INVITATION_TOPIC = Uint8Array.of(0x80, 0, 0, 0);
const INVITATION_DIGITS = hexDigits(INVITATION_TOPIC);
/** Members that are offline for a day must be invited again. */
const INVITATION = { ttl: 86_400, priority: 50 } as const;

/**
 * Whisper, version 2: messages for the owners of keys and the watchers of topics, stored by every node until they expire. Nodes on the way
 * cannot tell who reads them.
 */
export class Whisper {
  readonly #modules: WhisperModules;
  readonly #pool: EnvelopePool;
  readonly #filters: MessageFilters;
  readonly #listeners = new Set<(envelope: SealedEnvelope) => void>();

  constructor(options: WhisperOptions, modules: WhisperModules) {
    this.#modules = modules;
    this.#pool = new EnvelopePool(options.poolBytesMax);
    this.#filters = new MessageFilters(
      { filtersMax: options.filtersMax, idleMs: options.filterIdleMs },
      { nowMs: modules.nowMs, newId: modules.newFilterId },
    );
  }

  get pool(): Pick<EnvelopePool, "bytes" | "size" | "has" | "get" | "all"> {
    return this.#pool;
  }

  get filterCount(): number {
    return this.#filters.size;
  }

  /** Calls `listener` with every envelope that is new to this node. */
  onEnvelope(listener: (envelope: SealedEnvelope) => void): void {
    this.#listeners.add(listener);
  }

  newIdentity(): Identity {
    return this.#modules.identities.create("identity").identity;
  }

  hasIdentity(identity: Identity): boolean {
    return this.#modules.identities.get(identity) !== undefined;
  }

  /** @throws UnknownIdentityError, WhisperLimitError, and errors of the search for proof of work */
  async post(post: Post): Promise<boolean> {
    const from = post.from === undefined ? undefined : this.#key(post.from);
    await this.#send({ ...post, from, topics: post.topics.map(wireTopic) });
    return true;
  }

  /** Creates a group and invites its members. @throws as `post` */
  async newGroup(from: Identity | undefined, members: readonly Uint8Array[]): Promise<Identity> {
    if (from !== undefined) this.#key(from);
    const group = this.#modules.identities.create("createdGroup");
    for (const member of members) await this.#invite(group, member);
    return group.identity;
  }

  /**
   * Sends the key of `group`, or of this node's newest group, to `who`, 65 bytes. False if this node does not have it.
   * @throws WhisperLimitError, and errors of the search for proof of work
   */
  async addToGroup(group: Identity | undefined, who: Uint8Array): Promise<boolean> {
    const { identities } = this.#modules;
    const key = group === undefined ? identities.newestGroup() : identities.get(group);
    if (key === undefined) return false;
    await this.#invite(key, who);
    return true;
  }

  /** @throws WhisperLimitError */
  newFilter(criteria: MessageCriteria): string {
    return this.#filters.install(criteria);
  }

  uninstallFilter(id: string): boolean {
    return this.#filters.uninstall(id);
  }

  filterChanges(id: string): WhisperMessage[] {
    return this.#filters.takeChanges(id).flatMap((hash) => {
      const envelope = this.#pool.get(hash);
      const message = envelope && this.#open(envelope);
      return message ? [message] : [];
    });
  }

  /** All messages in the pool that match the filter. */
  messages(id: string): WhisperMessage[] {
    const isMatch = this.#filters.matcher(id);
    if (isMatch === undefined) return [];
    const found: WhisperMessage[] = [];
    for (const envelope of this.#pool.all()) {
      let opened: WhisperMessage | undefined;
      const open = () => {
        opened = this.#open(envelope);
        return opened;
      };
      if (isMatch(envelope.topics.map(hexDigits), open) && opened) found.push(opened);
    }
    return found;
  }

  /**
   * Accepts an envelope from a peer, or from this node.
   * @throws InvalidEnvelopeError
   */
  receive(envelope: SealedEnvelope): AddOutcome {
    const now = this.#modules.nowSeconds();
    assertTimely(envelope, now);
    const outcome = this.#pool.add(envelope, now);
    if (outcome === "added") this.#deliver(envelope);
    return outcome;
  }

  /** Drops expired envelopes and filters that are not polled. Call it about every second. */
  sweep(): void {
    this.#pool.sweep(this.#modules.nowSeconds());
    this.#filters.sweep((hash) => !this.#pool.has(hash));
  }

  #key(identity: Identity): Key {
    const key = this.#modules.identities.get(identity);
    if (key === undefined) throw new UnknownIdentityError(identity);
    return key;
  }

  async #send(post: Omit<Post, "from"> & { readonly from: Key | undefined }): Promise<void> {
    const { payload, from, to, topics } = post;
    if (payload.length > PAYLOAD_BYTES_MAX) {
      throw new WhisperLimitError(`payload too large: ${payload.length} > ${PAYLOAD_BYTES_MAX} bytes`);
    }
    const ttl = Math.min(post.ttl, TTL_MAX);
    // It would expire before anyone could read it.
    if (ttl === 0) return;
    const unsealed: Omit<Envelope, "nonce"> = {
      expiry: this.#modules.nowSeconds() + ttl,
      ttl,
      topics,
      data: wrapMessage({ payload, from, to }),
    };
    const priority = Math.min(post.priority, PRIORITY_MS_MAX);
    const { nonce } = priority === 0 ? { nonce: 0n } : await this.#modules.findWork(workSeed(unsealed), priority);
    const outcome = this.receive(sealEnvelope({ ...unsealed, nonce }));
    if (outcome === "tooLittleWork") {
      throw new WhisperLimitError("the pool of messages is full: more work (priority) is needed");
    }
  }

  /** The group's own key signs, so that only members can invite to a group. */
  #invite(group: Key, who: Uint8Array): Promise<void> {
    return this.#send({
      ...INVITATION,
      from: group,
      to: who,
      topics: [INVITATION_TOPIC],
      payload: group.privateKey,
    });
  }

  #deliver(envelope: SealedEnvelope): void {
    for (const listener of this.#listeners) listener(envelope);
    const topics = envelope.topics.map(hexDigits);
    let opened: WhisperMessage | undefined;
    let isOpened = false;
    const open = () => {
      if (!isOpened) opened = this.#open(envelope);
      isOpened = true;
      return opened;
    };
    if (topics[0] === INVITATION_DIGITS) this.#acceptInvitation(open());
    this.#filters.offer(envelope.hash, topics, open);
  }

  #acceptInvitation(message: WhisperMessage | undefined): void {
    if (message?.to === undefined || !isPrivateKey(message.payload)) return;
    const publicKey = concatBytes(Uint8Array.of(4), publicKeyFromPrivate(message.payload));
    if (message.from !== identityFromBytes(publicKey)) return;
    try {
      this.#modules.identities.join(message.payload.slice());
    } catch (error) {
      this.#modules.onFailure(error);
    }
  }

  #open(envelope: SealedEnvelope): WhisperMessage | undefined {
    const message = openMessage(envelope.data, this.#modules.identities.keys());
    if (message === undefined) return undefined;
    const { hash, expiry, ttl, topics, workProved } = envelope;
    return { ...message, hash, expiry, ttl, sent: expiry - ttl, topics, workProved };
  }
}
