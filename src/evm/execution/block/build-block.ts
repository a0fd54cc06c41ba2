import { blobParamsAt } from "../../../base/params/blob-schedule.ts";
import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { nextBaseFee, nextExcessBlobGas } from "../../../base/params/fees.ts";
import { hardforkAt, RULES_AT } from "../../../base/params/hardforks.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { type Hash, ZERO_HASH } from "../../../base/primitives/hash.ts";
import type { ExecutedBlock, Withdrawal } from "../../../base/types/block.ts";
import { encodeWithdrawal } from "../../../base/types/block-codec.ts";
import { EMPTY_UNCLES_HASH } from "../../../base/types/constants.ts";
import type { Header } from "../../../base/types/header.ts";
import { headerHash } from "../../../base/types/header-codec.ts";
import { encodeReceipt } from "../../../base/types/receipt-codec.ts";
import { recoverSender } from "../../../base/types/transaction/sender.ts";
import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import type { NodeBatch } from "../../../store/trie/node-batch.ts";
import { orderedTrieRoot } from "../../../store/trie/ordered-trie-root.ts";
import type { StateChanges, StateReader } from "../../state/reader.ts";
import type { OpenHeader } from "../block-context.ts";
import { checkMinimumTip } from "../transaction/validate-message.ts";
import { checkAccountPermissions } from "../validation/account-permissions.ts";
import { validateBlockSize } from "../validation/validate-body.ts";
import { validateAttributes } from "../validation/validate-header.ts";
import { accessListItemsMax } from "./access-list-builder.ts";
import {
  type BlockEnv,
  BlockExecution,
  type BlockOutcome,
  type BlockParent,
  blockEnvOf,
  type ExecutionModules,
  type SystemUpdate,
  type TransactionResult,
} from "./block-execution.ts";
import { checkAccessListSize } from "./execute-block.ts";
import { depositsOf } from "./system-calls.ts";

/** Of a header, whose optional fields are added one by one: a spread of what may be there takes V8 microseconds, and every block has twenty. */
type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

/** The header fields that the proposer of a block decides. */
export type PayloadAttributes = {
  /** Unix seconds */
  readonly timestamp: number;
  /** The header's coinbase. */
  readonly feeRecipient: Address;
  readonly gasLimit: bigint;
  readonly prevRandao?: Hash;
  /** at most 32 bytes */
  readonly extraData?: Uint8Array;
  /** From Shanghai; none when left out. */
  readonly withdrawals?: readonly Withdrawal[];
  /** From Cancun; the zero hash when left out. */
  readonly parentBeaconBlockRoot?: Hash;
  /** From Amsterdam on; default: the parent's plus one, or the block number if the parent has none. */
  readonly slotNumber?: bigint;
  /** A block whose gas limit and base fee need not follow from its parent's: dev chains only, no other client accepts it. */
  readonly forced?: { readonly baseFeePerGas?: bigint };
  readonly systemUpdate?: SystemUpdate;
};

/** A finished block with everything the store needs of it. */
export type SealedBlock = {
  readonly executed: ExecutedBlock;
  readonly changes: StateChanges;
  /** New nodes of the state trie. */
  readonly nodes: NodeBatch;
  /** The state after the block. Valid for as long as the parent's state. */
  readonly state: StateReader;
  /** EIP-7685, each with its type byte. */
  readonly requests: readonly Uint8Array[];
  /** EIP-7928; present from Amsterdam. */
  readonly accessList?: Uint8Array | undefined;
};

/**
 * Begins a proof-of-stake block after `parent`. Proposals and own blocks obey the header rules of imported ones, before anything
 * is executed; only equal timestamps are allowed.
 * @param beforeTransaction called before each transaction, for tests that make the executor fail
 * @throws InvalidBlockError when `attributes` break a header rule
 */
export function createBlockBuilder(
  parent: BlockParent & { readonly hash: Hash },
  attributes: PayloadAttributes,
  modules: ExecutionModules,
  beforeTransaction?: (tx: Transaction) => void,
): BlockBuilder {
  const { config } = modules;
  const { extraData = EMPTY_BYTES } = attributes;
  const header = openHeader(parent.header, parent.hash, attributes, config);
  const rules = { isEqualTimeAllowed: true, areFeesForced: attributes.forced !== undefined };
  validateAttributes({ ...header, extraData }, parent.header, config, rules);
  const env = {
    ...blockEnvOf(header, parent, config),
    accessListItemsMax: itemsBeforeEnd(header.gasLimit, attributes),
  };
  return new BlockBuilder(env, header, modules, { attributes, parentState: parent.state, beforeTransaction });
}

/** Items of the access list that the system calls at the end of a block may need: heads of four queues, and what is taken out of them. */
const END_ITEMS = 250;

/** Accounts and slots that the access list may have while its end is still to come. */
function itemsBeforeEnd(gasLimit: bigint, { withdrawals = [] }: PayloadAttributes): number {
  const itemsMax = accessListItemsMax(gasLimit);
  return itemsMax - withdrawals.length - Math.min(END_ITEMS, itemsMax >> 1);
}

/** A block under construction. */
export class BlockBuilder extends BlockExecution {
  readonly #config: ChainConfig;
  readonly #attributes: PayloadAttributes;
  readonly #parentState: StateReader;
  readonly #beforeTransaction: ((tx: Transaction) => void) | undefined;
  readonly #transactions: Transaction[] = [];

  constructor(
    env: BlockEnv,
    header: OpenHeader,
    modules: ExecutionModules,
    options: {
      readonly attributes: PayloadAttributes;
      readonly parentState: StateReader;
      readonly beforeTransaction: ((tx: Transaction) => void) | undefined;
    },
  ) {
    super(env, header, modules);
    this.#config = modules.config;
    this.#attributes = options.attributes;
    this.#parentState = options.parentState;
    this.#beforeTransaction = options.beforeTransaction;
  }

