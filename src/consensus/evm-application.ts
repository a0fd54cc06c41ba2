import { invariant, NodeError } from "../base/errors.ts";
import { gasLimitBase, nextGasLimit } from "../base/params/fees.ts";
import type { ForkHashes } from "../base/params/fork-id.ts";
import type { Address } from "../base/primitives/address.ts";
import { EMPTY_BYTES, equalBytes } from "../base/primitives/bytes.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { bytesToHex, writeHex } from "../base/primitives/hex.ts";
import { keccak256Hash } from "../base/primitives/keccak.ts";
import type { Logger } from "../base/telemetry/logger.ts";
import type { Header } from "../base/types/header.ts";
import { TransactionRejection } from "../base/types/transaction/codec.ts";
import { decodeTransaction } from "../base/types/transaction/decode.ts";
import type { Transaction } from "../base/types/transaction/transaction.ts";
import type { Parameter } from "../chain/agreement/agreement.ts";
import type { Chain } from "../chain/chain.ts";
import type { BlockBuilder, PayloadAttributes } from "../evm/execution/block/build-block.ts";
import type {
  Application,
  ApplyResult,
  BlockInput,
  BlockResult,
  ChainStart,
  OfferResult,
  Proposal,
  Snapshot,
  TxResult,
  Validator,
} from "./application.ts";
import { type Candidate, Candidates } from "./candidates.ts";
import { APP_VERSION, assertSameChain } from "./chain-start.ts";
import {
  consensusHashOf,
  decodeProposerData,
  encodeConsensusData,
  encodeProposerData,
  InvalidProposerDataError,
  type ProposerData,
} from "./consensus-data.ts";
import { createGossipList, type GossipLimits, type GossipList } from "./gossip-list.ts";
import { insertTransaction } from "./insert-transaction.ts";
import type { Mempool } from "./mempool/mempool.ts";
import type { PeerSubmissions, RunAdd } from "./mempool/peer-submissions.ts";
import {
  assembleBlock,
  beginPacking,
  PACKING_LIMITS,
  PackingAhead,
  type PackingSpeculation,
  TX_FRAME_BYTES,
} from "./pack-transactions.ts";
import type { BeginBlock } from "./pending-block.ts";
import { ExecutorFailure, type SetAside } from "./quarantine.ts";
import type { SnapshotFiles } from "./state-sync/snapshot-files.ts";
import { agreementIn, type GovernanceInBlock, governanceEffect } from "./voting/block-effect.ts";
import type { ParameterProposals } from "./voting/parameter-proposals.ts";
import { isKnownParameter } from "./voting/parameters.ts";
import type { Proposals } from "./voting/proposals.ts";
import { EPOCH_BLOCKS } from "./voting/snapshot.ts";
import { snapshotIn } from "./voting/snapshot-storage.ts";
import type { StartingSet } from "./voting/starting-set.ts";

/** ABCI counts bytes and gas of proposer data as nothing. */
export const PROPOSER_DATA_RESULT: TxResult = { code: 0, gasWanted: 0n, gasUsed: 0n };
export const SKIPPED_RESULT: TxResult = { code: 1, gasWanted: 0n, gasUsed: 0n };

type EvmApplicationOptions = {
  /** Receives priority fees; read for every proposal. */
  readonly feeRecipient: () => Address;
  /** at most 32 bytes */
  readonly extraData: Uint8Array;
  /** Minimum tip per gas for inclusion, in wei. */
  readonly minimumTip: () => bigint;
  /** Target of the gas limit, which changes by at most 1/1024 per block. */
  readonly gasLimitTarget: () => bigint;
  /** The forks by which this node executes blocks. */
  readonly forks: ForkHashes;
  /** Whether every block names its forks even if none is scheduled, so that a fork known only to this node gets no blocks here. */
  readonly namesForks: () => boolean;
  /** `genesisRules` of the genesis file. */
  readonly rules?: string | undefined;
  /** Time to build a proposal; default: `PACKING_LIMITS`. */
  readonly packingMs?: number;
};

type EvmApplicationModules = {
  readonly chain: Chain;
  readonly mempool: Mempool;
  /** Submits transactions to the pool. */
  readonly submissions: Pick<PeerSubmissions, "submit">;
  readonly beginBlock: BeginBlock;
  /** Executes transactions of the next block ahead of time; `beginBlock` uses the results. */
  readonly speculation?: PackingSpeculation | undefined;
  /** The votes this node casts when it proposes. */
  readonly proposals: Proposals;
  readonly parameterProposals: ParameterProposals;
  /** The validators from which votes count; read when the first vote is counted. */
  readonly startingSet: () => StartingSet;
  /** Voting power of a newly voted-in validator, the same as the others'. */
  readonly validatorPower: () => number;
  /** Snapshots for peers; absent: none. */
  readonly snapshots?: Pick<SnapshotFiles, "list" | "chunk">;
  readonly setAside: SetAside;
  /** Reports a failure that the engine sees only as an empty or rejected proposal. */
  readonly onFailure: (where: string, error: unknown) => void;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly log: Logger;
};

