import { randomBytes } from "node:crypto";
import { open } from "node:fs/promises";
import { invariant } from "../../base/errors.ts";
import type { ChainConfig } from "../../base/params/chain-config.ts";
import { hardforkAt } from "../../base/params/hardforks.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { inSlices } from "../../base/threads/in-slices.ts";
import { SharedSlices } from "../../base/threads/shared-slices.ts";
import type { Block, ExecutedBlock } from "../../base/types/block.ts";
import { encodeBlock } from "../../base/types/block-codec.ts";
import { recoverSender } from "../../base/types/transaction/sender.ts";
import { UnstoredTrie } from "../../evm/state/unstored-trie.ts";
import type { TraceText } from "../../evm/tracing/json-writer.ts";
import { createJsonLogger } from "../../evm/tracing/struct-logger.ts";
import { BlockReplay } from "../../evm/tracing/trace-block.ts";
import { createTraceBudget, NotTraceableError, TracingFailedError } from "../../evm/tracing/trace-budget.ts";
import type { TracerFactory } from "../../evm/tracing/tracer-config.ts";
import { DebugError } from "../../rpc/methods/debug/database.ts";
import type { ExecutionPort, TraceRequest } from "../../rpc/ports/execution.ts";
import type { BlockInspection } from "../../rpc/ports/inspection.ts";
import { readRegularFile, UnusableFileError } from "../../store/storage/read-file.ts";
import type { CallerFiles } from "./caller-files.ts";
import type { ChainParts, ProductionParts } from "./parts.ts";
import { assertStands } from "./resolve.ts";
import type { CallLimits } from "./rpc-settings.ts";

/** Maximum size of a file with one block: a block on the network has at most 10 MiB (EIP-7934). */
const BLOCK_FILE_BYTES_MAX = 64 << 20;

type Modules = {
  readonly core: Pick<ChainParts, "reader" | "store" | "execution">;
  readonly production: Pick<ProductionParts, "badBlocks">;
  readonly execution: Pick<ExecutionPort, "traceRawBlock" | "traceBlock" | "traceTransaction">;
  readonly files: CallerFiles;
  readonly timers: Pick<Timers, "now" | "deferred">;
};

