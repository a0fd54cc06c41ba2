import type { ChainConfig } from "../../base/params/chain-config.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { FollowedConfig } from "../../chain/agreement/agreed-config.ts";
import { createChainStateTrie } from "../../chain/chain-state-trie.ts";
import { type ChainReader, createChainReader, knownBlock } from "../../chain/reader.ts";
import { followerCacheSizes } from "../../chain/store/cache-sizes.ts";
import type { FollowedStore } from "../../chain/store/follow/published-head.ts";
import { StoreFollower } from "../../chain/store/follow/store-follower.ts";
import type { ExecutionModules } from "../../evm/execution/block/block-execution.ts";
import { createEvm } from "../../evm/machine/engine.ts";
import type { ContractCompiler } from "../../evm/machine/modules/compiled-tier.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { hotTier } from "../compiled-contracts/compiled-modules.ts";

/** What a thread or a process needs to know of the store that it follows. */
export type StoreExecutionData = {
  readonly store: FollowedStore;
  readonly cacheBytes: number;
  /** Of the genesis file. */
  readonly config: ChainConfig;
};

/** What executes on the chain of a store that another thread or process writes. */
export class StoreExecution {
  readonly store: StoreFollower;
  readonly modules: ExecutionModules;
  readonly #agreed: FollowedConfig;

  /**
   * @param trieBytes of trie nodes that are cached
   * @param compiler undefined: contracts that are hot are interpreted too
   * @param pause while the store is being written
   */
  constructor(
    { store, cacheBytes, config }: StoreExecutionData,
    trieBytes: number,
    compiler: ContractCompiler | undefined,
    pause?: () => void,
  ) {
    const trieOptions = { cacheBytes: trieBytes };
    this.store = new StoreFollower({
      ...store,
      caches: followerCacheSizes(cacheBytes),
      createTrie: (nodes) => createStateTrie(nodes, trieOptions),
      ...(pause && { pause }),
    });
    this.#agreed = new FollowedConfig(config);
    this.modules = {
      config: this.#agreed.config,
      stateTrie: createChainStateTrie(this.store, trieOptions),
      evm: createEvm(compiler ? hotTier(compiler) : {}),
    };
  }

  /** @param head number of the block that is the newest for the reader */
  reader(genesisHash: Hash, head: () => number): Omit<ChainReader, "pending"> {
    const { store, modules } = this;
    return createChainReader({ ...modules, genesisHash, store, head: () => knownBlock(store, head()) });
  }

  /** Every block is there that was committed before. */
  catchUp(): void {
    this.store.catchUp();
    this.followRules();
  }

  /** Takes over what the validators agreed on up to the head. */
  followRules(): void {
    this.#agreed.follow(this.store);
  }
}
