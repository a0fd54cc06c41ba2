import type { Kv } from "../../store/storage/kv.ts";
import type { LogDirectory } from "../../store/storage/log/log-file.ts";
import type { StoreCacheSizes } from "./cache-sizes.ts";
import type { MergeLimits } from "./index/index-merge.ts";
import type { CreateTrie } from "./nodes/computed-trie-nodes.ts";
import type { RetentionOptions } from "./retention/retention.ts";
import type { StatelessBlocks } from "./stateless-blocks.ts";

export type LogBlockStoreOptions = {
  /** holds the block log */
  readonly log: LogDirectory;
  /** holds the index; an empty one is filled from the log */
  readonly index: Kv;
  /** Makes the trie that computes nodes again for blocks that the log has and the index has not. */
  readonly createTrie: CreateTrie;
  /** Called by name before and after every step of `append`, for tests that die there. */
  readonly failPoint?: (name: string) => void;
  /** Runs work when the node is idle: `deferOn`, or `deferNothing` if blocks follow each other without a pause. */
  readonly defer: (work: () => void) => void;
  readonly segmentBytesMax?: number;
  /** A replay commits its rows whenever it has read this much of the log; 8 MiB if not given. */
  readonly replayBytesMax?: number;
  readonly mergeLimits?: MergeLimits;
  /** Memory for what was read; by default the shares of CACHE_BYTES. Trie nodes are cached by the owner of the trie. */
  readonly caches?: StoreCacheSizes;
  /** False if only blocks read the newest state, each value once: then decoded values are not kept. */
  readonly decodesHead?: boolean;
  /** Builds the index of addresses; off if not given. */
  readonly addressIndex?: boolean;
  /** Called when building the index of addresses fails; the chain goes on without it. */
  readonly onAddressIndexFailure?: (error: unknown) => void;
  /** The first blocks came without their states. */
  readonly stateless?: StatelessBlocks | undefined;
  /** What is removed in the background; nothing if not given. */
  readonly retention?: RetentionOptions | undefined;
  /** Called when removing old blocks fails; the chain goes on without it. */
  readonly onPruningFailure?: (error: unknown) => void;
  /** Space left where the store is; without limit if not given. */
  readonly freeBytes?: () => number;
  /** Called with bytes of the log, once in 8 MiB, while opening reads it into the index. */
  readonly onReplay?: (progress: { readonly done: number; readonly total: number }) => void;
  /** The directory where threads of this process can open log and index too. */
  readonly followableIn?: string;
  /** Called with each error that says the index is damaged, before it is thrown. */
  readonly onDamage?: (error: Error) => void;
  /** Called once everything is closed. */
  readonly onClosed?: () => void;
};
