import { simulate } from "../../execution/simulate/simulate.ts";
import type { Simulator } from "../../rpc/ports/execution.ts";
import type { ChainCore } from "../compose-chain.ts";
import { argumentsOf, blockOverridesOf, stateOverridesOf } from "./call-conversion.ts";
import type { CallLimits } from "./call-executor.ts";

/** Simulates blocks on this thread, over the chain of `core`. */
export function createSimulator(
  { gasCap, timeoutMs, memoryBytesMax }: CallLimits,
  { chain, execution }: Pick<ChainCore, "chain" | "execution">,
): Simulator {
  return {
    simulate({ blocks, validation, traceTransfers }, { executed, state, changes }) {
      const requests = blocks.map(({ blockOverrides, stateOverrides, calls = [] }) => ({
        ...(blockOverrides && { blockOverrides: blockOverridesOf(blockOverrides) }),
        ...(stateOverrides && { stateOverrides: stateOverridesOf(stateOverrides) }),
        calls: calls.map(argumentsOf),
      }));
      const { hash, header } = executed.block;
      // Nobody keeps the nodes of the pending block's state root, so its changes are made again on the head.
      const root = changes ? chain.head().block.header : header;
      const base = {
        ...{ hash, header },
        state: changes ? chain.stateAt(root.number) : state,
        stateRoot: root.stateRoot,
        ...(changes && { changes }),
        blockHash: (number: number) => chain.hashAt(number),
      };
      return simulate(requests, base, execution, {
        ...{ validation, traceTransfers, gasCap, memoryBytesMax },
        ...(timeoutMs > 0 && { timeoutMs }),
      });
    },
  };
}
