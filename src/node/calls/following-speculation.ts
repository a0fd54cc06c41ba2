import { NodeError } from "../../base/errors.ts";
import type { Address } from "../../base/primitives/address.ts";
import { concatBytes } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { Moved } from "../../base/threads/channel.ts";
import { decodeBlockAccessList } from "../../base/types/block-access-list.ts";
import { decodeTransaction } from "../../base/types/transaction/decode.ts";
import { unpackTransactions } from "../../base/types/transaction/packed-transactions.ts";
import type { BlockParent } from "../../evm/execution/block/block-execution.ts";
import { ListedBlock, SpeculativeBlock } from "../../evm/execution/block/speculative-block.ts";
import type { OpenHeader } from "../../evm/execution/block-context.ts";
import { ListedChanges } from "../../evm/execution/parallel/listed-state.ts";
import type { RecordedBatch } from "../../evm/execution/parallel/recorded-batch.ts";
import { contextKey, type SentListedBlock, type SpeculationRequest } from "../../evm/execution/parallel/speculation.ts";
import type { ContractCompiler } from "../../evm/machine/modules/compiled-tier.ts";
import { StoreExecution, type StoreExecutionData } from "./store-execution.ts";

export type SpeculationThreadData = StoreExecutionData & {
  /** Whether hot contracts run compiled. */
  readonly compiles: boolean;
};

/** A `SpeculationRequest` as a message: concatenated signed transactions. */
export type SentTransactions = {
  readonly header: OpenHeader;
  readonly raw: Uint8Array;
  readonly sizes: Uint32Array;
  readonly senders: readonly Address[];
};

export function sentTransactions({ header, transactions }: SpeculationRequest): SentTransactions {
  return {
    header,
    raw: concatBytes(...transactions.map(({ tx }) => tx.raw)),
    sizes: Uint32Array.from(transactions, ({ tx }) => tx.raw.length),
    senders: transactions.map(({ sender }) => sender),
  };
}

type ListedAhead = { readonly number: number; readonly hash: Hash; readonly list: ListedChanges };

/** Only receipts before Byzantium need trie nodes. */
const TRIE_BYTES = 1 << 20;

/** Executes transactions of the block after the head of a store that another thread writes. */
export class FollowingSpeculation {
  readonly #chain: StoreExecution;
  #block: { readonly key: string; readonly block: SpeculativeBlock } | undefined;
  /** Blocks that arrived with their access lists, ascending from the block after the head of the store. */
  #ahead: ListedAhead[] = [];

  constructor(data: SpeculationThreadData, compiler: ContractCompiler) {
    this.#chain = new StoreExecution(data, TRIE_BYTES, data.compiles ? compiler : undefined);
  }

  /** The reads and writes of the transactions; undefined if another block is next by now. */
  speculate({ header, raw, sizes, senders }: SentTransactions): Moved<RecordedBatch> | undefined {
    const block = this.#blockOf(header);
    if (block === undefined) return undefined;
    let at = 0;
    for (const [i, sender] of senders.entries()) {
      const end = at + sizes[i]!;
      block.execute(decodeTransaction(raw.slice(at, end)), sender);
      at = end;
    }
    return moved(block.take());
  }

  /**
   * Executes transactions of a block that need not follow the head: the access lists of the blocks between were sent before.
   * @returns undefined if they are missing
   */
  executeListed({ header, hash, ...sent }: SentListedBlock): Moved<RecordedBatch> | undefined {
    const list = listIn(sent.accessList);
    if (list === undefined) return undefined;
    const parent = this.#listedParent(header);
    this.#ahead.push({ number: header.number, hash, list });
    if (parent === undefined || sent.senders.length === 0) return undefined;
    const block = new ListedBlock(header, list, parent, this.#chain.modules);
    for (const [i, raw] of unpackTransactions(sent.transactions).entries()) {
      block.execute(decodeTransaction(raw), sent.senders[i]!, sent.positions[i]!);
    }
    return moved(block.take());
  }

  /** Without this, an idle thread would keep removed files open until it ends. */
  releaseRemoved(): void {
    this.#chain.store.releaseRemoved();
  }

  /** The state after the parent of `header`, computed from the access lists of the blocks after the head of the store. */
  #listedParent({ number, parentHash }: OpenHeader): Pick<BlockParent, "state" | "blockHash"> | undefined {
    const { store } = this.#chain;
    this.#chain.catchUp();
    const head = store.head();
    // A file that is read a second time starts over.
    const ahead = this.#ahead.filter((each) => each.number > head && each.number < number);
    this.#ahead = ahead;
    if (ahead.length !== Math.max(0, number - head - 1)) return undefined;
    const blockHash = (wanted: number) => ahead[wanted - head - 1]?.hash ?? store.blockHash(wanted);
    if (number <= store.base() || blockHash(number - 1) !== parentHash) return undefined;
    let state = store.stateAt(Math.min(head, number - 1));
    for (const { list } of ahead) state = list.before(Number.POSITIVE_INFINITY, state);
    return { state, blockHash };
  }

  #blockOf(header: OpenHeader): SpeculativeBlock | undefined {
    const { store, modules } = this.#chain;
    this.#chain.catchUp();
    const parent = store.head();
    if (header.number !== parent + 1 || store.blockHash(parent) !== header.parentHash) return undefined;
    const key = contextKey(header);
    if (this.#block?.key === key) return this.#block.block;
    const blockHash = (number: number) => store.blockHash(number);
    const parentBlock = { header: store.header(parent)!, state: store.stateAt(parent), blockHash };
    const block = new SpeculativeBlock(header, parentBlock, modules);
    this.#block = { key, block };
    return block;
  }
}

function moved(batch: RecordedBatch): Moved<RecordedBatch> {
  return new Moved(batch, [batch.starts.buffer, batch.words.buffer, batch.bytes.buffer] as ArrayBuffer[]);
}

/** undefined: malformed, which the chain's thread detects too. */
function listIn(accessList: Uint8Array): ListedChanges | undefined {
  try {
    return new ListedChanges(decodeBlockAccessList(accessList));
  } catch (error) {
    if (error instanceof NodeError) return undefined;
    throw error;
  }
}
