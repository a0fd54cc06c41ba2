import { NodeError } from "../base/errors.ts";
import { nextGasLimit } from "../base/params/fees.ts";
import { hardforkAt, RULES_AT } from "../base/params/hardforks.ts";
import { EMPTY_BYTES } from "../base/primitives/bytes.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { type DecodedPooledTransaction, decodePooledTransaction } from "../base/types/transaction/decode.ts";
import { effectiveTip } from "../base/types/transaction/fees.ts";
import type { BlobSidecar } from "../base/types/transaction/transaction.ts";
import type { Chain } from "../chain/chain.ts";
import type { BlockBuilder, PayloadAttributes, SealedBlock } from "../evm/execution/block/build-block.ts";
import type { Mempool } from "./mempool/mempool.ts";
import { assembleBlock, PACKING_LIMITS } from "./pack-transactions.ts";
import type { BeginBlock } from "./pending-block.ts";
import type { SetAside } from "./quarantine.ts";

/** A block to build on the head. */
export type PayloadRequest = Omit<PayloadAttributes, "gasLimit"> & {
  /** Must be the head when present. */
  readonly parentHash?: Hash;
  readonly targetGasLimit?: bigint;
  /** In network form, exactly these in this order; undefined: the best of the pool. */
  readonly transactions?: readonly Uint8Array[];
};

type BuiltBlock = {
  readonly sealed: SealedBlock;
  /** The fee recipient's priority fees, in wei. */
  readonly value: bigint;
  /** Of its blob transactions, where request or pool have them. */
  readonly sidecars: readonly BlobSidecar[];
};

/** The attributes contradict the head or the rules. The message is geth's. */
export class PayloadAttributesError extends NodeError {
  readonly code = "BLOCK_PAYLOAD_ATTRIBUTES";
}

/** Builds the blocks of the `testing_*` methods. */
export type BlockTester = {
  /**
   * Builds a block and stores nothing.
   * @throws PayloadAttributesError, InvalidBlockError, and the rejection of the first transaction that does not fit
   */
  build(request: PayloadRequest): BuiltBlock;
  /** Builds a block and makes it the head; its hash. @throws as build, and what `assertCanCommit` throws */
  commit(request: PayloadRequest): Hash;
};

export function createBlockTester(
  options: {
    readonly gasLimitTarget: () => bigint;
    readonly minimumTip: () => bigint;
    /** Throws where a network decides the blocks, and while the chain is changed otherwise. */
    readonly assertCanCommit: () => void;
  },
  modules: {
    readonly chain: Chain;
    readonly mempool: Mempool;
    readonly beginBlock: BeginBlock;
    readonly setAside: SetAside;
  },
): BlockTester {
  const { chain, mempool, beginBlock } = modules;

  function build(request: PayloadRequest): BuiltBlock {
    const { hash, header: head } = chain.head().block;
    assertFits(request, { hash, timestamp: head.timestamp });
    const { parentHash: _, targetGasLimit, transactions, ...attributes } = request;
    const { timestamp, withdrawals } = attributes;
    const point = { number: head.number + 1, timestamp, difficulty: 0n };
    if (withdrawals && !RULES_AT[hardforkAt(chain.config, point)].shanghai) {
      throw new PayloadAttributesError("unexpected withdrawals before shanghai");
    }
    const given = transactions?.map(decodeAt);
    const gasLimit = nextGasLimit(head.gasLimit, targetGasLimit ?? options.gasLimitTarget());
    const begin = () => beginBlock({ ...attributes, gasLimit });
    const sealed = given ? sealOf(begin(), given) : fromPool(begin);
    return { sealed, value: tipsOf(sealed), sidecars: sidecarsOf(sealed, given ?? []) };
  }

  function fromPool(begin: () => BlockBuilder): SealedBlock {
    const limits = { ...PACKING_LIMITS, minimumTip: options.minimumTip() };
    const { config } = chain;
    return assembleBlock(begin, limits, { mempool, config, setAside: modules.setAside }).sealed;
  }

  function sidecarsOf({ executed }: SealedBlock, given: readonly DecodedPooledTransaction[]) {
    const own = new Map(given.map(({ tx, sidecar }) => [tx.hash, sidecar]));
    return executed.block.transactions.flatMap(
      ({ hash, type }) => (type === 3 ? (own.get(hash) ?? mempool.get(hash)?.sidecar) : undefined) ?? [],
    );
  }

  return {
    build,
    commit(request) {
      options.assertCanCommit();
      const { executed, changes, nodes, accessList } = build(request).sealed;
      chain.commit({ ...executed, changes, consensusData: EMPTY_BYTES, accessList }, nodes);
      return executed.block.hash;
    },
  };
}

function sealOf(builder: BlockBuilder, given: readonly DecodedPooledTransaction[]): SealedBlock {
  for (const { tx } of given) builder.add(tx);
  return builder.seal();
}

function assertFits(
  { parentHash, timestamp }: PayloadRequest,
  head: { readonly hash: Hash; readonly timestamp: number },
): void {
  if (parentHash !== undefined && parentHash !== head.hash) {
    throw new PayloadAttributesError("parentHash is not current head");
  }
  if (timestamp <= head.timestamp) {
    throw new PayloadAttributesError(`invalid timestamp, parent ${head.timestamp} given ${timestamp}`);
  }
}

function decodeAt(raw: Uint8Array, index: number): DecodedPooledTransaction {
  try {
    return decodePooledTransaction(raw);
  } catch (cause) {
    if (!(cause instanceof NodeError)) throw cause;
    throw new PayloadAttributesError(`invalid transaction ${index}: ${cause.message}`, {}, { cause });
  }
}

function tipsOf({ executed }: SealedBlock): bigint {
  const { transactions, header } = executed.block;
  const baseFee = header.baseFeePerGas ?? 0n;
  return transactions.reduce((sum, tx, i) => sum + effectiveTip(tx, baseFee) * executed.receipts[i]!.gasUsed, 0n);
}
