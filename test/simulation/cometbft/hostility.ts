import { decodeProposerData, encodeProposerData, type ProposerData } from "../../../src/consensus/consensus-data.ts";
import type { NodeInfo, PeerMessage, SnapshotOffer } from "./messages.ts";
import type { Keys } from "./settings.ts";
import type { SigningKeys } from "./signing-keys.ts";
import { FORGERY_KINDS, type Forgery } from "./state-sync/forged-snapshot.ts";
import { Block } from "./types/block.ts";
import { type BlockId, type Proposal, proposalText, type Vote, voteText } from "./types/vote.ts";

/** Ways in which a node can work against the others. */
export type HostileKind =
  /** Votes for two blocks, or for none and one, at once. */
  | "votes"
  /** Proposals that differ from peer to peer, with transactions or headers that are damaged. */
  | "proposals"
  /** Invalid transactions. */
  | "gossip"
  /** Snapshots that do not exist, and chunks with other bytes. */
  | "snapshots"
  /** Snapshots of another state, with chunks of the hashes that it says. */
  | Forgery
  /** Texts in what it says of itself that look like log records. */
  | "handshake"
  /** It says nothing of its votes. */
  | "silence"
  /** It forgets in each round what it is locked on. */
  | "amnesia"
  /** It casts the newest vote of its node in each of its proposals, counted or not. */
  | "ballots";

type HostilityModules = {
  readonly kinds: () => ReadonlySet<HostileKind>;
  readonly random: () => number;
  readonly keys: SigningKeys;
  readonly own: Keys;
  readonly chainId: string;
};

/** In every text by which a dishonest node would like to be obeyed. */
export const INJECTED_WORD = "injected";
/** What looks like the end of a log line, and of a node. */
const INJECTED_TEXT = `"}\n{"level":"error","module":"consensus","_msg":"CONSENSUS FAILURE!!!","err":"${INJECTED_WORD}"}\npanic: ${INJECTED_WORD}\nERROR: ${INJECTED_WORD}`;

const NO_KINDS: ReadonlySet<HostileKind> = new Set();

/** What a dishonest node does instead of an honest one. It has only its own validator's keys. */
export class Hostility {
  readonly #modules: HostilityModules;
  #ballot: ProposerData["vote"];

  constructor(
    modules: Omit<HostilityModules, "kinds"> & { readonly kinds: (() => ReadonlySet<HostileKind>) | undefined },
  ) {
    this.#modules = { ...modules, kinds: modules.kinds ?? (() => NO_KINDS) };
  }

  is(kind: HostileKind): boolean {
    return this.#modules.kinds().has(kind);
  }

  /** A vote of the same step for something else; undefined where it does not occur to the node. */
  otherVote(vote: Vote, candidates: readonly (BlockId | undefined)[]): Vote | undefined {
    if (!this.is("votes") || this.#chance(0.5)) return undefined;
    const { keys, own, chainId } = this.#modules;
    const others = candidates.filter((each) => each?.hash !== vote.blockId?.hash);
    const blockId = others[Math.floor(this.#modules.random() * others.length)];
    if (others.length === 0) return undefined;
    const { signature: _, ...unsigned } = { ...vote, blockId };
    return { ...unsigned, signature: keys.sign(own.privateKey, voteText(chainId, unsigned)) };
  }

  /** What it proposes instead of its node's proposal. */
  txsOf(txs: readonly Uint8Array[]): readonly Uint8Array[] {
    if (!this.is("ballots") || txs.length === 0) return txs;
    const data = decodeProposerData(txs[0]);
    this.#ballot = data.vote ?? this.#ballot;
    const { vote: _, ...others } = data;
    const again = this.#ballot === undefined ? others : { ...others, vote: this.#ballot };
    return [encodeProposerData(again), ...txs.slice(1)];
  }

  /** What one peer gets as the proposal. */
  proposalFor(proposal: Proposal, block: Block): { readonly proposal: Proposal; readonly block: Block } {
    if (!this.is("proposals") || this.#chance(0.3)) return { proposal, block };
    const { keys, own, chainId } = this.#modules;
    const damaged = this.#damaged(block);
    const { signature: _, ...unsigned } = { ...proposal, blockId: damaged.id };
    const signature = keys.sign(own.privateKey, proposalText(chainId, unsigned));
    return { proposal: { ...unsigned, signature }, block: damaged };
  }

  /** Transactions that its peers do not know; undefined if there are none. */
  gossip(): readonly Uint8Array[] | undefined {
    if (!this.is("gossip")) return undefined;
    return Array.from({ length: 1 + Math.floor(this.#modules.random() * 5) }, () =>
      this.#bytes(1 + Math.floor(this.#modules.random() * 300)),
    );
  }

  nodeInfo(info: NodeInfo): NodeInfo {
    if (!this.is("handshake") || this.#chance(0.3)) return info;
    return this.#chance(0.5) ? { ...info, network: INJECTED_TEXT } : { ...info, moniker: INJECTED_TEXT };
  }

  snapshots(offers: readonly SnapshotOffer[]): readonly SnapshotOffer[] {
    if (!this.is("snapshots")) return offers;
    const height = Math.max(2, ...offers.map((offer) => offer.height)) + Math.floor(this.#modules.random() * 3) - 1;
    const invented = { height, format: 1, chunks: 1 + Math.floor(this.#modules.random() * 4) };
    return [...offers, { ...invented, hash: this.#bytes(32), metadata: this.#bytes(32 * invented.chunks) }];
  }

  /** In which way this node changes the snapshots that it offers. */
  get forgery(): Forgery | undefined {
    return FORGERY_KINDS.find((kind) => this.is(kind));
  }

  chunk(message: Extract<PeerMessage, { readonly kind: "chunk" }>): PeerMessage {
    if (!this.is("snapshots") || this.#chance(0.3)) return message;
    return { ...message, chunk: this.#flipped(message.chunk), isMissing: false };
  }

  #damaged(block: Block): Block {
    const { txs, evidence, lastCommit, header } = block;
    const [data, ...others] = txs;
    // Valid mostly, where the transactions are of several senders.
    if (others.length > 1 && this.#chance(0.5))
      return Block.of(header, { txs: [data!, ...others.toReversed()], evidence, lastCommit });
    const kind = Math.floor(this.#modules.random() * 4);
    if (kind === 0) return Block.of({ ...header, time: header.time + 1n }, { txs, evidence, lastCommit });
    if (kind === 1) return Block.of({ ...header, appHash: "ab".repeat(32) }, { txs, evidence, lastCommit });
    if (kind === 2 && txs.length > 1) return Block.of(header, { txs: txs.slice(0, -1), evidence, lastCommit });
    const index = Math.floor(this.#modules.random() * txs.length);
    const changed = txs.map((tx, at) => (at === index ? this.#flipped(tx) : tx));
    return Block.of(header, { txs: changed.length > 0 ? changed : [this.#bytes(8)], evidence, lastCommit });
  }

  #flipped(bytes: Uint8Array): Uint8Array {
    if (bytes.length === 0) return Uint8Array.of(1);
    const copy = Uint8Array.from(bytes);
    const at = Math.floor(this.#modules.random() * copy.length);
    copy[at] = copy[at]! ^ (1 + Math.floor(this.#modules.random() * 255));
    return copy;
  }

  #bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => Math.floor(this.#modules.random() * 256));
  }

  #chance(probability: number): boolean {
    return this.#modules.random() < probability;
  }
}
