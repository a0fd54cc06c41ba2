import type { Hash } from "../../base/primitives/hash.ts";
import { executionWitness, type WitnessModules } from "../../chain/inspect/execution-witness.ts";
import type { ChainReader } from "../../chain/reader.ts";
import { InvalidBlockError } from "../../evm/execution/errors.ts";
import { createEvm } from "../../evm/machine/engine.ts";
import type { TraceText } from "../../evm/tracing/json-writer.ts";
import { createTraceBudget } from "../../evm/tracing/trace-budget.ts";
import { DebugError } from "../../rpc/methods/debug/database.ts";
import { witnessText } from "../../rpc/methods/debug/witness-json.ts";
import { UnknownBlockError } from "../../rpc/transport/errors.ts";
import type { CallLimits } from "./rpc-settings.ts";

/**
 * JSON of the execution witness of a block whose parent is in the chain.
 * @throws UnknownBlockError, DebugError, TraceTooLargeError, TracingTimeoutError
 */
export function blockWitness(
  hash: Hash,
  { reader, store, execution: { config } }: WitnessModules & { readonly reader: Pick<ChainReader, "block"> },
  { timeoutMs, bytesMax: charsMax }: Pick<CallLimits["trace"], "timeoutMs" | "bytesMax">,
): TraceText {
  const executed = reader.block(hash);
  if (executed === undefined) throw new UnknownBlockError(`block hash ${hash.slice(2)} not found`);
  const { take } = createTraceBudget({ timeoutMs, charsMax });
  const modules = { reader, store, execution: { config, evm: createEvm() } };
  try {
    return witnessText(executionWitness(executed, modules, (bytes) => take(2 * bytes)));
  } catch (cause) {
    if (!(cause instanceof InvalidBlockError)) throw cause;
    throw new DebugError("the block's state has changes that its body does not explain", {}, { cause });
  }
}
