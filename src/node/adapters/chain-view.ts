import { invariant } from "../../base/errors.ts";
import type { Address } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { inSlices } from "../../base/threads/in-slices.ts";
import { andThen, type MaybePromise } from "../../base/threads/maybe-promise.ts";
import { SharedSlices } from "../../base/threads/shared-slices.ts";
import type { Header } from "../../base/types/header.ts";
import type { AddressIndex } from "../../chain/addresses/address-index.ts";
import { type IncludedTransaction, includedTransaction } from "../../chain/block-store.ts";
import { FeeHistories } from "../../chain/fees/fee-history.ts";
import { GasPriceOracle } from "../../chain/fees/gas-price-oracle.ts";
import { LogFilter, type LogSource } from "../../chain/logs/log-filter.ts";
import type { ChainReader } from "../../chain/reader.ts";
import { BlockPrunedError } from "../../chain/store-errors.ts";
import type { PoolContent, PooledTransaction, PoolReader } from "../../consensus/mempool/pool.ts";
import type { Account } from "../../evm/state/account.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import type { LogTextCache } from "../../rpc/methods/json/log-text-cache.ts";
import type {
  BlockReads,
  ChainEvents,
  ChainView,
  FeeReads,
  NextBlock,
  StateReads,
} from "../../rpc/ports/chain-view.ts";
import { minedReceipt, minedTransaction } from "../../rpc/ports/mined.ts";
import { PendingProofError } from "../../rpc/transport/errors.ts";
import type { Config } from "../config/config.ts";
import { findLogs } from "./log-search.ts";
import type { ChainParts, PoolParts, ProductionParts } from "./parts.ts";
import { proveInSlices } from "./prove-in-slices.ts";
import { assertStands, findBlock, findBlockInSlices, findHeader, resolveState, sealedHeader } from "./resolve.ts";

export type LocalChainModules = FeeReads &
  ChainEvents & {
    readonly reader: ChainReader;
    readonly pool: PoolReader;
    readonly logs: LogSource;
    readonly logTexts: LogTextCache;
    readonly addresses: Pick<AddressIndex, "search">;
    readonly submit: (transaction: Uint8Array, sender?: Address) => MaybePromise<Hash>;
    readonly nextBlock: () => NextBlock;
    readonly genesisTime: number;
    readonly isControlled: boolean;
    readonly timers: Pick<Timers, "now" | "deferred">;
  };

/** `ChainView` in the chain's own thread: every answer is synchronous, except log searches and proofs that take longer than a slice. */
export function createLocalChainView(modules: LocalChainModules): ChainView {
  const { reader, pool, logs, logTexts } = modules;
  const slices = new SharedSlices(modules.timers);
  return {
    config: reader.config,
    genesisHash: reader.genesisHash,
    genesisTime: modules.genesisTime,
    isControlled: modules.isControlled,

    ...createStoredReads(reader, slices),

    logs({ query: { terms, from, to }, limits, cancel }) {
      const range = { from, to: Math.min(to, reader.head().block.header.number) };
      return findLogs(logs, new LogFilter(terms), range, limits, slices, cancel, logTexts);
    },

    addressPage: (query) => modules.addresses.search(query),

    pooled({ hash }) {
      const pooled = pool.get(hash);
      return pooled && plainPooled(pooled);
    },
    nextNonce: ({ address }) => pool.nonceOf(address),
    poolContent() {
      const { pending, queued } = pool.content();
      const plain = (lists: PoolContent["pending"]) =>
        new Map(Array.from(lists, ([address, list]) => [address, list.map(plainPooled)]));
      return { pending: plain(pending), queued: plain(queued) };
    },
    poolContentFrom({ address }) {
      const { pending, queued } = pool.contentFrom(address);
      return { pending: pending.map(plainPooled), queued: queued.map(plainPooled) };
    },
    poolCounts: () => pool.counts(),

    suggestTip: () => modules.suggestTip(),
    feeHistory: (input) => modules.feeHistory(input),
    submit: ({ transaction, sender }) => modules.submit(transaction, sender),
    nextBlock: () => modules.nextBlock(),
    subscribe: (listener) => modules.subscribe(listener),
  };
}

