import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { toQuantity } from "../../base/primitives/quantity.ts";
import { type Account, isEmptyAccount } from "../../evm/state/account.ts";
import { ForkProofError, stateReadFailure } from "./errors.ts";
import type { ForkCache } from "./fork-cache.ts";
import type { RemoteCall, SyncRemoteCalls } from "./remote-calls.ts";
import { remoteHeaderOf } from "./remote-header.ts";
import { bigintOf, bytesOf } from "./remote-json.ts";

type RemoteAccount = Account & { readonly code: Uint8Array };

/** Of a decoded account, without its code. */
const ACCOUNT_BYTES = 256;

type RemoteStateOptions = {
  /** The forked block. */
  readonly block: number;
  /** Its parent's hash, where hashes of older blocks must follow from it; undefined: the remote node is believed. */
  readonly parentHash?: Hash | undefined;
  /** Accounts stay decoded within so many bytes: beyond it they are read again. */
  readonly bytesMax: number;
};

/** The state of the remote chain after the forked block. */
export class RemoteState {
  readonly #calls: SyncRemoteCalls;
  readonly #options: RemoteStateOptions;
  #bytes = 0;
  readonly #block: string;
  readonly #accounts = new Map<Address, RemoteAccount | undefined>();
  readonly #cache: Pick<ForkCache, "get">;
  /** Reads that `missedBy` collects. */
  #missed: RemoteCall[] | undefined;
  /** Hashes of the blocks before the forked one, newest first, as far as they were read. */
  readonly #ancestors: Hash[];

  /** @param modules `cache` is where `call` stores its results */
  constructor(
    options: RemoteStateOptions,
    { call, cache }: { readonly call: SyncRemoteCalls; readonly cache: Pick<ForkCache, "get"> },
  ) {
    this.#calls = call;
    this.#options = options;
    this.#cache = cache;
    this.#block = toQuantity(options.block);
    this.#ancestors = options.parentHash === undefined ? [] : [options.parentHash];
  }

  /** Memory of decoded accounts. */
  get bytes(): number {
    return this.#bytes;
  }

  /** undefined: no such account */
  account(address: Address): RemoteAccount | undefined {
    if (this.#missed !== undefined && !this.#accounts.has(address)) {
      const results = this.#known(accountReads(address, this.#block));
      return results && accountOf(results[0], results[1], results[2]);
    }
    this.load([address]);
    return this.#accounts.get(address);
  }

  /**
   * What `run` reads that is not known. Meanwhile it is taken for empty: the result of `run` means nothing, and what it throws is
   * ignored.
   */
  missedBy(run: () => unknown): readonly RemoteCall[] {
    const missed: RemoteCall[] = [];
    this.#missed = missed;
    try {
      run();
    } catch {
      // Of an execution over a state that is not the chain's.
    } finally {
      this.#missed = undefined;
    }
    return missed;
  }

  /** Results of `reads`; undefined where one is missed. */
  #known(reads: readonly RemoteCall[]): readonly unknown[] | undefined {
    const known = reads.flatMap((read) => this.#cache.get(read) ?? []);
    if (known.length === reads.length) return known.map(({ result }) => result);
    this.#missed!.push(...reads);
    return undefined;
  }

  /** Reads accounts in one request. */
  load(addresses: readonly Address[]): void {
    const unknown = addresses.filter((address) => !this.#accounts.has(address));
    if (unknown.length === 0) return;
    const calls = unknown.flatMap((address) => accountReads(address, this.#block));
    const results = this.#call(calls);
    if (this.#bytes > this.#options.bytesMax) {
      this.#accounts.clear();
      this.#bytes = 0;
    }
    for (const [index, address] of unknown.entries()) {
      const [balance, nonce, code] = results.slice(3 * index, 3 * index + 3);
      const account = accountOf(balance, nonce, code);
      this.#accounts.set(address, account);
      this.#bytes += ACCOUNT_BYTES + (account?.code.length ?? 0);
    }
  }

  storage(address: Address, slot: Hash): bigint {
    const read = { method: "eth_getStorageAt", params: [address, slot, this.#block] };
    if (this.#missed !== undefined) {
      const known = this.#known([read]);
      return known === undefined ? 0n : bigintOf(known[0]);
    }
    const [value] = this.#call([read]);
    return bigintOf(value);
  }

  /** Hash of an older block; undefined if none. @throws ForkRemoteError, ForkProofError */
  hashAt(number: number): Hash | undefined {
    if (number < 0 || number >= this.#options.block) return undefined;
    if (this.#options.parentHash !== undefined) return this.#ancestorAt(number);
    const [block] = this.#call([blockRead(number)]);
    return block === null ? undefined : remoteHeaderOf(block).claimedHash;
  }

  /** Each header names the hash of the one before it, so all between are read, once. */
  #ancestorAt(number: number): Hash {
    const newest = this.#options.block - 1;
    const known = newest - this.#ancestors.length + 1;
    const numbers = Array.from({ length: Math.max(0, known - number) }, (_, i) => known - i);
    const blocks = numbers.length > 0 ? this.#call(numbers.map(blockRead)) : [];
    for (const [i, block] of blocks.entries()) {
      const { header, hash } = remoteHeaderOf(block);
      if (hash !== this.#ancestors.at(-1)) {
        const text = "a block of the remote chain is not the parent of the next one";
        throw new ForkProofError(text, { number: numbers[i] });
      }
      this.#ancestors.push(header.parentHash);
    }
    return this.#ancestors[newest - number]!;
  }

  #call(calls: readonly RemoteCall[]): readonly unknown[] {
    try {
      return this.#calls(calls);
    } catch (error) {
      throw stateReadFailure(error);
    }
  }
}

function blockRead(number: number): RemoteCall {
  return { method: "eth_getBlockByNumber", params: [toQuantity(number), false] };
}

/** Balance, nonce and code of an account, in this order. */
export function accountReads(address: string, block: string): RemoteCall[] {
  return ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"].map((method) => ({
    method,
    params: [address, block],
  }));
}

function accountOf(balance: unknown, nonce: unknown, code: unknown): RemoteAccount | undefined {
  const bytes = bytesOf(code);
  const account = {
    balance: bigintOf(balance),
    nonce: bigintOf(nonce),
    codeHash: keccak256Hash(bytes),
    code: bytes,
  };
  return isEmptyAccount(account) ? undefined : account;
}
