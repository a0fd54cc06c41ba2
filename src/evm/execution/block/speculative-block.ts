import type { Address } from "../../../base/primitives/address.ts";
import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import type { BlockContext } from "../../machine/evm.ts";
import { EMPTY_ACCOUNT } from "../../state/account.ts";
import type { StateReader } from "../../state/reader.ts";
import { createWorldState, type WorldState } from "../../state/world-state.ts";
import { blockContextOf, fullGasPool, type OpenHeader } from "../block-context.ts";
import { ExecutionRecorder } from "../parallel/execution-recorder.ts";
import type { ListedChanges } from "../parallel/listed-state.ts";
import type { RecordedBatch } from "../parallel/recorded-batch.ts";
import { applyMessage } from "../transaction/apply-message.ts";
import { messageFromTransaction } from "../transaction/message.ts";
import { BlockExecution, type BlockParent, blockEnvOf, type ExecutionModules } from "./block-execution.ts";

/**
 * A block that is executed to know what its transactions read and write, and then thrown away. Each transaction finds the writes of those before it:
 * in the order of the real block nothing conflicts.
 */
export class SpeculativeBlock {
  readonly #recorder: ExecutionRecorder;
  readonly #state: WorldState;
  readonly #execution: BlockExecution;

  constructor(header: OpenHeader, parent: BlockParent, { config, stateTrie, evm }: ExecutionModules) {
    const env = blockEnvOf(header, parent, config);
    this.#recorder = new ExecutionRecorder(evm);
    this.#state = env.state;
    this.#execution = new BlockExecution(env, header, { config, stateTrie, evm: this.#recorder });
  }

  /** Executes and records `tx`; where that fails nothing is recorded, and its block finds out why. */
  execute(tx: Transaction, sender: Address): void {
    recordIfValid(this.#recorder, tx, () => {
      this.#assumeNonce(tx, sender);
      this.#execution.addTransaction(tx, sender);
    });
  }

  /** The executions since the last call. */
  take(): RecordedBatch {
    return this.#recorder.take();
  }

  /** The sender's transactions before may be executed elsewhere. */
  #assumeNonce({ nonce }: Transaction, sender: Address): void {
    const account = this.#state.account(sender) ?? EMPTY_ACCOUNT;
    if (account.nonce >= nonce) return;
    this.#state.setAccount(sender, { ...account, nonce });
    this.#state.finalizeTransaction({ selfDestructs: [], deleteEmptyTouched: false });
  }
}

/** Blob gas is charged where the executions are applied. */
const BLOB_GAS_MAX = 1n << 63n;

/**
 * A block that came with its access list (EIP-7928), executed as a `SpeculativeBlock`, but each transaction on the state that the list gives
 * for it: any of them, in any order.
 */
export class ListedBlock {
  readonly #recorder: ExecutionRecorder;
  readonly #state: StateReader;
  readonly #list: ListedChanges;
  readonly #block: BlockContext;

  constructor(
    header: OpenHeader,
    list: ListedChanges,
    parent: Pick<BlockParent, "state" | "blockHash">,
    { config, evm }: Pick<ExecutionModules, "config" | "evm">,
  ) {
    this.#recorder = new ExecutionRecorder(evm);
    this.#state = parent.state;
    this.#list = list;
    this.#block = blockContextOf(header, config, parent.blockHash);
  }

  /** Executes and records `tx`, which is number `position` of the block. */
  execute(tx: Transaction, sender: Address, position: number): void {
    const block = this.#block;
    const environment = {
      evm: this.#recorder,
      block,
      state: createWorldState(this.#list.before(position + 1, this.#state)),
      gasPool: fullGasPool(block.gasLimit, BLOB_GAS_MAX),
    };
    recordIfValid(this.#recorder, tx, () => {
      applyMessage(messageFromTransaction(tx, sender, block.baseFeePerGas), environment, { onAccess: () => {} });
    });
  }

  /** The executions since the last call. */
  take(): RecordedBatch {
    return this.#recorder.take();
  }
}

function recordIfValid(recorder: ExecutionRecorder, { hash }: Transaction, execute: () => void): void {
  try {
    recorder.record(hash, execute);
  } catch {
    // Rejected, or a fault of the executor or the store, which the chain's thread meets as well and has somebody to tell.
  }
}
