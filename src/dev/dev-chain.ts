import { randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import type { EarlierChainId } from "../base/params/chain-config.ts";
import { gasLimitFault } from "../base/params/execution-limits.ts";
import { nextBaseFee } from "../base/params/fees.ts";
import { isBlockForkActive } from "../base/params/hardforks.ts";
import type { Address } from "../base/primitives/address.ts";
import { type Hash, hashFromBytes } from "../base/primitives/hash.ts";
import { decodePooledTransaction } from "../base/types/transaction/decode.ts";
import { maxFeePerGasOf } from "../base/types/transaction/fees.ts";
import { impersonatedSender } from "../base/types/transaction/impersonation.ts";
import { recoverSender } from "../base/types/transaction/sender.ts";
import type { Chain } from "../chain/chain.ts";
import type { StatePatches } from "../chain/reader.ts";
import type { Mempool } from "../consensus/mempool/mempool.ts";
import type { Submission } from "../consensus/mempool/pool.ts";
import { checkSidecar, kzgRejection } from "../consensus/mempool/sidecar.ts";
import type { BlobVerifier } from "../consensus/mempool/submission.ts";
import type { BlockMode } from "../consensus/solo/solo-engine.ts";
import type { PayloadAttributes } from "../evm/execution/block/build-block.ts";
import { insufficientMaxFee } from "../evm/execution/transaction/validate-message.ts";
import type { StateChanges } from "../evm/state/reader.ts";
import { mergeChanges } from "../evm/state/state-changes.ts";
import type { Checkpoint, DevJournal, DevRecord } from "./dev-journal.ts";
import { DevControlError, type DevSettings, type NextBlock, revertedSettings } from "./dev-settings.ts";
import { type AccountEdit, changesInSteps, changesOfEdits, restoreDevState, type Snapshot } from "./dev-state.ts";
import { PoolHistory } from "./pool-history.ts";

/** Blocks are made for so long before other calls have their turn. */
const SLICE_MS = 8;
/** The same for empty blocks of one call, which are synced together: a sync takes some milliseconds, whatever it writes. */
const GROUP_MS = 32;

type DevChainModules = {
  readonly chain: Chain;
  readonly patches: StatePatches;
  readonly mempool: Mempool;
  readonly blobs: Pick<BlobVerifier, "verify">;
  readonly journal: DevJournal;
  /** The solo engine. */
  readonly engine: {
    /** As configured. */
    readonly configuredMode: BlockMode;
    setMode(mode: BlockMode): void;
    produceBlock(): Hash;
  };
  /** Of the store: blocks that are committed together in a range are there all or, after a crash, none. */
  readonly range: { begin(): void; isOpen(): boolean; end(): void };
  /** As the chain's; the node ends where the blocks cannot be synced. */
  readonly commitTogether: (work: () => void) => void;
  /** What the node was started with, where callers set nothing else. */
  readonly configured: Pick<DevSettings, "gasLimit" | "autoImpersonate"> & {
    /** Of the first block after a new chain's block 0, in wei: a caller who names a base fee means that of the transaction that comes. */
    readonly baseFeePerGas?: bigint | undefined;
  };
  /** Number of the first block. */
  readonly base: number;
  /** Makes block `number` the head again while no block is made. */
  readonly rewind: (number: number) => Promise<void>;
  /** Throws while edits are not allowed: they would read unchanged values from an unchecked index. */
  readonly assertChangeable: () => void;
  /** Milliseconds of the system's clock. */
  readonly now: () => number;
};

/** Of 64 bits in headers: the rest is room for the blocks that follow. */
const SLOT_NUMBER_MAX = 2n ** 63n - 1n;

export type MineRequest = {
  readonly blocks: number;
  /** Unix seconds of the first block. */
  readonly timestamp?: number | undefined;
  /** Seconds between the blocks. */
  readonly intervalSeconds?: number | undefined;
  /** The first block is so many seconds after the head as well. */
  readonly spacesFirst?: boolean;
};

/**
 * What a caller may do to a dev chain besides sending transactions. Each call is on disk when it returns, so that a node that is
 * killed comes back with it.
 */
export class DevChain {
  readonly #modules: DevChainModules;
  readonly #snapshots: Map<number, Snapshot>;
  readonly #pools: PoolHistory;
  #settings: DevSettings;
  #nextId: number;
  /** Of the block being made by `mine`: not stored, because the block is. */
  #timestamp: number | undefined;
  /** One change of the chain at a time. */
  #queue: Promise<unknown> = Promise.resolve();

  constructor(modules: DevChainModules) {
    this.#modules = modules;
    const { chain, patches, journal, mempool } = modules;
    const restored = restoreDevState(journal.records(), chain);
    this.#settings = restored.settings;
    this.#snapshots = restored.snapshots;
    this.#pools = new PoolHistory(
      mempool,
      Array.from(restored.snapshots.values(), ({ pool }) => pool),
    );
    this.#nextId = restored.nextId;
    for (const [number, changes] of restored.patches) patches.set(number, changes);
    chain.subscribe(({ executed }) => this.#onBlock(executed.block.header));
    chain.onRollback(() => this.#applyChainId());
    this.#applyMode();
    this.#applyChainId();
  }

  get settings(): DevSettings {
    return this.#settings;
  }

  get isAutomine(): boolean {
    return this.#mode().automine;
  }

  /** False if blocks are made only on demand. */
  get makesBlocks(): boolean {
    const { automine, intervalMs } = this.#mode();
    return automine || intervalMs > 0;
  }

  /** Milliseconds to add to the clock. */
  get clockOffsetMs(): number {
    return 1000 * (this.#settings.clockOffsetSeconds ?? 0);
  }

  /** The attributes of the next block, with the values set for it. */
  override(attributes: PayloadAttributes): PayloadAttributes {
    const { number, timestamp: headTimestamp } = this.#head().header;
    const { configured } = this.#modules;
    const { timestampInterval, gasLimit = configured.gasLimit, coinbase, nextBlock } = this.#settings;
    const next = nextBlock?.number === number + 1 ? nextBlock : undefined;
    const timestamp =
      this.#timestamp ??
      next?.timestamp ??
      (timestampInterval === undefined ? undefined : headTimestamp + timestampInterval);
    const baseFeePerGas = next?.baseFeePerGas ?? (number === 0 ? configured.baseFeePerGas : undefined);
    const isForced = gasLimit !== undefined || baseFeePerGas !== undefined;
    return {
      ...attributes,
      ...(timestamp !== undefined && { timestamp }),
      ...(gasLimit !== undefined && { gasLimit }),
      ...(coinbase !== undefined && { feeRecipient: coinbase }),
      ...(next?.prevRandao !== undefined && { prevRandao: next.prevRandao }),
      ...(next?.slotNumber !== undefined && { slotNumber: next.slotNumber }),
      ...(isForced && { forced: baseFeePerGas === undefined ? {} : { baseFeePerGas } }),
    };
  }

  /** The transaction with its sender, if that account sends without a key. */
  withSender(submission: Submission): Submission {
    const sender = impersonatedSender(submission.tx);
    return sender !== undefined && this.isImpersonated(sender) ? { ...submission, sender } : submission;
  }

  /**
   * A transaction for the pool. Where every transaction has its block at once, one that the next block cannot take would wait for ever, because
   * no block without it lowers the base fee.
   * @throws InvalidTransactionError
   */
  admit(submission: Submission): Submission {
    const known = this.withSender(submission);
    const { tx } = known;
    const maxFeePerGas = maxFeePerGasOf(tx);
    const baseFeePerGas = this.isAutomine ? this.#nextBaseFee() : 0n;
    if (maxFeePerGas < baseFeePerGas) {
      throw insufficientMaxFee({ from: known.sender ?? recoverSender(tx), maxFeePerGas, baseFeePerGas });
    }
    return known;
  }

  isImpersonated(address: Address): boolean {
    const { configured } = this.#modules;
    const { autoImpersonate = configured.autoImpersonate, impersonated = [] } = this.#settings;
    return autoImpersonate === true || impersonated.includes(address);
  }

  /** Changes settings; `undefined` makes one as configured again. @throws DevControlError for a gas limit that no block can have */
  configure(changes: DevSettings): void {
    const { gasLimit } = changes;
    const fault = gasLimit === undefined ? undefined : gasLimitFault(this.#modules.chain.config, gasLimit);
    if (fault !== undefined) throw new DevControlError(`gas limit ${fault}`, { gasLimit });
    this.#store({ ...this.#settings, ...changes });
    const { minimumGasPrice } = changes;
    if (minimumGasPrice !== undefined) this.#modules.mempool.setMinimumTip(minimumGasPrice);
    if ("automine" in changes || "intervalMs" in changes) this.#applyMode();
    if ("chainId" in changes) this.#applyChainId();
    this.#refreshPool([]);
  }

  /** The chain id of blocks and calls from now on. */
  setChainId(chainId: bigint): void {
    const { chainId: before } = this.#modules.chain.config;
    const earlier = this.#earlierChainIds();
    this.configure({ chainId, earlierChainIds: [...earlier, { last: this.#head().header.number, chainId: before }] });
  }

  /** Sets values for only the next block. @throws DevControlError for a time in the past */
  setNextBlock(next: Omit<NextBlock, "number">): void {
    const { number, timestamp } = this.#head().header;
    if (next.timestamp !== undefined && next.timestamp <= timestamp) {
      throw new DevControlError(
        `Timestamp ${next.timestamp} is lower than or equal to previous block's timestamp ${timestamp}`,
        { timestamp: next.timestamp, headTimestamp: timestamp },
      );
    }
    if (next.slotNumber !== undefined) this.#assertNextSlot(next.slotNumber);
    const { nextBlock } = this.#settings;
    const set = nextBlock?.number === number + 1 ? nextBlock : {};
    this.configure({ nextBlock: { ...set, ...next, number: number + 1 } });
  }

  /** Contracts may rely on slots that grow, as on a chain with a beacon chain. @throws DevControlError */
  #assertNextSlot(slotNumber: bigint): void {
    if (this.#modules.chain.config.amsterdamTime === undefined) {
      throw new DevControlError(
        "blocks have slot numbers from Amsterdam on: start the chain with --hardfork amsterdam",
      );
    }
    const { slotNumber: headSlot } = this.#head().header;
    if (headSlot !== undefined && slotNumber <= headSlot) {
      throw new DevControlError(`slot ${slotNumber} is not after slot ${headSlot} of the previous block`, {
        slotNumber,
        headSlot,
      });
    }
    if (slotNumber > SLOT_NUMBER_MAX) throw new DevControlError(`slot ${slotNumber} has more than 63 bits`);
  }

  /** Moves the clock on, from the head where that is ahead of it. @returns seconds that it is ahead of the system's */
  increaseTime(seconds: number): number {
    const now = Math.floor(this.#modules.now() / 1000);
    const ahead = this.#head().header.timestamp - now;
    const clockOffsetSeconds = Math.max(this.#settings.clockOffsetSeconds ?? 0, ahead) + seconds;
    this.configure({ clockOffsetSeconds, isClockMoved: true });
    return clockOffsetSeconds;
  }

  /** Sets the clock. @returns seconds it was moved by */
  setTime(timestamp: number): number {
    const now = Math.floor(this.#modules.now() / 1000);
    const before = this.#settings.clockOffsetSeconds ?? 0;
    const clockOffsetSeconds = timestamp - now;
    this.configure({ clockOffsetSeconds, isClockMoved: true });
    return clockOffsetSeconds - before;
  }

  /** Changes accounts of the newest state; the cost is proportional to the changes. */
  edit(edits: readonly AccountEdit[]): void {
    const { number } = this.#head().header;
    this.#patch(changesOfEdits(edits, this.#modules.chain.stateAt(number)));
  }

  #patch(changes: StateChanges): void {
    const { patches } = this.#modules;
    const { hash, header } = this.#head();
    const { number } = header;
    const before = patches.at(number);
    this.#record({ kind: "patch", number, hash, first: before === undefined, changes });
    patches.set(number, before === undefined ? changes : mergeChanges(before, changes));
    this.#refreshPool(addressesOf(changes));
  }

  /** Makes blocks now. @returns their hashes */
  mine(request: MineRequest): Promise<Hash[]> {
    return this.#exclusive(() => this.#mine(request));
  }

  /** Remembers chain, clock, the settings of its blocks, and pool. @returns its number, never used again */
  snapshot(): Promise<number> {
    return this.#exclusive(async () => {
      const { patches, journal } = this.#modules;
      this.#modules.assertChangeable();
      for (const _piece of journal.storeAhead(this.#pools.changes().added.values())) await setImmediate();
      const { hash, header } = this.#head();
      const { number } = header;
      const changes = patches.at(number);
      const pool = this.#pools.changes();
      const id = this.#nextId++;
      const isPatched = changes !== undefined;
      const record = { kind: "snapshot", id, number, hash, settings: this.#settings, isPatched, pool } as const;
      this.#record(record);
      this.#snapshots.set(id, { ...record, changes });
      this.#pools.push(pool);
      return id;
    });
  }

  /** Those that can be reverted to. */
  snapshots(): readonly Pick<Snapshot, "id" | "number" | "hash">[] {
    return [...this.#snapshots.values()].map(({ id, number, hash }) => ({ id, number, hash }));
  }

  /** Reverts to a snapshot and deletes it with all later ones. @returns false if it does not exist */
  revert(id: number): Promise<boolean> {
    return this.#exclusive(async () => {
      const { chain, patches } = this.#modules;
      const snapshot = this.#snapshots.get(id);
      if (snapshot === undefined || chain.blockHash(snapshot.number) !== snapshot.hash) return false;
      await this.#modules.rewind(snapshot.number);
      this.#record({ kind: "reverted", id });
      const index = [...this.#snapshots.keys()].indexOf(id);
      for (const other of this.#snapshots.keys()) if (other >= id) this.#snapshots.delete(other);
      const edited = patches.at(snapshot.number);
      patches.set(snapshot.number, snapshot.changes);
      this.#settings = revertedSettings(this.#settings, snapshot.settings);
      this.#refreshPool(edited === snapshot.changes ? [] : [...addressesOf(edited), ...addressesOf(snapshot.changes)]);
      this.#pools.revertTo(index);
      return true;
    });
  }

  /**
   * Makes block `number` the head again, and changes accounts of its state, however many.
   * @throws DevControlError where a block is made meanwhile
   */
  restore(number: number, edits: readonly AccountEdit[]): Promise<void> {
    return this.#exclusive(async () => {
      await this.#modules.rewind(number);
      const steps = changesInSteps(edits, this.#modules.chain.stateAt(number));
      for (let sliceEnd = performance.now() + SLICE_MS; ; ) {
        const step = steps.next();
        if (this.#head().header.number !== number) throw new DevControlError("a block was made meanwhile", { number });
        if (step.done) return this.#patch(step.value);
        if (performance.now() <= sliceEnd) continue;
        await setImmediate();
        sliceEnd = performance.now() + SLICE_MS;
      }
    });
  }

  /** Removes the newest blocks. @throws DevControlError where there are not so many */
  rollback(depth: number): Promise<void> {
    return this.#exclusive(() => this.#modules.rewind(this.#heightBelow(depth)));
  }

  /**
   * Replaces the newest blocks by others with `transactions`; transactions of the old blocks return to the pool.
   * @param transactions each with the index of its block among the new ones
   */
  reorg(depth: number, transactions: readonly { readonly raw: Uint8Array; readonly block: number }[]): Promise<void> {
    return this.#exclusive(async () => {
      const { chain, mempool, engine } = this.#modules;
      const base = this.#heightBelow(depth);
      const given = [];
      for (const { raw, block } of transactions) {
        if (block < 0 || block >= depth) {
          throw new DevControlError(`block ${block} is not one of the ${depth} new ones`, {
            block,
          });
        }
        const submission = await this.#verified(decodePooledTransaction(raw));
        given.push({ ...this.withSender(submission), block });
      }
      const returned: Submission[] = [];
      for (let number = base + 1; number <= base + depth; number++) {
        const { block, senders } = chain.block(number)!;
        for (const [i, tx] of block.transactions.entries()) {
          // The sidecar of a blob transaction is gone with its inclusion.
          if (tx.type !== 3) returned.push({ tx, sender: senders[i]! });
        }
      }
      const pooled: Submission[] = [...mempool.all()].map((entry) => ({
        ...entry,
        isVerified: true,
      }));
      const mode = this.#mode();
      engine.setMode({ automine: false, intervalMs: 0 });
      try {
        await this.#modules.rewind(base);
        for (let index = 0; index < depth; index++) {
          this.#replacePool(given.filter(({ block }) => block === index));
          // Otherwise an empty block in place of an empty one would be the same block.
          this.setNextBlock({ prevRandao: hashFromBytes(randomBytes(32)) });
          engine.produceBlock();
        }
        this.#replacePool([...returned, ...pooled]);
      } finally {
        engine.setMode(mode);
      }
    });
  }

  /** Back to the first block, with nothing set and an empty pool. */
  reset(): Promise<void> {
    return this.#exclusive(async () => {
      const { patches, rewind, base } = this.#modules;
      await rewind(base);
      this.#record({ kind: "reset" });
      patches.set(base, undefined);
      this.#snapshots.clear();
      this.#pools.clear();
      this.#settings = {};
      this.#applyMode();
      this.#applyChainId();
      this.#replacePool([]);
    });
  }

  /** Takes a transaction out of the pool. @returns false when it is not pooled */
  drop(hash: Hash): boolean {
    return this.#modules.mempool.remove(hash, "dropped");
  }

  dropAll(isDropped: (sender: Address) => boolean = () => true): void {
    for (const { tx, sender } of [...this.#modules.mempool.all()]) {
      if (isDropped(sender)) this.drop(tx.hash);
    }
  }

  close(): void {
    this.#modules.journal.close();
  }

  #exclusive<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }

  async #mine({ blocks, timestamp, intervalSeconds = 0, spacesFirst }: MineRequest): Promise<Hash[]> {
    const { engine, commitTogether } = this.#modules;
    const head = this.#head().header.timestamp;
    if (timestamp !== undefined && timestamp <= head) {
      throw new DevControlError(`Timestamp ${timestamp} is lower than or equal to previous block's timestamp ${head}`, {
        timestamp,
        headTimestamp: head,
      });
    }
    const hashes: Hash[] = [];
    const makeBlock = () => {
      const isSpaced = intervalSeconds > 0 && (hashes.length > 0 || spacesFirst === true);
      this.#timestamp =
        (hashes.length === 0 ? timestamp : undefined) ??
        (isSpaced ? this.#spacedTimestamp(intervalSeconds) : undefined);
      try {
        hashes.push(engine.produceBlock());
      } finally {
        this.#timestamp = undefined;
      }
    };
    let start = performance.now();
    const pauseAfter = async (milliseconds: number) => {
      if (performance.now() <= start + milliseconds) return;
      await setImmediate();
      start = performance.now();
    };
    while (hashes.length < blocks && (blocks === 1 || this.#hasPending)) {
      makeBlock();
      await pauseAfter(SLICE_MS);
    }
    if (hashes.length < blocks) {
      await this.#inRange(async () => {
        while (hashes.length < blocks) {
          if (this.#hasPending) makeBlock();
          else {
            commitTogether(() => {
              // The first block consumes the values set for the next block, which its listeners learn.
              const isFirst = hashes.length === 0;
              do makeBlock();
              while (!isFirst && hashes.length < blocks && performance.now() <= start + GROUP_MS);
            });
          }
          await pauseAfter(SLICE_MS);
        }
      });
    }
    if (timestamp !== undefined || intervalSeconds > 0) this.#moveClockToHead();
    return hashes;
  }

  get #hasPending(): boolean {
    return this.#modules.mempool.counts().pending > 0;
  }

  /** Empty blocks that `work` makes are there all or none, unless a block with transactions comes between them. */
  async #inRange(work: () => Promise<void>): Promise<void> {
    const { range, rewind } = this.#modules;
    const { number } = this.#head().header;
    range.begin();
    try {
      await work();
    } catch (error) {
      // Where that is not possible either, the next start removes them.
      if (range.isOpen()) {
        await rewind(number).then(
          () => range.end(),
          () => {},
        );
      }
      throw error;
    }
    range.end();
  }

  /** So many seconds after the head, and after the clock where a caller has moved it since; undefined: the next block has a time already. */
  #spacedTimestamp(intervalSeconds: number): number | undefined {
    const { number, timestamp } = this.#head().header;
    const { nextBlock, isClockMoved, clockOffsetSeconds = 0 } = this.#settings;
    if (nextBlock?.number === number + 1 && nextBlock.timestamp !== undefined) return undefined;
    const clock = isClockMoved ? Math.floor(this.#modules.now() / 1000) + clockOffsetSeconds : timestamp;
    return Math.max(timestamp, clock) + intervalSeconds;
  }

  /** A block's forced time is the chain's time from then on. */
  #onBlock({ number, timestamp }: { readonly number: number; readonly timestamp: number }): void {
    const { nextBlock, isClockMoved, ...settings } = this.#settings;
    if (nextBlock === undefined && isClockMoved === undefined) return;
    const isTimed = nextBlock?.number === number && nextBlock.timestamp !== undefined;
    this.#store({ ...settings, ...(isTimed && { clockOffsetSeconds: this.#offsetTo(timestamp) }) });
  }

  #moveClockToHead(): void {
    const { timestamp } = this.#head().header;
    this.#store({ ...this.#settings, clockOffsetSeconds: this.#offsetTo(timestamp) });
  }

  /** In wei; 0 before London. */
  #nextBaseFee(): bigint {
    const { config } = this.#modules.chain;
    const { header } = this.#head();
    if (!isBlockForkActive(config, "londonBlock", header.number + 1)) return 0n;
    const { nextBlock } = this.#settings;
    const { configured } = this.#modules;
    const forced =
      (nextBlock?.number === header.number + 1 ? nextBlock.baseFeePerGas : undefined) ??
      (header.number === 0 ? configured.baseFeePerGas : undefined);
    return forced ?? nextBaseFee(header, config);
  }

  #offsetTo(timestamp: number): number {
    return timestamp - Math.floor(this.#modules.now() / 1000);
  }

  /** Appends a record; rewrites the journal as one snapshot first if it is large. */
  #record(record: DevRecord): void {
    const { journal, assertChangeable } = this.#modules;
    assertChangeable();
    if (journal.isLarge) journal.restart(this.#checkpoint());
    journal.append(record);
  }

  #checkpoint(): Checkpoint {
    const { chain, patches } = this.#modules;
    const records: Checkpoint["records"][number][] = [{ kind: "settings", settings: this.#settings }];
    const written = new Map<number, StateChanges>();
    const patch = (number: number, hash: Hash | undefined, changes: StateChanges | undefined) => {
      if (hash === undefined || changes === undefined || changes === written.get(number)) return;
      written.set(number, changes);
      records.push({ kind: "patch", number, hash, first: true, changes });
    };
    for (const { changes, ...snapshot } of this.#snapshots.values()) {
      patch(snapshot.number, snapshot.hash, changes);
      records.push(snapshot);
    }
    for (const number of patches.numbers()) patch(number, chain.blockHash(number), patches.at(number));
    return { kind: "checkpoint", nextId: this.#nextId, records };
  }

  #store(settings: DevSettings): void {
    this.#record({ kind: "settings", settings });
    this.#settings = settings;
  }

  #mode(): BlockMode {
    const { configuredMode } = this.#modules.engine;
    const { automine = configuredMode.automine, intervalMs } = this.#settings;
    return intervalMs === undefined ? { ...configuredMode, automine } : { automine, intervalMs };
  }

  #applyMode(): void {
    this.#modules.engine.setMode(this.#mode());
  }

  /** Those of blocks that are there, the last of them up to the head. */
  #earlierChainIds(): EarlierChainId[] {
    const { number } = this.#head().header;
    const { earlierChainIds = [] } = this.#settings;
    const next = earlierChainIds.findIndex(({ last }) => last >= number);
    if (next === -1) return [...earlierChainIds];
    return [...earlierChainIds.slice(0, next), { ...earlierChainIds[next]!, last: number }];
  }

  /** The rules of an open chain are one object, which modules read anew each time. */
  #applyChainId(): void {
    const { config, genesisConfig } = this.#modules.chain;
    const { chainId = genesisConfig.chainId } = this.#settings;
    const live = config as { chainId: bigint; earlierChainIds?: readonly EarlierChainId[] };
    live.chainId = chainId;
    const earlier = this.#earlierChainIds();
    if (earlier.length > 0) live.earlierChainIds = earlier;
    else delete live.earlierChainIds;
  }

  #head() {
    return this.#modules.chain.head().block;
  }

  #heightBelow(depth: number): number {
    const { number } = this.#head().header;
    if (depth <= number) return number - depth;
    throw new DevControlError(
      `Rollback depth must not exceed current chain height: current height ${number}, depth ${depth}`,
      {
        depth,
        number,
      },
    );
  }

  /** Makes the pool see state set by hand. */
  #refreshPool(changed?: readonly Address[]): void {
    const { chain, mempool } = this.#modules;
    const { header } = this.#head();
    mempool.onHead({ header, state: chain.stateAt(header.number), ...(changed && { changed, included: [] }) });
  }

  /** @throws TransactionRejectedError where the sidecar has another form or its proofs do not hold */
  async #verified({ tx, sidecar }: Submission): Promise<Submission> {
    if (tx.type !== 3) return { tx };
    checkSidecar(tx, sidecar, sidecar?.wrapperVersion ?? 1);
    const fault = await this.#modules.blobs.verify(sidecar);
    if (fault !== undefined) throw kzgRejection(fault);
    return { tx, sidecar, isVerified: true };
  }

  #replacePool(submissions: readonly Submission[]): void {
    this.dropAll();
    this.#refreshPool();
    this.#modules.mempool.addAll(submissions);
  }
}

function addressesOf(changes: StateChanges | undefined): Address[] {
  return changes?.accounts.map(({ address }) => address) ?? [];
}
