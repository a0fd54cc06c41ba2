import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../state/account.ts";
import type { BlobTransaction } from "../types/transaction/transaction.ts";
import { checkFunds, checkNonce } from "./admission.ts";
import { bumped, type Entry } from "./entry.ts";
import {
  BLOB_ACCOUNT_SLOTS,
  BLOB_GAP_LIFETIME_MS,
  BLOB_GAPPED_MAX,
  BLOB_PRICE_BUMP,
} from "./options.ts";
import { reject, TransactionRejectedError } from "./rejection.ts";
import type { PoolRules } from "./rules.ts";

/** A blob transaction with its size on the network, sidecar included, in bytes. */
export type BlobEntry = Entry & { readonly tx: BlobTransaction; readonly size: number };

/** One that waits for the nonces in front of it. */
type GappedEntry = { readonly entry: BlobEntry; readonly since: number };

export type BlobPoolModules = {
  /** Milliseconds of any clock. */
  readonly now: () => number;
  /** Accounts that have other transactions pooled: an account is in one pool at a time. */
  readonly isReserved: (address: Address) => boolean;
  /** Accounts of which the other pool holds an authorization (EIP-7702). */
  readonly hasAuthority: (address: Address) => boolean;
};

/**
 * Pooled blob transactions, by the rules of geth's blob pool: all of them are pending, an account's nonces follow each other
 * without gap, replacing one takes twice its fees. Kept in memory with their sidecars.
 */
export class BlobPool {
  readonly #bytesMax: number;
  readonly #modules: BlobPoolModules;
  /** By account, consecutive nonces from the account's own at the head. */
  readonly #accounts = new Map<Address, BlobEntry[]>();
  readonly #entries = new Map<Hash, BlobEntry>();
  #gapped: GappedEntry[] = [];
  #announced: BlobEntry[] = [];
  #rules: PoolRules;
  #bytes = 0;

  constructor(bytesMax: number, rules: PoolRules, modules: BlobPoolModules) {
    this.#bytesMax = bytesMax;
    this.#rules = rules;
    this.#modules = modules;
  }

  get count(): number {
    return this.#entries.size;
  }

  get(hash: Hash): BlobEntry | undefined {
    return (
      this.#entries.get(hash) ?? this.#gapped.find(({ entry }) => entry.tx.hash === hash)?.entry
    );
  }

  owns(address: Address): boolean {
    return this.#accounts.has(address);
  }

  pendingOf(address: Address): readonly BlobEntry[] {
    return this.#accounts.get(address) ?? [];
  }

  accounts(): Iterable<readonly BlobEntry[]> {
    return this.#accounts.values();
  }

