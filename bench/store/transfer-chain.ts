import type { Address } from "../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { type Hash, hashFromBigint, ZERO_HASH } from "../../src/base/primitives/hash.ts";
import { keccak256Hash } from "../../src/base/primitives/keccak.ts";
import {
  EMPTY_CODE_HASH,
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
  EMPTY_UNCLES_HASH,
  EMPTY_WITHDRAWALS_ROOT,
} from "../../src/base/types/constants.ts";
import type { Header } from "../../src/base/types/header.ts";
import { headerHash } from "../../src/base/types/header-codec.ts";
import type { Log } from "../../src/base/types/receipt.ts";
import { buildTransaction } from "../../src/base/types/transaction/encode.ts";
import type { BlockRecord, GenesisState } from "../../src/chain/block-store.ts";
import { encodeChanges } from "../../src/chain/records/changes-record.ts";
import type { Account } from "../../src/evm/state/account.ts";
import type { AccountChange, StateChanges } from "../../src/evm/state/reader.ts";
import type { StateTrie } from "../../src/evm/state/state-trie.ts";
import { NodeBatch } from "../../src/store/trie/node-batch.ts";

/** Shared by all accounts without storage: a million maps of their own would burden the garbage collector. */
const NO_SLOTS: ReadonlyMap<Hash, bigint> = new Map();
export const TOKEN = keccak256Hash(Buffer.from("token")).slice(0, 42) as Address;
const TRANSFER_TOPIC = keccak256Hash(Buffer.from("Transfer(address,address,uint256)"));

/** Address number `index` of every such chain, made when it is asked for: ten million texts would be most of the memory. */
export function addressOf(index: number): Address {
  return keccak256Hash(Buffer.from(`account ${index}`)).slice(0, 42) as Address;
}

/**
 * Blocks of transfers between random ones of `accountCount` accounts, and blocks without any.
 * @param head block to go on from
 * @param holderCount accounts that token transfers are between
 */
