import { publicKey } from "../../../../src/consensus/cometbft/abci/messages.ts";
import { encodeMessage, message, single } from "../../../../src/consensus/cometbft/abci/protobuf.ts";
import { merkleRoot } from "../../../../src/consensus/cometbft/rpc/block.ts";

/** A validator of a set. Address (20 bytes) and public key (33 bytes, compressed secp256k1) are hexadecimal digits. */
export type Validator = { readonly address: string; readonly publicKey: string; readonly power: number };

/** A set as the state store has it, in its order. */
export type StoredValidators = {
  readonly validators: readonly (Validator & { readonly priority: number })[];
  readonly proposer: string;
};

type Entry = { readonly address: string; readonly publicKey: string; power: number; priority: number };

/** Priorities differ by no more than so many times the total power. */
const PRIORITY_WINDOW = 2;

/** The form of a validator in the hash of its set. */
const simpleValidator = message({ publicKey: single(1, publicKey), power: single(2, "int64") });

/**
 * The validators of a height, by power and then by address, and whose turn it is to propose: in each round every validator gains its power in priority, the
 * one with the most proposes and loses the total. types/validator_set.go of CometBFT.
 */
export class ValidatorSet {
  #entries: Entry[];
  #proposer: string;
  #hash: string | undefined;
  #totalPower: number;
  readonly #indices = new Map<string, number>();

  private constructor(entries: Entry[], proposer: string) {
    this.#entries = entries;
    this.#proposer = proposer;
    this.#totalPower = 0;
    this.#index();
  }

  /** The set of a genesis, in its first round. */
  static of(validators: readonly Validator[]): ValidatorSet {
    const set = new ValidatorSet([], "");
    set.#apply(validators);
    set.increment(1);
    return set;
  }

  static fromStored({ validators, proposer }: StoredValidators): ValidatorSet {
    return new ValidatorSet(
      validators.map((each) => ({ ...each })),
      proposer,
    );
  }

  stored(): StoredValidators {
    return { validators: this.#entries.map((entry) => ({ ...entry })), proposer: this.#proposer };
  }

  copy(): ValidatorSet {
    const copy = ValidatorSet.fromStored(this.stored());
    copy.#hash = this.#hash;
    return copy;
  }

  get size(): number {
    return this.#entries.length;
  }

  get totalPower(): number {
    return this.#totalPower;
  }

  get validators(): readonly (Validator & { readonly priority: number })[] {
    return this.#entries;
  }

  /** Address of the validator whose turn it is. */
  get proposer(): string {
    return this.#proposer;
  }

  at(index: number): Validator | undefined {
    return this.#entries[index];
  }

  /** -1 for a stranger. */
  indexOf(address: string): number {
    return this.#indices.get(address) ?? -1;
  }

  byAddress(address: string): Validator | undefined {
    return this.#entries[this.indexOf(address)];
  }

  /** Whether `power` is more than two thirds of the total. */
  isQuorum(power: number): boolean {
    return power > Math.floor((this.#totalPower * 2) / 3);
  }

  /** Goes on by so many rounds. */
  increment(times: number): void {
    this.#rescale();
    this.#center();
    for (let i = 0; i < times; i++) {
      for (const entry of this.#entries) entry.priority += entry.power;
      const next = this.#entries.reduce((a, b) => (isBefore(b, a) ? b : a));
      next.priority -= this.#totalPower;
      this.#proposer = next.address;
    }
  }

  incremented(times: number): ValidatorSet {
    const copy = this.copy();
    copy.increment(times);
    return copy;
  }

  /**
   * Applies validator updates of a block: power 0 removes.
   * @throws Error where CometBFT refuses them, which stops consensus
   */
  update(changes: readonly Validator[]): void {
    if (changes.length > 0) this.#apply(changes);
  }

  /** 64 hexadecimal digits. */
  hash(): string {
    this.#hash ??= Buffer.from(
      merkleRoot(
        this.#entries.map(({ publicKey, power }) =>
          encodeMessage(simpleValidator, {
            publicKey: publicKeyOf(publicKey),
            power: BigInt(power),
          }),
        ),
      ),
    ).toString("hex");
    return this.#hash;
  }

  #apply(changes: readonly Validator[]): void {
    assertSingle(changes);
    const updates = changes.filter(({ power }) => power > 0);
    const removals = changes.filter(({ power }) => power === 0);
    const added = updates.filter(({ address }) => this.indexOf(address) < 0);
    if (added.length === 0 && removals.length === this.size) {
      throw new Error("applying the validator changes would result in empty set");
    }
    for (const { address } of removals) {
      if (this.indexOf(address) < 0) throw new Error(`failed to find validator ${address.toUpperCase()} to remove`);
    }
    // New validators begin as if they had just proposed, by the total before removals: leaving and rejoining gives no advantage.
    const total = updates.reduce(
      (sum, { address, power }) => sum + power - (this.byAddress(address)?.power ?? 0),
      this.#totalPower,
    );
    const entries = new Map(this.#entries.map((entry) => [entry.address, entry]));
    for (const { address, publicKey, power } of updates) {
      const priority = entries.get(address)?.priority ?? -(total + Math.floor(total / 8));
      entries.set(address, { address, publicKey, power, priority });
    }
    for (const { address } of removals) entries.delete(address);
    this.#entries = [...entries.values()].sort((a, b) => b.power - a.power || (a.address < b.address ? -1 : 1));
    this.#hash = undefined;
    this.#index();
    this.#rescale();
    this.#center();
  }

  #index(): void {
    this.#indices.clear();
    this.#totalPower = 0;
    this.#entries.forEach(({ address, power }, index) => {
      this.#indices.set(address, index);
      this.#totalPower += power;
    });
  }

  #rescale(): void {
    const window = PRIORITY_WINDOW * this.#totalPower;
    const priorities = this.#entries.map(({ priority }) => priority);
    const spread = Math.max(...priorities) - Math.min(...priorities);
    if (window <= 0 || spread <= window) return;
    const ratio = Math.trunc((spread + window - 1) / window);
    for (const entry of this.#entries) entry.priority = Math.trunc(entry.priority / ratio);
  }

  #center(): void {
    const sum = this.#entries.reduce((total, { priority }) => total + priority, 0);
    const average = Math.floor(sum / this.size);
    for (const entry of this.#entries) entry.priority -= average;
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.priority === b.priority ? a.address < b.address : a.priority > b.priority;
}

function assertSingle(changes: readonly Validator[]): void {
  const addresses = new Set(changes.map(({ address }) => address));
  if (addresses.size !== changes.length) throw new Error("duplicate entry in validator updates");
  if (changes.some(({ power }) => power < 0)) throw new Error("voting power can't be negative");
}

function publicKeyOf(digits: string) {
  const none = undefined;
  return {
    ed25519: none,
    secp256k1: none,
    bls12381: none,
    mldsa65: none,
    secp256k1eth: Buffer.from(digits, "hex"),
  };
}
