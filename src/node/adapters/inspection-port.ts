import { hashToBytes } from "../../base/primitives/hash.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { inSlices } from "../../base/threads/in-slices.ts";
import { SharedSlices } from "../../base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import { modifiedAccounts } from "../../chain/inspect/modified-accounts.ts";
import { dumpState, findPreimage, storageRange } from "../../chain/inspect/state-dump.ts";
import { measureState } from "../../chain/inspect/state-size.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import { BlockReplay } from "../../evm/tracing/trace-block.ts";
import { createTraceBudget, NotTraceableError, type TraceBudget } from "../../evm/tracing/trace-budget.ts";
import type { BlockSelector } from "../../rpc/ports/block-selector.ts";
import type { ExecutionPort } from "../../rpc/ports/execution.ts";
import type { InspectionPort } from "../../rpc/ports/inspection.ts";
import { UnknownBlockError } from "../../rpc/transport/errors.ts";
import { MissingTrieNodeError } from "../../store/trie/node-store.ts";
import { createBlockInspection } from "./block-inspection.ts";
import type { CallerFiles } from "./caller-files.ts";
import type { ChainParts, ProductionParts } from "./parts.ts";
import { assertStands, findBlock } from "./resolve.ts";
import type { CallLimits } from "./rpc-settings.ts";
import { createStoreInspection } from "./store-inspection.ts";

/** JSON characters per slot of a storage range. */
const SLOT_CHARS = 240;

/** `InspectionPort` on this thread, over the chain of `core`. */
export function createInspectionPort(
  limits: Pick<CallLimits, "trace" | "memoryBytesMax">,
  modules: {
    readonly core: Pick<ChainParts, "reader" | "store" | "execution">;
    readonly production: Pick<ProductionParts, "badBlocks" | "rewind">;
    readonly execution: Pick<ExecutionPort, "traceRawBlock" | "traceBlock" | "traceTransaction">;
    readonly files: CallerFiles;
    readonly timers: Pick<Timers, "now" | "deferred">;
  },
): InspectionPort {
  const { trace } = limits;
  const { reader, store, execution } = modules.core;
  const slices = new SharedSlices(modules.timers);
  const createBudget = () => createTraceBudget({ timeoutMs: trace.timeoutMs, charsMax: trace.bytesMax });
  /** Budget for work on the state after a block that spans several event-loop turns. */
  function budgetOf({ block: { hash, header } }: ExecutedBlock) {
    const { take, assertInTime } = createBudget();
    return {
      take,
      /** @throws UnknownBlockError, TracingTimeoutError */
      resumed() {
        assertStands(reader, { number: header.number, hash });
        assertInTime();
      },
    };
  }

  /** @throws UnknownBlockError with geth's text */
  function known(at: BlockSelector): ExecutedBlock {
    const executed = findBlock(reader, at);
    if (executed) return executed;
    const name = typeof at === "object" ? at.blockHash : `#${at}`;
    throw new UnknownBlockError(`block ${name} not found`);
  }

  async function stateBefore({ block, senders }: ExecutedBlock, index: number, budget: TraceBudget) {
    const { number } = block.header;
    if (number === 0) throw new NotTraceableError("no transaction in genesis");
    const parentState = reader.stateAt(number - 1);
    const { length } = block.transactions;
    if (index === 0 && length === 0) return parentState;
    if (index < 0 || index >= length) {
      throw new NotTraceableError(`transaction index ${index} out of range for block ${block.hash}`);
    }
    const blockHash = (wanted: number) => reader.blockHash(wanted);
    const replay = new BlockReplay({ block, senders, parentState, blockHash }, execution);
    const base = { number: number - 1, hash: block.header.parentHash };
    for (let i = 0; i < index; i++) {
      if (slices.isOver()) await slices.next();
      assertStands(reader, base);
      budget.assertInTime();
      replay.skip();
    }
    return replay.state.asReader() satisfies StateReader;
  }

  return {
    async dumpState({ at, request }) {
      // The nodes of the pending state are not stored; geth also shows the state that it is built on.
      const executed = known(at === "pending" ? "latest" : at);
      const { header } = executed.block;
      const source = {
        state: reader.stateAt(header.number),
        keys: store.hashedKeys,
        storageRootOf: (address: Parameters<typeof reader.proof>[0]) =>
          reader.proof(address, [], header.number).storageRoot,
      };
      const dump = await dumpState(source, { ...request, ...budgetOf(executed) });
      return { ...dump, root: header.stateRoot };
    },
    async stateSize({ at }) {
      const executed = known(at === "pending" ? "latest" : at);
      const { number, stateRoot } = executed.block.header;
      const { resumed } = budgetOf(executed);
      for (;;) {
        const head = store.head();
        const source = {
          nodes: store.trieNodesAt(number),
          root: hashToBytes(stateRoot),
          codeLengths: store.codeLengths(),
        };
        try {
          return { ...(await measureState(source, resumed)), number, root: stateRoot };
        } catch (error) {
          resumed();
          // Newer blocks replaced nodes of this state; from now on it is read from the history.
          if (!(error instanceof MissingTrieNodeError) || store.head() === head) throw error;
        }
      }
    },
    async storageRange({ at, txIndex, address, start, slotsMax }) {
      const budget = createBudget();
      const state = await stateBefore(known(at), txIndex, budget);
      const range = await inSlices(storageRange(state, address, start, slotsMax), slices);
      budget.take(SLOT_CHARS * range.slots.length);
      return range;
    },
    preimage: ({ hash }) => findPreimage(hash, store.hashedKeys, createBudget().assertInTime),
    modifiedAccounts({ first, at }) {
      const executed = known(at);
      const states = {
        stateAt: (number: number) => reader.stateAt(number),
        changes: (number: number) => store.changes(number),
      };
      return modifiedAccounts(states, first, executed.block.header.number, budgetOf(executed));
    },
    ...createStoreInspection(modules.core, modules.production),
    ...createBlockInspection(limits, modules),
  };
}