  /**
   * As `addTransaction`, at the end of the block.
   * @throws InvalidBlockError where no block with it is valid; the builder cannot be used afterwards
   */
  add(tx: Transaction, sender?: Address): TransactionResult {
    this.#beforeTransaction?.(tx);
    checkMinimumTip(tx, this.header.baseFeePerGas ?? 0n, this.#config);
    const added = this.addTransaction(tx, this.#allowed(tx, sender));
    if (RULES_AT[this.context.hardfork].prague) depositsOf([added.receipt], this.#config.depositContractAddress);
    this.#transactions.push(tx);
    return added;
  }

  /** The sender, where it had to be known. @throws InvalidTransactionError, and what `recoverSender` throws */
  #allowed(tx: Transaction, known: Address | undefined): Address | undefined {
    if (this.#config.accountPermissions === undefined) return known;
    const sender = known ?? recoverSender(tx, this.context.hardfork);
    checkAccountPermissions(tx, sender, this.#parentState, this.#config);
    return sender;
  }

  /**
   * Closes the block; the builder cannot be used afterwards.
   * @throws InvalidBlockError when a system contract fails or the block is larger than EIP-7934 allows
   */
  seal(): SealedBlock {
    const { extraData = EMPTY_BYTES, systemUpdate } = this.#attributes;
    const isShanghai = RULES_AT[this.context.hardfork].shanghai;
    const withdrawals = isShanghai ? (this.#attributes.withdrawals ?? []) : undefined;
    const outcome = this.finish({ withdrawals, systemUpdate });
    const transactions = this.#transactions;
    const content = { transactions, extraData, ...(withdrawals && { withdrawals }) };
    checkAccessListSize(this.header, outcome.accessList);
    const executed = sealBlock(this.header, content, outcome);
    validateBlockSize(executed.block, this.context.hardfork);
    return {
      executed,
      changes: outcome.changes,
      nodes: outcome.trie.nodes,
      state: outcome.state,
      requests: outcome.requests,
      accessList: outcome.encodedAccessList,
    };
  }
}

/**
 * The default slot of the block after `parent` (EIP-7843): the slot after the parent's, or the number of the block if the parent has no
 * slot. Every node derives it without a beacon chain (ADR 146).
 */
export function nextSlotNumber({ slotNumber, number }: Pick<Header, "slotNumber" | "number">): bigint {
  return slotNumber === undefined ? BigInt(number + 1) : BigInt.asUintN(64, slotNumber + 1n);
}

/** The header of the block after `parent`, as far as it is known before its transactions. */
export function openHeader(
  parent: Header,
  parentHash: Hash,
  { timestamp, feeRecipient, gasLimit, prevRandao, parentBeaconBlockRoot, slotNumber, forced }: PayloadAttributes,
  config: ChainConfig,
): OpenHeader {
  const point = { number: parent.number + 1, timestamp, difficulty: 0n };
  const hardfork = hardforkAt(config, point);
  const blobParams = blobParamsAt(config, timestamp);
  const header: Mutable<OpenHeader> = {
    ...point,
    parentHash,
    coinbase: feeRecipient,
    gasLimit,
    mixHash: prevRandao ?? ZERO_HASH,
  };
  if (RULES_AT[hardfork].london) header.baseFeePerGas = forced?.baseFeePerGas ?? nextBaseFee(parent, config);
  if (RULES_AT[hardfork].cancun && blobParams !== undefined) {
    header.excessBlobGas = nextExcessBlobGas(parent, blobParams, RULES_AT[hardfork].osaka);
    header.parentBeaconBlockRoot = parentBeaconBlockRoot ?? ZERO_HASH;
  }
  if (RULES_AT[hardfork].amsterdam) header.slotNumber = slotNumber ?? nextSlotNumber(parent);
  return header;
}

/** Content of a block besides its open header and its outcome. */
type BlockContent = {
  readonly transactions: readonly Transaction[];
  /** at most 32 bytes */
  readonly extraData: Uint8Array;
  /** Present from Shanghai. */
  readonly withdrawals?: readonly Withdrawal[];
};

/** The finished block, with the header fields of body and execution filled in. */
export function sealBlock(
  header: OpenHeader,
  { transactions, extraData, withdrawals }: BlockContent,
  { receipts, senders, gasUsed, blobGasUsed, logsBloom, requestsHash, blockAccessListHash, trie }: BlockOutcome,
): ExecutedBlock {
  const sealed: Mutable<Header> = {
    ...header,
    sha3Uncles: EMPTY_UNCLES_HASH,
    stateRoot: trie.root,
    transactionsRoot: orderedTrieRoot(transactions.map(({ raw }) => raw)),
    receiptsRoot: orderedTrieRoot(receipts.map(encodeReceipt)),
    logsBloom,
    gasUsed,
    extraData,
    nonce: new Uint8Array(8),
  };
  if (withdrawals) sealed.withdrawalsRoot = orderedTrieRoot(withdrawals.map(encodeWithdrawal));
  // Excess blob gas is in every header from Cancun.
  if (header.excessBlobGas !== undefined) sealed.blobGasUsed = blobGasUsed;
  if (requestsHash) sealed.requestsHash = requestsHash;
  if (blockAccessListHash) sealed.blockAccessListHash = blockAccessListHash;
  const hash = headerHash(sealed);
  const block = withdrawals
    ? { hash, header: sealed, transactions, uncles: [], withdrawals }
    : { hash, header: sealed, transactions, uncles: [] };
  return { block, senders, receipts };
}
