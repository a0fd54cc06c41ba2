import type { Address } from "../../../base/primitives/address.ts";
import type { Transaction } from "../../../base/types/transaction/transaction.ts";
import { EMPTY_ACCOUNT } from "../../state/account.ts";
import type { WorldState } from "../../state/world-state.ts";
import type { OpenHeader } from "../block-context.ts";
import { ExecutionRecorder } from "../parallel/execution-recorder.ts";
import type { RecordedBatch } from "../parallel/recorded-batch.ts";
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
    try {
      this.#recorder.record(tx.hash, () => {
        this.#assumeNonce(tx, sender);
        this.#execution.addTransaction(tx, sender);
      });
    } catch {
      // Rejected, or a fault of the executor or the store, which the chain's thread meets as well and has somebody to tell.
    }
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