export function createTransferChain(accountCount: number, trie: StateTrie, head?: Header, holderCount = accountCount) {
  let parent = head;
  let parentHash = head === undefined ? ZERO_HASH : headerHash(head);
  const randomAddress = () => addressOf(Math.floor(Math.random() * accountCount));

  /** Empty but for what EIP-4788 and EIP-2935 write. */
  function systemChanges(number: number): AccountChange[] {
    const contract = (name: string, storage: Map<Hash, bigint>): AccountChange => ({
      address: keccak256Hash(Buffer.from(name)).slice(0, 42) as Address,
      account: { nonce: 1n, balance: 0n, codeHash: ZERO_HASH },
      storage,
      storageCleared: false,
    });
    return [
      contract("roots", new Map([[hashFromBigint(BigInt(number % 8191)), BigInt(1_700_000_000 + number)]])),
      contract("history", new Map([[hashFromBigint(BigInt(number % 8191)), BigInt(parentHash) + 1n]])),
    ];
  }

  function transfers(number: number, count: number): AccountChange[] {
    const changed = new Map<Address, Account>();
    for (let i = 0; i < count * 2; i++) {
      changed.set(randomAddress(), {
        nonce: BigInt(number),
        balance: 10n ** 18n + BigInt(number * 1000 + i),
        codeHash: EMPTY_CODE_HASH,
      });
    }
    return Array.from(changed, ([address, account]) => accountChange(address, account));
  }

  function accountChange(address: Address, account: Account): AccountChange {
    return { address, account, storage: NO_SLOTS, storageCleared: false };
  }

  /** Of each transfer the sender's account and two balances of the token. */
  function tokenTransfers(number: number, count: number): AccountChange[] {
    const accounts = new Map<Address, Account>();
    const storage = new Map<Hash, bigint>();
    for (let i = 0; i < count; i++) {
      const balance = 10n ** 18n + BigInt(number * 1000 + i);
      accounts.set(randomAddress(), {
        nonce: BigInt(number),
        balance,
        codeHash: EMPTY_CODE_HASH,
      });
      for (let party = 0; party < 2; party++) {
        storage.set(tokenSlot(Math.floor(Math.random() * holderCount)), balance);
      }
    }
    return [
      ...Array.from(accounts, ([address, account]) => accountChange(address, account)),
      { ...accountChange(TOKEN, TOKEN_ACCOUNT), storage },
    ];
  }

  function makeRecord(
    changesOf: (number: number) => AccountChange[],
    txCount: number,
    logs: readonly Log[] = [],
    update = (changes: StateChanges) => trie.update(parent?.stateRoot ?? EMPTY_TRIE_ROOT, changes),
  ) {
    const number = parent === undefined ? 0 : parent.number + 1;
    const accounts = changesOf(number);
    const changes = { accounts, codes: new Map() };
    const { root, nodes } = update(changes);
    const bloom = new Uint8Array(256);
    const transactions = Array.from({ length: txCount }, (_, i) =>
      buildTransaction(
        {
          type: 2,
          chainId: 1337n,
          nonce: BigInt(number),
          maxPriorityFeePerGas: 1_000_000_000n,
          maxFeePerGas: 2_000_000_000n,
          gasLimit: 21_000n,
          to: addressOf(i % accountCount),
          value: 10n ** 17n,
          data: EMPTY_BYTES,
          accessList: [],
        },
        {
          v: 1n,
          r: BigInt(keccak256Hash(Buffer.from(`signature ${i}`))),
          s: BigInt(parentHash) / 2n,
        },
      ),
    );
    const header: Header = {
      parentHash,
      sha3Uncles: EMPTY_UNCLES_HASH,
      coinbase: addressOf(0),
      stateRoot: root,
      transactionsRoot: txCount === 0 ? EMPTY_TRIE_ROOT : parentHash,
      receiptsRoot: txCount === 0 ? EMPTY_TRIE_ROOT : parentHash,
      logsBloom: bloom,
      difficulty: 0n,
      number,
      gasLimit: 36_000_000n,
      gasUsed: BigInt(txCount) * 21_000n,
      timestamp: 1_700_000_000 + number,
      extraData: EMPTY_BYTES,
      mixHash: keccak256Hash(Buffer.from(parentHash)),
      nonce: new Uint8Array(8),
      baseFeePerGas: 1_000_000_000n,
      withdrawalsRoot: EMPTY_WITHDRAWALS_ROOT,
      blobGasUsed: 0n,
      excessBlobGas: 0n,
      parentBeaconBlockRoot: ZERO_HASH,
      requestsHash: EMPTY_REQUESTS_HASH,
    };
    const hash = headerHash(header);
    parent = header;
    parentHash = hash;
    const record: BlockRecord = {
      block: { hash, header, transactions, uncles: [], withdrawals: [] },
      senders: transactions.map((_, i) => addressOf((i + 1) % accountCount)),
      receipts: transactions.map((tx, i) => ({
        type: tx.type,
        status: 1,
        cumulativeGasUsed: BigInt(i + 1) * 21_000n,
        gasUsed: 21_000n,
        logsBloom: bloom,
        logs,
        contractAddress: null,
        effectiveGasPrice: 1_500_000_000n,
      })),
      changes,
      consensusData: EMPTY_BYTES,
    };
    return { record, nodes };
  }

  /** Accounts `from` to `to`, as the chain funds them. */
  function funded(from: number, to: number): AccountChange[] {
    const account = { nonce: 0n, balance: 10n ** 18n, codeHash: EMPTY_CODE_HASH };
    return Array.from({ length: to - from }, (_, i) => accountChange(addressOf(from + i), account));
  }

  /** The same number of holders of the token. */
  function holders(from: number, to: number): AccountChange[] {
    const storage = new Map<Hash, bigint>();
    for (let i = from; i < to; i++) storage.set(tokenSlot(i), 10n ** 18n);
    return [{ ...accountChange(TOKEN, TOKEN_ACCOUNT), storage }];
  }

  return {
    /** Funds all accounts in block 0. */
    genesis: () => makeRecord(() => funded(0, accountCount), 0),
    /** The same for `appendGenesis`, with all holders. */
    genesisState: (): GenesisState => ({
      state: () =>
        encodeChanges({ accounts: holders(0, holderCount).concat(funded(0, accountCount)), codes: new Map() }),
      blockOf: (root) =>
        makeRecord(
          () => [],
          0,
          [],
          () => ({ root, nodes: new NodeBatch() }),
        ).record,
    }),
    /** Funds some accounts, in a block of their own. */
    fund: (from: number, to: number) => makeRecord(() => funded(from, to), 0),
    transfers: (count: number) => makeRecord((number) => transfers(number, count), count),
    tokenTransfers: (count: number) => makeRecord((number) => tokenTransfers(number, count), count),
    empty: () => makeRecord(systemChanges, 0),
    /** Transfers of the token with a log each. */
    loggedTransfers: (count: number) =>
      makeRecord((number) => tokenTransfers(number, count), count, [
        { address: TOKEN, topics: [TRANSFER_TOPIC], data: new Uint8Array(32) },
      ]),
    /** Blocks that change nothing, as before EIP-4788. */
    unchanged: () => makeRecord(() => [], 0),
  };
}

const TOKEN_ACCOUNT: Account = { nonce: 1n, balance: 0n, codeHash: EMPTY_CODE_HASH };

/** Slot of the token with the balance of account number `index`. */
export function tokenSlot(index: number): Hash {
  return keccak256Hash(Buffer.from(`holder ${index}`));
}
