import type { CommitInfo, Reply, Request } from "../../../src/consensus/cometbft/abci/messages.ts";
import { encodeVarint } from "../../../src/consensus/cometbft/abci/protobuf.ts";
import type { Application } from "./abci-client.ts";
import type { BlockStore } from "./disk/block-store.ts";
import type { StateStore } from "./disk/state-store.ts";
import type { EvidencePool } from "./evidence-pool.ts";
import type { Hostility } from "./hostility.ts";
import { Block } from "./types/block.ts";
import { type ChainState, headerFieldsOf, stateAfter } from "./types/chain-state.ts";
import type { ValidatorSet } from "./types/validator-set.ts";
import { bytesOf, type Commit, toTimestamp } from "./types/vote.ts";

/** Bytes of a block that no transaction can have: envelope, header and commit (types/block.go). */
const BLOCK_OVERHEAD_BYTES = 11;
const HEADER_BYTES_MAX = 626;
const COMMIT_BYTES = 94;
/** Of one signature; keys of other types have longer ones. */
const COMMIT_SIGNATURE_BYTES_MAX = 3_358;

/** Accepted by the application. */
const ACCEPT = 1;
const UNKNOWN = 0;

type ExecutorModules = {
  readonly application: Application;
  readonly blocks: BlockStore;
  readonly states: StateStore;
  readonly evidence: EvidencePool;
  readonly hostility: Pick<Hostility, "txsOf">;
};

/** What is between consensus and the application: makes proposals, checks them and executes decided blocks. */
export class BlockExecutor {
  readonly #modules: ExecutorModules;

  constructor(modules: ExecutorModules) {
    this.#modules = modules;
  }

  /** @throws Error where the application does not answer, or with more than fits: consensus stops */
  async propose(state: ChainState, lastCommit: Commit, proposer: string): Promise<Block> {
    const { application, evidence: pool, hostility } = this.#modules;
    const { evidence, bytes } = pool.pending(state.params.evidenceBytesMax);
    const maxTxBytes = dataBytesMax(state, bytes);
    const header = headerFieldsOf(state, { proposer, lastCommit });
    const info = commitInfo(lastCommit, state.lastValidators);
    const { txs } = await application.consensus.call("prepareProposal", {
      maxTxBytes: BigInt(maxTxBytes),
      localLastCommit: {
        round: info.round,
        votes: info.votes.map((vote) => ({ ...vote, extension: EMPTY, extensionSignature: EMPTY })),
      },
      misbehavior: misbehaviorOf(evidence),
      height: BigInt(header.height),
      time: toTimestamp(header.time),
      nextValidatorsHash: bytesOf(header.nextValidatorsHash),
      proposerAddress: bytesOf(proposer),
    });
    const size = txs.reduce((sum, { length }) => sum + 1 + encodeVarint(length).length + length, 0);
    if (size > maxTxBytes) throw new Error(`transaction data size exceeds maximum ${maxTxBytes}: got ${size}`);
    return Block.of(header, { txs: hostility.txsOf(txs.map((tx) => Uint8Array.from(tx))), evidence, lastCommit });
  }

  /** Whether the application accepts a proposal. @throws Error: consensus stops */
  async process(state: ChainState, block: Block): Promise<boolean> {
    const { application, states } = this.#modules;
    const { status } = await application.consensus.call("processProposal", decidedBlock(state, block, states));
    if (status === UNKNOWN) throw new Error("ProcessProposal responded with status UNKNOWN");
    return status === ACCEPT;
  }

  /**
   * Executes a decided block that is in the block store: the result is stored before the commit, the state after it.
   * @param stored the result where the application has committed the block already
   * @throws Error: consensus stops
   */
  async apply(state: ChainState, block: Block, stored?: Reply<"finalizeBlock">): Promise<ChainState> {
    const { application, states, blocks, evidence } = this.#modules;
    const reply = stored ?? (await application.consensus.call("finalizeBlock", decidedBlock(state, block, states)));
    const { length } = block.txs;
    if (reply.txResults.length !== length) {
      throw new Error(
        `expected tx results length to match size of transactions in block. Expected ${length}, got ${reply.txResults.length}`,
      );
    }
    states.saveReply(block.height, reply);
    const next = stateAfter(state, block, reply);
    let retainHeight = 0n;
    if (stored === undefined) {
      await application.mempool.flush();
      ({ retainHeight } = await application.consensus.call("commit", {}));
    }
    evidence.update(next, block.evidence);
    states.save(next);
    if (Number(retainHeight) > blocks.base) blocks.prune(Math.min(Number(retainHeight), block.height));
    return next;
  }

  /** Executes a block of the past for an application that lost it. @throws Error */
  async replay(block: Block, state: ChainState): Promise<string> {
    const { application, states } = this.#modules;
    const reply = await application.consensus.call("finalizeBlock", decidedBlock(state, block, states));
    if (reply.txResults.length !== block.txs.length) {
      throw new Error(
        `expected tx results length to match size of transactions in block. Expected ${block.txs.length}, got ${reply.txResults.length}`,
      );
    }
    await application.consensus.call("commit", {});
    return Buffer.from(reply.appHash).toString("hex");
  }
}

const EMPTY = new Uint8Array();

/** Bytes that transactions may have in a block. */
function dataBytesMax({ params, validators }: ChainState, evidenceBytes: number): number {
  const commit = COMMIT_BYTES + COMMIT_SIGNATURE_BYTES_MAX * validators.size;
  return params.maxBytes - BLOCK_OVERHEAD_BYTES - HEADER_BYTES_MAX - commit - evidenceBytes;
}

/** The request of ProcessProposal and FinalizeBlock. */
function decidedBlock(state: ChainState, block: Block, states: StateStore): Request<"finalizeBlock"> {
  const { header, txs } = block;
  const isLast = state.lastBlockHeight + 1 === block.height;
  return {
    txs,
    lastCommit: commitInfo(
      block.lastCommit,
      block.height === state.initialHeight
        ? undefined
        : isLast
          ? state.lastValidators
          : states.validatorsAt(block.height - 1),
    ),
    misbehavior: misbehaviorOf(block.evidence),
    hash: bytesOf(block.hash),
    height: BigInt(header.height),
    time: toTimestamp(header.time),
    nextValidatorsHash: bytesOf(header.nextValidatorsHash),
    proposerAddress: bytesOf(header.proposer),
  };
}

/** @param validators of the height of the commit; undefined for the first block */
function commitInfo(commit: Commit, validators: ValidatorSet | undefined): CommitInfo {
  if (validators === undefined) return { round: 0, votes: [] };
  return {
    round: commit.round,
    votes: validators.validators.map(({ address, power }, index) => ({
      validator: { address: bytesOf(address), power: BigInt(power) },
      blockIdFlag: commit.signatures[index]!.flag,
    })),
  };
}

/** Duplicate votes as the application sees them. */
const DUPLICATE_VOTE = 1;

function misbehaviorOf(evidence: Block["evidence"]): Request<"finalizeBlock">["misbehavior"] {
  return evidence.map(({ a, power, totalPower, time }) => ({
    type: DUPLICATE_VOTE,
    validator: { address: bytesOf(a.address), power: BigInt(power) },
    height: BigInt(a.height),
    time: toTimestamp(time),
    totalVotingPower: BigInt(totalPower),
  }));
}
