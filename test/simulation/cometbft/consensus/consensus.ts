import type { BlockStore } from "../disk/block-store.ts";
import type { PrivateValidator } from "../disk/private-validator.ts";
import { SigningRefusedError } from "../disk/private-validator.ts";
import type { ConsensusMessage, Wal } from "../disk/wal.ts";
import type { EvidencePool } from "../evidence-pool.ts";
import type { BlockExecutor } from "../executor.ts";
import type { Log } from "../log.ts";
import type { Settings } from "../settings.ts";
import type { SigningKeys } from "../signing-keys.ts";
import type { Block } from "../types/block.ts";
import { type ChainState, nextHeight } from "../types/chain-state.ts";
import {
  type BlockId,
  NO_COMMIT,
  type Proposal,
  proposalText,
  type Vote,
  type VoteType,
  votesOf,
} from "../types/vote.ts";
import { HeightVotes, VoteSet } from "../types/vote-set.ts";
import { faultOfBlock } from "../validate-block.ts";
import type { System } from "../world.ts";
import { isBlock, type RoundState, STEP, type Step } from "./round-state.ts";
import { RoundTimer } from "./round-timer.ts";

type ConsensusModules = {
  readonly settings: Settings["consensus"];
  readonly executor: BlockExecutor;
  readonly validator: PrivateValidator;
  readonly blocks: BlockStore;
  readonly wal: Wal;
  readonly evidence: EvidencePool;
  readonly keys: SigningKeys;
  readonly system: System;
  readonly log: Log;
  /** Nanoseconds since 1970, with nanoseconds. */
  readonly now: () => bigint;
  readonly events: ConsensusEvents;
  /** This node votes as if it had never been locked on a block. */
  readonly isForgetful: () => boolean;
};

export type ConsensusEvents = {
  /** Height, round or step changed, or a block or a majority became known. */
  step(): void;
  /** This node proposes; what it signed is on disk. */
  proposed(proposal: Proposal, block: Block): void;
  /** A vote that was not known; `peer` is undefined for an own one, which is on disk. */
  added(vote: Vote, peer: string | undefined): void;
};

const TIME_STEP_NANOS = 1_000_000n;

/**
 * Tendermint consensus as CometBFT does it: consensus/state.go. One message at a time: own ones first, then timeouts, then those of peers. An error
 * stops it for good, and the process lives on.
 */
export class Consensus {
  readonly #modules: ConsensusModules;
  readonly #timer: RoundTimer;
  readonly #own: ConsensusMessage[] = [];
  readonly #received: ConsensusMessage[] = [];
  #rs: RoundState;
  #isBusy = false;
  #isReplaying = false;
  #isStopped = true;
  #hasStarted = false;
  #lastValidated: string | undefined;

