import { blobParamsAt } from "../../../base/params/blob-schedule.ts";
import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { executionGasMaxOf } from "../../../base/params/execution-limits.ts";
import { GAS_PER_BLOB } from "../../../base/params/gas.ts";
import { type Hardfork, RULES_AT } from "../../../base/params/hardforks.ts";
import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import type { Withdrawal } from "../../../base/types/block.ts";
import { type BlockAccessList, encodeBlockAccessList } from "../../../base/types/block-access-list.ts";
import { BLOOM_LENGTH, EMPTY_BLOOM, mergeBloom, ReceiptBlooms } from "../../../base/types/bloom.ts";
import { EMPTY_REQUESTS_HASH } from "../../../base/types/constants.ts";
import type { Header } from "../../../base/types/header.ts";
import type { Receipt } from "../../../base/types/receipt.ts";
import { blobGasOf } from "../../../base/types/transaction/fees.ts";
import { recoverSender } from "../../../base/types/transaction/sender.ts";
import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import type { BlockContext, Evm } from "../../machine/evm.ts";
import type { AccountWriter } from "../../machine/state-port.ts";
import type { StateChanges, StateReader } from "../../state/reader.ts";
import { mergeChanges } from "../../state/state-changes.ts";
import type { StateTrie, StateTrieUpdate } from "../../state/state-trie.ts";
import { createWorldState, type WorldState } from "../../state/world-state.ts";
import { type BlockHashes, blockContextOf, fullGasPool, type OpenHeader } from "../block-context.ts";
import { InvalidTransactionError } from "../errors.ts";
import type { RecordedExecutions } from "../parallel/speculation.ts";
import {
  type ApplyMessageOptions,
  applyMessage,
  type MessageEnvironment,
  type MessageResult,
} from "../transaction/apply-message.ts";
import { messageFromTransaction, type TransactionMessage } from "../transaction/message.ts";
import type { MessageChecks } from "../transaction/validate-message.ts";
import { AccessListBuilder, reportingAccesses } from "./access-list-builder.ts";
import { applyRewards, applyWithdrawals } from "./rewards.ts";
import { depositsOf, requestList, requestsHash, type Step, storeAncestry, takeRequests } from "./system-calls.ts";
import { TriePrefetch } from "./trie-prefetch.ts";

/** Modules that executing blocks needs. */
export type ExecutionModules = {
  readonly config: ChainConfig;
  readonly evm: Evm;
  readonly stateTrie: StateTrie;
  /** Executions of transactions that other threads have recorded, where there are any. */
  readonly recorded?: RecordedExecutions | undefined;
  /** For callers that record what a block reads: the codes of system contracts are executed, also where their effect is known. */
  readonly executesKnownCode?: boolean;
};

/** The parent of a block under execution. */
export type BlockParent = {
  readonly header: Header;
  /** The state after the parent, with `patch`. */
  readonly state: StateReader;
  /** What was set by hand since the parent: part of what the block changes. */
  readonly patch?: StateChanges | undefined;
  readonly blockHash: BlockHashes;
};

/** A transaction's receipt and execution result. */
export type TransactionResult = { readonly receipt: Receipt; readonly result: MessageResult };

/** The outcome of executing a block: every header field that depends on it. */
export type BlockOutcome = {
  readonly receipts: readonly Receipt[];
  readonly senders: readonly Address[];
  /** From Amsterdam that of the dimension which was used more (EIP-8037): not what the receipts add up to. */
  readonly gasUsed: bigint;
  readonly blobGasUsed: bigint;
  readonly logsBloom: Uint8Array;
  /** EIP-7685, each with its type byte; empty before Prague. */
  readonly requests: readonly Uint8Array[];
  /** Present from Prague. */
  readonly requestsHash?: Hash;
  /** EIP-7928; present from Amsterdam, as the next two. */
  readonly accessList?: BlockAccessList;
  readonly encodedAccessList?: Uint8Array;
  readonly blockAccessListHash?: Hash;
  readonly changes: StateChanges;
  readonly trie: StateTrieUpdate;
  /** The state after the block. Valid for as long as the parent's state. */
  readonly state: StateReader;
};

