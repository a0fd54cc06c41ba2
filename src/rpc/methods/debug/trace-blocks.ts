import { type Hash, ZERO_HASH } from "../../../base/primitives/hash.ts";
import { NotTraceableError } from "../../../evm/tracing/trace-budget.ts";
import { blockNumberOrTag } from "../../ports/block-selector.ts";
import type { TraceRequest } from "../../ports/execution.ts";
import { array, data, hash, optional, type ParamCodec, rawJson, string } from "../../transport/codec.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import { standardTraceConfig, traceConfig } from "./trace-config.ts";

/** Of a dev chain, which indexers follow from there on: block 0 has no transaction. */
function isEmptyGenesis(hash: Hash, { chain }: ServingPorts): boolean {
  return chain.isControlled && hash === chain.genesisHash;
}

/** Of a block without transactions. */
const NO_TRACES = "[]";

/**
 * `debug_traceBlock`: traces each transaction of a block given as RLP; only its parent has to be known.
 *
 * @throws as debug_traceBlockByNumber
 */
export const traceBlock = defineMethod({
  name: "debug_traceBlock",
  params: { rlp: data, config: optional(traceConfig, {}) },
  example: ["0xc0"],
  result: rawJson,
  heavy: true,
  handle: ({ rlp, config }, { execution }, context) =>
    execution.traceRawBlock({ rlp, request: config, cancel: context }),
});

/**
 * `debug_traceBlockByNumber`: traces each transaction of a block. Block 0 gives an empty list on a dev chain and an error elsewhere.
 *
 * @throws NotTraceableError, InvalidTracerError, TracingTimeoutError
 * @see execution-apis `src/debug/tracing.yaml`
 */
export const traceBlockByNumber = defineMethod({
  name: "debug_traceBlockByNumber",
  params: { block: blockNumberOrTag, config: optional(traceConfig, {}) },
  example: ["latest", { disableStorage: true }],
  result: rawJson,
  heavy: true,
  async handle({ block, config }, { chain, execution }, context) {
    if (block === "pending") {
      throw new NotTraceableError("tracing on top of pending is not supported");
    }
    const number =
      typeof block === "number"
        ? block
        : block === "earliest"
          ? (await chain.oldest()).block
          : (await chain.head()).header.number;
    if (number === 0 && chain.isControlled) return NO_TRACES;
    return execution.traceBlockText({ at: number, request: config, cancel: context });
  },
});

/**
 * `debug_traceBlockByHash`: as `debug_traceBlockByNumber`, for a block hash.
 *
 * @throws as debug_traceBlockByNumber
 */
export const traceBlockByHash = defineMethod({
  name: "debug_traceBlockByHash",
  params: { blockHash: hash, config: optional(traceConfig, {}) },
  example: [SAMPLE.hash, { tracer: "prestateTracer", tracerConfig: { diffMode: true } }],
  result: rawJson,
  heavy: true,
  handle({ blockHash, config }, modules, context) {
    if (isEmptyGenesis(blockHash, modules)) return NO_TRACES;
    return modules.execution.traceBlockText({ at: blockHash, request: config, cancel: context });
  },
});

/**
 * `debug_traceBlockFromFile`: `debug_traceBlock` of the RLP in a file of the home's debug folder.
 *
 * @throws FileNameError, AdminError, and as debug_traceBlock
 */
export const traceBlockFromFile = defineMethod({
  name: "debug_traceBlockFromFile",
  params: { file: string, config: optional(traceConfig, {}) },
  result: rawJson,
  private: true,
  heavy: true,
  handle: ({ file, config }, { inspection }) => inspection.traceBlockFile({ file, request: config }),
});

/**
 * `debug_traceBadBlock`: `debug_traceBlock` of a block that `debug_getBadBlocks` lists.
 *
 * @throws NotTraceableError, and as debug_traceBlock
 */
export const traceBadBlock = defineMethod({
  name: "debug_traceBadBlock",
  params: { blockHash: hash, config: optional(traceConfig, {}) },
  example: [SAMPLE.hash],
  result: rawJson,
  heavy: true,
  handle: ({ blockHash, config }, { inspection }) => inspection.traceBadBlock({ hash: blockHash, request: config }),
});

const params = {
  blockHash: hash,
  config: optional(standardTraceConfig, {}),
} satisfies Readonly<Record<string, ParamCodec<unknown>>>;

/**
 * `debug_standardTraceBlockToFile`: writes a standard trace (EIP-3155) of each transaction of a block, or of `txHash`, below the home's
 * debug folder; returns the paths.
 *
 * @throws NotTraceableError, TracingTimeoutError, TraceTooLargeError
 */
export const standardTraceBlockToFile = defineMethod({
  name: "debug_standardTraceBlockToFile",
  params,
  result: array(string),
  private: true,
  heavy: true,
  handle({ blockHash, config }, modules) {
    if (isEmptyGenesis(blockHash, modules)) return [];
    const request = withoutZero(config);
    return modules.inspection.writeStandardTraces({ hash: blockHash, which: "chain", request });
  },
});

/** `debug_standardTraceBadBlockToFile`: as `debug_standardTraceBlockToFile`, for a block that `debug_getBadBlocks` lists. */
export const standardTraceBadBlockToFile = defineMethod({
  name: "debug_standardTraceBadBlockToFile",
  params,
  result: array(string),
  private: true,
  heavy: true,
  handle: ({ blockHash, config }, { inspection }) =>
    inspection.writeStandardTraces({ hash: blockHash, which: "bad", request: withoutZero(config) }),
});

/** The zero hash names no transaction, as in geth. */
function withoutZero({ txHash, ...request }: TraceRequest & { readonly txHash?: typeof ZERO_HASH }) {
  return txHash === undefined || txHash === ZERO_HASH ? request : { ...request, txHash };
}

/**
 * `debug_intermediateRoots`: the state root after each transaction of a block, or of a block that `debug_getBadBlocks` lists.
 *
 * @throws NotTraceableError, TracingTimeoutError
 */
export const intermediateRoots = defineMethod({
  name: "debug_intermediateRoots",
  params: { blockHash: hash, config: optional(traceConfig, {}) },
  example: [SAMPLE.hash],
  result: array(hash),
  heavy: true,
  handle({ blockHash }, modules) {
    return isEmptyGenesis(blockHash, modules) ? [] : modules.inspection.intermediateRoots({ hash: blockHash });
  },
});