  constructor(state: ChainState, modules: ConsensusModules) {
    this.#modules = modules;
    this.#timer = new RoundTimer(modules.system, (message) => {
      this.#own.push(message);
      this.#run();
    });
    this.#rs = this.#roundStateOf(state);
  }

  get roundState(): Readonly<RoundState> {
    return this.#rs;
  }

  /** It has begun, and may have failed since. */
  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  /**
   * Begins with the height after `state`.
   * @param withReplay acts again on what the journal has of that height
   */
  async start(state: ChainState, withReplay: boolean): Promise<void> {
    this.#rs = this.#roundStateOf(state, this.#seenVotes(state));
    this.#modules.events.step();
    if (withReplay) await this.#replay();
    this.#modules.wal.forgetMessages();
    this.#isStopped = false;
    this.#hasStarted = true;
    this.#scheduleRound0();
    this.#run();
  }

  /** A message of a peer. */
  receive(message: ConsensusMessage): void {
    if (this.#isStopped) return;
    this.#received.push(message);
    this.#run();
  }

  #run(): void {
    if (this.#isBusy || this.#isStopped) return;
    this.#isBusy = true;
    this.#drain().catch((error: unknown) => this.#fail(error));
  }

  async #drain(): Promise<void> {
    for (;;) {
      const message = this.#own.shift() ?? this.#received.shift();
      if (message === undefined) break;
      this.#journal(message);
      await this.#handle(message);
    }
    this.#isBusy = false;
  }

  #fail(error: unknown): void {
    const { message, stack = "" } = error instanceof Error ? error : new Error(String(error));
    this.#isStopped = true;
    this.#timer.cancel();
    this.#modules.log.error("consensus", "CONSENSUS FAILURE!!!", { err: message, stack });
  }

  /** What this node signed is on disk before anyone can know of it. */
  #journal(message: ConsensusMessage): void {
    const isSigned = message.kind === "proposal" || message.kind === "vote";
    if (isSigned && message.peer === undefined) this.#modules.wal.writeSync(message);
    else this.#modules.wal.write(message);
  }

  async #replay(): Promise<void> {
    const { wal, log } = this.#modules;
    const { height, state } = this.#rs;
    const ended = height === state.initialHeight ? 0 : height - 1;
    const messages = wal.messagesAfter(ended);
    if (messages === undefined) {
      const err = wal.hasEnded(height)
        ? `wal should not contain #ENDHEIGHT ${height}`
        : `cannot replay height ${height}. WAL does not contain #ENDHEIGHT for ${ended}`;
      log.error("consensus", "error on catchup replay; proceeding to start state anyway", { err });
      return;
    }
    log.info("consensus", "Catchup by replaying consensus messages", { height });
    this.#isReplaying = true;
    for (const message of [...messages]) await this.#handle(message);
    this.#isReplaying = false;
    log.info("consensus", "Replay: Done");
  }

  async #handle(message: ConsensusMessage): Promise<void> {
    switch (message.kind) {
      case "proposal":
        return this.#setProposal(message.proposal);
      case "block":
        if (message.peer === undefined) this.#announceProposal(message.block);
        return this.#addBlock(message.block);
      case "vote":
        return this.#addVote(message.vote, message.peer);
      case "timeout":
        return this.#onTimeout(message);
    }
  }

  async #onTimeout({ height, round, step }: Extract<ConsensusMessage, { kind: "timeout" }>): Promise<void> {
    const rs = this.#rs;
    if (height !== rs.height || round < rs.round || (round === rs.round && step < rs.step)) return;
    if (step === STEP.newHeight) await this.#enterNewRound(height, 0);
    else if (step === STEP.propose) await this.#enterPrevote(height, round);
    else if (step === STEP.prevoteWait) await this.#enterPrecommit(height, round);
    else if (step === STEP.precommitWait) {
      await this.#enterPrecommit(height, round);
      await this.#enterNewRound(height, round + 1);
    }
  }

  async #enterNewRound(height: number, round: number): Promise<void> {
    const rs = this.#rs;
    if (rs.height !== height || round < rs.round || (rs.round === round && rs.step !== STEP.newHeight)) return;
    if (rs.round < round) rs.validators = rs.validators.incremented(round - rs.round);
    rs.round = round;
    rs.step = STEP.newRound;
    if (round !== 0) {
      rs.proposal = undefined;
      rs.proposalBlock = undefined;
      rs.expectedBlock = undefined;
    }
    rs.votes.setRound(round);
    rs.hasPrecommitTimeout = false;
    await this.#enterPropose(height, round);
  }

  async #enterPropose(height: number, round: number): Promise<void> {
    const rs = this.#rs;
    if (rs.height !== height || round < rs.round || (rs.round === round && rs.step >= STEP.propose)) return;
    const { propose } = this.#modules.settings;
    this.#schedule(propose.ms + propose.deltaMs * round, STEP.propose);
    if (rs.validators.proposer === this.#modules.validator.address) await this.#propose();
    this.#moveTo(STEP.propose);
    if (this.#isProposalComplete()) await this.#enterPrevote(height, rs.round);
  }

  async #propose(): Promise<void> {
    const { executor, wal, validator, now, log } = this.#modules;
    const { height, round, validBlock, validRound, state, lastCommit } = this.#rs;
    const isFirst = height === state.initialHeight;
    if (validBlock === undefined && !isFirst && lastCommit?.majority === undefined) {
      log.error("consensus", "unable to create proposal block", {
        error: "propose step; cannot propose anything without commit for the previous block",
      });
      return;
    }
    const commit = isFirst ? NO_COMMIT : lastCommit!.commit();
    const block = validBlock ?? (await executor.propose(state, commit, validator.address));
    wal.sync();
    try {
      const unsigned = { height, round, polRound: validRound, blockId: block.id, time: now() };
      const proposal = validator.signProposal(state.chainId, unsigned);
      this.#own.push(
        { kind: "proposal", proposal, peer: undefined },
        { kind: "block", height, round, block, peer: undefined },
      );
    } catch (error) {
      if (!(error instanceof SigningRefusedError)) throw error;
      const err = error.message;
      if (!this.#isReplaying) log.error("consensus", "propose step; failed signing proposal", { height, round, err });
    }
  }

  #isProposalComplete(): boolean {
    const { proposal, proposalBlock, votes } = this.#rs;
    if (proposal === undefined || proposalBlock === undefined) return false;
    return proposal.polRound < 0 || votes.of("prevote", proposal.polRound)?.majority !== undefined;
  }

  async #enterPrevote(height: number, round: number): Promise<void> {
    const rs = this.#rs;
    if (rs.height !== height || round < rs.round || (rs.round === round && rs.step >= STEP.prevote)) return;
    this.#sign("prevote", await this.#prevoted());
    rs.round = round;
    this.#moveTo(STEP.prevote);
  }

  /** The block that this node prevotes. */
  async #prevoted(): Promise<BlockId | undefined> {
    const { executor, log } = this.#modules;
    if (this.#modules.isForgetful()) this.#unlock();
    const { lockedBlock, proposalBlock, state } = this.#rs;
    if (lockedBlock || proposalBlock === undefined) return lockedBlock?.id;
    const fault = this.#faultOf(proposalBlock);
    if (fault !== undefined) {
      log.error("consensus", "prevote step: consensus deems this block invalid; prevoting nil", { err: fault });
      return undefined;
    }
    if (await executor.process(state, proposalBlock)) return proposalBlock.id;
    log.error(
      "consensus",
      "prevote step: state machine rejected a proposed block; this should not happen:the proposer may be misbehaving; prevoting nil",
    );
    return undefined;
  }

  #enterPrevoteWait(height: number, round: number): void {
    const rs = this.#rs;
    if (rs.height !== height || round < rs.round || (rs.round === round && rs.step >= STEP.prevoteWait)) return;
    const { prevote } = this.#modules.settings;
    this.#schedule(prevote.ms + prevote.deltaMs * round, STEP.prevoteWait);
    this.#moveTo(STEP.prevoteWait);
  }

  async #enterPrecommit(height: number, round: number): Promise<void> {
    const rs = this.#rs;
    if (rs.height !== height || round < rs.round || (rs.round === round && rs.step >= STEP.precommit)) return;
    this.#sign("precommit", this.#precommitted(round));
    rs.round = round;
    this.#moveTo(STEP.precommit);
  }

  /** The block that this node precommits: it locks on what more than two thirds prevoted. */
  #precommitted(round: number): BlockId | undefined {
    const rs = this.#rs;
    const majority = rs.votes.of("prevote", round)?.majority;
    if (majority === undefined) return undefined;
    const { blockId } = majority;
    if (blockId === undefined) {
      this.#unlock();
      return undefined;
    }
    if (isBlock(rs.lockedBlock, blockId)) {
      rs.lockedRound = round;
      return blockId;
    }
    if (isBlock(rs.proposalBlock, blockId)) {
      const fault = this.#faultOf(rs.proposalBlock!);
      if (fault !== undefined) throw new Error(`precommit step; +2/3 prevoted for an invalid block: ${fault}`);
      rs.lockedRound = round;
      rs.lockedBlock = rs.proposalBlock;
      return blockId;
    }
    this.#unlock();
    if (rs.expectedBlock?.hash !== blockId.hash) {
      rs.proposalBlock = undefined;
      rs.expectedBlock = blockId;
    }
    return undefined;
  }

  #enterPrecommitWait(height: number, round: number): void {
    const rs = this.#rs;
    if (rs.height !== height || round < rs.round || (rs.round === round && rs.hasPrecommitTimeout)) return;
    const { precommit } = this.#modules.settings;
    this.#schedule(precommit.ms + precommit.deltaMs * round, STEP.precommitWait);
    rs.hasPrecommitTimeout = true;
    this.#modules.events.step();
  }

  async #enterCommit(height: number, commitRound: number): Promise<void> {
    const rs = this.#rs;
    if (rs.height !== height || rs.step >= STEP.commit) return;
    const blockId = rs.votes.of("precommit", commitRound)!.majority!.blockId!;
    if (isBlock(rs.lockedBlock, blockId)) {
      rs.proposalBlock = rs.lockedBlock;
      rs.expectedBlock = blockId;
    }
    if (!isBlock(rs.proposalBlock, blockId) && rs.expectedBlock?.hash !== blockId.hash) {
      this.#modules.log.info("consensus", "commit is for a block we do not know about; set ProposalBlock=nil", {
        height,
        commit: blockId.hash.toUpperCase(),
      });
      rs.proposalBlock = undefined;
      rs.expectedBlock = blockId;
    }
    rs.commitRound = commitRound;
    rs.commitTime = this.#modules.system.now();
    this.#moveTo(STEP.commit);
    await this.#tryFinalize(height);
  }

  async #tryFinalize(height: number): Promise<void> {
    const rs = this.#rs;
    const precommits = rs.votes.of("precommit", rs.commitRound)!;
    const blockId = precommits.majority?.blockId;
    if (rs.height !== height || blockId === undefined || !isBlock(rs.proposalBlock, blockId)) return;
    const { blocks, wal, executor } = this.#modules;
    const block = rs.proposalBlock!;
    const fault = this.#faultOf(block);
    if (fault !== undefined) throw new Error(`+2/3 committed an invalid block: ${fault}`);
    if (blocks.height < height) blocks.save(block, precommits.commit());
    wal.endHeight(height);
    let next: ChainState;
    try {
      next = await executor.apply(rs.state, block);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new Error(`failed to apply block; error ${reason}`, { cause });
    }
    this.#rs = this.#roundStateOf(next, precommits, rs.commitTime);
    this.#modules.events.step();
    this.#scheduleRound0();
  }

  async #setProposal(proposal: Proposal): Promise<void> {
    const rs = this.#rs;
    const { height, round, polRound, blockId } = proposal;
    if (rs.proposal || height !== rs.height || round !== rs.round) return;
    const isJustifiable = polRound === -1 || (polRound >= 0 && polRound < round);
    const { publicKey } = rs.validators.byAddress(rs.validators.proposer)!;
    const { keys, log } = this.#modules;
    if (!isJustifiable || !keys.isSignedBy(publicKey, proposalText(rs.state.chainId, proposal), proposal.signature)) {
      log.error("consensus", "failed to process message", { height, round, err: "error invalid proposal signature" });
      return;
    }
    rs.proposal = proposal;
    rs.expectedBlock ??= blockId;
  }

  /** Peers have an own proposal before this node checks it itself. */
  #announceProposal(block: Block): void {
    const { proposal } = this.#rs;
    if (!this.#isReplaying && proposal && isBlock(block, proposal.blockId))
      this.#modules.events.proposed(proposal, block);
  }

  async #addBlock(block: Block): Promise<void> {
    const rs = this.#rs;
    const { expectedBlock, height } = rs;
    if (block.height !== height || rs.proposalBlock || !isBlock(block, expectedBlock)) return;
    if (block.bytes.length > rs.state.params.maxBytes) {
      this.#modules.log.error("consensus", "failed to process message", {
        height,
        err: "total size of proposal block parts exceeds maximum block bytes",
      });
      return;
    }
    rs.proposalBlock = block;
    this.#modules.events.step();
    const majority = rs.votes.of("prevote", rs.round)?.majority;
    if (majority?.blockId && rs.validRound < rs.round && isBlock(block, majority.blockId)) {
      rs.validRound = rs.round;
      rs.validBlock = block;
    }
    if (rs.step <= STEP.propose && this.#isProposalComplete()) {
      await this.#enterPrevote(height, rs.round);
      if (majority) await this.#enterPrecommit(height, rs.round);
    } else if (rs.step === STEP.commit) await this.#tryFinalize(height);
  }

  async #addVote(vote: Vote, peer: string | undefined): Promise<void> {
    const rs = this.#rs;
    if (vote.height + 1 === rs.height && vote.type === "precommit") {
      if (rs.step === STEP.newHeight && rs.lastCommit?.add(vote).kind === "added")
        this.#modules.events.added(vote, peer);
      return;
    }
    if (vote.height !== rs.height) return;
    const added = rs.votes.add(vote, peer);
    if (added.kind === "invalid") {
      this.#modules.log.info("consensus", "failed attempting to add vote", { err: added.reason });
      return;
    }
    if (added.kind === "conflict") this.#onConflict(added.first, vote);
    if (added.kind === "duplicate" || (added.kind === "conflict" && !added.isAdded)) return;
    this.#modules.events.added(vote, peer);
    if (vote.type === "prevote") await this.#onPrevote(vote.round);
    else await this.#onPrecommit(vote.round);
  }

  #onConflict(first: Vote, second: Vote): void {
    const { validator, evidence, log } = this.#modules;
    if (first.address === validator.address) {
      const { height, round, type } = second;
      log.error("consensus", "found conflicting vote from ourselves; did you unsafe_reset a validator?", {
        height,
        round,
        type,
      });
    } else evidence.report(first, second);
  }

  async #onPrevote(round: number): Promise<void> {
    const rs = this.#rs;
    const { height } = rs;
    const prevotes = rs.votes.of("prevote", round)!;
    const { majority } = prevotes;
    if (majority) this.#onPolka(round, majority.blockId);
    if (rs.round < round && prevotes.hasTwoThirdsAny) await this.#enterNewRound(height, round);
    else if (rs.round === round && rs.step >= STEP.prevote) {
      if (majority && (majority.blockId === undefined || this.#isProposalComplete()))
        await this.#enterPrecommit(height, round);
      else if (prevotes.hasTwoThirdsAny) this.#enterPrevoteWait(height, round);
    } else if (rs.proposal && rs.proposal.polRound === round && this.#isProposalComplete()) {
      await this.#enterPrevote(height, rs.round);
    }
  }

  /** More than two thirds prevoted for one block, or for none. */
  #onPolka(round: number, blockId: BlockId | undefined): void {
    const rs = this.#rs;
    if (rs.lockedBlock && rs.lockedRound < round && round <= rs.round && !isBlock(rs.lockedBlock, blockId))
      this.#unlock();
    if (blockId === undefined || rs.validRound >= round || round !== rs.round) return;
    if (isBlock(rs.proposalBlock, blockId)) {
      rs.validRound = round;
      rs.validBlock = rs.proposalBlock;
    } else rs.proposalBlock = undefined;
    rs.expectedBlock = blockId;
    this.#modules.events.step();
  }

  async #onPrecommit(round: number): Promise<void> {
    const rs = this.#rs;
    const { height } = rs;
    const precommits = rs.votes.of("precommit", round)!;
    const { majority } = precommits;
    if (majority) {
      await this.#enterNewRound(height, round);
      await this.#enterPrecommit(height, round);
      if (majority.blockId) await this.#enterCommit(height, round);
      else this.#enterPrecommitWait(height, round);
    } else if (rs.round <= round && precommits.hasTwoThirdsAny) {
      await this.#enterNewRound(height, round);
      this.#enterPrecommitWait(height, round);
    }
  }

  #unlock(): void {
    this.#rs.lockedRound = -1;
    this.#rs.lockedBlock = undefined;
  }

  #sign(type: VoteType, blockId: BlockId | undefined): void {
    const { validator, wal, log } = this.#modules;
    const { height, round, validators, state } = this.#rs;
    const index = validators.indexOf(validator.address);
    if (index < 0) return;
    wal.sync();
    try {
      const { address } = validator;
      const vote = validator.signVote(state.chainId, {
        type,
        height,
        round,
        blockId,
        time: this.#voteTime(),
        index,
        address,
      });
      this.#own.push({ kind: "vote", vote, peer: undefined });
    } catch (error) {
      if (!(error instanceof SigningRefusedError)) throw error;
      log.error("consensus", "failed signing vote", { height, round, err: error.message });
    }
  }

  /** Later than the block that is voted for: so is the median of the next one. */
  #voteTime(): bigint {
    const block = this.#rs.lockedBlock ?? this.#rs.proposalBlock;
    const now = this.#modules.now();
    const earliest = block ? block.header.time + TIME_STEP_NANOS : now;
    return now > earliest ? now : earliest;
  }

  #faultOf(block: Block): string | undefined {
    const { keys, system, settings, evidence } = this.#modules;
    const { state } = this.#rs;
    if (this.#lastValidated !== block.hash) {
      const fault = faultOfBlock(state, block, { keys, now: system.now(), toleranceMs: settings.blockTimeToleranceMs });
      if (fault !== undefined) return fault;
      this.#lastValidated = block.hash;
    }
    return evidence.faultOfBlock(block.evidence);
  }

  #moveTo(step: Step): void {
    this.#rs.step = step;
    this.#modules.events.step();
  }

  #schedule(ms: number, step: Step): void {
    const { height, round } = this.#rs;
    this.#timer.schedule(ms, { height, round, step });
  }

  #scheduleRound0(): void {
    this.#schedule(Math.max(0, this.#rs.startTime - this.#modules.system.now()), STEP.newHeight);
  }

  /** The precommits for the last block, from the block store. */
  #seenVotes(state: ChainState): VoteSet | undefined {
    const { lastBlockHeight, lastValidators, chainId } = state;
    if (lastBlockHeight === 0) return undefined;
    const { blocks, keys } = this.#modules;
    const commit = blocks.seenCommit(lastBlockHeight);
    if (commit === undefined)
      throw new Error(`failed to reconstruct last commit; commit for height ${lastBlockHeight} not found`);
    const votes = new VoteSet({
      chainId,
      height: lastBlockHeight,
      round: commit.round,
      type: "precommit",
      validators: lastValidators!,
      keys,
    });
    for (const vote of votesOf(commit)) votes.add(vote);
    if (votes.majority === undefined)
      throw new Error("failed to reconstruct last commit; extended commit does not have +2/3 majority");
    return votes;
  }

  #roundStateOf(state: ChainState, lastCommit?: VoteSet, commitTime?: number): RoundState {
    const { keys, settings, system } = this.#modules;
    const height = nextHeight(state);
    const { chainId, validators } = state;
    return {
      height,
      round: 0,
      step: STEP.newHeight,
      startTime: (commitTime ?? system.now()) + settings.commitMs,
      commitTime: undefined,
      validators,
      proposal: undefined,
      proposalBlock: undefined,
      expectedBlock: undefined,
      lockedRound: -1,
      lockedBlock: undefined,
      validRound: -1,
      validBlock: undefined,
      votes: new HeightVotes({ chainId, height, validators, keys }),
      commitRound: -1,
      lastCommit,
      hasPrecommitTimeout: false,
      state,
    };
  }
}
