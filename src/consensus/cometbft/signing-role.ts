import { addressOfCompressedKey } from "../../base/crypto/compressed-public-key.ts";
import { invariant } from "../../base/errors.ts";
import type { Address } from "../../base/primitives/address.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { BlockInput } from "../application.ts";
import type { BlockWatcher } from "./abci/block-watchers.ts";
import type { EngineKey } from "./home/config.ts";
import { KeyGuard } from "./key-guard.ts";
import type { EngineRound, EngineStatus } from "./rpc/answers.ts";
import { adoptNextKey, readNextKey, readValidatorKey, type ValidatorKey } from "./signing/key-files.ts";
import { forgetRestored } from "./signing/restored.ts";
import { comparePositions, raiseSigningState, readSigningState, SIGNING_STEPS } from "./signing/signing-state.ts";

/** A signer in a separate process, which connects to CometBFT. */
export type RemoteSigner = {
  /** tcp://host:port or unix://path, where CometBFT listens. */
  readonly address: string;
  /** Its compressed public key, 33 bytes. */
  readonly publicKey: Uint8Array;
};

type SigningRoleOptions = {
  /** CometBFT's home. */
  readonly directory: string;
  /** Blocks without a signature of the key before it signs; 0: it signs at once. */
  readonly guardBlocks: number;
  readonly blockTimeMs: number;
  /** Undefined: the key is in the home. */
  readonly remoteSigner: RemoteSigner | undefined;
};

type SigningRoleModules = {
  /** The validators after the newest block. */
  readonly signers: () => readonly Address[];
  /** Called when the validator has another key. */
  readonly onNewKey: (old: Address, address: Address) => void;
  /** Height of the newest block. */
  readonly height: () => number;
  /** Unix milliseconds. */
  readonly wallClock: () => number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly log: Logger;
};

/** The key may sign, but CometBFT does not run with it yet. */
const NEXT_START = "CometBFT restarts with its key";

/** CometBFT as its RPC reports it. */
type SeenEngine = {
  readonly status: EngineStatus | undefined;
  readonly round: EngineRound | undefined;
  readonly peerCount: number;
};

/**
 * Chooses the key that CometBFT runs with. After the start of a node CometBFT follows, with a key that is in no validator set, until the
 * validator's own key is in the set and may sign (`KeyGuard`). CometBFT reads key and signing state only at its start, so each change is a
 * restart.
 */
export class SigningRole implements BlockWatcher {
  readonly #options: SigningRoleOptions;
  readonly #modules: SigningRoleModules;
  readonly #guard: KeyGuard;
  #key: ValidatorKey;
  #signs: boolean;
  /** A validator that does not sign yet. */
  #isWaiting = false;
  /** CometBFT's current key; undefined while that is the follower's. */
  #running: Address | undefined;
  #wrongKey: string | undefined;

  /** @throws EngineHomeError */
  constructor(options: SigningRoleOptions, modules: SigningRoleModules) {
    const { directory, guardBlocks: blocks, blockTimeMs, remoteSigner } = options;
    this.#options = options;
    this.#modules = modules;
    this.#signs = blocks === 0;
    this.#key = remoteSigner === undefined ? readValidatorKey(directory) : keyOf(remoteSigner);
    this.#guard = new KeyGuard({ blocks, blockTimeMs, signed: readSigningState(directory) }, modules);
    this.#guard.watch(this.#key.address);
  }

  /** The validator's own address, even while it does not sign. */
  get address(): Address {
    return this.#key.address;
  }

