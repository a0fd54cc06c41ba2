import type { Address } from "../../../src/base/primitives/address.ts";
import { bigintToBytes, EMPTY_BYTES } from "../../../src/base/primitives/bytes.ts";
import { type Hash, hashFromBigint, ZERO_HASH } from "../../../src/base/primitives/hash.ts";
import { keccak256, keccak256Hash } from "../../../src/base/primitives/keccak.ts";
import { encodeBlockAccessList } from "../../../src/base/types/block-access-list.ts";
import { logsBloom, mergeBloom } from "../../../src/base/types/bloom.ts";
import {
  EMPTY_CODE_HASH,
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
  EMPTY_UNCLES_HASH,
  EMPTY_WITHDRAWALS_ROOT,
} from "../../../src/base/types/constants.ts";
import type { Header } from "../../../src/base/types/header.ts";
import { headerHash } from "../../../src/base/types/header-codec.ts";
import type { Log, Receipt } from "../../../src/base/types/receipt.ts";
import { buildTransaction } from "../../../src/base/types/transaction/encode.ts";
import type { Transaction } from "../../../src/base/types/transaction/transaction.ts";
import type { BlockRecord } from "../../../src/chain/block-store.ts";
import type { Account } from "../../../src/evm/state/account.ts";
import type { AccountChange } from "../../../src/evm/state/reader.ts";
import { createStateTrie, type StateTrie } from "../../../src/evm/state/state-trie.ts";
import type { NodeBatch } from "../../../src/store/trie/node-batch.ts";
import { createMemoryState, type MemoryState } from "../evm/state/memory-state.ts";
import { createMemoryNodes } from "../store/trie/memory-nodes.ts";

export type RandomBlock = { readonly record: BlockRecord; readonly nodes: NodeBatch };

export type RandomChainOptions = {
  readonly accounts?: number;
  readonly transactionsMax?: number;
  /** Number of the first block with the header fields of Amsterdam. */
  readonly amsterdam?: number;
};

/**
 * Blocks whose state roots are true: the same ones for the same seed. Small numbers of accounts and
 * slots make them meet often; accounts go and come back, storage is cleared, code is deployed.
 */
export class RandomChain {
  readonly #random: () => number;
  readonly #accounts: number;
  readonly #transactionsMax: number;
  readonly #amsterdam: number;
  readonly #state: MemoryState = createMemoryState();
  readonly #trie: StateTrie;
  readonly #keepNodes: (nodes: NodeBatch) => void;
  #parent: Header | undefined;
  #parentHash: Hash = ZERO_HASH;

  constructor(seed: number, { accounts = 12, transactionsMax = 4, amsterdam = 6 }: RandomChainOptions = {}) {
    this.#random = mulberry32(seed);
    this.#accounts = accounts;
    this.#transactionsMax = transactionsMax;
    this.#amsterdam = amsterdam;
    const nodes = createMemoryNodes();
    this.#trie = createStateTrie(nodes, { cacheBytes: 1 << 20 });
    this.#keepNodes = (created) => nodes.keep(created);
  }

  /** A chain that goes on after `records`, which begin with genesis. */
  static from(seed: number, records: readonly BlockRecord[]): RandomChain {
    const chain = new RandomChain(seed);
    for (const { block, changes } of records) {
      const parentRoot = chain.#parent?.stateRoot ?? EMPTY_TRIE_ROOT;
      chain.#keepNodes(chain.#trie.update(parentRoot, changes).nodes);
      chain.#state.apply(changes);
      chain.#parent = block.header;
      chain.#parentHash = block.hash;
    }
    return chain;
  }

