import type { Chain } from "../chain/chain.ts";
import { NodeError } from "../errors.ts";
import { nextGasLimit, type SealedBlock } from "../execution/block/build-block.ts";
import type { Mempool } from "../mempool/mempool.ts";
import { hardforkAt } from "../params/hardfork-at.ts";
import { isAtLeast } from "../params/hardforks.ts";
import type { Address } from "../primitives/address.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Withdrawal } from "../types/block.ts";
import {
  type DecodedPooledTransaction,
  decodePooledTransaction,
} from "../types/transaction/decode.ts";
import { effectiveTip } from "../types/transaction/fees.ts";
import type { BlobSidecar } from "../types/transaction/transaction.ts";
import type { BeginBlock } from "./block-factory.ts";
import { PACKING_LIMITS, packTransactions } from "./pack-transactions.ts";

/** The block somebody wants built on the head. */
export type PayloadAttributes = {
  /** The head, where the caller says on what to build. */
  readonly parentHash?: Hash;
  readonly timestamp: number;
  readonly prevRandao: Hash;
  readonly feeRecipient: Address;
  readonly withdrawals?: readonly Withdrawal[];
  readonly parentBeaconBlockRoot?: Hash;
  readonly targetGasLimit?: bigint;
  /** In network form, exactly these in this order; undefined: the best of the pool. */
  readonly transactions?: readonly Uint8Array[];
  readonly extraData?: Uint8Array;
};

export type BuiltBlock = {
  readonly sealed: SealedBlock;
  /** What the fee recipient gets for gas, in wei. */
  readonly value: bigint;
  /** Of its blob transactions, where they are at hand. */
  readonly sidecars: readonly BlobSidecar[];
};

/** The attributes contradicts the head or the rules. The message is geth's. */
export class PayloadAttributesError extends NodeError {
  readonly code = "BLOCK_PAYLOAD_ATTRIBUTES";
}

/** Builds the blocks that tests ask for by name (`testing_*`). */
export type BlockTester = {
  /** Builds a block and keeps nothing. @throws PayloadAttributesError, and what the first unfit transaction breaks */
  build(attributes: PayloadAttributes): BuiltBlock;
  /** Builds a block and makes it the head; its hash. @throws as build */
  commit(attributes: PayloadAttributes): Hash;
};

export function createBlockTester(
  options: { readonly gasLimitTarget: bigint; readonly minimumTip: () => bigint },
  modules: { readonly chain: Chain; readonly mempool: Mempool; readonly beginBlock: BeginBlock },
): BlockTester {
  const { chain, mempool, beginBlock } = modules;

  function build(attributes: PayloadAttributes): BuiltBlock {
    const { hash, header: head } = chain.head().block;
    assertFits(attributes, { hash, timestamp: head.timestamp });
    const { timestamp, prevRandao, feeRecipient, withdrawals, parentBeaconBlockRoot } = attributes;
    const point = { number: head.number + 1, timestamp, difficulty: 0n };
    if (withdrawals && !isAtLeast(hardforkAt(chain.config, point), "shanghai")) {
      throw new PayloadAttributesError("unexpected withdrawals before shanghai");
    }
    const given = attributes.transactions?.map(decodeAt);
    const builder = beginBlock({
      ...{ timestamp, prevRandao, coinbase: feeRecipient },
      gasLimit: nextGasLimit(head.gasLimit, attributes.targetGasLimit ?? options.gasLimitTarget),
      extraData: attributes.extraData ?? EMPTY_BYTES,
      ...(withdrawals && { withdrawals }),
      ...(parentBeaconBlockRoot && { parentBeaconBlockRoot }),
    });
    if (given) for (const { tx } of given) builder.add(tx);
    else {
      const limits = { ...PACKING_LIMITS, minimumTip: options.minimumTip() };
      packTransactions(builder, limits, { mempool, config: chain.config });
    }
    const sealed = builder.seal();
    return { sealed, value: tipsOf(sealed), sidecars: sidecarsOf(sealed, given ?? []) };
  }

  function sidecarsOf({ executed }: SealedBlock, given: readonly DecodedPooledTransaction[]) {
    const own = new Map(given.map(({ tx, sidecar }) => [tx.hash, sidecar]));
    return executed.block.transactions.flatMap(
      ({ hash, type }) =>
        (type === 3 ? (own.get(hash) ?? mempool.get(hash)?.sidecar) : undefined) ?? [],
    );
  }

  return {
    build,
    commit(attributes) {
      const { executed, changes, nodes } = build(attributes).sealed;
      chain.commit({ ...executed, changes, consensusData: EMPTY_BYTES }, nodes);
      return executed.block.hash;
    },
  };
}

function assertFits(
  { parentHash, timestamp }: PayloadAttributes,
  head: { readonly hash: Hash; readonly timestamp: number },
): void {
  if (parentHash !== undefined && parentHash !== head.hash) {
    throw new PayloadAttributesError("parentHash is not current head");
  }
  if (timestamp <= head.timestamp) {
    throw new PayloadAttributesError(
      `invalid timestamp, parent ${head.timestamp} given ${timestamp}`,
    );
  }
}

function decodeAt(raw: Uint8Array, index: number): DecodedPooledTransaction {
  try {
    return decodePooledTransaction(raw);
  } catch (cause) {
    if (!(cause instanceof NodeError)) throw cause;
    throw new PayloadAttributesError(
      `invalid transaction ${index}: ${cause.message}`,
      {},
      { cause },
    );
  }
}

function tipsOf({ executed }: SealedBlock): bigint {
  const { transactions, header } = executed.block;
  const baseFee = header.baseFeePerGas ?? 0n;
  return transactions.reduce(
    (sum, tx, i) => sum + effectiveTip(tx, baseFee) * executed.receipts[i]!.gasUsed,
    0n,
  );
}
