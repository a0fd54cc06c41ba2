import type { BlockStore } from "../disk/block-store.ts";
import type { ConsensusMessage } from "../disk/wal.ts";
import type { EvidencePool } from "../evidence-pool.ts";
import type { Hostility } from "../hostility.ts";
import type { KnownVotes, PeerMessage, RoundAnnouncement } from "../messages.ts";
import type { Peers } from "../peers.ts";
import type { Block } from "../types/block.ts";
import type { DuplicateVotes } from "../types/evidence.ts";
import { type Proposal, type Vote, type VoteType, votesOf } from "../types/vote.ts";
import type { VoteSet } from "../types/vote-set.ts";
import type { System } from "../world.ts";
import type { Consensus } from "./consensus.ts";
import { STEP } from "./round-state.ts";

/** Peers hear again where this node is: whatever was lost is sent once more. */
const ANNOUNCE_MS = 1_000;
/** A decided block goes to one peer no more often. */
const DECIDED_AGAIN_MS = 500;
/** And the next one no sooner: the real program was seen to bring a validator forward by 17 blocks a second. */
const DECIDED_NEXT_MS = 60;
/** Messages of what comes next that are stored until it does. */
const EARLY_MESSAGES_MAX = 1_000;

type PeerState = {
  announcement: RoundAnnouncement | undefined;
  /** The decided height that was sent last, and when. */
  decided: { readonly height: number; readonly at: number };
  readonly evidence: Set<DuplicateVotes>;
};

type GossipModules = {
  readonly ownId: string;
  readonly consensus: () => Consensus;
  readonly peers: () => Peers;
  readonly blocks: BlockStore;
  readonly evidence: EvidencePool;
  readonly hostility: Hostility;
  readonly system: System;
};

/**
 * Tells peers what consensus of this node does. Own proposals and votes go out at once, to everyone; what others say is sent on to those that are not
 * connected to them. Everything else is found out from announcements: each node says where it is and what it has, and whoever hears it sends what it lacks.
 * Real nodes poll what they know of each peer instead, ten times a second.
 */
export class Gossip {
  readonly #modules: GossipModules;
  readonly #states = new Map<string, PeerState>();
  /** The node that a vote or proposal of this height came from, by its signature. */
  readonly #origins = new Map<string, string>();
  #early: { readonly peer: string; readonly message: PeerMessage }[] = [];
  #announced = "";
  #isRunning = false;

  constructor(modules: GossipModules) {
    this.#modules = modules;
  }

  /** Consensus has begun. */
  start(): void {
    this.#isRunning = true;
    const tick = () => {
      this.#announce();
      this.#modules.system.after(ANNOUNCE_MS, tick);
    };
    tick();
  }

