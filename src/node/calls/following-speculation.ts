import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { Address } from "../../base/primitives/address.ts";
import { concatBytes } from "../../base/primitives/bytes.ts";
import { Moved } from "../../base/threads/channel.ts";
import { decodeTransaction } from "../../base/types/transaction/decode.ts";
import { FollowedConfig } from "../../chain/agreement/agreed-config.ts";
import { createChainStateTrie } from "../../chain/chain-state-trie.ts";
import { followerCacheSizes } from "../../chain/store/cache-sizes.ts";
import type { FollowedStore } from "../../chain/store/follow/published-head.ts";
import { StoreFollower } from "../../chain/store/follow/store-follower.ts";
import type { ExecutionModules } from "../../evm/execution/block/block-execution.ts";
import { SpeculativeBlock } from "../../evm/execution/block/speculative-block.ts";
import type { OpenHeader } from "../../evm/execution/block-context.ts";
import type { RecordedBatch } from "../../evm/execution/parallel/recorded-batch.ts";
import { contextKey, type SpeculationRequest } from "../../evm/execution/parallel/speculation.ts";
import { createEvm } from "../../evm/machine/engine.ts";
import type { ContractCompiler } from "../../evm/machine/modules/compiled-tier.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { hotTier } from "../compiled-contracts/compiled-modules.ts";

/** What a speculation thread is started with. */
export type SpeculationThreadData = {
  readonly store: FollowedStore;
  /** `cache.size` */
  readonly cacheBytes: number;
  readonly config: ChainConfig;
  /** Contracts that are hot run compiled. */
  readonly compiles: boolean;
};

/** A `SpeculationRequest` on its way: transactions as they were signed, one after the other. */
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

/** Receipts before Byzantium alone need trie nodes. */
const TRIE_OPTIONS = { cacheBytes: 1 << 20 };

/** Executes transactions of the block after the head of a store that another thread writes. */
export class FollowingSpeculation {
  readonly #store: StoreFollower;
  readonly #agreed: FollowedConfig;
  readonly #modules: ExecutionModules;
  #block: { readonly key: string; readonly block: SpeculativeBlock } | undefined;

  constructor({ store, cacheBytes, config, compiles }: SpeculationThreadData, compiler: ContractCompiler) {
    this.#store = new StoreFollower({
      ...store,
      caches: followerCacheSizes(cacheBytes),
      createTrie: (nodes) => createStateTrie(nodes, TRIE_OPTIONS),
    });
    this.#agreed = new FollowedConfig(config);
    this.#modules = {
      config: this.#agreed.config,
      stateTrie: createChainStateTrie(this.#store, TRIE_OPTIONS),
      evm: createEvm(compiles ? hotTier(compiler) : {}),
    };
  }

  /** What the transactions read and wrote; undefined where another block is next by now. */
  speculate({ header, raw, sizes, senders }: SentTransactions): Moved<RecordedBatch> | undefined {
    const block = this.#blockOf(header);
    if (block === undefined) return undefined;
    let at = 0;
    for (const [i, sender] of senders.entries()) {
      const end = at + sizes[i]!;
      block.execute(decodeTransaction(raw.slice(at, end)), sender);
      at = end;
    }
    const batch = block.take();
    return new Moved(batch, [batch.starts.buffer, batch.words.buffer, batch.bytes.buffer] as ArrayBuffer[]);
  }

  /** A thread without requests would hold removed files until it ends. */
  releaseRemoved(): void {
    this.#store.releaseRemoved();
  }

  #blockOf(header: OpenHeader): SpeculativeBlock | undefined {
    const store = this.#store;
    store.catchUp();
    const parent = store.head();
    if (header.number !== parent + 1 || store.blockHash(parent) !== header.parentHash) return undefined;
    const key = contextKey(header);
    if (this.#block?.key === key) return this.#block.block;
    this.#agreed.follow(store);
    const blockHash = (number: number) => store.blockHash(number);
    const parentBlock = { header: store.header(parent)!, state: store.stateAt(parent), blockHash };
    const block = new SpeculativeBlock(header, parentBlock, this.#modules);
    this.#block = { key, block };
    return block;
  }
}
