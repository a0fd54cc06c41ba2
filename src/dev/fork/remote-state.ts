import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import { type Account, isEmptyAccount } from "../../state/account.ts";
import { ForkRemoteError } from "./errors.ts";
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

  constructor(call: SyncRemoteCalls, blockNumber: number, bytesMax: number) {
    this.#call = call;
    this.#bytesMax = bytesMax;
    this.#block = toQuantity(blockNumber);
  }

  /** Memory of decoded accounts. */
  get bytes(): number {
    return this.#bytes;
  }

  /** undefined: no such account */
  account(address: Address): RemoteAccount | undefined {
    this.load([address]);
    return this.#accounts.get(address);
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
    const [value] = this.#call([
      { method: "eth_getStorageAt", params: [address, slot, this.#block] },
    ]);
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