/** The methods of `InspectionPort` that execute blocks again. */
export function createBlockInspection(
  { trace, memoryBytesMax }: Pick<CallLimits, "trace" | "memoryBytesMax">,
  { core: { reader, store, execution }, production: { badBlocks }, execution: port, files, timers }: Modules,
): BlockInspection {
  const blockHash = (number: number) => reader.blockHash(number);
  const slices = new SharedSlices(timers);

  function badBlock(hash: Hash): Block {
    const block = badBlocks.get(hash);
    if (block === undefined) throw new NotTraceableError(`bad block ${hash} not found`);
    return block;
  }

  function budgetOf({ timeoutMs }: TraceRequest) {
    return createTraceBudget({
      timeoutMs: Math.min(timeoutMs ?? trace.timeoutMs, trace.timeoutMsMax),
      charsMax: trace.bytesMax,
    });
  }

  /** @param senders recovered if omitted */
  function replayOf(block: Block, senders?: readonly Address[]) {
    const { number, parentHash } = block.header;
    if (number === 0) throw new NotTraceableError("genesis is not traceable");
    const parent = reader.header(number - 1);
    if (parent === undefined || reader.blockHash(number - 1) !== parentHash) {
      throw new NotTraceableError(`parent ${parentHash} not found`);
    }
    const target = { block, ...(senders && { senders }), parentState: reader.stateAt(number - 1), blockHash };
    return { replay: new BlockReplay(target, execution), parent };
  }

  /**
   * Trace lines of a rejected block, which other threads do not have; yields after each transaction. @param wanted index; negative: all
   * transactions
   */
  async function* badTraces(block: Block, wanted: number, request: TraceRequest): AsyncGenerator<[number, TraceText]> {
    const { replay, parent } = replayOf(block);
    const base = { number: parent.number, hash: block.header.parentHash };
    const factory: TracerFactory = (_config, traced) => createJsonLogger(request, traced);
    const options = { ...request, memoryBytesMax, budget: budgetOf(request), factory };
    for (let index = 0; index < block.transactions.length; index++) {
      await slices.next();
      assertStands(reader, base);
      options.budget.assertInTime();
      if (wanted < 0 || index === wanted) yield [index, replay.trace(options)];
      else replay.skip();
      if (index === wanted) return;
    }
  }

  return {
    badBlocks: () => inSlices(withSenders(badBlocks.all(), execution.config), slices),
    traceBadBlock: ({ hash, request }) => port.traceRawBlock({ rlp: encodeBlock(badBlock(hash)), request }),
    traceBlockFile({ file, request }) {
      const path = files.forReading(file);
      let rlp: Buffer;
      try {
        rlp = readRegularFile(path, { bytesMax: BLOCK_FILE_BYTES_MAX });
      } catch (error) {
        if (error instanceof UnusableFileError) throw new DebugError(`could not read file: ${error.message}`);
        throw error;
      }
      return port.traceRawBlock({ rlp, request });
    },
    async intermediateRoots({ hash }) {
      const number = reader.numberOf(hash);
      const executed = number === undefined ? undefined : await reader.blockInSlices(number, slices);
      const block = executed?.block ?? badBlocks.get(hash);
      if (block === undefined) throw new NotTraceableError(`block ${hash} not found`);
      const { replay, parent } = replayOf(block, executed?.senders);
      const budget = budgetOf({});
      const base = { number: parent.number, hash: block.header.parentHash };
      const trie = new UnstoredTrie(store.trieNodesAt(parent.number), parent.stateRoot);
      const roots: Hash[] = [];
      await slices.enter();
      assertStands(reader, base);
      trie.update(replay.state.changes());
      for (const _ of block.transactions) {
        if (slices.isOver()) {
          await slices.next();
          assertStands(reader, base);
        }
        budget.assertInTime();
        try {
          roots.push(trie.update(replay.step()));
        } catch (error) {
          // A failing transaction occurs only in a rejected block; its caller wants the roots before the failure.
          if (error instanceof TracingFailedError) return roots;
          throw error;
        }
      }
      return roots;
    },
    async writeStandardTraces({ hash, which, request: { txHash, ...config } }) {
      const number = which === "bad" ? undefined : reader.numberOf(hash);
      const executed = number === undefined ? undefined : await reader.blockInSlices(number, slices);
      const block = which === "bad" ? badBlock(hash) : executed?.block;
      if (block === undefined) throw new NotTraceableError(`block ${hash} not found`);
      const wanted = block.transactions.findIndex((tx) => tx.hash === txHash);
      if (txHash !== undefined && wanted < 0) {
        throw new NotTraceableError(`transaction ${txHash} not found in block`);
      }
      const paths: string[] = [];
      const write = async (index: number, text: TraceText) => {
        const path = files.forWriting(traceFileName(block, index, config));
        const file = await open(path, "wx", 0o600);
        try {
          for (const piece of typeof text === "string" ? [Buffer.from(text)] : text) await file.writeFile(piece);
        } finally {
          await file.close();
        }
        paths.push(path);
      };
      const request: TraceRequest = { ...config, asLines: true };
      if (which === "bad") {
        for await (const [index, text] of badTraces(block, wanted, config)) await write(index, text);
      } else if (txHash !== undefined) {
        await write(wanted, await port.traceTransaction({ hash: txHash, request }));
      } else {
        for (const [index, trace] of (await port.traceBlock({ at: hash, request })).entries()) {
          invariant("result" in trace, "only scripts fail alone");
          await write(index, trace.result);
        }
      }
      return paths;
    },
  };
}

/** Yields after each recovered sender. */
function* withSenders(blocks: readonly Block[], config: ChainConfig): Generator<undefined, ExecutedBlock[]> {
  const executed: ExecutedBlock[] = [];
  for (const block of blocks) {
    const fork = hardforkAt(config, block.header);
    const senders: Address[] = [];
    for (const tx of block.transactions) {
      senders.push(recoverSender(tx, fork));
      yield;
    }
    executed.push({ block, senders, receipts: [] });
  }
  return executed;
}

/** geth's file name for such a trace. */
function traceFileName(block: Block, index: number, { configOverrides }: TraceRequest): string {
  const start = (hash: Hash) => hash.slice(0, 10);
  const suffix = randomBytes(4).readUInt32BE().toString();
  const alternative = configOverrides ? "alt-" : "";
  return `traces/block_${start(block.hash)}-${index}-${start(block.transactions[index]!.hash)}-${alternative}${suffix}`;
}
