import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { BlockStore } from "./disk/block-store.ts";
import { RecordFile } from "./disk/record-file.ts";
import type { StateStore } from "./disk/state-store.ts";
import type { Log } from "./log.ts";
import type { SigningKeys } from "./signing-keys.ts";
import type { ChainState } from "./types/chain-state.ts";
import {
  type DuplicateVotes,
  decodeEvidence,
  duplicateVotesOf,
  encodeEvidence,
  evidenceKey,
  faultOfEvidence,
} from "./types/evidence.ts";
import type { Vote } from "./types/vote.ts";

type EvidenceModules = {
  readonly blocks: BlockStore;
  readonly states: StateStore;
  readonly keys: SigningKeys;
  readonly log: Log;
};

/** First byte of a record: what it says of the evidence that follows. */
const PENDING = 0;
const COMMITTED = 1;

/** Proofs of double votes: waiting for a block, or included in one. */
export class EvidencePool {
  readonly #modules: EvidenceModules;
  readonly #file: RecordFile;
  readonly #pending = new Map<string, DuplicateVotes>();
  readonly #committed = new Set<string>();
  #state: ChainState;
  /** Pairs of votes of the height in progress: evidence has the time of a block that is yet to be decided. */
  #conflicts: (readonly [Vote, Vote])[] = [];

  /** @param data the `data` directory of a home */
  constructor(data: string, state: ChainState, modules: EvidenceModules) {
    this.#modules = modules;
    this.#state = state;
    const directory = join(data, "evidence.db");
    mkdirSync(directory, { recursive: true });
    this.#file = new RecordFile(join(directory, "000001.log"), (body) => {
      const evidence = decodeEvidence(body.subarray(1));
      const key = evidenceKey(evidence);
      if (body[0] === PENDING) this.#pending.set(key, evidence);
      else {
        this.#pending.delete(key);
        this.#committed.add(key);
      }
    });
  }

  /** The handshake or state sync changed the state. */
  restart(state: ChainState): void {
    this.#state = state;
  }

  get all(): Iterable<DuplicateVotes> {
    return this.#pending.values();
  }

  /** Evidence for the next block. @param bytesMax of all of it */
  pending(bytesMax: number): { readonly evidence: readonly DuplicateVotes[]; readonly bytes: number } {
    const evidence: DuplicateVotes[] = [];
    let bytes = 0;
    for (const each of this.#pending.values()) {
      // Tag and length of the envelope, and of what is in it.
      const size = encodeEvidence(each).length + 8;
      if (bytes + size > bytesMax) break;
      evidence.push(each);
      bytes += size;
    }
    return { evidence, bytes };
  }

  /** Two votes of one validator, seen in consensus; their signatures are verified. */
  report(first: Vote, second: Vote): void {
    this.#conflicts.push([first, second]);
  }

  /** Evidence from a peer. @returns why it is refused */
  add(evidence: DuplicateVotes): string | undefined {
    const key = evidenceKey(evidence);
    if (this.#pending.has(key) || this.#committed.has(key)) return undefined;
    const fault = this.#faultOf(evidence);
    if (fault === undefined) this.#insert(key, evidence);
    return fault;
  }

  /** Why a block with this evidence is invalid. */
  faultOfBlock(evidence: readonly DuplicateVotes[]): string | undefined {
    const keys = evidence.map(evidenceKey);
    if (new Set(keys).size !== keys.length) return "duplicate evidence";
    for (const [index, each] of evidence.entries()) {
      const key = keys[index]!;
      if (this.#pending.has(key)) continue;
      if (this.#committed.has(key)) return "evidence was already committed";
      const fault = this.#faultOf(each);
      if (fault !== undefined) return fault;
      this.#insert(key, each);
    }
    return undefined;
  }

  /** A block was committed. */
  update(state: ChainState, evidence: readonly DuplicateVotes[]): void {
    const conflicts = this.#conflicts;
    this.#conflicts = [];
    for (const votes of conflicts) this.#addConflict(votes, state);
    this.#state = state;
    for (const each of evidence) {
      const key = evidenceKey(each);
      this.#pending.delete(key);
      this.#committed.add(key);
      this.#write(COMMITTED, each);
    }
    // The real program leaves this to the system: where all machines lose power at once, nodes then disagree on what was committed.
    if (evidence.length > 0) this.#file.sync();
    for (const [key, each] of this.#pending) if (this.#isExpired(each)) this.#pending.delete(key);
  }

  #addConflict(votes: readonly [Vote, Vote], state: ChainState): void {
    const { height } = votes[0];
    const isLast = height === state.lastBlockHeight;
    const validators = isLast ? state.lastValidators : this.#modules.states.validatorsAt(height);
    const time = isLast ? state.lastBlockTime : this.#modules.blocks.block(height)?.header.time;
    // Consensus has not decided that height yet: the votes are looked at again after the next block.
    if (height > state.lastBlockHeight) this.#conflicts.push(votes);
    if (height > state.lastBlockHeight || validators === undefined || time === undefined) return;
    const evidence = duplicateVotesOf(votes, validators, time);
    const key = evidenceKey(evidence);
    if (this.#pending.has(key) || this.#committed.has(key)) return;
    this.#insert(key, evidence);
  }

  #insert(key: string, evidence: DuplicateVotes): void {
    this.#modules.log.info("evidence", "verified new evidence of byzantine behavior", {
      validator: evidence.a.address.toUpperCase(),
      height: evidence.a.height,
    });
    this.#pending.set(key, evidence);
    this.#write(PENDING, evidence);
  }

  #write(kind: number, evidence: DuplicateVotes): void {
    this.#file.append(Buffer.concat([Uint8Array.of(kind), encodeEvidence(evidence)]));
  }

  #faultOf(evidence: DuplicateVotes): string | undefined {
    const { blocks, states, keys } = this.#modules;
    const { height } = evidence.a;
    const block = blocks.block(height);
    if (block === undefined) return `don't have header #${height}`;
    if (block.header.time !== evidence.time) return "evidence has a different time to the block it is associated with";
    if (this.#isExpired(evidence)) return `evidence from height ${height} is too old`;
    const validators = states.validatorsAt(height);
    if (validators === undefined) return `no validators of height ${height}`;
    return faultOfEvidence(evidence, { chainId: this.#state.chainId, validators, keys });
  }

  #isExpired({ a, time }: DuplicateVotes): boolean {
    const { lastBlockHeight, lastBlockTime, params } = this.#state;
    return lastBlockHeight - a.height > params.evidenceAgeBlocks && lastBlockTime - time > params.evidenceAgeNanos;
  }
}
