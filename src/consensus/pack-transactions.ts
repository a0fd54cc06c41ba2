import type { ChainConfig } from "../base/params/chain-config.ts";
import { txGasLimitMaxOf } from "../base/params/execution-limits.ts";
import { AMSTERDAM_INTRINSIC, BLOCK_RLP_SIZE_MAX, TX_BASE_GAS } from "../base/params/gas.ts";
import { RULES_AT } from "../base/params/hardforks.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { TransactionRejection } from "../base/types/transaction/codec.ts";
import type { Transaction } from "../base/types/transaction/transaction.ts";
import { isIndexDamage } from "../chain/store-errors.ts";
import type { BlockBuilder, SealedBlock } from "../evm/execution/block/build-block.ts";
import type { Speculation } from "../evm/execution/parallel/speculation.ts";
import type { BlockOrder } from "./mempool/block-order.ts";
import type { Mempool } from "./mempool/mempool.ts";
import type { PooledTransaction } from "./mempool/pool.ts";
import { ExecutorFailure, type SetAside } from "./quarantine.ts";

type AssembledBlock = {
  readonly sealed: SealedBlock;
  readonly packed: readonly Transaction[];
};

/** A partly packed block. */
export type BegunBlock = { readonly builder: BlockBuilder; readonly packing: Packing };

export function beginPacking(
  begin: () => BlockBuilder,
  limits: Omit<PackingLimits, "timeMs">,
  modules: PackingModules,
): BegunBlock {
  const builder = begin();
  return { builder, packing: new Packing(builder, limits, modules) };
}

/**
 * Builds a block from the pool. A transaction that crashes the executor, or prevents the block from being sealed, is set aside, and the block is
 * built again without it. All builds share `limits.timeMs`, and the last one is empty.
 * @param begin begins a block on the head
 * @param begun a partly packed block, ignored if stale
 * @throws InvalidBlockError if even the empty block is invalid; errors of a damaged index
 */
export function assembleBlock(
  begin: () => BlockBuilder,
  limits: PackingLimits,
  modules: Omit<PackingModules, "isExcluded"> & { readonly setAside: SetAside },
  begun?: BegunBlock,
): AssembledBlock {
  const excluded = new Set<Hash>();
  const isExcluded = (hash: Hash) => excluded.has(hash);
  const { now = REAL_NOW } = modules;
  const deadline = now() + limits.timeMs;
  let first = begun;
  for (let left = limits.timeMs; left > 0; left = deadline - now()) {
    const { builder, packing } = first ?? beginPacking(begin, limits, { ...modules, isExcluded });
    first = undefined;
    try {
      packing.run(left);
      if (!packing.isStale) return { sealed: sealed(builder, packing.packed, begin), packed: packing.packed };
    } catch (error) {
      if (!(error instanceof ExecutorFailure)) throw error;
      // A damaged index is not the transaction's fault: if left out, it would wait until the node is restarted.
      if (isIndexDamage(error)) throw error.cause;
      excluded.add(error.transaction.hash);
      modules.setAside(error);
    }
  }
  return { sealed: begin().seal(), packed: [] };
}

/** @throws ExecutorFailure if a block with fewer transactions could be sealed */
function sealed(builder: BlockBuilder, packed: readonly Transaction[], begin: () => BlockBuilder): SealedBlock {
  try {
    return builder.seal();
  } catch (error) {
    const culprit = unsealableAt(packed, begin);
    throw culprit === undefined ? error : new ExecutorFailure(culprit, error);
  }
}

/** The transaction that makes the block unsealable, found by bisection; undefined if even the empty block cannot be sealed. */
function unsealableAt(packed: readonly Transaction[], begin: () => BlockBuilder): Transaction | undefined {
  const isSealable = (count: number): boolean => {
    try {
      const builder = begin();
      for (const tx of packed.slice(0, count)) builder.add(tx);
      builder.seal();
      return true;
    } catch {
      return false;
    }
  };
  if (packed.length === 0 || !isSealable(0)) return undefined;
  let sealable = 0;
  let unsealable = packed.length;
  while (unsealable - sealable > 1) {
    const middle = (sealable + unsealable) >> 1;
    if (isSealable(middle)) sealable = middle;
    else unsealable = middle;
  }
  return packed[sealable];
}

