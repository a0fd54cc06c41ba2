import { addressFromPrivateKey } from "../../src/base/crypto/secp256k1.ts";
import { type Address, parseAddress } from "../../src/base/primitives/address.ts";
import type { Hash } from "../../src/base/primitives/hash.ts";
import { bytesToHex, type Hex } from "../../src/base/primitives/hex.ts";
import { signTransaction } from "../../src/base/types/transaction/sign.ts";
import {
  bigDeployment,
  type Contracts,
  DEPLOYMENTS,
  inputBytes,
  recordInput,
  spinInput,
  transferInput,
} from "./contracts.ts";

export type SentTransaction = { readonly hash: Hash; readonly raw: Hex };

/** The transactions sent with one nonce: the first one and its replacements. */
export type Slot = {
  readonly nonce: bigint;
  readonly sent: SentTransaction[];
  /** Index of the last one whose hash was answered; -1 before the first answer. */
  answered: number;
};

type Content = { readonly to: Address | null; readonly input: Hex; readonly value: bigint; readonly gasLimit: bigint };

/** Fee caps far above the base fee: every transaction can be in the next block. */
const MAX_FEE = 20n * 10n ** 9n;
const TIP = 10n ** 9n;
/** A replacement must raise both fees by a tenth. */
const BUMP_PERCENT = 25n;
const PLAIN_RECIPIENTS = 40;
const RECORDER_SLOTS = 64;
/** Bytes of a big contract. */
const BIG_CODE_MIN = 2_000;
const BIG_CODE_MAX = 20_000;
/** State gas of new accounts and slots of any of these transactions together, and of a byte of code. */
const STATE_GAS = 400_000n;
const CODE_BYTE_GAS = 1_530n;
/** With what a big contract costs anyway, the most gas that a transaction can have before Amsterdam is enough for it. */
const BIG_CODE_MAX_WITH_STATE_GAS = 5_000;
const ROUNDS_MAX = 40_000;

export type SenderOptions = {
  readonly privateKey: Uint8Array;
  readonly chainId: bigint;
  readonly contracts: Contracts;
  /** It creates the contracts with its first transactions. */
  readonly isDeployer: boolean;
  /** The chain may reach Amsterdam, where state growth costs additional gas (EIP-8037). */
  readonly hasStateGas: boolean;
  readonly random: () => number;
};

/** One account and everything it ever sent. It asks no node for a nonce: one that lost a transaction would hide that by its answer. */
export class Sender {
  readonly address: Address;
  readonly slots = new Map<bigint, Slot>();
  readonly #options: SenderOptions;
  #next = 0n;

  constructor(options: SenderOptions) {
    this.#options = options;
    this.address = addressFromPrivateKey(options.privateKey);
  }

