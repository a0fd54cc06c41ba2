import { ZERO_HASH } from "../../../primitives/hash.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { array, hash, optional, type ParamCodec, string } from "../../params/codec.ts";
import type { TraceRequest } from "../../ports/execution.ts";
import type { InspectionPort } from "../../ports/inspection.ts";
import { standardTraceConfig } from "../trace-config.ts";

type Modules = { readonly inspection: Pick<InspectionPort, "writeStandardTraces"> };

const params = {
  blockHash: hash,
  config: optional(standardTraceConfig, {}),
} satisfies Readonly<Record<string, ParamCodec<unknown>>>;

/**
 * `debug_standardTraceBlockToFile`: writes a standard trace (EIP-3155) of each transaction of a block, or of `txHash`, below the home's debug folder;
 * the paths.
 *
 * @throws NotTraceableError, TracingTimeoutError, TraceTooLargeError
 */
export const standardTraceBlockToFile = defineMethod({
  name: "debug_standardTraceBlockToFile",
  params,
  result: array(string),
  private: true,
  heavy: true,
  handle: ({ blockHash, config }, { inspection }: Modules) =>
    inspection.writeStandardTraces(blockHash, "chain", withoutZero(config)),
});

/** `debug_standardTraceBadBlockToFile`: the same for a block that `debug_getBadBlocks` lists. */
export const standardTraceBadBlockToFile = defineMethod({
  name: "debug_standardTraceBadBlockToFile",
  params,
  result: array(string),
  private: true,
  heavy: true,
  handle: ({ blockHash, config }, { inspection }: Modules) =>
    inspection.writeStandardTraces(blockHash, "bad", withoutZero(config)),
});

/** The zero hash names no transaction, as in geth. */
function withoutZero({
  txHash,
  ...request
}: TraceRequest & { readonly txHash?: typeof ZERO_HASH }) {
  return txHash === undefined || txHash === ZERO_HASH ? request : { ...request, txHash };
}