/** Drops the pool's internal fields. */
function plainPooled({ tx, sender, sidecar }: PooledTransaction): PooledTransaction {
  return { tx, sender, ...(sidecar && { sidecar }) };
}

/** Reads of blocks and states, for any thread or process with a view of the store. */
export function createStoredReads(reader: ChainReader, slices: SharedSlices): BlockReads & StateReads {
  function headerOf({ blockNumber }: IncludedTransaction): Header {
    const header = reader.header(blockNumber);
    invariant(header, `block ${blockNumber} has a transaction but no header`);
    return header;
  }

  return {
    head: () => sealedHeader(reader.head()),
    oldest: () => reader.oldest(),
    header: ({ at }) => findHeader(reader, at),
    block: ({ at }) => findBlockInSlices(reader, at, slices),
    transactionCount({ at }) {
      if (at === "pending") return findBlock(reader, at)!.block.transactions.length;
      const sealed = findHeader(reader, at);
      return sealed && reader.transactionCount(sealed.header.number);
    },
    accessList({ at }) {
      // The pending block has a header, but validators have not agreed on it.
      const sealed = at === "pending" ? undefined : findHeader(reader, at);
      if (sealed === undefined) return undefined;
      const { number, blockAccessListHash } = sealed.header;
      if (blockAccessListHash === undefined) return null;
      const list = reader.accessList(number);
      if (list === undefined) throw new BlockPrunedError({ number, base: number + 1 });
      return list;
    },
    blockHashes({ first, countMax }) {
      const end = Math.min(reader.head().block.header.number + 1, first + countMax);
      const hashes: Hash[] = [];
      for (let number = first; number < end; number++) hashes.push(reader.blockHash(number)!);
      return hashes;
    },
    transaction({ hash }) {
      const found = reader.transaction(hash);
      return found && minedTransaction(found, headerOf(found));
    },
    transactionAt({ at, index }) {
      if (at === "pending") {
        const executed = findBlock(reader, at)!;
        const found = includedTransaction(executed, index);
        return found && minedTransaction(found, executed.block.header);
      }
      const sealed = findHeader(reader, at);
      const found = sealed && reader.transactionAt(sealed.header.number, index);
      return found && minedTransaction(found, sealed.header);
    },
    transactionBySender({ sender, nonce }) {
      const number = blockThatUsed(sender, nonce, reader);
      if (number === undefined) return { isUsed: false };
      // The whole transaction is read only if the sender matches.
      for (const [index, payment] of reader.gasPayments(number)!.entries()) {
        const found = payment.sender === sender ? reader.transactionAt(number, index) : undefined;
        if (found?.transaction.nonce === nonce)
          return { isUsed: true, mined: minedTransaction(found, headerOf(found)) };
      }
      return { isUsed: true };
    },
    receipt({ hash }) {
      const found = reader.transaction(hash);
      return found && minedReceipt(found, headerOf(found));
    },

    account: ({ address, at }) => resolveState(reader, at).state.account(address),
    code({ address, at }) {
      const { state } = resolveState(reader, at);
      return codeOf(state, state.account(address));
    },
    accountWithCode({ address, at }) {
      const { state } = resolveState(reader, at);
      const account = state.account(address);
      return { account, code: codeOf(state, account) };
    },
    storage: ({ address, slot, at }) => resolveState(reader, at).state.storage(address, slot),
    storageValues({ slots, at }) {
      const { hash, header, state } = resolveState(reader, at);
      const { number, parentHash } = header;
      const stored = at === "pending" ? { number: number - 1, hash: parentHash } : { number, hash };
      return inSlices(
        storageInSteps(state, slots, () => assertStands(reader, stored)),
        slices,
      );
    },
    proof({ address, slots, at }) {
      if (at === "pending") throw new PendingProofError();
      const { hash, header, state } = resolveState(reader, at);
      const account = state.account(address);
      const proof = proveInSlices(reader, { hash, number: header.number }, { address, slots }, slices);
      return andThen(proof, (proof) => ({ account, proof }));
    },
  };
}