  /** The block after the last one. */
  next(): RandomBlock {
    const number = this.#parent === undefined ? 0 : this.#parent.number + 1;
    const { accounts, codes } = this.#changes(number);
    const changes = { accounts, codes };
    const parentRoot = this.#parent?.stateRoot ?? EMPTY_TRIE_ROOT;
    const { root, nodes } = this.#trie.update(parentRoot, changes);
    this.#keepNodes(nodes);
    this.#state.apply(changes);

    const transactions =
      number === 0 ? [] : this.#times(this.#below(this.#transactionsMax + 1), () => this.#transaction());
    const receipts = transactions.map((tx, index) => this.#receipt(tx, index));
    const senders = transactions.map(() => this.#address());
    const bloom = new Uint8Array(256);
    for (const receipt of receipts) mergeBloom(bloom, receipt.logsBloom);
    const accessList =
      number < this.#amsterdam ? undefined : accessListOf(accounts.map(({ address }) => address).sort());
    const header: Header = {
      parentHash: this.#parentHash,
      sha3Uncles: EMPTY_UNCLES_HASH,
      coinbase: this.#address(),
      stateRoot: root,
      transactionsRoot: transactions.length === 0 ? EMPTY_TRIE_ROOT : this.#hash(),
      receiptsRoot: transactions.length === 0 ? EMPTY_TRIE_ROOT : this.#hash(),
      logsBloom: bloom,
      difficulty: 0n,
      number,
      gasLimit: 30_000_000n,
      gasUsed: BigInt(transactions.length) * 21_000n,
      timestamp: 1_700_000_000 + number,
      extraData: EMPTY_BYTES,
      mixHash: this.#hash(),
      nonce: new Uint8Array(8),
      baseFeePerGas: BigInt(this.#below(2 ** 30)),
      withdrawalsRoot: EMPTY_WITHDRAWALS_ROOT,
      blobGasUsed: 0n,
      excessBlobGas: 0n,
      parentBeaconBlockRoot: ZERO_HASH,
      requestsHash: EMPTY_REQUESTS_HASH,
      ...(accessList && { blockAccessListHash: keccak256Hash(accessList), slotNumber: BigInt(number) }),
    };
    const hash = headerHash(header);
    this.#parent = header;
    this.#parentHash = hash;
    const block = { hash, header, transactions, uncles: [], withdrawals: [] };
    const consensusData = this.#bytes(this.#below(4));
    return { record: { block, senders, receipts, changes, consensusData, ...(accessList && { accessList }) }, nodes };
  }

  /** An account that exists after the last block. */
  lastAddress(): Address {
    for (const [address] of this.#state.accounts()) return address;
    throw new Error("no account is left");
  }

  #changes(number: number) {
    const touched = new Set(this.#times(1 + this.#below(4), () => this.#address()));
    const codes = new Map<Hash, Uint8Array>();
    const accounts: AccountChange[] = [];
    for (const address of touched) {
      const before = this.#state.account(address);
      const isGone = before !== undefined && this.#below(8) === 0;
      const isReborn = before !== undefined && !isGone && this.#below(12) === 0;
      const storage = new Map<Hash, bigint>();
      if (isGone || isReborn) {
        for (const [slot] of this.#state.storageEntries(address)) storage.set(slot, 0n);
      }
      if (!isGone) {
        for (let slots = this.#below(4); slots > 0; slots--) {
          const slot = hashFromBigint(
            this.#below(2) === 0 ? BigInt(this.#below(6)) : 2n ** 255n + BigInt(this.#below(6)),
          );
          const value = this.#below(3) === 0 ? 0n : BigInt(this.#below(1000)) ** 20n;
          if (value !== this.#state.storage(address, slot) || storage.has(slot)) storage.set(slot, value);
        }
      }
      let account: Account | null = null;
      if (!isGone) {
        // Sometimes an account is here for its slots alone.
        const isSame = before !== undefined && storage.size > 0 && !isReborn && this.#below(2) === 0;
        account = isSame ? before : this.#account(before, number, codes);
      }
      accounts.push({ address, account, storage, storageCleared: isGone || isReborn });
    }
    return { accounts, codes };
  }

  #account(before: Account | undefined, number: number, codes: Map<Hash, Uint8Array>): Account {
    let codeHash = before?.codeHash ?? EMPTY_CODE_HASH;
    if (this.#below(6) === 0) {
      const code = this.#bytes(1 + this.#below(60));
      codeHash = keccak256Hash(code);
      codes.set(codeHash, code);
    }
    const nonce = (before?.nonce ?? 0n) + 1n;
    return { nonce, balance: BigInt(this.#below(2 ** 40)) * 10n ** BigInt(number % 20), codeHash };
  }

  #transaction(): Transaction {
    const to = this.#below(10) === 0 ? null : this.#address();
    const common = {
      nonce: BigInt(this.#below(2 ** 32)),
      gasLimit: 21_000n,
      to,
      value: BigInt(this.#below(2 ** 40)),
      data: this.#bytes(this.#below(3) * 20),
    };
    const r = BigInt(this.#hash());
    const s = BigInt(this.#hash());
    const signature = { v: BigInt(this.#below(2)), r, s };
    const gasPrice = BigInt(this.#below(2 ** 32));
    if (this.#below(3) === 0) {
      return buildTransaction({ ...common, type: 0, chainId: 1n, gasPrice }, { ...signature, v: 37n + signature.v });
    }
    return buildTransaction(
      {
        ...common,
        type: 2,
        chainId: 1n,
        maxPriorityFeePerGas: 1n,
        maxFeePerGas: gasPrice,
        accessList: this.#times(this.#below(2), () => ({
          address: this.#address(),
          storageKeys: [this.#hash()],
        })),
      },
      signature,
    );
  }

  #receipt(tx: Transaction, index: number): Receipt {
    const logs: Log[] = this.#times(this.#below(3), () => ({
      address: this.#address(),
      topics: this.#times(this.#below(5), () => this.#hash()),
      data: this.#bytes(this.#below(3) * 32),
    }));
    return {
      type: tx.type,
      status: this.#below(4) === 0 ? 0 : 1,
      cumulativeGasUsed: BigInt(index + 1) * 21_000n,
      gasUsed: 21_000n,
      logsBloom: logsBloom(logs),
      logs,
      contractAddress: tx.to === null ? this.#address() : null,
      effectiveGasPrice: BigInt(this.#below(2 ** 32)),
    };
  }

  #address(): Address {
    const hash = keccak256(bigintToBytes(BigInt(1 + this.#below(this.#accounts))));
    return `0x${Buffer.from(hash).toString("hex", 12)}` as Address;
  }

  #hash(): Hash {
    return `0x${Buffer.from(this.#bytes(32)).toString("hex")}` as Hash;
  }

  #bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#below(256));
  }

  #times<T>(count: number, make: () => T): T[] {
    return Array.from({ length: count }, make);
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

/** Numbers from 0 to 1 for tests that must repeat; the algorithm is Tommy Ettinger's. */
export function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** RLP of the access list of a block that has looked at these accounts. */
function accessListOf(addresses: readonly Address[]): Uint8Array {
  const none = { storageChanges: [], storageReads: [], balanceChanges: [], nonceChanges: [], codeChanges: [] };
  return encodeBlockAccessList(addresses.map((address) => ({ address, ...none })));
}
