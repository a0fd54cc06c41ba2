import { ZERO_HASH } from "../../src/base/primitives/hash.ts";
import { ExecutionRecorder } from "../../src/evm/execution/parallel/execution-recorder.ts";
import type { RecordedBatch } from "../../src/evm/execution/parallel/recorded-batch.ts";
import { RecordedExecution } from "../../src/evm/execution/parallel/recorded-execution.ts";
import type { BlockContext, Evm, ExecuteOptions, ExecutionResult, Message } from "../../src/evm/machine/evm.ts";
import type { State } from "../../src/evm/machine/state-port.ts";

/** How executions came to be: applied although the caller's account was another one when they were recorded; or where it was the same. */
export type RecordedCounts = { relaxed: number; exact: number; unrecorded: number };

/**
 * `evm` with every execution recorded first and then applied, as blocks do with what other threads executed. It is recorded with more money and a
 * higher nonce of the caller: where that is seen, the recording must not apply, and another one is made. In place of threads batches are cloned.
 */
export function recordedEngine(evm: Evm, counts: RecordedCounts = { relaxed: 0, exact: 0, unrecorded: 0 }): Evm {
  const recorder = new ExecutionRecorder(evm);

  function recorded(message: Message, block: BlockContext, state: State): RecordedBatch {
    const before = state.snapshot();
    // With what an execution looks at, as speculative blocks record it; nobody is told of it yet.
    recorder.record(ZERO_HASH, () => void recorder.execute(message, block, state, { onAccess() {} }));
    state.revertTo(before);
    return structuredClone(recorder.take());
  }

  function recordedElsewhere(message: Message, block: BlockContext, state: State): RecordedBatch {
    const before = state.snapshot();
    const account = state.account(message.caller);
    if (account) {
      const { nonce, balance, codeHash } = account;
      const more = { nonce: BigInt.asUintN(64, nonce + 5n), balance: BigInt.asUintN(256, balance + 12_345n), codeHash };
      if (more.balance > balance) state.setAccount(message.caller, more);
    }
    const batch = recorded(message, block, state);
    state.revertTo(before);
    return batch;
  }

  function applied(batch: RecordedBatch, message: Message, block: BlockContext, state: State, options: ExecuteOptions) {
    if (batch.hashes.length === 0) return undefined;
    let isConflict = false;
    const conflict = {
      execute(): ExecutionResult {
        isConflict = true;
        return undefined as never;
      },
    };
    const result = new RecordedExecution(batch, 0, conflict, { applied: 0, conflicts: 0 }).execute(
      message,
      block,
      state,
      options,
    );
    return isConflict ? undefined : result;
  }

  return {
    execute(message: Message, block: BlockContext, state: State, options: ExecuteOptions = {}): ExecutionResult {
      if (options.tracer || options.precompiles || options.deadlineMs || options.memoryBytesMax) {
        return evm.execute(message, block, state, options);
      }
      const relaxed = applied(recordedElsewhere(message, block, state), message, block, state, options);
      if (relaxed) {
        counts.relaxed++;
        return relaxed;
      }
      const batch = recorded(message, block, state);
      if (batch.hashes.length === 0) {
        counts.unrecorded++;
        return evm.execute(message, block, state, options);
      }
      const exact = applied(batch, message, block, state, options);
      if (exact === undefined)
        throw new Error("a recorded execution does not apply to the state in which it was recorded");
      counts.exact++;
      return exact;
    },
  };
}