export type PackingLimits = {
  /** Total size of encoded transactions, including the engine's framing. */
  readonly bytesMax: number;
  readonly timeMs: number;
  /** Minimum tip per gas, in wei. */
  readonly minimumTip: bigint;
  /** Undefined: as many as fit. */
  readonly transactionsMax?: number | undefined;
};

/** EIP-7934's 8 MiB minus room for the header, and a time for which a full pool cannot delay blocks. */
export const PACKING_LIMITS = { bytesMax: BLOCK_RLP_SIZE_MAX - 1_000_000, timeMs: 500 };

/** Bytes an engine adds to each element of a block. */
export const TX_FRAME_BYTES = 4;

type PackingModules = {
  readonly mempool: Pick<Mempool, "pendingForBlock" | "updateOrder">;
  readonly config: ChainConfig;
  /** Whether to leave out a transaction. */
  readonly isExcluded?: (hash: Hash) => boolean;
  /** Executes transactions before a block that is packed ahead reaches them. */
  readonly speculation?: PackingSpeculation | undefined;
  /** Clock of the time limits, in milliseconds; default: the real one. */
  readonly now?: () => number;
};

const REAL_NOW = () => performance.now();

export type PackingSpeculation = Pick<Speculation, "begin" | "isPending" | "takes" | "room" | "send">;

/**
 * Packs the pool's best transactions into a block, in the order of geth's miner, until gas, bytes or time run out.
 *
 * A transaction that does not fit closes its account for this block; one whose nonce is already used is skipped. Packing can be resumed when the
 * pool has more, while the packed transactions would still come first.
 */
export class Packing {
  readonly #builder: BlockBuilder;
  readonly #limits: Omit<PackingLimits, "timeMs">;
  readonly #modules: PackingModules;
  #order: BlockOrder | undefined;
  readonly #packed: Transaction[] = [];
  #bytes = 0;
  #isStale = false;
  #isWaiting = false;

  constructor(builder: BlockBuilder, limits: Omit<PackingLimits, "timeMs">, modules: PackingModules) {
    this.#builder = builder;
    this.#limits = limits;
    this.#modules = modules;
  }

  /** The transactions of the block, in order. */
  get packed(): readonly Transaction[] {
    return this.#packed;
  }

  /** Whether other transactions would come first by now: the block must be begun again. */
  get isStale(): boolean {
    return this.#isStale;
  }

  /** Whether the last run ahead ended before a transaction that another thread is executing. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** `run` for a block that is not due: it waits for transactions that other threads execute, and sends them the next ones. */
  runAhead(timeMs: number): boolean {
    const { speculation } = this.#modules;
    return this.#run(timeMs, speculation?.begin(this.#builder.header) ? speculation : undefined);
  }

  /**
   * Packs for `timeMs`. Stops if it becomes stale.
   * @returns true if only the time has run out
   * @throws ExecutorFailure if executing a transaction fails other than by a rejection; the builder is then unusable
   */
  run(timeMs: number): boolean {
    return this.#run(timeMs, undefined);
  }

  #run(timeMs: number, speculation: PackingSpeculation | undefined): boolean {
    this.#isWaiting = false;
    const builder = this.#builder;
    const { isExcluded = () => false, now = REAL_NOW } = this.#modules;
    const deadline = now() + timeMs;
    const { transactionsMax = Number.POSITIVE_INFINITY } = this.#limits;
    const leastGas = RULES_AT[builder.context.hardfork].amsterdam ? AMSTERDAM_INTRINSIC.base : TX_BASE_GAS;
    const candidates = this.#candidates();
    if (candidates === undefined) {
      this.#isStale = true;
      return false;
    }
    for (let best = candidates.peek(); best; best = candidates.peek()) {
      if (builder.gasLeft() < leastGas || this.#packed.length >= transactionsMax) return false;
      if (now() > deadline) return true;
      if (speculation?.isPending(best.tx)) {
        this.#isWaiting = true;
        this.#send(candidates, speculation);
        return false;
      }
      const size = best.tx.raw.length + TX_FRAME_BYTES;
      let goesOn = false;
      if (this.#bytes + size <= this.#limits.bytesMax && !isExcluded(best.tx.hash)) {
        goesOn = this.#add(best, size);
      }
      if (goesOn) candidates.next();
      else candidates.skipAccount();
    }
    return false;
  }

