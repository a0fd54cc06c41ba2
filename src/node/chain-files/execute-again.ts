import { setImmediate } from "node:timers/promises";
import { NodeError } from "../../base/errors.ts";
import { type Chain, executeOn } from "../../chain/chain.ts";
import type { ExecutionModules } from "../../evm/execution/block/block-execution.ts";
import { systemUpdateOf } from "./chain-file.ts";

export type WrongBlock = { readonly number: number; readonly what: string };

/**
 * Executes stored blocks again, each on the stored state of its parent, and yields blocks whose gas, receipts, state root or rules differ: other
 * nodes would reject them.
 * @param range blocks of the chain, the first after a block whose state is stored
 */
export async function* wrongBlocks(
  chain: Chain,
  execution: ExecutionModules,
  { first, last }: { readonly first: number; readonly last: number },
  steps: { readonly mayContinue: () => boolean; readonly onBlock: () => void },
): AsyncGenerator<WrongBlock> {
  for (let number = first; number <= last && steps.mayContinue(); number++) {
    const { block, senders } = chain.block(number)!;
    try {
      const update = systemUpdateOf(chain, chain.consensusDataOf(number), block.header);
      executeOn(chain.header(number - 1)!, block, chain, execution, { senders, ...update });
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      yield { number, what: error.message };
    }
    steps.onBlock();
    await setImmediate();
  }
}
