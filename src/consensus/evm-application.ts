import type { Chain } from "../chain/chain.ts";
import { invariant, NodeError } from "../errors.ts";
import {
  type BlockAttributes,
  type BlockBuilder,
  nextGasLimit,
  type SealedBlock,
} from "../execution/block/build-block.ts";
import type { Mempool } from "../mempool/mempool.ts";
import { type Address, addressToBytes } from "../primitives/address.ts";
import { bigintToFixedBytes, concatBytes, equalBytes } from "../primitives/bytes.ts";
import { hashToBytes } from "../primitives/hash.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import type { Logger } from "../telemetry/logger.ts";
import { decodePooledTransaction, decodeTransaction } from "../types/transaction/decode.ts";
import type { Application, BlockInput, Proposal, TxResult } from "./application.ts";
import type { BeginBlock } from "./block-factory.ts";
import { consensusHashOf, encodeConsensusData } from "./consensus-data.ts";
import { PACKING_LIMITS, packTransactions } from "./pack-transactions.ts";
import { decodeProposerData, encodeProposerData, type ProposerData } from "./proposer-data.ts";

export type EvmApplicationOptions = {
  /** Receives priority fees; read anew for every proposal. */
  readonly feeRecipient: () => Address;
  /** at most 32 bytes */
  readonly extraData: Uint8Array;
  /** Least tip per gas for inclusion, in wei. */
  readonly minimumTip: () => bigint;
  /** What the gas limit moves towards by at most 1/1024 a block. */
  readonly gasLimitTarget: bigint;
};

export type EvmApplicationModules = {
  readonly chain: Chain;
  readonly mempool: Mempool;
  readonly beginBlock: BeginBlock;
  readonly log: Logger;
};

/** A block that was executed but not yet committed. */
type Candidate = {
  readonly height: number;
  readonly seconds: number;
  readonly nanos: number;
  readonly proposer: Address;
  readonly txs: readonly Uint8Array[];
  readonly sealed: SealedBlock;
};