/**
 * A change of the state by the rules of the chain, after the last transaction; in no transaction and in no header field but the state root
 * and the access list.
 */
export type SystemUpdate = (state: AccountWriter) => void;

/** The environment a block is executed in. */
export type BlockEnv = {
  readonly context: BlockContext;
  /** The state before the block; the block changes it. */
  readonly state: WorldState;
  /** The root of the base of `state` without `patch`. */
  readonly baseRoot: Hash;
  readonly patch?: StateChanges | undefined;
  /** Blob gas the block may use. */
  readonly blobGasMax: bigint;
  /** False where the parent's hash is unknown: what stores it (EIP-2935) is then left out, as by `evm t8n`. */
  readonly hasParentHash?: boolean;
  /** Accounts and slots that the access list may have before the last step of the block; undefined: the end of the block will tell. */
  readonly accessListItemsMax?: number | undefined;
};

/** Begins a block after `parent`. */
export function beginBlock(header: OpenHeader, parent: BlockParent, modules: ExecutionModules): BlockExecution {
  return new BlockExecution(blockEnvOf(header, parent, modules.config), header, modules);
}

/** The environment of a block after `parent`. */
export function blockEnvOf(header: OpenHeader, parent: BlockParent, config: ChainConfig): BlockEnv {
  return {
    context: blockContextOf(header, config, parent.blockHash),
    state: createWorldState(parent.state),
    baseRoot: parent.header.stateRoot,
    patch: parent.patch,
    blobGasMax: BigInt(blobParamsAt(config, header.timestamp)?.max ?? 0) * GAS_PER_BLOB,
  };
}

/**
 * One block being executed: transactions one after the other, then `finish` once. The protocol's own calls that precede the transactions are made
 * at once (EIP-4788, EIP-2935). A class: V8 compiles its methods once, and the functions of a closure again for every block.
 */
export class BlockExecution {
  readonly context: BlockContext;
  /** The header fields known before execution: number, fees, gas limit. */
  readonly header: OpenHeader;
  readonly #env: BlockEnv;
  readonly #modules: ExecutionModules;
  readonly #environment: MessageEnvironment & Pick<ExecutionModules, "executesKnownCode">;
  readonly #receipts: Receipt[] = [];
  readonly #senders: Address[] = [];
  /** That of no logs is shared, and known to be empty where it is stored. */
  #bloom = EMPTY_BLOOM;
  readonly #blooms = new ReceiptBlooms();
  #prefetch: TriePrefetch | undefined;
  /** Undefined before Amsterdam. */
  readonly #accesses: AccessListBuilder | undefined;

