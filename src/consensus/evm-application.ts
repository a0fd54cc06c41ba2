import type { Chain } from "../chain/chain.ts";
import { invariant, NodeError } from "../errors.ts";
import { isTransactionRejection } from "../execution/block/block-execution.ts";
import {
  type BlockBuilder,
  nextGasLimit,
  type PayloadAttributes,
} from "../execution/block/build-block.ts";
import type { Mempool } from "../mempool/mempool.ts";
import type { PeerSubmissions, RunAdd } from "../mempool/peer-submissions.ts";
import { type Address, addressToBytes } from "../primitives/address.ts";
import { bigintToFixedBytes, concatBytes, EMPTY_BYTES } from "../primitives/bytes.ts";
import { type Hash, hashToBytes } from "../primitives/hash.ts";
import { bytesToHex } from "../primitives/hex.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import type { Logger } from "../telemetry/logger.ts";
import {
  type DecodedPooledTransaction,
  decodePooledTransaction,
  decodeTransaction,
} from "../types/transaction/decode.ts";
import type { Transaction } from "../types/transaction/transaction.ts";
import {
  type Application,
  type BlockInput,
  INSERT_CODES,
  type InsertCode,
  type Proposal,
  type TxResult,
  type Validator,
} from "./application.ts";
import { assembleBlock, beginPacking } from "./assemble-block.ts";
import type { BeginBlock } from "./block-factory.ts";
import { type Candidate, createCandidates } from "./candidates.ts";
import { APP_VERSION, assertSameChain } from "./chain-start.ts";
import type { Proposals } from "./clique/proposals.ts";
import { EPOCH_BLOCKS } from "./clique/snapshot.ts";
import type { StartingSet } from "./clique/starting-set.ts";
import { snapshotIn, voteEffect } from "./clique/vote-effect.ts";
import { consensusHashOf, encodeConsensusData } from "./consensus-data.ts";
import { createGossipList, type GossipList } from "./gossip-list.ts";
import { insertCodeOf } from "./insert-result.ts";
import { PACKING_LIMITS, TX_FRAME_BYTES } from "./pack-transactions.ts";
import { PackingAhead } from "./packing-ahead.ts";
import {
  decodeProposerData,
  encodeProposerData,
  InvalidProposerDataError,
  type ProposerData,
} from "./proposer-data.ts";
import { ExecutorFailure, type SetAside } from "./set-aside.ts";
import type { SnapshotFiles } from "./state-sync/snapshot-files.ts";

/** ABCI counts bytes and gas of proposer data as nothing. */
const PROPOSER_DATA_RESULT: TxResult = { code: 0, gasWanted: 0n, gasUsed: 0n };
const SKIPPED_RESULT: TxResult = { code: 1, gasWanted: 0n, gasUsed: 0n };