type OwnProposal = Parameters<Application["prepareProposal"]>[0];

type OpenBlock = {
  readonly begin: () => BlockBuilder;
  readonly validatorUpdates: readonly Validator[];
  /** Votes and offences to store with the block. */
  readonly cast?: GovernanceInBlock;
  /** The decision of its vote about a rule. */
  readonly decided?: Parameter;
};

/** The application over our chain, pool and EVM. */
export class EvmApplication implements Application {
  readonly #options: EvmApplicationOptions;
  readonly #modules: EvmApplicationModules;
  readonly #candidates = new Candidates();
  readonly #ahead = new PackingAhead();
  #gossipList: GossipList | undefined;
  #finalized: { readonly candidate: Candidate; readonly input: BlockInput } | undefined;

  constructor(options: EvmApplicationOptions, modules: EvmApplicationModules) {
    this.#options = options;
    this.#modules = modules;
  }

  info() {
    const { block } = this.#modules.chain.head();
    return { height: block.header.number, appHash: block.hash, appVersion: APP_VERSION };
  }

  initChain(start: ChainStart) {
    const { chain } = this.#modules;
    const { genesisConfig: config, genesisHash } = chain;
    const { header, hash } = chain.head().block;
    assertSameChain(start, { config, genesisHash, rules: this.#options.rules, head: header });
    return { appHash: hash };
  }

  checkTx(tx: Uint8Array) {
    return insertTransaction(tx, this.#modules.submissions, (add) => add());
  }

  insertTx(tx: Uint8Array) {
    const gossip = this.#gossip();
    const run: RunAdd = (add) => gossip.fromPeer(add);
    return { code: insertTransaction(tx, this.#modules.submissions, run).code };
  }

  reapTxs(limits: GossipLimits): Uint8Array[] {
    return this.#gossip().take(limits);
  }

  prepareProposal(proposal: OwnProposal): Uint8Array[] {
    const { chain, mempool, setAside, onFailure } = this.#modules;
    let alone: Uint8Array | undefined;
    try {
      const withoutVote = this.#proposerData(proposal);
      alone = encodeProposerData(withoutVote);
      const { first, limits, key, begin, ...open } = this.#plan(proposal, withoutVote, alone);
      const begun = this.#ahead.take(key);
      const { sealed, packed } = assembleBlock(
        begin,
        { ...limits, timeMs: this.#options.packingMs ?? PACKING_LIMITS.timeMs },
        { mempool, config: chain.config, setAside },
        begun,
      );
      if (begun?.packing.isStale) this.#ahead.miss();
      else if (begun) this.#ahead.hit();
      const txs = [first];
      const results = [PROPOSER_DATA_RESULT];
      const { receipts } = sealed.executed;
      for (let i = 0; i < packed.length; i++) {
        const { raw, gasLimit } = packed[i]!;
        txs.push(raw);
        results.push({ code: 0, gasWanted: gasLimit, gasUsed: receipts[i]!.gasUsed });
      }
      this.#candidates.add({ proposal, txs, sealed, results, ...open });
      return txs;
    } catch (error) {
      onFailure("prepareProposal", error);
      return alone === undefined ? [] : [alone];
    }
  }

  prepareAhead(proposal: OwnProposal, timeMs: number): boolean {
    const { chain, mempool, speculation, onFailure } = this.#modules;
    try {
      const withoutVote = this.#proposerData(proposal);
      const { limits, key, begin } = this.#plan(proposal, withoutVote, encodeProposerData(withoutVote));
      const packing = { mempool, config: chain.config, speculation };
      return this.#ahead.extend(key, () => beginPacking(begin, limits, packing), timeMs);
    } catch (error) {
      this.#ahead.miss();
      // The block itself sets the transaction aside.
      if (!(error instanceof ExecutorFailure)) onFailure("prepareAhead", error);
      return false;
    }
  }

  processProposal(input: BlockInput): boolean {
    try {
      this.#assertForksNamed(input);
      for (const { code } of this.#execute(input, false).results) if (code !== 0) return false;
      return true;
    } catch (error) {
      const data = { height: input.height, proposer: input.proposer, error };
      this.#modules.log.warn("proposal rejected", data);
      if (!(error instanceof NodeError)) this.#modules.onFailure("processProposal", error);
      return false;
    }
  }

  finalizeBlock(input: BlockInput): BlockResult {
    const candidate = this.#execute(input, true);
    this.#finalized = { candidate, input };
    return {
      appHash: candidate.sealed.executed.block.hash,
      results: candidate.results,
      validatorUpdates: candidate.validatorUpdates,
      ...evidenceAgeOf(candidate.decided),
    };
  }

  commit(): void {
    invariant(this.#finalized, "a block is finalized before it is committed");
    const { candidate, input } = this.#finalized;
    const { executed, changes, nodes, accessList } = candidate.sealed;
    const { cast } = candidate;
    const consensusData = encodeConsensusData({
      consensusHash: input.consensusHash,
      proposer: input.proposer,
      nanos: input.time.nanos,
      parentRound: input.lastCommit.round,
      ...(cast && { cast }),
    });
    this.#modules.chain.commit({ ...executed, changes, consensusData, accessList }, nodes);
    this.engineLost();
  }

  listSnapshots(): readonly Snapshot[] {
    return this.#modules.snapshots?.list() ?? [];
  }

  loadSnapshotChunk(height: number, format: number, chunk: number): Uint8Array {
    return this.#modules.snapshots?.chunk(height, format, chunk) ?? EMPTY_BYTES;
  }

  /** A node with a chain restores no snapshot: `state-sync/restore.ts` does so before there is one. */
  offerSnapshot(): OfferResult {
    return "reject";
  }

  applySnapshotChunk(): ApplyResult {
    return { result: "abort", refetchChunks: [], rejectSenders: [] };
  }

  engineLost(): void {
    this.#candidates.clear();
    this.#ahead.forget();
    this.#finalized = undefined;
  }

  /** Created for the first peer, so that an engine without peers never pays for it. Begins with all pooled transactions. */
  #gossip(): GossipList {
    this.#gossipList ??= createGossipList(this.#modules.mempool, this.#modules);
    return this.#gossipList;
  }

  /** Header fields from consensus; equal on every node. */
  #attributesOf(proposal: Proposal, proposer: ProposerData, head: Header): PayloadAttributes {
    const { chain } = this.#modules;
    return {
      ...proposer,
      timestamp: proposal.time.seconds,
      parentBeaconBlockRoot: consensusHashOf(chain.consensusDataOf(head.number)),
      prevRandao: prevRandaoOf(head.mixHash, proposal),
    };
  }

  /**
   * @returns a repeatable `begin` of the block, with the effect of its vote on the validator set
   * @throws WrongHeightError, ProgramTooOldError, OtherForkScheduleError, InvalidProposerDataError; `begin` throws InvalidBlockError if the
   * proposal breaks a header rule
   */
  #open(proposal: Proposal, proposer: ProposerData): OpenBlock {
    const { chain, beginBlock, startingSet } = this.#modules;
    const head = chain.head().block.header;
    const height = head.number + 1;
    if (proposal.height !== height) throw new WrongHeightError({ height, got: proposal.height });
    this.#assertForkIsKnown(proposal);
    this.#assertSameForks(proposal, proposer);
    const attributes = this.#attributesOf(proposal, proposer, head);
    const governance = this.#governanceOf(proposal, proposer);
    if (governance === undefined) return { begin: () => beginBlock(attributes), validatorUpdates: [] };
    const { timestamp } = attributes;
    const position = { height, timestamp, proposer: proposal.proposer, config: chain.config };
    const { systemUpdate, joined, left, jailed, decided } = governanceEffect(
      chain.stateAt(head.number),
      position,
      governance,
    );
    const power = this.#modules.validatorPower();
    const validatorUpdates = [
      ...joined.map((signer) => ({ ...signer, power })),
      ...left.map((signer) => ({ ...signer, power: 0 })),
    ];
    const { vote, parameterVote } = governance;
    const hasCast = vote !== undefined || parameterVote !== undefined || jailed.length > 0;
    return {
      begin: () => beginBlock({ ...attributes, ...(systemUpdate && { systemUpdate }) }),
      validatorUpdates,
      ...(decided && { decided }),
      ...(hasCast && { cast: { vote, parameterVote, offences: jailed, startingSet: startingSet() } }),
    };
  }

  /** Votes and offences of a block; undefined if it has none. @throws InvalidProposerDataError, UnknownParameterError */
  #governanceOf(
    { height, misbehavior }: Proposal,
    { vote, parameterVote }: ProposerData,
  ): GovernanceInBlock | undefined {
    const { chain, startingSet } = this.#modules;
    const offences = chain.config.jail ? misbehavior : [];
    if (vote === undefined && parameterVote === undefined && offences.length === 0) return undefined;
    if (height % EPOCH_BLOCKS === 0 && (vote || parameterVote)) {
      throw new InvalidProposerDataError("a block that begins an epoch has no vote");
    }
    if (parameterVote && !isKnownParameter(parameterVote.name)) {
      throw new UnknownParameterError({ height, name: parameterVote.name });
    }
    return { vote, parameterVote, offences, startingSet: startingSet() };
  }

  /**
   * A proposer without a schedule does not name its forks, and may execute by outdated rules. Its decided blocks stay valid: older programs
   * never name forks.
   */
  #assertForksNamed({ height, time, txs }: BlockInput): void {
    const { forks, namesForks } = this.#options;
    const isNameless = !forks.hasBegun(time.seconds) && !namesForks();
    if (isNameless || decodeProposerData(txs[0]).forkHash) return;
    throw new OtherForkScheduleError({ height, theirs: "none", own: bytesToHex(forks.at(time.seconds)) });
  }

  /** Rejects blocks of an agreed fork that this program does not know, whatever their rules. */
  #assertForkIsKnown({ height, time }: Proposal): void {
    const { unknownFork } = this.#modules.chain.config;
    if (unknownFork === undefined || time.seconds < unknownFork.time) return;
    throw new UnknownForkError({ height, ...unknownFork });
  }

  #assertSameForks({ height, time }: Proposal, { forkHash }: ProposerData): void {
    if (forkHash === undefined) return;
    const own = this.#options.forks.at(time.seconds);
    if (equalBytes(own, forkHash)) return;
    throw new OtherForkScheduleError({ height, theirs: bytesToHex(forkHash), own: bytesToHex(own) });
  }

  /** The votes of the next block, if this node proposes it. */
  #nextVotes({ height, proposer, time }: Proposal): Pick<ProposerData, "vote" | "parameterVote"> | undefined {
    const { proposals, parameterProposals, chain, startingSet } = this.#modules;
    if (proposals.all().length === 0 && parameterProposals.all().length === 0) return undefined;
    const state = chain.stateAt(chain.head().block.header.number);
    const set = startingSet();
    const snapshot = snapshotIn(state, set, height);
    const vote = proposals.next(snapshot, proposer, height);
    const isSigner = snapshot.signers.some(({ address }) => address === proposer);
    const parameterVote = isSigner
      ? parameterProposals.next(agreementIn(state, set, height), {
          proposer,
          height,
          timestamp: time.seconds,
          config: chain.config,
        })
      : undefined;
    return { ...(vote && { vote }), ...(parameterVote && { parameterVote }) };
  }

