import type { Chain } from "../chain/chain.ts";
import { invariant, NodeError } from "../errors.ts";
import { type BlockBuilder, nextGasLimit, type PayloadAttributes } from "../execution/block/build-block.ts";
import type { Mempool } from "../mempool/mempool.ts";
import type { PeerSubmissions, RunAdd } from "../mempool/peer-submissions.ts";
import { type Address, addressToBytes } from "../primitives/address.ts";
import { bigintToFixedBytes, concatBytes, EMPTY_BYTES } from "../primitives/bytes.ts";
import { type Hash, hashToBytes } from "../primitives/hash.ts";
import { bytesToHex } from "../primitives/hex.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import type { Logger } from "../telemetry/logger.ts";
import { TransactionRejection } from "../types/transaction/codec.ts";
import { decodeTransaction } from "../types/transaction/decode.ts";
import type { Transaction } from "../types/transaction/transaction.ts";
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
import { assembleBlock, beginPacking, PACKING_LIMITS, PackingAhead, TX_FRAME_BYTES } from "./pack-transactions.ts";
import type { BeginBlock } from "./pending-block.ts";
import { ExecutorFailure, type SetAside } from "./quarantine.ts";
import type { SnapshotFiles } from "./state-sync/snapshot-files.ts";
import type { Proposals } from "./voting/proposals.ts";
import { EPOCH_BLOCKS } from "./voting/snapshot.ts";
import { snapshotIn, voteEffect } from "./voting/snapshot-storage.ts";
import type { StartingSet } from "./voting/starting-set.ts";

/** ABCI counts bytes and gas of proposer data as nothing. */
const PROPOSER_DATA_RESULT: TxResult = { code: 0, gasWanted: 0n, gasUsed: 0n };
const SKIPPED_RESULT: TxResult = { code: 1, gasWanted: 0n, gasUsed: 0n };

type EvmApplicationOptions = {
  /** Receives priority fees; read anew for every proposal. */
  readonly feeRecipient: () => Address;
  /** at most 32 bytes */
  readonly extraData: Uint8Array;
  /** Least tip per gas for inclusion, in wei. */
  readonly minimumTip: () => bigint;
  /** The gas limit moves towards it by at most 1/1024 a block. */
  readonly gasLimitTarget: bigint;
  /** Time to build a proposal in; `PACKING_LIMITS` by default. */
  readonly packingMs?: number;
};

type EvmApplicationModules = {
  readonly chain: Chain;
  readonly mempool: Mempool;
  /** Takes transactions into the pool. */
  readonly submissions: Pick<PeerSubmissions, "submit">;
  readonly beginBlock: BeginBlock;
  /** The votes this node casts when it proposes. */
  readonly proposals: Proposals;
  /** The validators that votes count from; read when the first vote is counted. */
  readonly startingSet: () => StartingSet;
  /** Snapshots for peers; none if not given. */
  readonly snapshots?: Pick<SnapshotFiles, "list" | "chunk">;
  readonly setAside: SetAside;
  /** Reports a failure that the engine only sees as an empty or rejected proposal. */
  readonly onFailure: (where: string, error: unknown) => void;
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
  readonly log: Logger;
};

type OwnProposal = Parameters<Application["prepareProposal"]>[0];