  /** @param env its state may hold more than the parent left */
  constructor(env: BlockEnv, header: OpenHeader, modules: ExecutionModules) {
    const { context, state, blobGasMax } = env;
    const { evm, executesKnownCode = false } = modules;
    this.context = context;
    this.header = header;
    this.#env = env;
    this.#modules = modules;
    const gasPool = fullGasPool(header.gasLimit, blobGasMax);
    this.#environment = { evm, block: context, state, gasPool, executesKnownCode };
    this.#accesses = RULES_AT[context.hardfork].amsterdam ? new AccessListBuilder(state) : undefined;
    const ancestry = env.hasParentHash === false ? { ...header, parentHash: undefined } : header;
    storeAncestry(ancestry, this.#environment, this.#stepOf(0));
  }

  /** The largest gas limit that the next transaction can have. @param checks of that transaction */
  gasLeft({ isGasWhole = false }: MessageChecks = {}): bigint {
    const { gas, stateGas } = this.#environment.gasPool;
    if (this.#accesses === undefined) return gas;
    const executionMax = isGasWhole ? undefined : executionGasMaxOf(this.context.hardfork, this.context);
    const isExecutionFree = executionMax !== undefined && gas >= executionMax;
    return isExecutionFree || stateGas < gas ? stateGas : gas;
  }

  /** Blob gas left of what the fork allows. */
  blobGasLeft(): bigint {
    return this.#environment.gasPool.blobGas;
  }

  /**
   * Executes `tx`. When it throws, nothing has changed.
   * @param knownSender recovered if not given
   * @throws InvalidTransactionError, and what `recoverSender` throws
   */
  addTransaction(tx: Transaction, knownSender?: Address): TransactionResult {
    assertChainId(tx, this.context);
    const sender = knownSender ?? recoverSender(tx, this.context.hardfork);
    return this.addMessage(tx, messageFromTransaction(tx, sender, this.context.baseFeePerGas));
  }

  /**
   * Executes `message` in the name of `tx`, which need not be signed. When it throws, nothing has changed.
   * @throws InvalidTransactionError
   */
  addMessage(tx: Transaction, message: TransactionMessage, options?: ApplyMessageOptions): TransactionResult {
    const { hardfork, blobBaseFee } = this.context;
    const accesses = this.#accesses;
    const result =
      accesses === undefined
        ? applyMessage(message, this.#environmentOf(tx), options)
        : accesses.watch(this.#receipts.length + 1, () =>
            applyMessage(message, this.#environmentOf(tx), {
              ...options,
              onAccess: accesses.onAccess,
              beforeFinal: () => accesses.assertRoom(this.#env.accessListItemsMax),
            }),
          );
    const receipt = receiptOf(tx, result, {
      hardfork,
      cumulativeGasUsed: this.#environment.gasPool.paidGas,
      effectiveGasPrice: message.gasPrice,
      blobBaseFee,
      blooms: this.#blooms,
      stateRoot: this.#stateRoot,
    });
    this.#receipts.push(receipt);
    this.#senders.push(message.from);
    if (receipt.logs.length > 0) {
      if (this.#bloom === EMPTY_BLOOM) this.#bloom = new Uint8Array(BLOOM_LENGTH);
      mergeBloom(this.#bloom, receipt.logsBloom);
    }
    return { receipt, result };
  }

  /**
   * Reads the trie nodes that the state root after the transactions so far will need, until `performance.now()` is `deadline`.
   * @returns whether more nodes are left to read
   */
  prefetchTrie(deadline: number): boolean {
    const { state, baseRoot } = this.#env;
    this.#prefetch ??= new TriePrefetch(this.#modules.stateTrie, baseRoot);
    return this.#prefetch.run(state, deadline);
  }

  /**
   * Requests, withdrawals and rewards.
   * @throws InvalidBlockError for faults of system contracts
   */
  finish({
    withdrawals,
    uncles = [],
    systemUpdate,
  }: {
    readonly withdrawals?: readonly Withdrawal[] | undefined;
    readonly uncles?: readonly Header[];
    readonly systemUpdate?: SystemUpdate | undefined;
  }): BlockOutcome {
    const { state, baseRoot, blobGasMax } = this.#env;
    const { hardfork } = this.context;
    const hasRequests = RULES_AT[hardfork].prague;
    const step = this.#stepOf(this.#receipts.length + 1);
    if (withdrawals) step((onAccess) => applyWithdrawals(withdrawals, state, onAccess));
    const requests = hasRequests ? this.#takeRequests(step) : [];
    applyRewards(this.header, uncles, hardfork, state);
    if (systemUpdate) step((onAccess) => systemUpdate(onAccess ? reportingAccesses(state, onAccess) : state));
    const changes = this.#changes();
    const accessList = this.#accesses?.list();
    const encodedAccessList = accessList && encodeBlockAccessList(accessList);
    return {
      receipts: this.#receipts,
      senders: this.#senders,
      gasUsed: this.#gasUsed(),
      blobGasUsed: blobGasMax - this.blobGasLeft(),
      logsBloom: this.#bloom,
      requests,
      ...(hasRequests && { requestsHash: hashOfRequests(requests) }),
      ...(accessList && { accessList }),
      ...(encodedAccessList && { encodedAccessList, blockAccessListHash: keccak256Hash(encodedAccessList) }),
      changes,
      trie: this.#modules.stateTrie.update(baseRoot, changes, state.readOfBase()),
      state: state.asReader(),
    };
  }

  #environmentOf({ hash }: Transaction): MessageEnvironment {
    const { recorded } = this.#modules;
    if (recorded === undefined) return this.#environment;
    const recordedEvm = recorded.evmOf(this.header, hash, this.#environment.evm);
    return recordedEvm === undefined ? this.#environment : { ...this.#environment, evm: recordedEvm };
  }

  #gasUsed(): bigint {
    const { gas, stateGas } = this.#environment.gasPool;
    return this.header.gasLimit - (gas < stateGas ? gas : stateGas);
  }

  /** How a part of the block besides transactions is run, which belongs to index `index` of the access list. */
  #stepOf(index: number): Step {
    const accesses = this.#accesses;
    return accesses === undefined
      ? (run) => run(undefined)
      : (run) => accesses.watch(index, () => run(accesses.onAccess));
  }

  #changes(): StateChanges {
    const { state, patch } = this.#env;
    const changes = state.changes();
    return patch === undefined ? changes : mergeChanges(patch, changes);
  }

  readonly #stateRoot = (): Hash =>
    this.#modules.stateTrie.update(this.#env.baseRoot, this.#changes(), this.#env.state.readOfBase()).root;

  #takeRequests(step: Step): readonly Uint8Array[] {
    const deposits = depositsOf(this.#receipts, this.#modules.config.depositContractAddress);
    return requestList(deposits, takeRequests(this.#environment, step));
  }
}

function hashOfRequests(requests: readonly Uint8Array[]): Hash {
  return requests.length === 0 ? EMPTY_REQUESTS_HASH : requestsHash(requests);
}

/** EIP-155: a protected transaction is for one chain. */
function assertChainId({ chainId }: Transaction, context: Pick<BlockContext, "chainId">): void {
  if (chainId === undefined || chainId === context.chainId) return;
  throw new InvalidTransactionError(
    "TX_INVALID_CHAINID",
    `invalid chain id for signer: have ${chainId} want ${context.chainId}`,
    { chainId },
  );
}

/** Inputs of a receipt besides the transaction and its result. */
type ReceiptContext = {
  readonly hardfork: Hardfork;
  /** Gas of all transactions of the block up to and with this one. */
  readonly cumulativeGasUsed: bigint;
  /** Price the sender paid. */
  readonly effectiveGasPrice: bigint;
  readonly blobBaseFee: bigint;
  readonly blooms: ReceiptBlooms;
  /** State root after the transaction; called before Byzantium only. */
  stateRoot(): Hash;
};

/** The receipt of an executed transaction (Yellow Paper 4.4.1; EIP-658 from Byzantium). */
function receiptOf(
  tx: Transaction,
  { outcome, gasUsed, logs, contractAddress }: MessageResult,
  context: ReceiptContext,
): Receipt {
  const { cumulativeGasUsed, effectiveGasPrice } = context;
  return {
    type: tx.type,
    ...(RULES_AT[context.hardfork].byzantium
      ? { status: outcome === "success" ? 1 : 0 }
      : { postState: context.stateRoot() }),
    cumulativeGasUsed,
    gasUsed,
    logsBloom: context.blooms.of(logs),
    logs,
    contractAddress,
    effectiveGasPrice,
    ...(tx.type === 3 && { blobGasUsed: blobGasOf(tx), blobGasPrice: context.blobBaseFee }),
  };
}