  #proposerData({ time }: Proposal): ProposerData {
    const { feeRecipient, extraData, gasLimitTarget, forks, namesForks } = this.#options;
    const { chain } = this.#modules;
    const { header } = chain.head().block;
    return {
      feeRecipient: feeRecipient(),
      extraData,
      gasLimit: nextGasLimit(gasLimitBase(header, chain.config), gasLimitTarget()),
      ...((forks.isScheduled || namesForks()) && { forkHash: forks.at(time.seconds) }),
    };
  }

  /**
   * The block of a proposal before its transactions. `key` contains all its inputs.
   * @param alone `withoutVote`, encoded
   * @throws as `#open`
   */
  #plan(proposal: OwnProposal, withoutVote: ProposerData, alone: Uint8Array) {
    const votes = this.#nextVotes(proposal);
    const proposer = votes === undefined ? withoutVote : { ...withoutVote, ...votes };
    const first = votes === undefined ? alone : encodeProposerData(proposer);
    const limits = {
      bytesMax: proposal.maxTxBytes - first.length - TX_FRAME_BYTES,
      minimumTip: this.#options.minimumTip(),
      transactionsMax: proposal.maxTxs,
    };
    const { height, time } = proposal;
    const key = [
      this.#modules.chain.head().block.hash,
      height,
      time.seconds,
      time.nanos,
      proposal.proposer,
      ...proposal.misbehavior.map((each) => `${each.address}@${each.height}`),
      bytesToHex(first),
      limits.bytesMax,
      limits.minimumTip,
      limits.transactionsMax,
    ].join(" ");
    return { first, limits, key, ...this.#open(proposal, proposer) };
  }

  /**
   * Executes `input`, or finds its earlier execution. Pooled transactions are already decoded, with their senders.
   * @param skipsInvalid whether to skip an invalid transaction instead of rejecting the block
   * @throws NodeError if the block is invalid
   */
  #execute(input: BlockInput, skipsInvalid: boolean): Candidate {
    const { chain, mempool, log } = this.#modules;
    const executed = this.#candidates.find(input, chain.head().block.hash);
    if (executed) return executed;
    const { begin, ...open } = this.#open(input, decodeProposerData(input.txs[0]));
    const builder = begin();
    const results: TxResult[] = [PROPOSER_DATA_RESULT];
    for (const raw of input.txs.slice(1)) {
      try {
        const pooled = mempool.get(keccak256Hash(raw));
        const tx = pooled?.tx ?? decode(raw);
        const { receipt } = builder.add(tx, pooled?.sender);
        results.push({ code: 0, gasWanted: tx.gasLimit, gasUsed: receipt.gasUsed });
      } catch (error) {
        if (!skipsInvalid || !(error instanceof TransactionRejection)) throw error;
        log.warn("skipped an invalid transaction of a decided block", {
          height: input.height,
          hash: keccak256Hash(raw),
          error,
        });
        results.push(SKIPPED_RESULT);
      }
    }
    const sealed = builder.seal();
    const candidate = { proposal: input, txs: input.txs, sealed, results, ...open };
    this.#candidates.add(candidate);
    return candidate;
  }
}

