import { parentPort } from "node:worker_threads";
import { createExecutionReads } from "../../adapters/execution-port.ts";
import { createChainReader, knownBlock } from "../../chain/chain-reader.ts";
import { createChainStateTrie } from "../../chain/chain-state-trie.ts";
import { createGasPriceOracle } from "../../chain/fees/gas-price-oracle.ts";
import type { ChainReader, PendingBlock } from "../../chain/reader.ts";
import { StoreFollower } from "../../chain/store/store-follower.ts";
import { createEvm } from "../../evm/engine.ts";
import type { ContractCompiler } from "../../evm/modules/compiled-tier.ts";
import { garbageCollector } from "../../profiling/garbage-collection.ts";
import { errorDataOf } from "../../rpc/ports/channel/error-data.ts";
import { plainData } from "../../rpc/ports/channel/plain-data.ts";
import type { ExecutionReads } from "../../rpc/ports/execution.ts";
import { createStateTrie } from "../../state/merkle-state-trie.ts";
import { replayChanges } from "../../state/replay-changes.ts";
import { createWorldState } from "../../state/world-state.ts";
import { threadData } from "../../threads/native-calls.ts";
import { TraceTooLargeError } from "../../tracing/errors.ts";
import { hotTier } from "../adapters/compiled/hot-tier.ts";
import type {
  ExecutionReply,
  ExecutionRequest,
  ExecutionThreadData,
  PendingBlockData,
} from "./execution-protocol.ts";
import { movableTexts } from "./movable-texts.ts";
import { type ModuleMessage, RequestedModules } from "./requested-modules.ts";

/** Trie nodes are read by eth_simulateV1 alone. */
const TRIE_OPTIONS = { cacheBytes: 1 << 20 };

/** Between two looks whether files were removed, which cost a microsecond each. */
const RELEASE_MS = 1_000;

/** Executions on the chain of a store that another thread writes. */
class FollowingExecution {
  readonly #store: StoreFollower;
  readonly #reads: ExecutionReads;
  /** Of the request that runs: a pending block and its parent, which is the head for that request. */
  #pending: { readonly block: PendingBlock; readonly parent: number } | undefined;

  constructor(
    { store, config, genesisHash, limits, startPrice, compiles }: ExecutionThreadData,
    compiler: ContractCompiler,
  ) {
    this.#store = new StoreFollower({
      ...store,
      createTrie: (nodes) => createStateTrie(nodes, TRIE_OPTIONS),
    });
    const stateTrie = createChainStateTrie(this.#store, TRIE_OPTIONS);
    const reader: ChainReader = {
      ...createChainReader({
        ...{ config, genesisHash, stateTrie },
        store: this.#store,
        head: () => knownBlock(this.#store, this.#pending?.parent ?? this.#store.head()),
      }),
      pending: () => this.#pending?.block,
    };
    const oracle = createGasPriceOracle(startPrice === undefined ? {} : { startPrice }, {
      chain: reader,
    });
    const execution = { config, stateTrie, evm: createEvm(compiles ? hotTier(compiler) : {}) };
    this.#reads = createExecutionReads(limits, { reader, execution }, () => oracle.suggestTip());
  }

  get epoch(): number {
    return this.#store.epoch;
  }

  /** Runs on every block that was committed before the request was sent. */
  run({ method, args, pending }: ExecutionRequest): unknown {
    this.#store.catchUp();
    this.#pending = pending && this.#pendingBlock(pending);
    const read = this.#reads[method] as (...args: readonly unknown[]) => unknown;
    return read(...args);
  }

  /** A thread without requests would hold removed files until it ends. */
  releaseRemoved(): void {
    try {
      this.#store.releaseRemoved();
    } catch {
      // The next request meets the same, and has somebody to tell.
    }
  }

  #pendingBlock({ executed, changes }: PendingBlockData) {
    const parent = executed.block.header.number - 1;
    const state = createWorldState(this.#store.stateAt(parent));
    replayChanges(changes, state);
    const block = { executed: { ...executed, receipts: [] }, state: state.asReader(), changes };
    return { block, parent };
  }
}

const port = parentPort!;
const collectGarbage = garbageCollector();
const modules = new RequestedModules((request) =>
  port.postMessage({ kind: "compile", request } satisfies ExecutionReply),
);
const execution = new FollowingExecution(threadData<ExecutionThreadData>(), modules);

function answer(request: ExecutionRequest): void {
  try {
    const result = plainData(execution.run(request));
    const { value, buffers } = request.method.startsWith("trace")
      ? movableTexts(result as Parameters<typeof movableTexts>[0])
      : { value: result, buffers: [] };
    const reply: ExecutionReply = { kind: "result", epoch: execution.epoch, value };
    port.postMessage(reply, buffers);
  } catch (error) {
    const { epoch } = execution;
    // V8 would let the next trace write as much again before it frees this one, which nobody gets.
    if (error instanceof TraceTooLargeError) collectGarbage();
    port.postMessage({ kind: "error", epoch, error: errorDataOf(error) } satisfies ExecutionReply);
  }
}

port.on("message", (message: ExecutionRequest | ModuleMessage) => {
  if ("kind" in message) modules.receive(message);
  else answer(message);
});
setInterval(() => execution.releaseRemoved(), RELEASE_MS).unref();
port.postMessage({ kind: "ready" } satisfies ExecutionReply);