  joined(id: string): void {
    const decided = { height: 0, at: Number.NEGATIVE_INFINITY };
    this.#states.set(id, { announcement: undefined, decided, evidence: new Set() });
    if (this.#isRunning) this.#announce();
  }

  left(id: string): void {
    this.#states.delete(id);
  }

  /** Height, round or step changed. */
  step(): void {
    if (!this.#isRunning) return;
    const { height, round, step, expectedBlock, proposalBlock } = this.#modules.consensus().roundState;
    // A block that was decided without this node: someone has it.
    const wanted = step === STEP.commit && proposalBlock === undefined ? expectedBlock?.hash : undefined;
    const position = `${height}/${round}/${wanted}`;
    if (position === this.#announced) return;
    if (!this.#announced.startsWith(`${height}/`)) this.#origins.clear();
    this.#announced = position;
    this.#announce();
    this.#deliverEarly();
  }

  proposed(proposal: Proposal, block: Block): void {
    const { peers, hostility, ownId } = this.#modules;
    for (const id of peers().ids) {
      peers().send(id, { kind: "proposal", ...hostility.proposalFor(proposal, block), origin: ownId });
    }
  }

  added(vote: Vote, from: string | undefined): void {
    if (from === undefined) this.#sendOwn(vote);
    else this.#relay(vote.signature, from, (origin) => ({ kind: "vote", vote, origin }));
  }

  #sendOwn(vote: Vote): void {
    const { ownId, peers, hostility, consensus } = this.#modules;
    if (hostility.is("silence")) return;
    peers().broadcast({ kind: "vote", vote, origin: ownId });
    const { proposalBlock, lockedBlock, validBlock } = consensus().roundState;
    const other = hostility.otherVote(vote, [undefined, proposalBlock?.id, lockedBlock?.id, validBlock?.id]);
    if (other) peers().broadcast({ kind: "vote", vote: other, origin: ownId });
  }

  /** @returns false for a message of something else */
  receive(from: string, message: PeerMessage): boolean {
    switch (message.kind) {
      case "round":
        this.#heard(from, message);
        return true;
      case "proposal":
      case "vote":
      case "decided":
      case "wantedBlock":
        if (this.#isRunning) this.#deliver(from, message);
        return true;
      case "evidence":
        this.#modules.evidence.add(message.evidence);
        return true;
      default:
        return false;
    }
  }

  #deliver(from: string, message: PeerMessage): void {
    const { height, round } = this.#modules.consensus().roundState;
    const [ofHeight, ofRound] = positionOf(message);
    const isEarly = ofHeight === height + 1 || (ofHeight === height && message.kind === "proposal" && ofRound > round);
    if (isEarly && this.#early.length < EARLY_MESSAGES_MAX) this.#early.push({ peer: from, message });
    // Precommits of the last height are for its commit.
    if (isEarly || ofHeight < height - 1) return;
    for (const each of this.#messagesOf(from, message)) this.#modules.consensus().receive(each);
  }

  #messagesOf(peer: string, message: PeerMessage): readonly ConsensusMessage[] {
    switch (message.kind) {
      case "vote":
        this.#origins.set(message.vote.signature, message.origin);
        return [{ kind: "vote", vote: message.vote, peer }];
      case "proposal": {
        const { proposal, block, origin } = message;
        const { height, round, signature } = proposal;
        if (!this.#origins.has(signature)) {
          this.#origins.set(signature, origin);
          this.#relay(signature, peer, () => message);
        }
        return [
          { kind: "proposal", proposal, peer },
          { kind: "block", height, round, block, peer },
        ];
      }
      case "wantedBlock":
        return [{ ...message, kind: "block", peer }];
      case "decided": {
        const { block, commit } = message;
        const { votes } = this.#modules.consensus().roundState;
        votes.of("precommit", commit.round)?.claim(commit.blockId);
        const { height, round } = commit;
        return [
          ...votesOf(commit).map((vote): ConsensusMessage => ({ kind: "vote", vote, peer })),
          { kind: "block", height, round, block, peer },
        ];
      }
      default:
        return [];
    }
  }

  #deliverEarly(): void {
    const early = this.#early;
    this.#early = [];
    for (const { peer, message } of early) this.#deliver(peer, message);
  }

  /** Sends on what comes from `origin` to those peers that do not have it from there. */
  #relay(signature: string, from: string, messageFrom: (origin: string) => PeerMessage): void {
    const origin = this.#origins.get(signature) ?? from;
    for (const [id, { announcement }] of this.#states) {
      if (id === from || id === origin || announcement === undefined || announcement.neighbours.has(origin)) continue;
      this.#modules.peers().send(id, messageFrom(origin));
    }
  }

  #announce(): void {
    const { consensus, peers } = this.#modules;
    const { height, round, step, proposal, expectedBlock, proposalBlock, votes, lastCommit } = consensus().roundState;
    const known: KnownVotes[] = [];
    const majorities: RoundAnnouncement["majorities"][number][] = [];
    for (const [each, { prevote, precommit }] of votes.rounds) {
      if (prevote.size + precommit.size > 0)
        known.push({ round: each, prevote: prevote.mask, precommit: precommit.mask });
      for (const [type, set] of Object.entries({ prevote, precommit }) as [VoteType, VoteSet][]) {
        if (set.majority) majorities.push({ type, round: each, blockId: set.majority.blockId });
      }
    }
    peers().broadcast({
      kind: "round",
      height,
      round,
      step,
      hasProposal: proposal !== undefined,
      wanted: proposalBlock === undefined ? expectedBlock?.hash : undefined,
      votes: known,
      majorities,
      lastCommit: lastCommit?.mask,
      neighbours: new Set(peers().ids),
    });
  }

  #heard(from: string, announcement: RoundAnnouncement): void {
    const peer = this.#states.get(from);
    if (peer === undefined) return;
    peer.announcement = announcement;
    if (!this.#isRunning) return;
    const { roundState } = this.#modules.consensus();
    if (announcement.height < roundState.height) this.#sendDecided(from, peer, announcement);
    else if (announcement.height === roundState.height) this.#sendLacking(from, announcement);
    this.#sendEvidence(from, peer, announcement.height);
  }

  /** For a peer that is behind. */
  #sendDecided(id: string, peer: PeerState, { height }: RoundAnnouncement): void {
    const { blocks, system, peers } = this.#modules;
    const now = system.now();
    if (peer.decided.height === height && now - peer.decided.at < DECIDED_AGAIN_MS) return;
    const waitMs = peer.decided.at + DECIDED_NEXT_MS - now;
    if (waitMs > 0) {
      system.after(waitMs, () => {
        const { announcement } = peer;
        if (this.#states.get(id) === peer && announcement?.height === height) this.#sendDecided(id, peer, announcement);
      });
      return;
    }
    const block = blocks.block(height);
    const commit = blocks.commit(height);
    if (block === undefined || commit === undefined) return;
    peer.decided = { height, at: now };
    peers().send(id, { kind: "decided", block, commit });
  }

  /** For a peer at the same height. */
  #sendLacking(id: string, peer: RoundAnnouncement): void {
    const { consensus, peers } = this.#modules;
    const { round, proposal, proposalBlock, lockedBlock, validBlock, votes, lastCommit, height } =
      consensus().roundState;
    for (const { type, round: of, blockId } of peer.majorities) votes.of(type, of)?.claim(blockId);
    if (peer.round === round && proposal && proposalBlock && !peer.hasProposal) {
      peers().send(id, { kind: "proposal", proposal, block: proposalBlock, origin: this.#modules.ownId });
    }
    const wanted = [proposalBlock, lockedBlock, validBlock].find((block) => block && block.hash === peer.wanted);
    if (wanted) peers().send(id, { kind: "wantedBlock", height, round: peer.round, block: wanted });
    for (const [each, sets] of votes.rounds) {
      const known = peer.votes.find((other) => other.round === each);
      this.#sendVotes(id, sets.prevote, known?.prevote ?? 0n);
      this.#sendVotes(id, sets.precommit, known?.precommit ?? 0n);
    }
    if (lastCommit && peer.lastCommit !== undefined && peer.step === STEP.newHeight) {
      this.#sendVotes(id, lastCommit, peer.lastCommit);
    }
  }

  #sendVotes(id: string, votes: VoteSet, known: bigint): void {
    if (votes.size === 0) return;
    for (const vote of votes.votes) {
      if ((known >> BigInt(vote.index)) & 1n) continue;
      this.#modules
        .peers()
        .send(id, { kind: "vote", vote, origin: this.#origins.get(vote.signature) ?? this.#modules.ownId });
    }
  }

  #sendEvidence(id: string, peer: PeerState, height: number): void {
    for (const evidence of this.#modules.evidence.all) {
      if (peer.evidence.has(evidence) || evidence.a.height >= height) continue;
      peer.evidence.add(evidence);
      this.#modules.peers().send(id, { kind: "evidence", evidence });
    }
  }
}

function positionOf(message: PeerMessage): readonly [height: number, round: number] {
  switch (message.kind) {
    case "vote":
      return [message.vote.height, message.vote.round];
    case "proposal":
      return [message.proposal.height, message.proposal.round];
    case "decided":
      return [message.commit.height, message.commit.round];
    case "wantedBlock":
      return [message.height, message.round];
    default:
      return [0, 0];
  }
}