/** CometBFT judges evidence by parameters that it takes from a block's result. */
function evidenceAgeOf(decided: Parameter | undefined): Pick<BlockResult, "evidenceAgeSeconds"> {
  if (decided?.name !== "evidenceAgeSeconds") return {};
  return { evidenceAgeSeconds: decided.value === 0n ? null : Number(decided.value) };
}

/** The engine's height differs from the chain's. */
class WrongHeightError extends NodeError {
  readonly code = "CONSENSUS_WRONG_HEIGHT";
  constructor(details: { readonly height: number; readonly got: number }) {
    super(`the next block is ${details.height}, got ${details.got}`, details);
  }
}

/** The network executes the block under a different fork: the time of a fork in this node's `config/genesis.json` differs. */
export class OtherForkScheduleError extends NodeError {
  readonly code = "CONSENSUS_OTHER_FORK_SCHEDULE";
  constructor(details: { readonly height: number; readonly theirs: string; readonly own: string }) {
    const { height, theirs, own } = details;
    super(
      `block ${height} has another fork schedule (fork hash ${theirs}, this node's is ${own}): set the network's fork times in config/genesis.json`,
      details,
    );
  }
}

/** An agreement of the validators needs a newer program: later blocks cannot be executed here. */
export abstract class ProgramTooOldError extends NodeError {}

