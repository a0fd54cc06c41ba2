import { invariant } from "../../base/errors.ts";
import { Driver } from "./driver.ts";
import type { BlockContext, Evm, ExecuteOptions, ExecutionResult, Message } from "./evm.ts";
import { LinearMemory } from "./memory/linear-memory.ts";
import type { TierOptions } from "./modules/compiled-tier.ts";
import { plainTransfer } from "./plain-transfer.ts";
import { precompilesAt } from "./precompiles/index.ts";
import type { State } from "./state-port.ts";

/** Linear memory that once grew beyond this is given back after the execution. */
const MEMORY_BYTES_KEPT = 512 * 1024 * 1024;

export type EvmOptions = {
  /** The clock of `ExecuteOptions.deadlineMs`, milliseconds. */
  readonly now?: () => number;
  /** Compiled contracts for code that is hot; without it the interpreter runs all code. */
  readonly tier?: TierOptions | undefined;
};

/**
 * The engine of this project: an interpreter emitted as WebAssembly for each fork at its first use. It keeps some 250 MB
 * of address space, most of it never touched, so make one per thread. Not re-entrant: a tracer must not execute on it.
 */
export function createEvm({ now = () => performance.now(), tier }: EvmOptions = {}): Evm {
  let memory = new LinearMemory();
  let driver: Driver | undefined;
  let isRunning = false;
  return {
    execute(message: Message, block: BlockContext, state: State, options: ExecuteOptions = {}): ExecutionResult {
      invariant(!isRunning, "an execution began inside another of the same engine");
      const transferred = plainTransfer(message, block, state, options);
      if (transferred !== undefined) return transferred;
      if (driver?.hardfork !== block.hardfork) {
        driver = new Driver(block.hardfork, memory, precompilesAt(block.hardfork), {
          now,
          tier,
        });
      }
      isRunning = true;
      let result: ExecutionResult;
      try {
        result = driver.execute(message, block, state, options);
      } finally {
        isRunning = false;
      }
      if (memory.bytes.length > MEMORY_BYTES_KEPT) {
        memory = new LinearMemory();
        driver = undefined;
      }
      return result;
    },
  };
}