  /** Sends worthwhile next candidates to other threads. */
  #send(candidates: BlockOrder, speculation: PackingSpeculation): void {
    const next: PooledTransaction[] = [];
    let left = speculation.room;
    for (const candidate of candidates.ahead()) {
      if (left-- === 0) break;
      if (speculation.takes(candidate.tx)) next.push(candidate);
    }
    speculation.send(this.#builder.header, next);
  }

  /** False if the account ends with it. */
  #add({ tx, sender }: PooledTransaction, size: number): boolean {
    try {
      this.#builder.add(tx, sender);
    } catch (error) {
      if (!(error instanceof TransactionRejection)) throw new ExecutorFailure(tx, error);
      return error.code === "TX_NONCE_MISMATCH_TOO_LOW";
    }
    this.#packed.push(tx);
    this.#bytes += size;
    return true;
  }

  /** The transactions after the packed ones; undefined if the pool's order has changed before that. */
  #candidates(): BlockOrder | undefined {
    const { header, context } = this.#builder;
    const { mempool, config } = this.#modules;
    if (this.#order !== undefined) return mempool.updateOrder(this.#order) ? this.#order : undefined;
    this.#order = mempool.pendingForBlock({
      baseFee: header.baseFeePerGas ?? 0n,
      minimumTip: this.#limits.minimumTip,
      txGasLimitMax: txGasLimitMaxOf(context.hardfork, config),
      blobBaseFee: header.excessBlobGas === undefined ? undefined : context.blobBaseFee,
    });
    return this.#order;
  }
}

/** Maximum blocks made without packing ahead after consecutive misses. */
const PAUSE_MAX = 64;

/**
 * The next block, partly packed before it is due. If transactions with higher tips keep arriving later, the packed part is unusable: after each
 * such block, twice as many blocks are made without packing ahead.
 */
export class PackingAhead {
  #begun: (BegunBlock & { readonly key: string }) | undefined;
  #pauseAfterMiss = 1;
  /** Blocks until packing ahead resumes. */
  #pause = 0;

  /**
   * Continues or begins the block of `key`. Uses the remaining time to read trie nodes for the state root.
   * @returns whether work remains
   * @throws as `Packing.run` and `begin`
   */
  extend(key: string, begin: () => BegunBlock, timeMs: number): boolean {
    if (this.#pause > 0) return false;
    if (this.#begun?.key !== key) this.#begun = { ...begin(), key };
    const { builder, packing } = this.#begun;
    const deadline = performance.now() + timeMs;
    if (packing.runAhead(timeMs)) return true;
    if (!packing.isStale) return builder.prefetchTrie(deadline) || packing.isWaiting;
    this.miss();
    return false;
  }

  /** The begun block, if it has this `key`. Called once per block. */
  take(key: string): BegunBlock | undefined {
    const begun = this.#begun;
    this.#begun = undefined;
    if (this.#pause > 0) this.#pause--;
    return begun?.key === key ? begun : undefined;
  }

  /** The begun block was usable. */
  hit(): void {
    this.#pauseAfterMiss = 1;
  }

  /** The begun block was unusable. */
  miss(): void {
    this.#begun = undefined;
    this.#pause = this.#pauseAfterMiss;
    this.#pauseAfterMiss = Math.min(PAUSE_MAX, 2 * this.#pauseAfterMiss);
  }

  forget(): void {
    this.#begun = undefined;
  }
}