/** The block belongs to an agreed fork that this software does not know. */
class UnknownForkError extends ProgramTooOldError {
  readonly code = "CONSENSUS_UNKNOWN_FORK";
  constructor(details: { readonly height: number; readonly name: string; readonly time: number }) {
    const { height, name, time } = details;
    super(
      `block ${height} is after ${name} ${time}, an agreed fork that does not follow the forks of this node: if config/genesis.json lacks an earlier fork (compare with evmintd doctor --peer), add it; otherwise install a version of evmintd that knows ${name}`,
      details,
    );
  }
}

/** The block has a vote on a parameter that this software does not know. */
class UnknownParameterError extends ProgramTooOldError {
  readonly code = "CONSENSUS_UNKNOWN_PARAMETER";
  constructor(details: { readonly height: number; readonly name: string }) {
    const { height, name } = details;
    super(`block ${height} has a vote on ${name}, which this version does not know: upgrade evmintd`, details);
  }
}

/** An element of a decided block is not a transaction. */
class UndecodableTransactionError extends TransactionRejection {
  readonly code = "TX_UNDECODABLE";
}

function decode(raw: Uint8Array): Transaction {
  try {
    return decodeTransaction(raw);
  } catch (cause) {
    if (!(cause instanceof NodeError)) throw cause;
    throw new UndecodableTransactionError(cause.message, {}, { cause });
  }
}

/**
 * keccak256(parent prevRandao ‖ height ‖ seconds ‖ nanos ‖ proposer). Known when a block is proposed; one proposer cannot control it, but a
 * third of the validators together can.
 */
export function prevRandaoOf(
  parent: Hash,
  { height, time, proposer }: Pick<Proposal, "height" | "time" | "proposer">,
): Hash {
  const bytes = new Uint8Array(72);
  const numbers = new DataView(bytes.buffer);
  writeHex(parent, bytes, 0);
  numbers.setBigUint64(32, BigInt(height));
  numbers.setBigUint64(40, BigInt(time.seconds));
  numbers.setUint32(48, time.nanos);
  writeHex(proposer, bytes, 52);
  return keccak256Hash(bytes);
}
