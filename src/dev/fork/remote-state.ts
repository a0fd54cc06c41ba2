import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import { type Account, isEmptyAccount } from "../../state/account.ts";
import { ForkRemoteError } from "./errors.ts";
import type { ForkCache } from "./fork-cache.ts";
import type { RemoteCall, SyncRemoteCalls } from "./remote-calls.ts";

export type RemoteAccount = Account & { readonly code: Uint8Array };

/** Of a decoded account, without its code. */
const ACCOUNT_BYTES = 256;

/** The state of the remote chain after the forked block. Accounts stay decoded within `bytesMax`: beyond it they are read from `call` again. */
export class RemoteState {
  readonly #call: SyncRemoteCalls;
  readonly #bytesMax: number;
  #bytes = 0;
  readonly #block: string;
  readonly #accounts = new Map<Address, RemoteAccount | undefined>();
  readonly #cache: Pick<ForkCache, "get">;
  /** Reads that `missedBy` collects. */
  #missed: RemoteCall[] | undefined;

  /** @param cache where `call` stores its results */
  constructor(
    call: SyncRemoteCalls,
    blockNumber: number,
    bytesMax: number,
    cache: Pick<ForkCache, "get">,
  ) {
    this.#call = call;
    this.#bytesMax = bytesMax;
    this.#cache = cache;
    this.#block = toQuantity(blockNumber);
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
    if (this.#bytes > this.#bytesMax) {
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

  /** Hash of an older block. */
  hashAt(number: number): Hash | undefined {
    const params = [toQuantity(number), false];
    const [block] = this.#call([{ method: "eth_getBlockByNumber", params }]);
    return (block as { readonly hash?: Hash } | null)?.hash;
  }
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

/** @throws ForkRemoteError */
export function bigintOf(value: unknown): bigint {
  if (typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value)) return BigInt(value);
  throw new ForkRemoteError("the remote chain answered no number", { value });
}

/** @throws ForkRemoteError */
export function bytesOf(value: unknown): Uint8Array {
  if (typeof value === "string" && /^0x(?:[0-9a-fA-F]{2})*$/.test(value)) return hexToBytes(value);
  throw new ForkRemoteError("the remote chain answered no bytes", { value });
}