type OpenBlock = {
  readonly begin: () => BlockBuilder;
  readonly validatorUpdates: readonly Validator[];
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
    const { config, genesisHash } = chain;
    const { header, hash } = chain.head().block;
    assertSameChain(start, { config, genesisHash, head: header });
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
      const withoutVote = this.#proposerData();
      alone = encodeProposerData(withoutVote);
      const { first, limits, key, begin, validatorUpdates } = this.#plan(proposal, withoutVote);
      const begun = this.#ahead.take(key);
      const { sealed, packed } = assembleBlock(
        begin,
        { ...limits, timeMs: this.#options.packingMs ?? PACKING_LIMITS.timeMs },
        { mempool, config: chain.config, setAside },
        begun,
      );
      if (begun?.packing.isStale) this.#ahead.miss();
      else if (begun) this.#ahead.hit();
      const txs = [first, ...packed.map((tx) => tx.raw)];
      const { receipts } = sealed.executed;
      const results = packed.map(
        ({ gasLimit }, i): TxResult => ({
          code: 0,
          gasWanted: gasLimit,
          gasUsed: receipts[i]!.gasUsed,
        }),
      );
      this.#candidates.add({
        proposal,
        txs,
        sealed,
        results: [PROPOSER_DATA_RESULT, ...results],
        validatorUpdates,
      });
      return txs;
    } catch (error) {
      onFailure("prepareProposal", error);
      return alone === undefined ? [] : [alone];
    }
  }

  prepareAhead(proposal: OwnProposal, timeMs: number): boolean {
    const { chain, mempool, onFailure } = this.#modules;
    try {
      const { limits, key, begin } = this.#plan(proposal, this.#proposerData());
      const packing = { mempool, config: chain.config };
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
      return this.#execute(input, false).results.every(({ code }) => code === 0);
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
    };
  }

  commit(): void {
    invariant(this.#finalized, "a block is finalized before it is committed");
    const { candidate, input } = this.#finalized;
    const { executed, changes, nodes } = candidate.sealed;
    const { vote } = decodeProposerData(input.txs[0]);
    const consensusData = encodeConsensusData({
      consensusHash: input.consensusHash,
      proposer: input.proposer,
      nanos: input.time.nanos,
      parentRound: input.lastCommit.round,
      ...(vote && { cast: { vote, startingSet: this.#modules.startingSet() } }),
    });
    this.#modules.chain.commit({ ...executed, changes, consensusData }, nodes);
    this.engineLost();
  }

  listSnapshots(): readonly Snapshot[] {
    return this.#modules.snapshots?.list() ?? [];
  }

  loadSnapshotChunk(height: number, format: number, chunk: number): Uint8Array {
    return this.#modules.snapshots?.chunk(height, format, chunk) ?? EMPTY_BYTES;
  }

  /** A node that has a chain restores no other one: `state-sync/restore.ts` does before there is one. */
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

  /** Made for the first peer: an engine without any never pays for it. It begins with all that is pooled. */
  #gossip(): GossipList {
    this.#gossipList ??= createGossipList(this.#modules.mempool, this.#modules);
    return this.#gossipList;
  }

  /** Header fields from consensus; the same on every node. */
  #attributesOf(proposal: Proposal, proposer: ProposerData): PayloadAttributes {
    const { chain } = this.#modules;
    const head = chain.head().block.header;
    return {
      ...proposer,
      timestamp: proposal.time.seconds,
      parentBeaconBlockRoot: consensusHashOf(chain.consensusDataOf(head.number)),
      prevRandao: prevRandaoOf(head.mixHash, proposal),
    };
  }

  /**
   * @returns begins the block, as often as it is called, with what its vote does to the validator set
   * @throws WrongHeightError, InvalidProposerDataError; `begin` throws InvalidBlockError when the proposal breaks a header rule
   */
  #open(proposal: Proposal, proposer: ProposerData): OpenBlock {
    const { chain, beginBlock, startingSet } = this.#modules;
    const head = chain.head().block.header.number;
    const height = head + 1;
    if (proposal.height !== height) throw new WrongHeightError({ height, got: proposal.height });
    const attributes = this.#attributesOf(proposal, proposer);
    const { vote } = proposer;
    if (vote === undefined) return { begin: () => beginBlock(attributes), validatorUpdates: [] };
    if (height % EPOCH_BLOCKS === 0) {
      throw new InvalidProposerDataError("a block that begins an epoch has no vote");
    }
    const cast = { height, proposer: proposal.proposer, vote, startingSet: startingSet() };
    const { systemUpdate, validatorUpdates } = voteEffect(chain.stateAt(head), cast);
    return { begin: () => beginBlock({ ...attributes, systemUpdate }), validatorUpdates };
  }

  /** The vote of the next block, where this node proposes it. */
  #nextVote({ height, proposer }: Proposal): Pick<ProposerData, "vote"> {
    const { proposals, chain, startingSet } = this.#modules;
    if (proposals.all().length === 0) return {};
    const state = chain.stateAt(chain.head().block.header.number);
    const vote = proposals.next(snapshotIn(state, startingSet(), height), proposer, height);
    return vote ? { vote } : {};
  }

  #proposerData(): ProposerData {
    const { feeRecipient, extraData, gasLimitTarget } = this.#options;
    const { gasLimit } = this.#modules.chain.head().block.header;
    return {
      feeRecipient: feeRecipient(),
      extraData,
      gasLimit: nextGasLimit(gasLimit, gasLimitTarget),
    };
  }

  /** The block of a proposal before its transactions. `key` has all that it depends on. @throws as `#open` */
  #plan(proposal: OwnProposal, withoutVote: ProposerData) {
    const proposer = { ...withoutVote, ...this.#nextVote(proposal) };
    const first = encodeProposerData(proposer);
    const limits = {
      bytesMax: proposal.maxTxBytes - first.length - TX_FRAME_BYTES,
      minimumTip: this.#options.minimumTip(),
    };
    const { height, time } = proposal;
    const key = [
      this.#modules.chain.head().block.hash,
      height,
      time.seconds,
      time.nanos,
      proposal.proposer,
      bytesToHex(first),
      limits.bytesMax,
      limits.minimumTip,
    ].join(" ");
    return { first, limits, key, ...this.#open(proposal, proposer) };
  }

  /**
   * Executes `input`, or finds that it was executed already. Pooled transactions are decoded, and their senders recovered.
   * @param skipsInvalid whether an invalid transaction is left out, or makes the block invalid
   * @throws NodeError when the block is invalid
   */
  #execute(input: BlockInput, skipsInvalid: boolean): Candidate {
    const { chain, mempool, log } = this.#modules;
    const executed = this.#candidates.find(input, chain.head().block.hash);
    if (executed) return executed;
    const { begin, validatorUpdates } = this.#open(input, decodeProposerData(input.txs[0]));
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
        log.warn("invalid transaction of a decided block skipped", {
          height: input.height,
          hash: keccak256Hash(raw),
          error,
        });
        results.push(SKIPPED_RESULT);
      }
    }
    const sealed = builder.seal();
    const candidate = { proposal: input, txs: input.txs, sealed, results, validatorUpdates };
    this.#candidates.add(candidate);
    return candidate;
  }
}

/** The engine is at another height than the chain. */
class WrongHeightError extends NodeError {
  readonly code = "CONSENSUS_WRONG_HEIGHT";
  constructor(details: { readonly height: number; readonly got: number }) {
    super(`the next block is ${details.height}, got ${details.got}`, details);
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
 * keccak256(parent prevRandao ‖ height ‖ seconds ‖ nanos ‖ proposer). Known when a block is proposed and beyond the control of
 * one proposer, but not of a third of the validators together.
 */
function prevRandaoOf(parent: Hash, { height, time, proposer }: Proposal): Hash {
  return keccak256Hash(
    concatBytes(
      hashToBytes(parent),
      bigintToFixedBytes(BigInt(height), 8),
      bigintToFixedBytes(BigInt(time.seconds), 8),
      bigintToFixedBytes(BigInt(time.nanos), 4),
      addressToBytes(proposer),
    ),
  );
}
