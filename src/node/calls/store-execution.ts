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

/** The data that a thread or process needs to follow the store. */
export type StoreExecutionData = {
  readonly store: FollowedStore;
  readonly cacheBytes: number;
  /** Configuration from the genesis file. */
  readonly config: ChainConfig;
};

/** Executes on a chain whose store another thread or process writes. */
export class StoreExecution {
  readonly store: StoreFollower;
  readonly modules: ExecutionModules;
  readonly #agreed: FollowedConfig;

  /**
   * @param trieBytes size of the trie node cache
   * @param compiler undefined: hot contracts are interpreted too
   * @param pause called while the store is being written
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

  /** @param head number of the newest block for the reader */
  reader(genesisHash: Hash, head: () => number): Omit<ChainReader, "pending"> {
    const { store, modules } = this;
    return createChainReader({ ...modules, genesisHash, store, head: () => knownBlock(store, head()) });
  }

  /** Makes every block visible that was committed before. */
  catchUp(): void {
    this.store.catchUp();
    this.followRules();
  }

  /** Adopts the rules that validators agreed on up to the head. */
  followRules(): void {
    this.#agreed.follow(this.store);
  }
}