  /** What to send next: an unanswered transaction if there is one, else a new one. */
  nextSlot(): Slot {
    for (let slot = this.slots.get(this.#next); slot !== undefined; slot = this.slots.get(this.#next)) {
      if (slot.answered < 0) return slot;
      this.#next++;
    }
    return this.#open(this.#next);
  }

  /** The one after the next, which has to wait for it in the pool; undefined where it was sent already. */
  slotAfterNext(): Slot | undefined {
    const { nonce } = this.nextSlot();
    return this.slots.has(nonce + 1n) ? undefined : this.#open(nonce + 1n);
  }

  /** Number of slots that begin with `nonce`. */
  slotsFrom(nonce: bigint): number {
    let count = 0;
    while (this.slots.has(nonce + BigInt(count))) count++;
    return count;
  }

  /** The newest answered transaction with higher fees; undefined where nothing was answered. */
  replacement(): Slot | undefined {
    const slot = this.slots.get(this.#next - 1n);
    const isDeployment = this.#options.isDeployer && this.#next <= DEPLOYMENTS.length;
    if (slot === undefined || slot.answered < 0 || isDeployment) return undefined;
    slot.sent.push(this.#sign(slot.nonce, slot.sent.length, this.#plainContent()));
    return slot;
  }

  hasSent(nonce: bigint, hash: Hash): boolean {
    return this.slots.get(nonce)?.sent.some((each) => each.hash === hash) === true;
  }

  answered(slot: Slot, index: number): void {
    slot.answered = Math.max(slot.answered, index);
  }

  /**
   * Begins with `nonce` again: blocks were removed on demand. Nothing is owed for the slots from there on for which `isGone` holds, but the
   * journal of the pool can have them, so that they are sent again as they were.
   */
  beginAgain(nonce: bigint, isGone: (slot: Slot) => boolean): void {
    for (const [each, slot] of this.slots) if (each >= nonce && isGone(slot)) slot.answered = -1;
    this.#next = nonce;
  }

  #open(nonce: bigint): Slot {
    const slot: Slot = { nonce, sent: [this.#sign(nonce, 0, this.#content(nonce))], answered: -1 };
    this.slots.set(nonce, slot);
    return slot;
  }

  #content(nonce: bigint): Content {
    const { isDeployer, random, contracts } = this.#options;
    const deployment = isDeployer ? DEPLOYMENTS[Number(nonce)] : undefined;
    if (deployment !== undefined) return { to: null, input: deployment, value: 0n, gasLimit: 3_000_000n };
    const kind = random();
    if (kind < 0.35) return this.#plainContent();
    if (kind < 0.65) {
      const input = recordInput(BigInt(1 + this.#below(RECORDER_SLOTS)), BigInt(1 + this.#below(2 ** 31)));
      return { to: contracts.recorder, input, value: 0n, gasLimit: 120_000n };
    }
    if (kind < 0.9) {
      const input = transferInput(recipient(this.#below(PLAIN_RECIPIENTS)), BigInt(this.#below(1000)));
      return { to: contracts.token, input, value: 0n, gasLimit: 120_000n };
    }
    if (kind < 0.98) {
      return {
        to: contracts.spinner,
        input: spinInput(BigInt(1 + this.#below(ROUNDS_MAX))),
        value: 0n,
        gasLimit: 1_200_000n,
      };
    }
    const sizeMax = this.#options.hasStateGas ? BIG_CODE_MAX_WITH_STATE_GAS : BIG_CODE_MAX;
    const size = BIG_CODE_MIN + this.#below(sizeMax - BIG_CODE_MIN);
    return { to: null, input: bigDeployment(size, this.#below(2 ** 31)), value: 0n, gasLimit: 7_000_000n };
  }

  #plainContent(): Content {
    return {
      to: recipient(this.#below(PLAIN_RECIPIENTS)),
      input: "0x",
      value: BigInt(1 + this.#below(1_000_000)),
      gasLimit: 21_000n,
    };
  }

  #below(limit: number): number {
    return Math.floor(this.#options.random() * limit);
  }

  #sign(nonce: bigint, replaced: number, { to, input, value, gasLimit }: Content): SentTransaction {
    const { privateKey, chainId, hasStateGas } = this.#options;
    const codeBytes = to === null ? BigInt(input.length / 2) : 0n;
    const stateGas = hasStateGas ? STATE_GAS + codeBytes * CODE_BYTE_GAS : 0n;
    const raise = (fee: bigint) => fee + (fee * BUMP_PERCENT * BigInt(replaced)) / 100n;
    const { hash, raw } = signTransaction(
      {
        type: 2,
        chainId,
        nonce,
        gasLimit: gasLimit + stateGas,
        maxFeePerGas: raise(MAX_FEE),
        maxPriorityFeePerGas: raise(TIP),
        to,
        value,
        data: inputBytes(input),
        accessList: [],
      },
      privateKey,
    );
    return { hash, raw: bytesToHex(raw) };
  }
}

function recipient(index: number): Address {
  return parseAddress(`0x${(0x7000 + index).toString(16).padStart(40, "0")}`);
}
