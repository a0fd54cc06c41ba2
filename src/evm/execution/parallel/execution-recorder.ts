import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { BlockContext, Evm, ExecuteOptions, ExecutionResult, Message } from "../../machine/evm.ts";
import type { EvmAccount, State } from "../../machine/state-port.ts";
import { type Access, BatchWriter, type Read, type Recorded, type Write } from "./batch-writer.ts";
import type { RecordedBatch } from "./recorded-batch.ts";

/**
 * An EVM that records the executions of transactions. It needs an engine that reports accesses, reads all it needs before it writes
 * anything, and executes the same wherever it reads the same: that of `evm/machine/engine.ts`.
 */
export class ExecutionRecorder implements Evm {
  readonly #evm: Evm;
  readonly #writer = new BatchWriter();
  #isRecording = false;
  #recorded: Recorded | undefined;

  constructor(evm: Evm) {
    this.#evm = evm;
  }

  /** Runs `work`, in which transaction `hash` is executed. Nothing is recorded when it throws. */
  record(hash: Hash, work: () => void): void {
    this.#recorded = undefined;
    this.#isRecording = true;
    try {
      work();
    } finally {
      this.#isRecording = false;
    }
    if (this.#recorded) this.#writer.add(hash, this.#recorded);
  }

  /** What was recorded since the last call. */
  take(): RecordedBatch {
    return this.#writer.take();
  }

  execute(message: Message, block: BlockContext, state: State, options: ExecuteOptions = {}): ExecutionResult {
    if (!this.#isRecording || options.tracer || message.isUnpaid)
      return this.#evm.execute(message, block, state, options);
    const { caller } = message;
    // Code that runs in the caller's account can read its balance and nonce without naming it.
    let isCallerRead = message.to === caller;
    const accesses: Access[] = [];
    const onAccess = (address: Address, slot: Hash | undefined) => {
      if (slot === undefined && address === caller) isCallerRead = true;
      if (options.onAccess === undefined) return;
      accesses.push([address, slot]);
      options.onAccess(address, slot);
    };
    const recording = new RecordingState(state);
    const result = this.#evm.execute(message, block, recording, { ...options, onAccess });
    if (recording.isWhole && !dependsOnMachine(result)) {
      const { reads, writes } = recording;
      const isCallerUnread = !isCallerRead && !changesNonce(caller, reads, writes);
      this.#recorded = { message, block, reads, writes, accesses, result, isCallerUnread };
    }
    return result;
  }
}

/** Another machine, or the same at another time, can have more memory. */
function dependsOnMachine({ halt }: ExecutionResult): boolean {
  return halt?.kind === "memoryLimit" || halt?.kind === "timeout";
}

function changesNonce(caller: Address, reads: readonly Read[], writes: readonly Write[]): boolean {
  const isOfCaller = (each: Read | Write) => each.kind === "account" && each.address === caller;
  const before = reads.find(isOfCaller) as Extract<Read, { kind: "account" }> | undefined;
  if (before?.account === undefined) return true;
  const { nonce, codeHash } = before.account;
  return writes.some(
    (each) =>
      isOfCaller(each) &&
      each.kind === "account" &&
      (each.account.nonce !== nonce || each.account.codeHash !== codeHash),
  );
}

/** A state that lists what is read and written. */
class RecordingState implements State {
  readonly reads: Read[] = [];
  readonly writes: Write[] = [];
  /** False after something that the lists do not express. */
  isWhole = true;
  readonly #state: State;

  constructor(state: State) {
    this.#state = state;
  }

  account(address: Address): EvmAccount | undefined {
    const account = this.#state.account(address);
    this.#read({ kind: "account", address, account });
    return account;
  }

  storage(address: Address, slot: Hash): bigint {
    const value = this.#state.storage(address, slot);
    this.#read({ kind: "slot", address, slot, value });
    return value;
  }

  hasStorage(address: Address): boolean {
    const value = this.#state.hasStorage(address);
    this.#read({ kind: "hasStorage", address, value });
    return value;
  }

  /** Not recorded, because the hash determines the code. */
  code(codeHash: Hash): Uint8Array {
    return this.#state.code(codeHash);
  }

  setAccount(address: Address, account: EvmAccount): void {
    this.writes.push({ kind: "account", address, account });
    this.#state.setAccount(address, account);
  }

  setStorage(address: Address, slot: Hash, value: bigint): void {
    this.writes.push({ kind: "slot", address, slot, value });
    this.#state.setStorage(address, slot, value);
  }

  putCode(code: Uint8Array): Hash {
    this.writes.push({ kind: "code", code });
    return this.#state.putCode(code);
  }

  touch(address: Address): void {
    this.writes.push({ kind: "touch", address });
    this.#state.touch(address);
  }

  deleteAccount(address: Address): void {
    this.isWhole = false;
    this.#state.deleteAccount(address);
  }

  snapshot(): number {
    this.isWhole = false;
    return this.#state.snapshot();
  }

  revertTo(snapshot: number): void {
    this.isWhole = false;
    this.#state.revertTo(snapshot);
  }

  #read(each: Read): void {
    // What was read after a write may be of the execution itself.
    if (this.writes.length > 0) this.isWhole = false;
    this.reads.push(each);
  }
}