export type EvmApplicationOptions = {
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

export type EvmApplicationModules = {
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

type OpenBlock = {
  readonly begin: () => BlockBuilder;
  readonly validatorUpdates: readonly Validator[];
};

/** The application over our chain, pool and EVM. */
export function createEvmApplication(
  options: EvmApplicationOptions,
  modules: EvmApplicationModules,
): Application {
  const { chain, mempool, beginBlock, startingSet, log } = modules;
  const candidates = createCandidates();
  const ahead = new PackingAhead();
  let gossipList: GossipList | undefined;
  /** Made for the first peer: an engine without any never pays for it. It begins with all that is pooled. */
  const gossip = () => (gossipList ??= createGossipList(mempool, modules));
  let finalized: { readonly candidate: Candidate; readonly input: BlockInput } | undefined;

  /** Header fields from consensus; the same on every node. */
  function attributesOf(proposal: Proposal, proposer: ProposerData): PayloadAttributes {
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
  function open(proposal: Proposal, proposer: ProposerData): OpenBlock {
    const head = chain.head().block.header.number;
    const height = head + 1;
    if (proposal.height !== height) throw new WrongHeightError({ height, got: proposal.height });
    const attributes = attributesOf(proposal, proposer);
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
  function nextVote({ height, proposer }: Proposal): Pick<ProposerData, "vote"> {
    const { proposals } = modules;
    if (proposals.all().length === 0) return {};
    const state = chain.stateAt(chain.head().block.header.number);
    const vote = proposals.next(snapshotIn(state, startingSet(), height), proposer, height);
    return vote ? { vote } : {};
  }

  function proposerData(): ProposerData {
    return {
      feeRecipient: options.feeRecipient(),
      extraData: options.extraData,
      gasLimit: nextGasLimit(chain.head().block.header.gasLimit, options.gasLimitTarget),
    };
  }

  /** The block of a proposal before its transactions. `key` has all that it depends on. @throws as `open` */
  function plan(
    proposal: Parameters<Application["prepareProposal"]>[0],
    withoutVote: ProposerData,
  ) {
    const proposer = { ...withoutVote, ...nextVote(proposal) };
    const first = encodeProposerData(proposer);
    const limits = {
      bytesMax: proposal.maxTxBytes - first.length - TX_FRAME_BYTES,
      minimumTip: options.minimumTip(),
    };
    const { height, time } = proposal;
    const key = [
      ...[chain.head().block.hash, height, time.seconds, time.nanos, proposal.proposer],
      ...[bytesToHex(first), limits.bytesMax, limits.minimumTip],
    ].join(" ");
    return { first, limits, key, ...open(proposal, proposer) };
  }

  /**
   * Executes `input`, or finds that it was executed already. Pooled transactions are decoded, and their senders recovered.
   * @param skipsInvalid whether an invalid transaction is left out, or makes the block invalid
   * @throws NodeError when the block is invalid
   */
  function execute(input: BlockInput, skipsInvalid: boolean): Candidate {
    const executed = candidates.find(input, chain.head().block.hash);
    if (executed) return executed;
    const { begin, validatorUpdates } = open(input, decodeProposerData(input.txs[0]));
    const builder = begin();
    const results: TxResult[] = [PROPOSER_DATA_RESULT];
    for (const raw of input.txs.slice(1)) {
      try {
        const pooled = mempool.get(keccak256Hash(raw));
        const tx = pooled?.tx ?? decode(raw);
        const { receipt } = builder.add(tx, pooled?.sender);
        results.push({ code: 0, gasWanted: tx.gasLimit, gasUsed: receipt.gasUsed });
      } catch (error) {
        if (!skipsInvalid || !isTransactionRejection(error)) throw error;
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
    candidates.add(candidate);
    return candidate;
  }

  function insert(
    tx: Uint8Array,
    run: RunAdd,
  ): { readonly code: InsertCode; readonly log: string } {
    let decoded: DecodedPooledTransaction;
    try {
      decoded = decodePooledTransaction(tx);
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      return { code: INSERT_CODES.invalid, log: error.message };
    }
    try {
      modules.submissions.submit(decoded, run);
      return { code: INSERT_CODES.accepted, log: "" };
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      return { code: insertCodeOf(error), log: error.message };
    }
  }

  return {
    info() {
      const { block } = chain.head();
      return { height: block.header.number, appHash: block.hash, appVersion: APP_VERSION };
    },

    initChain(start) {
      const { config, genesisHash } = chain;
      const { header, hash } = chain.head().block;
      assertSameChain(start, { config, genesisHash, head: header });
      return { appHash: hash };
    },

    checkTx: (tx) => insert(tx, (add) => add()),

    insertTx(tx) {
      const list = gossip();
      return { code: insert(tx, (add) => list.fromPeer(add)).code };
    },

    reapTxs: (limits) => gossip().take(limits),

    prepareProposal(proposal) {
      let alone: Uint8Array | undefined;
      try {
        const withoutVote = proposerData();
        alone = encodeProposerData(withoutVote);
        const { first, limits, key, begin, validatorUpdates } = plan(proposal, withoutVote);
        const begun = ahead.take(key);
        const { sealed, packed } = assembleBlock(
          begin,
          { ...limits, timeMs: options.packingMs ?? PACKING_LIMITS.timeMs },
          { mempool, config: chain.config, setAside: modules.setAside },
          begun,
        );
        if (begun?.packing.isStale) ahead.miss();
        else if (begun) ahead.hit();
        const txs = [first, ...packed.map((tx) => tx.raw)];
        const results = packed.map(
          (tx, i): TxResult => ({
            code: 0,
            gasWanted: tx.gasLimit,
            gasUsed: sealed.executed.receipts[i]!.gasUsed,
          }),
        );
        candidates.add({
          proposal,
          txs,
          sealed,
          results: [PROPOSER_DATA_RESULT, ...results],
          validatorUpdates,
        });
        return txs;
      } catch (error) {
        modules.onFailure("prepareProposal", error);
        return alone === undefined ? [] : [alone];
      }
    },

    prepareAhead(proposal, timeMs) {
      try {
        const { limits, key, begin } = plan(proposal, proposerData());
        const packing = { mempool, config: chain.config };
        return ahead.extend(key, () => beginPacking(begin, limits, packing), timeMs);
      } catch (error) {
        ahead.miss();
        // The block itself sets the transaction aside.
        if (!(error instanceof ExecutorFailure)) modules.onFailure("prepareAhead", error);
        return false;
      }
    },

    processProposal(input) {
      try {
        return execute(input, false).results.every(({ code }) => code === 0);
      } catch (error) {
        const data = { height: input.height, proposer: input.proposer, error };
        log.warn("proposal rejected", data);
        if (!(error instanceof NodeError)) modules.onFailure("processProposal", error);
        return false;
      }
    },

    finalizeBlock(input) {
      const candidate = execute(input, true);
      finalized = { candidate, input };
      return {
        appHash: candidate.sealed.executed.block.hash,
        results: candidate.results,
        validatorUpdates: candidate.validatorUpdates,
      };
    },

    commit() {
      invariant(finalized, "a block is finalized before it is committed");
      const { candidate, input } = finalized;
      const { executed, changes, nodes } = candidate.sealed;
      const { vote } = decodeProposerData(input.txs[0]);
      const consensusData = encodeConsensusData({
        consensusHash: input.consensusHash,
        proposer: input.proposer,
        nanos: input.time.nanos,
        parentRound: input.lastCommit.round,
        ...(vote && { cast: { vote, startingSet: startingSet() } }),
      });
      chain.commit({ ...executed, changes, consensusData }, nodes);
      candidates.clear();
      ahead.forget();
      finalized = undefined;
    },

    listSnapshots: () => modules.snapshots?.list() ?? [],
    loadSnapshotChunk: (height, format, chunk) =>
      modules.snapshots?.chunk(height, format, chunk) ?? EMPTY_BYTES,

    // A node that has a chain restores no other one: `state-sync/restore.ts` does before there is one.
    offerSnapshot: () => "reject",
    applySnapshotChunk: () => ({ result: "abort", refetchChunks: [], rejectSenders: [] }),

    engineLost() {
      candidates.clear();
      ahead.forget();
      finalized = undefined;
    },
  };
}

/** The engine is at another height than the chain. */
export class WrongHeightError extends NodeError {
  readonly code = "CONSENSUS_WRONG_HEIGHT";
  constructor(details: { readonly height: number; readonly got: number }) {
    super(`the next block is ${details.height}, got ${details.got}`, details);
  }
}

/** An element of a decided block is not a transaction. */
class UndecodableTransactionError extends NodeError {
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