  finalized(block: BlockInput): void {
    if (!this.#signs) this.#guard.finalized(block);
  }

  /** @returns whether CometBFT must be restarted with another key */
  observe({ status, round, peerCount }: SeenEngine): boolean {
    const signers = this.#modules.signers();
    if (this.#signs) {
      this.#compareKey(status, signers);
      return this.#isIn(signers) && this.#running !== (this.#nextKeyIn(signers)?.address ?? this.address);
    }
    const isAlone = signers.length === 1 && signers[0] === this.address;
    this.#guard.observe(
      status && round && { isCatchingUp: status.isCatchingUp, peerCount, isAlone, votes: round.votes },
    );
    this.#isWaiting = this.#isIn(signers);
    if (!this.#isWaiting || this.#guard.reason !== undefined) return false;
    this.#isWaiting = false;
    this.#signs = true;
    this.#modules.log.info("the validator's key now signs", { address: this.address });
    return true;
  }

  /**
   * The key for CometBFT's next start; prepares the key files for it.
   * @throws EngineHomeError, and errors of the disk
   */
  prepare(): EngineKey {
    const { guardBlocks, remoteSigner } = this.#options;
    if (!this.#signs) return { kind: "none" };
    if (remoteSigner === undefined) this.#adoptNextKey();
    const hasFollowed = this.#running === undefined && guardBlocks > 0;
    this.#running = this.address;
    if (hasFollowed) {
      // A remote signer stores its own signing state.
      if (remoteSigner === undefined) this.#raiseSigningState();
      forgetRestored(this.#options.directory);
    }
    return remoteSigner === undefined ? { kind: "file" } : { kind: "remote", address: remoteSigner.address };
  }

  /** Why this validator's key does not sign; undefined if it does, or if this node is not a validator. */
  get reason(): string | undefined {
    if (this.#signs) return this.#wrongKey;
    return this.#isWaiting ? (this.#guard.reason ?? NEXT_START) : undefined;
  }

  /** Where CometBFT waits for a remote signer before it starts; undefined if it does not. */
  get awaitedSigner(): string | undefined {
    return this.#running === undefined ? undefined : this.#options.remoteSigner?.address;
  }

  /** A validator that may not sign yet must be polled often. */
  get isWaiting(): boolean {
    return this.#isWaiting;
  }

  /** Either key counts: the current or the next one. */
  #isIn(signers: readonly Address[]): boolean {
    return signers.includes(this.address) || this.#nextKeyIn(signers) !== undefined;
  }

  /** The key that will replace this one, if it is already a validator's. */
  #nextKeyIn(signers: readonly Address[]): ValidatorKey | undefined {
    if (this.#options.remoteSigner !== undefined) return undefined;
    const next = readNextKey(this.#options.directory);
    if (next === undefined) return undefined;
    this.#guard.watch(next.address);
    return signers.includes(next.address) ? next : undefined;
  }

  #adoptNextKey(): void {
    const next = this.#nextKeyIn(this.#modules.signers());
    if (next === undefined) return;
    const { directory } = this.#options;
    const old = this.address;
    adoptNextKey(directory);
    this.#key = readValidatorKey(directory);
    invariant(this.#key.address === next.address, "the next key must be the validator's now");
    this.#modules.log.info("the validator has a new key", { old, address: this.address });
    if (old !== this.address) this.#modules.onNewKey(old, this.address);
  }

  /** Prevents CometBFT from signing anything that the network has seen signed, or for existing blocks. */
  #raiseSigningState(): void {
    const head = { height: this.#modules.height(), round: 0, step: SIGNING_STEPS.precommit };
    const { signed } = this.#guard;
    const position = comparePositions(head, signed) > 0 ? head : signed;
    if (raiseSigningState(this.#options.directory, position)) {
      this.#modules.log.info("raised the signing state to the network's", position);
    }
  }

  #compareKey(status: EngineStatus | undefined, signers: readonly Address[]): void {
    if (this.#options.remoteSigner === undefined || status === undefined) return;
    const found = `0x${status.validatorAddress.toLowerCase()}`;
    const isOwn = found === this.address || !signers.includes(this.address);
    this.#wrongKey = isOwn
      ? undefined
      : `the remote signer has the key of ${found}, but cometbft.validator-public-key is the key of ${this.address}`;
  }
}

function keyOf({ publicKey }: RemoteSigner): ValidatorKey {
  const address = addressOfCompressedKey(publicKey);
  invariant(address !== undefined, "the public key of a remote signer must be checked before");
  return { publicKey, address };
}
