import { NodeError } from "../../base/errors.ts";
import type { Hash } from "../../base/primitives/hash.ts";

export const CALL_BUNDLE_LIMITS = {
  /** Calls of a bundle: each becomes a transaction, and waits for the one before. */
  callsMax: 100,
  /** Bundles whose state is remembered; the oldest is forgotten first. */
  bundlesMax: 1_000,
  /** Letters of an id that the caller chooses: EIP-5792 has 4096 bytes, in hex. */
  idLengthMax: 8_194,
} as const;

/** EIP-5792: a bundle with this id is known already. */
class DuplicateBundleError extends NodeError {
  readonly code = "WALLET_DUPLICATE_BUNDLE";
  constructor(id: string) {
    super(`there is a bundle of calls with this id: ${id}`, { id });
  }
}

/** EIP-5792: the bundle is unknown. */
class UnknownBundleError extends NodeError {
  readonly code = "WALLET_UNKNOWN_BUNDLE";
  constructor(id: string) {
    super(`no bundle of calls with this id: ${id}`, { id });
  }
}

/** One call to `wallet_sendCalls`, as far as it has come. */
export type CallBundle = {
  readonly id: string;
  /** Of the calls that were submitted, in their order. */
  readonly hashes: Hash[];
  /** All calls are sent, or one could not be. */
  isComplete: boolean;
  /** Why a later call could not be sent. */
  fault: unknown;
  /** Aborted when the bundle is forgotten: it is not waited for any more. */
  readonly forgotten: AbortController;
};

/** The bundles of a dev chain, in order of their arrival; forgotten when the node ends, as a wallet's are when it is closed. */
export class CallBundles {
  readonly #bundles = new Map<string, CallBundle>();

  /** @throws DuplicateBundleError */
  add(id: string): CallBundle {
    if (this.#bundles.has(id)) throw new DuplicateBundleError(id);
    const [oldest] = this.#bundles.values();
    if (oldest !== undefined && this.#bundles.size >= CALL_BUNDLE_LIMITS.bundlesMax) this.remove(oldest);
    const forgotten = new AbortController();
    const bundle: CallBundle = { id, hashes: [], isComplete: false, fault: undefined, forgotten };
    this.#bundles.set(id, bundle);
    return bundle;
  }

  remove({ id, forgotten }: CallBundle): void {
    this.#bundles.delete(id);
    forgotten.abort();
  }

  /** @throws UnknownBundleError */
  get(id: string): CallBundle {
    const bundle = this.#bundles.get(id);
    if (bundle === undefined) throw new UnknownBundleError(id);
    return bundle;
  }
}