/** Slots to read between looks at the clock: about 0.2 ms. */
const SLOTS_PER_STEP = 32;

/** @param resumed called after each pause */
function* storageInSteps(
  state: StateReader,
  slots: Parameters<StateReads["storageValues"]>[0]["slots"],
  resumed: () => void,
): Generator<undefined, bigint[][]> {
  let count = 0;
  const lists: bigint[][] = [];
  for (const [address, keys] of slots) {
    const values: bigint[] = [];
    for (const key of keys) {
      values.push(state.storage(address, key));
      if (++count % SLOTS_PER_STEP !== 0) continue;
      yield;
      resumed();
    }
    lists.push(values);
  }
  return lists;
}

function codeOf(state: StateReader, account: Account | undefined): Uint8Array {
  return account ? state.code(account.codeHash) : EMPTY_BYTES;
}

/** The first block after which `sender` has a nonce above `nonce`. A binary search works because nonces only rise. */
function blockThatUsed(sender: Address, nonce: bigint, chain: ChainReader): number | undefined {
  const isUsed = (number: number) => (chain.stateAt(number).account(sender)?.nonce ?? 0n) > nonce;
  let high = chain.head().block.header.number;
  if (!isUsed(high)) return undefined;
  let low = -1;
  while (low + 1 < high) {
    const middle = Math.floor((low + high) / 2);
    if (isUsed(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** `ChainView` over the chain of `core`, in its thread. */
export function createChainView(
  config: Config,
  log: Logger,
  modules: {
    readonly core: Omit<ChainParts, "execution">;
    readonly pool: PoolParts;
    readonly production: Pick<ProductionParts, "nextBlock">;
    readonly genesisTime: number;
    readonly isControlled: boolean;
    readonly logTexts: LogTextCache;
    readonly timers: Pick<Timers, "now" | "deferred">;
  },
): { readonly chain: ChainView; readonly suggestTip: () => bigint } {
  const { core, pool, logTexts, production, genesisTime, isControlled, timers } = modules;
  const { chain, reader, store } = core;
  const { mempool, submit } = pool;
  const { minimumGasPriceWei } = config.mempool;
  const startPrice = minimumGasPriceWei > 0n ? { startPrice: minimumGasPriceWei } : {};
  const oracle = new GasPriceOracle(startPrice, reader);
  const { suggestedTipWei } = config.devChain;
  const least = config.dev ? (suggestedTipWei ?? 0n) : 0n;
  const suggestTip = () => {
    const tip = oracle.suggestTip();
    return tip > least ? tip : least;
  };
  const { feeHistoryBlocksMax } = config.limits.calls;
  const fees = new FeeHistories(reader, new SharedSlices(timers));
  const view = createLocalChainView({
    reader,
    submit,
    suggestTip,
    logTexts,
    pool: mempool,
    logs: store.logs,
    addresses: store.addressIndex,
    feeHistory: ({ blockCount, at: newest, percentiles }) =>
      fees.history({ blockCount: Math.min(blockCount, feeHistoryBlocksMax), newest, percentiles }),
    subscribe: (listener) => subscribe(listener, log, { chain, mempool }),
    nextBlock: () => production.nextBlock(),
    genesisTime,
    isControlled,
    timers,
  });
  return { chain: view, suggestTip };
}

/** The chain catches exceptions of its listeners. The pool does not, and a failing listener must not lose a transaction. */
function subscribe(
  { onBlock, onRemoved, onPending }: Parameters<ChainEvents["subscribe"]>[0],
  log: Logger,
  { chain, mempool }: Pick<ChainParts & PoolParts, "chain" | "mempool">,
): () => void {
  const stops: (() => void)[] = [];
  if (onBlock) stops.push(chain.subscribe(({ executed }) => onBlock(executed)));
  if (onRemoved) stops.push(chain.onRollback(onRemoved));
  if (onPending) {
    stops.push(
      mempool.onPending((transactions) => {
        try {
          onPending(transactions.map(({ tx, sender }) => ({ tx, sender })));
        } catch (error) {
          log.error("listener of the pool failed", { error });
        }
      }),
    );
  }
  return () => {
    for (const stop of stops) stop();
  };
}