  /** Those that wait for a nonce too. */
  *all(): Iterable<BlobEntry> {
    yield* this.#entries.values();
    for (const { entry } of this.#gapped) yield entry;
  }

  /** The account's nonce behind its transactions; undefined when nothing of it is pooled. */
  nextNonce(address: Address): bigint | undefined {
    const last = this.#accounts.get(address)?.at(-1);
    return last && last.tx.nonce + 1n;
  }

  /**
   * Takes `entry`, whose own checks have passed.
   * @throws TransactionRejectedError
   */
  insert(entry: BlobEntry): void {
    const { sender, tx } = entry;
    const account = this.#rules.state.account(sender);
    const nonce = account?.nonce ?? 0n;
    checkNonce(tx, nonce);
    const pooled = this.#accounts.get(sender) ?? [];
    const gap = nonce + BigInt(pooled.length);
    if (gap < tx.nonce) {
      if (this.#keepGapped(entry, nonce)) return;
      throw reject(
        "TX_NONCE_MISMATCH_TOO_HIGH",
        `nonce too high: tx nonce ${tx.nonce}, gapped nonce ${gap}`,
      );
    }
    const index = Number(tx.nonce - nonce);
    const old = pooled[index];
    checkFunds(entry.cost, {
      balance: account?.balance ?? 0n,
      spent: pooled.reduce((sum, { cost }) => sum + cost, 0n),
      replacedCost: old?.cost,
    });
    if (!old && pooled.length >= BLOB_ACCOUNT_SLOTS) {
      throw reject(
        "POOL_ACCOUNT_LIMIT_EXCEEDED",
        `account limit exceeded: pooled ${pooled.length} txs`,
      );
    }
    const isDelegated = account !== undefined && account.codeHash !== EMPTY_CODE_HASH;
    const isInFlight = pooled.length > 1 || (pooled.length === 1 && !old);
    if (isInFlight && (isDelegated || this.#modules.hasAuthority(sender))) {
      throw reject(
        "POOL_DELEGATED_ACCOUNT_LIMIT",
        "in-flight transaction limit reached for delegated accounts",
      );
    }
    if (old) checkReplacement(tx, old.tx);
    if (pooled.length === 0 && this.#modules.isReserved(sender)) {
      throw reject("POOL_ADDRESS_RESERVED", "address already reserved");
    }
    if (old) this.#forget(old);
    const next = [...pooled];
    next[index] = entry;
    this.#accounts.set(sender, next);
    this.#entries.set(tx.hash, entry);
    this.#bytes += entry.size;
    this.#announced.push(entry);
  }

  /** Lets in what no longer waits, enforces the size. Returns what became pending. */
  settle(): readonly BlobEntry[] {
    this.#retryGapped();
    while (this.#bytes > this.#bytesMax) this.#dropCheapest();
    const announced = this.#announced.filter(({ tx }) => this.#entries.has(tx.hash));
    this.#announced = [];
    return announced;
  }

  /**
   * Moves to a new head: what it includes or makes impossible leaves.
   * @param changed accounts that may differ from before; undefined: all
   */
  reset(rules: PoolRules, changed: Iterable<Address> | undefined): void {
    const isStricter = rules.header.gasLimit < this.#rules.header.gasLimit;
    this.#rules = rules;
    const addresses = changed && !isStricter ? changed : this.#accounts.keys();
    for (const address of [...addresses]) this.#resetAccount(address);
  }

  /** Removes what `isUnwanted`, and whatever stands behind it. */
  removeWhere(isUnwanted: (entry: Entry) => boolean): void {
    for (const [address, pooled] of [...this.#accounts]) {
      const index = pooled.findIndex(isUnwanted);
      if (index !== -1) this.#truncate(address, pooled, index);
    }
    this.#gapped = this.#gapped.filter(({ entry }) => !isUnwanted(entry));
  }

  /** Removes what has waited too long. */
  removeStale(): void {
    const oldest = this.#modules.now() - BLOB_GAP_LIFETIME_MS;
    this.#gapped = this.#gapped.filter(({ since }) => since >= oldest);
  }

  #resetAccount(address: Address): void {
    const pooled = this.#accounts.get(address);
    if (!pooled) return;
    const { nonce, balance } = this.#rules.state.account(address) ?? { nonce: 0n, balance: 0n };
    const start = pooled.findIndex(({ tx }) => tx.nonce === nonce);
    const left = start === -1 ? [] : pooled.slice(start);
    for (const entry of start === -1 ? pooled : pooled.slice(0, start)) this.#forget(entry);
    // What the balance no longer covers leaves from the back.
    let end = 0;
    for (let spent = 0n; end < left.length; end++) {
      spent += left[end]!.cost;
      if (spent > balance || left[end]!.tx.gasLimit > this.#rules.header.gasLimit) break;
    }
    this.#truncate(address, left, end);
  }

  #truncate(address: Address, pooled: readonly BlobEntry[], size: number): void {
    for (const entry of pooled.slice(size)) this.#forget(entry);
    if (size === 0) this.#accounts.delete(address);
    else this.#accounts.set(address, pooled.slice(0, size));
  }

  /** The cheapest account loses its last transaction. */
  #dropCheapest(): void {
    let cheapest: readonly BlobEntry[] | undefined;
    for (const pooled of this.#accounts.values()) {
      if (!cheapest || lowestTip(pooled) < lowestTip(cheapest)) cheapest = pooled;
    }
    if (cheapest) this.#truncate(cheapest[0]!.sender, cheapest, cheapest.length - 1);
  }

  #forget(entry: BlobEntry): void {
    this.#entries.delete(entry.tx.hash);
    this.#bytes -= entry.size;
  }

  /** An account may have as many transactions wait as its nonce has digits beyond the first: only history buys memory. */
  #keepGapped(entry: BlobEntry, nonce: bigint): boolean {
    const waiting = this.#gapped.filter(({ entry: { sender } }) => sender === entry.sender).length;
    const allowance = (nonce + 1n).toString().length - 1 - waiting;
    if (allowance < 1 || this.#gapped.length >= BLOB_GAPPED_MAX) return false;
    this.#gapped.push({ entry, since: this.#modules.now() });
    return true;
  }

  #retryGapped(): void {
    for (let found = true; found; ) {
      found = false;
      for (const waiting of this.#gapped) {
        const { sender, tx } = waiting.entry;
        const next = this.nextNonce(sender) ?? this.#rules.state.account(sender)?.nonce ?? 0n;
        if (next < tx.nonce) continue;
        this.#gapped = this.#gapped.filter((other) => other !== waiting);
        found = true;
        if (next === tx.nonce) this.#insertQuietly(waiting.entry);
        break;
      }
    }
  }

  /** The one who submitted it has his answer already, so a refusal is nobody's to hear. */
  #insertQuietly(entry: BlobEntry): void {
    try {
      this.insert(entry);
    } catch (error) {
      if (!(error instanceof TransactionRejectedError)) throw error;
    }
  }
}

function lowestTip(pooled: readonly BlobEntry[]): bigint {
  let lowest = pooled[0]!.maxPriorityFeePerGas;
  for (const { maxPriorityFeePerGas: tip } of pooled) if (tip < lowest) lowest = tip;
  return lowest;
}

/** All three fees must be above the old ones, and by the whole price bump. */
function checkReplacement(next: BlobTransaction, old: BlobTransaction): void {
  const fees = [
    ["gas fee cap", next.maxFeePerGas, old.maxFeePerGas],
    ["gas tip cap", next.maxPriorityFeePerGas, old.maxPriorityFeePerGas],
    ["blob gas fee cap", next.maxFeePerBlobGas, old.maxFeePerBlobGas],
  ] as const;
  const refused = (detail: string) =>
    reject("POOL_REPLACEMENT_UNDERPRICED", `replacement transaction underpriced: ${detail}`);
  for (const [name, fee, oldFee] of fees) {
    if (fee <= oldFee) throw refused(`new tx ${name} ${fee} <= ${oldFee} queued`);
  }
  for (const [name, fee, oldFee] of fees) {
    if (fee < bumped(oldFee, BLOB_PRICE_BUMP)) {
      throw refused(
        `new tx ${name} ${fee} < ${oldFee} queued + ${BLOB_PRICE_BUMP}% replacement penalty`,
      );
    }
  }
}
