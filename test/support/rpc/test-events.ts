import type { ExecutedBlock } from "../../../src/base/types/block.ts";
import type { BlockReads, ChainEvents, ChainListener, PendingTransaction } from "../../../src/rpc/ports/chain-view.ts";
import { type JsonText, jsonString } from "../../../src/rpc/transport/codec.ts";
import { type Connection, RequestContext } from "../../../src/rpc/transport/dispatch/context.ts";

/** Events that a test emits; each promise resolves once every listener was called, wherever it is. */
export type TestEmitter = {
  block(executed: ExecutedBlock): Promise<void>;
  removed(blocks: readonly ExecutedBlock[]): Promise<void>;
  pending(transactions: readonly PendingTransaction[]): Promise<void>;
};

/** Events of a chain that emits none itself. */
export function createTestEvents() {
  const listeners = new Set<ChainListener>();
  const events: ChainEvents = {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return {
    ...events,
    block(executed: ExecutedBlock) {
      for (const { onBlock } of listeners) onBlock?.(executed);
    },
    removed(blocks: readonly ExecutedBlock[]) {
      for (const { onRemoved } of listeners) onRemoved?.(blocks);
    },
    pending(transactions: readonly PendingTransaction[]) {
      for (const { onPending } of listeners) onPending?.(transactions);
    },
  };
}

/**
 * An emitter that waits for a read before and after each event: messages of a channel stay in order, so that every subscription exists
 * before and every listener was called after.
 */
export function settlingEmitter(
  events: Omit<ReturnType<typeof createTestEvents>, "subscribe">,
  chain: Pick<BlockReads, "head">,
): TestEmitter {
  const settled = async (emit: () => void): Promise<void> => {
    await chain.head();
    emit();
    await chain.head();
  };
  return {
    block: (executed) => settled(() => events.block(executed)),
    removed: (blocks) => settled(() => events.removed(blocks)),
    pending: (transactions) => settled(() => events.pending(transactions)),
  };
}

/** A connection that records its notifications. */
export class TestConnection implements Connection {
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
  readonly notices: any[] = [];
  readonly #closeTasks: (() => void)[] = [];
  #isClosed = false;

  notify(messages: readonly string[]): void {
    for (const message of messages) this.notices.push(JSON.parse(message));
  }

  async deliver(message: JsonText): Promise<void> {
    if (!this.#isClosed) this.notify([jsonString(message)]);
  }

  overrun(): void {
    this.close();
  }

  onClose(task: () => void): void {
    if (this.#isClosed) task();
    else this.#closeTasks.push(task);
  }

  close(): void {
    this.#isClosed = true;
    for (const task of this.#closeTasks.splice(0)) task();
  }

  /** The context of one message of this connection. */
  context(): RequestContext {
    return new RequestContext({
      transport: "ws",
      access: { namespaces: new Set(["eth"]), isOpen: true },
      credential: undefined,
      connection: this,
    });
  }
}
