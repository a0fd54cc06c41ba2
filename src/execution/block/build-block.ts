import { blobParamsAt } from "../../params/blob-schedule.ts";
import type { ChainConfig } from "../../params/chain-config.ts";
import { nextBaseFee, nextExcessBlobGas } from "../../params/fees.ts";
import { BLOCK_GAS_LIMIT_BOUND_DIVISOR, BLOCK_GAS_LIMIT_MIN } from "../../params/gas.ts";
import { hardforkAt } from "../../params/hardfork-at.ts";
import { isAtLeast } from "../../params/hardforks.ts";
import type { Address } from "../../primitives/address.ts";
import { EMPTY_BYTES } from "../../primitives/bytes.ts";
import { type Hash, ZERO_HASH } from "../../primitives/hash.ts";
import type { StateChanges, StateReader } from "../../state/reader.ts";
import type { TrieNode } from "../../trie/node-store.ts";
import type { ExecutedBlock, Withdrawal } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import type { Transaction } from "../../types/transaction/transaction.ts";
import {
  type BlockParent,
  beginBlock,
  type ExecutionModules,
  type OpenHeader,
  type TransactionResult,
} from "./block-execution.ts";
import { sealBlock } from "./seal-block.ts";

/** What the one who proposes a block decides. */
export type BlockAttributes = {
  readonly timestamp: number;
  readonly coinbase: Address;
  readonly gasLimit: bigint;
  readonly prevRandao?: Hash;
  /** at most 32 bytes */
  readonly extraData?: Uint8Array;
  /** From Shanghai; none when left out. */
  readonly withdrawals?: readonly Withdrawal[];
  /** From Cancun; the zero hash when left out. */
  readonly parentBeaconBlockRoot?: Hash;
};

/** A finished block with all that is to be kept of it. */
export type SealedBlock = {
  readonly executed: ExecutedBlock;
  readonly changes: StateChanges;
  /** New nodes of the state trie. */
  readonly nodes: readonly TrieNode[];
  /** The state after the block. Stays valid as long as the parent's. */
  readonly state: StateReader;
  /** EIP-7685, each with its type byte. */
  readonly requests: readonly Uint8Array[];
};

export interface BlockBuilder {
  /** The fields of the header that stand already: number, fees, gas limit. */
  readonly header: OpenHeader;
  /** Units left of the gas limit. */
  gasLeft(): bigint;
  blobGasLeft(): bigint;
  /**
   * Executes `tx` at the end of the block. When it throws, the block is as before.
   * @param sender if it is known already
   * @throws InvalidTransactionError, and what `recoverSender` throws
   */
  add(tx: Transaction, sender?: Address): TransactionResult;
  /**
   * Closes the block; the builder is spent.
   * @throws InvalidBlockError when a system contract fails
   */
  seal(): SealedBlock;
}

/** Begins a proof-of-stake block after `parent`. */
export function createBlockBuilder(
  parent: BlockParent & { readonly hash: Hash },
  attributes: BlockAttributes,
  modules: ExecutionModules,
): BlockBuilder {
  const header = openHeader(parent.header, parent.hash, attributes, modules.config);
  const execution = beginBlock(header, parent, modules);
  const { hardfork } = execution.context;
  const withdrawals = isAtLeast(hardfork, "shanghai") ? (attributes.withdrawals ?? []) : undefined;
  const transactions: Transaction[] = [];

  return {
    header,
    gasLeft: execution.gasLeft,
    blobGasLeft: execution.blobGasLeft,
    add(tx, sender) {
      const added = execution.addTransaction(tx, sender);
      transactions.push(tx);
      return added;
    },
    seal() {
      const outcome = execution.finish(withdrawals ? { withdrawals } : {});
      const extraData = attributes.extraData ?? EMPTY_BYTES;
      const executed = sealBlock(
        header,
        { transactions, extraData, ...(withdrawals && { withdrawals }) },
        outcome,
      );
      return {
        executed,
        changes: outcome.changes,
        nodes: outcome.trie.nodes,
        state: outcome.state,
        requests: outcome.requests,
      };
    },
  };
}

/** The gas limit of the block after one with `parentGasLimit`, as far towards `desired` as one block may go. */
export function nextGasLimit(parentGasLimit: bigint, desired: bigint): bigint {
  const step = parentGasLimit / BLOCK_GAS_LIMIT_BOUND_DIVISOR - 1n;
  const target = desired < BLOCK_GAS_LIMIT_MIN ? BLOCK_GAS_LIMIT_MIN : desired;
  if (parentGasLimit < target) {
    return parentGasLimit + step < target ? parentGasLimit + step : target;
  }
  return parentGasLimit - step > target ? parentGasLimit - step : target;
}

function openHeader(
  parent: Header,
  parentHash: Hash,
  { timestamp, coinbase, gasLimit, prevRandao, parentBeaconBlockRoot }: BlockAttributes,
  config: ChainConfig,
): OpenHeader {
  const point = { number: parent.number + 1, timestamp, difficulty: 0n };
  const hardfork = hardforkAt(config, point);
  const blobParams = blobParamsAt(config, timestamp);
  const isLondon = isAtLeast(hardfork, "london");
  const isCancun = isAtLeast(hardfork, "cancun") && blobParams !== undefined;
  return {
    ...point,
    parentHash,
    coinbase,
    gasLimit,
    mixHash: prevRandao ?? ZERO_HASH,
    ...(isLondon && { baseFeePerGas: nextBaseFee(parent) }),
    ...(isCancun && {
      excessBlobGas: nextExcessBlobGas(parent, blobParams, isAtLeast(hardfork, "osaka")),
      parentBeaconBlockRoot: parentBeaconBlockRoot ?? ZERO_HASH,
    }),
  };
}
