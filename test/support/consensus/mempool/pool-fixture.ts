import { addressFromPrivateKey } from "../../../../src/base/crypto/secp256k1.ts";
import { allForksAtGenesis } from "../../../../src/base/params/blob-schedule.ts";
import type { ChainConfig } from "../../../../src/base/params/chain-config.ts";
import { type Address, ZERO_ADDRESS } from "../../../../src/base/primitives/address.ts";
import { bigintToFixedBytes, EMPTY_BYTES } from "../../../../src/base/primitives/bytes.ts";
import { ZERO_HASH } from "../../../../src/base/primitives/hash.ts";
import { BLOOM_LENGTH } from "../../../../src/base/types/bloom.ts";
import { EMPTY_CODE_HASH } from "../../../../src/base/types/constants.ts";
import type { Header } from "../../../../src/base/types/header.ts";
import type { TransactionFields } from "../../../../src/base/types/transaction/codec.ts";
import { buildTransaction } from "../../../../src/base/types/transaction/encode.ts";
import { signAuthorization, signTransaction } from "../../../../src/base/types/transaction/sign.ts";
import type { FeeMarketTransaction, SetCodeTransaction } from "../../../../src/base/types/transaction/transaction.ts";
import { Mempool } from "../../../../src/consensus/mempool/mempool.ts";
import type { MempoolOptions, Submission } from "../../../../src/consensus/mempool/pool.ts";
import type { Account } from "../../../../src/evm/state/account.ts";
import type { StateReader } from "../../../../src/evm/state/reader.ts";

export const CHAIN_ID = 1337n;
export const GWEI = 10n ** 9n;
export const ETHER = 10n ** 18n;

/** The `index`-th test key and its account. */
export function testKey(index: number): Uint8Array {
  return bigintToFixedBytes(BigInt(index + 1), 32);
}
export function testAccount(index: number): Address {
  return addressFromPrivateKey(testKey(index));
}

/** A state in memory that tests write into. */
export class FakeState implements StateReader {
  readonly accounts = new Map<Address, Account>();

  account(address: Address): Account | undefined {
    return this.accounts.get(address);
  }
  set(address: Address, fields: Partial<Account>): void {
    const old = this.accounts.get(address) ?? {
      nonce: 0n,
      balance: ETHER,
      codeHash: EMPTY_CODE_HASH,
    };
    this.accounts.set(address, { ...old, ...fields });
  }
  storage(): bigint {
    return 0n;
  }
  code(): Uint8Array {
    return EMPTY_BYTES;
  }
  *storageEntries(): Iterable<never> {}
}

export function testHeader(fields: Partial<Header> = {}): Header {
  return {
    parentHash: ZERO_HASH,
    sha3Uncles: ZERO_HASH,
    coinbase: ZERO_ADDRESS,
    stateRoot: ZERO_HASH,
    transactionsRoot: ZERO_HASH,
    receiptsRoot: ZERO_HASH,
    logsBloom: new Uint8Array(BLOOM_LENGTH),
    difficulty: 0n,
    number: 1,
    gasLimit: 30_000_000n,
    gasUsed: 15_000_000n,
    timestamp: 1,
    extraData: EMPTY_BYTES,
    mixHash: ZERO_HASH,
    nonce: new Uint8Array(8),
    baseFeePerGas: GWEI,
    ...fields,
  };
}

/** A set code transaction of the first account, with authorizations of so many others. */
export function setCodeTransaction({ nonce = 0n, authorizations = 1, fee = 100n * GWEI }): SetCodeTransaction {
  const tx = signTransaction(
    {
      type: 4,
      chainId: CHAIN_ID,
      nonce,
      gasLimit: 100_000n + 25_000n * BigInt(authorizations),
      to: ZERO_ADDRESS,
      value: 0n,
      data: EMPTY_BYTES,
      maxFeePerGas: fee,
      maxPriorityFeePerGas: fee / 100n,
      accessList: [],
      authorizationList: Array.from({ length: authorizations }, (_, i) =>
        signAuthorization({ chainId: CHAIN_ID, address: ZERO_ADDRESS, nonce: 0n }, testKey(100 + i)),
      ),
    },
    testKey(0),
  );
  return tx as SetCodeTransaction;
}

type TestPoolOptions = Partial<MempoolOptions> & {
  readonly header?: Partial<Header>;
  readonly config?: ChainConfig;
};

/** A pool on a fake state, with a clock that tests set. */
export function createTestPool({ header, config, ...options }: TestPoolOptions = {}) {
  const state = new FakeState();
  const clock = { now: 1_000_000 };
  const pool = new Mempool(options, {
    config: config ?? allForksAtGenesis(CHAIN_ID),
    head: { header: testHeader(header), state },
    now: () => clock.now,
  });
  return { pool, state, clock };
}

/** Signatures count up from a number of this length, so that a transaction's size does not depend on how many were created before. */
let salt = 1n << 64n;

/** A transfer of type 2 that names its sender, with a signature that is not checked. */
export function transfer(
  sender: Address,
  nonce: bigint | number,
  fields: Partial<TransactionFields & FeeMarketTransaction> = {},
): Submission & { readonly sender: Address } {
  const tx = buildTransaction(
    {
      type: 2,
      chainId: CHAIN_ID,
      nonce: BigInt(nonce),
      maxFeePerGas: 100n * GWEI,
      maxPriorityFeePerGas: GWEI,
      gasLimit: 21_000n,
      to: ZERO_ADDRESS,
      value: 0n,
      data: EMPTY_BYTES,
      accessList: [],
      ...fields,
    } as TransactionFields,
    // Different transactions must not share a hash just because their fields are equal.
    { v: 0n, r: ++salt, s: 1n },
  );
  return { tx, sender };
}
