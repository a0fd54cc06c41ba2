import { RULES_AT } from "../../../base/params/hardforks.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Log } from "../../../base/types/receipt.ts";
import type { BlockContext, Evm, ExecuteOptions, ExecutionResult, Message } from "../../machine/evm.ts";
import type { State } from "../../machine/state-port.ts";
import { isSameBlock, OUTCOMES, type RecordedBatch, read, write } from "./recorded-batch.ts";

/** How often recorded executions were applied, and how often the state was another by then. */
export type AppliedCounts = { applied: number; conflicts: number };

/**
 * The EVM for one transaction whose execution was recorded in a block with the same header: what was written is written again where all that was read
 * is as it was, and else the transaction is executed.
 *
 * The engine is a function of its message, the block and what it reads. Reads are compared in the order in which they were made, so the first that
 * differs is one that the execution makes too: the state ends the same in either case, with the order in which it was read.
 */
export class RecordedExecution implements Evm {
  readonly #batch: RecordedBatch;
  readonly #start: number;
  readonly #evm: Evm;
  readonly #counts: AppliedCounts;
  /** The next word. */
  #at = 0;

  constructor(batch: RecordedBatch, start: number, evm: Evm, counts: AppliedCounts) {
    this.#batch = batch;
    this.#start = start;
    this.#evm = evm;
    this.#counts = counts;
  }

  execute(message: Message, block: BlockContext, state: State, options: ExecuteOptions = {}): ExecutionResult {
    this.#at = this.#start;
    const isPlain = !(options.tracer || options.precompiles || options.deadlineMs || options.memoryBytesMax);
    if (
      !isPlain ||
      message.isUnpaid ||
      !isSameBlock(block, this.#batch.block!) ||
      !this.#isFor(message) ||
      !this.#readsAre(state)
    ) {
      this.#counts.conflicts++;
      return this.#evm.execute(message, block, state, options);
    }
    this.#counts.applied++;
    this.#write(state);
    this.#report(options.onAccess);
    return this.#result();
  }

  /** What the transaction's hash does not say. */
  #isFor({ caller, to, createAddress, gas, reservoir = 0n, gasPrice, value, warmAddresses }: Message): boolean {
    if (this.#name() !== caller || this.#name() !== (to ?? createAddress)) return false;
    if (this.#value() !== gas || this.#value() !== reservoir) return false;
    if (this.#value() !== gasPrice || this.#value() !== value) return false;
    if (this.#word() !== warmAddresses.length) return false;
    for (const address of warmAddresses) if (this.#name() !== address) return false;
    return true;
  }

  #readsAre(state: State): boolean {
    for (let left = this.#word(); left > 0; left--) if (!this.#readIs(state)) return false;
    return true;
  }

  #readIs(state: State): boolean {
    const kind = this.#word();
    const address = this.#name() as Address;
    switch (kind) {
      case read.slot:
        return state.storage(address, this.#name() as Hash) === this.#value();
      case read.hasStorage:
        return state.hasStorage(address) === (this.#word() === 1);
      case read.noAccount:
        return state.account(address) === undefined;
      case read.sender:
        return state.account(address)?.codeHash === this.#name();
      default: {
        const account = state.account(address);
        const nonce = this.#value();
        const balance = this.#value();
        const codeHash = this.#name();
        return (
          account !== undefined &&
          account.nonce === nonce &&
          account.balance === balance &&
          account.codeHash === codeHash
        );
      }
    }
  }

  #write(state: State): void {
    for (let left = this.#word(); left > 0; left--) {
      const kind = this.#word();
      if (kind === write.code) {
        state.putCode(this.#data());
        continue;
      }
      const address = this.#name() as Address;
      switch (kind) {
        case write.slot:
          state.setStorage(address, this.#name() as Hash, this.#value());
          break;
        case write.touch:
          state.touch(address);
          break;
        case write.sender: {
          const { nonce, balance, codeHash } = state.account(address)!;
          state.setAccount(address, { nonce, balance: balance - this.#value(), codeHash });
          break;
        }
        default:
          state.setAccount(address, {
            nonce: this.#value(),
            balance: this.#value(),
            codeHash: this.#name() as Hash,
          });
      }
    }
  }

  #report(onAccess: ExecuteOptions["onAccess"]): void {
    for (let left = this.#word(); left > 0; left--) {
      const address = this.#name() as Address;
      const slot = this.#word() === 1 ? (this.#name() as Hash) : undefined;
      onAccess?.(address, slot);
    }
  }

  #result(): ExecutionResult {
    const outcome = OUTCOMES[this.#word()]!;
    const halt = this.#word();
    const gasLeft = this.#value();
    const stateGas = { reservoirLeft: this.#value(), spilled: this.#value() };
    const result = {
      outcome,
      halt: halt === 0 ? undefined : this.#batch.halts[halt - 1],
      gasLeft,
      ...(RULES_AT[this.#batch.block!.hardfork].amsterdam && stateGas),
      gasRefund: this.#value(),
      returnData: this.#data(),
    };
    const logs: Log[] = [];
    for (let left = this.#word(); left > 0; left--) logs.push(this.#log());
    return { ...result, logs, selfDestructs: this.#names() as Address[] };
  }

  #log(): Log {
    return { address: this.#name() as Address, topics: this.#names() as Hash[], data: this.#data() };
  }

  #names(): string[] {
    const names: string[] = [];
    for (let left = this.#word(); left > 0; left--) names.push(this.#name());
    return names;
  }

  #word(): number {
    return this.#batch.words[this.#at++]!;
  }

  #name(): string {
    return this.#batch.names[this.#batch.words[this.#at++]!]!;
  }

  #value(): bigint {
    return this.#batch.values[this.#batch.words[this.#at++]!]!;
  }

  /** A copy: what is stored of a transaction must not hold the whole batch in memory. */
  #data(): Uint8Array {
    const begin = this.#word();
    const end = this.#word();
    return begin === end ? EMPTY_BYTES : this.#batch.bytes.slice(begin, end);
  }
}