/** The application over our chain, pool and EVM. */
export function createEvmApplication(
  options: EvmApplicationOptions,
  modules: EvmApplicationModules,
): Application {
  const { chain, mempool, beginBlock, log } = modules;
  let proposed: Candidate | undefined;
  let finalized: { readonly candidate: Candidate; readonly input: BlockInput } | undefined;

  /** What the header gets from consensus; the same on every node. */
  function attributesOf(proposal: Proposal, proposer: ProposerData): BlockAttributes {
    const head = chain.head().block.header;
    const { seconds, nanos } = proposal.time;
    return {
      timestamp: seconds,
      coinbase: proposer.feeRecipient,
      extraData: proposer.extraData,
      gasLimit: proposer.gasLimit,
      parentBeaconBlockRoot: consensusHashOf(chain.consensusDataOf(head.number)),
      // Known when a block is proposed and beyond one proposer's control, except by a third of the validators together.
      prevRandao: keccak256Hash(
        concatBytes(
          hashToBytes(head.mixHash),
          bigintToFixedBytes(BigInt(proposal.height), 8),
          bigintToFixedBytes(BigInt(seconds), 8),
          bigintToFixedBytes(BigInt(nanos), 4),
          addressToBytes(proposal.proposer),
        ),
      ),
    };
  }

  function candidateOf(proposal: Proposal, txs: readonly Uint8Array[], builder: BlockBuilder) {
    const { seconds, nanos } = proposal.time;
    const { height, proposer } = proposal;
    return { height, seconds, nanos, proposer, txs, sealed: builder.seal() };
  }

  function begin(proposal: Proposal, proposer: ProposerData): BlockBuilder {
    return beginBlock(attributesOf(proposal, proposer));
  }

  /** @throws NodeError when an element of `input.txs` is not valid where it stands */
  function execute(input: BlockInput): Candidate {
    if (proposed && isSameBlock(proposed, input)) return proposed;
    const builder = begin(input, decodeProposerData(input.txs[0]));
    for (const raw of input.txs.slice(1)) builder.add(decodeTransaction(raw));
    return candidateOf(input, input.txs, builder);
  }

  return {
    info() {
      const { block } = chain.head();
      return { height: block.header.number, appHash: block.hash };
    },

    checkTx(tx) {
      try {
        mempool.add(decodePooledTransaction(tx));
        return { code: 0, log: "" };
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        return { code: 1, log: error.message };
      }
    },

    insertTx(tx) {
      return { code: this.checkTx(tx).code === 0 ? 0 : 1 };
    },

    reapTxs({ maxBytes, maxGas }) {
      const reaped: Uint8Array[] = [];
      let bytes = 0;
      let gas = 0n;
      const waiting = mempool.pendingForBlock({ baseFee: 0n, minimumTip: options.minimumTip() });
      for (let best = waiting.peek(); best; best = waiting.peek()) {
        bytes += best.tx.raw.length;
        gas += best.tx.gasLimit;
        if ((maxBytes >= 0 && bytes > maxBytes) || (maxGas >= 0n && gas > maxGas)) break;
        reaped.push(best.tx.raw);
        waiting.next();
      }
      return reaped;
    },

    prepareProposal(proposal) {
      const head = chain.head().block.header;
      const proposer: ProposerData = {
        feeRecipient: options.feeRecipient(),
        extraData: options.extraData,
        gasLimit: nextGasLimit(head.gasLimit, options.gasLimitTarget),
      };
      const first = encodeProposerData(proposer);
      const builder = begin(proposal, proposer);
      const limits = {
        bytesMax: proposal.maxTxBytes - first.length,
        timeMs: PACKING_LIMITS.timeMs,
        minimumTip: options.minimumTip(),
      };
      const packed = packTransactions(builder, limits, { mempool, config: chain.config });
      const txs = [first, ...packed.map((tx) => tx.raw)];
      proposed = candidateOf(proposal, txs, builder);
      return txs;
    },

    processProposal(input) {
      try {
        proposed = execute(input);
        return true;
      } catch (error) {
        if (!(error instanceof NodeError)) throw error;
        log.warn("proposal refused", { height: input.height, reason: error.message });
        return false;
      }
    },

    finalizeBlock(input) {
      const candidate = execute(input);
      finalized = { candidate, input };
      const { block, receipts } = candidate.sealed.executed;
      const done: TxResult = { code: 0, gasWanted: 0n, gasUsed: 0n };
      return {
        appHash: block.hash,
        results: [
          done,
          ...receipts.map(
            (receipt, i): TxResult => ({
              code: receipt.status === 1 ? 0 : 1,
              gasWanted: block.transactions[i]!.gasLimit,
              gasUsed: receipt.gasUsed,
            }),
          ),
        ],
        validatorUpdates: [],
      };
    },

    commit() {
      invariant(finalized, "a block is finalized before it is committed");
      const { candidate, input } = finalized;
      const { executed, changes, nodes } = candidate.sealed;
      const consensusData = encodeConsensusData({
        consensusHash: input.consensusHash,
        proposer: input.proposer,
        nanos: input.time.nanos,
      });
      chain.commit({ ...executed, changes, consensusData }, nodes);
      proposed = undefined;
      finalized = undefined;
      return { retainHeight: 0 };
    },

    engineLost() {
      proposed = undefined;
      finalized = undefined;
    },
  };
}

function isSameBlock(candidate: Candidate, input: BlockInput): boolean {
  return (
    candidate.height === input.height &&
    candidate.seconds === input.time.seconds &&
    candidate.nanos === input.time.nanos &&
    candidate.proposer === input.proposer &&
    candidate.txs.length === input.txs.length &&
    candidate.txs.every((tx, i) => tx === input.txs[i] || equalBytes(tx, input.txs[i]!))
  );
}
