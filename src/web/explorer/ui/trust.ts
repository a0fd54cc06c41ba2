import { NodeError } from "../../../base/errors.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { type ChainReads, checkHeader, type TrustedBlock } from "../verify/header.ts";
import { checkSignatures, type TrustedValidators } from "../verify/signatures.ts";
import { falseVerdict, hashOf, type Json, numberOf, textOf, unverified, type Verdict } from "../verify/verdict.ts";
import { count } from "./format.ts";
import { type Block, call, RpcError } from "./rpc.ts";
import { readStored, removeStored, writeStored } from "./stored.ts";

/** The block of a chain that this browser trusts: the first it has seen, until the user pins another. */
type Trust = TrustedBlock & {
  /** Unix seconds */
  readonly since: number;
  readonly isPinned: boolean;
};

/** The node's claims about its chain. */
type ChainIdentity = {
  /** QUANTITY */
  readonly chainId: string;
  /** The recomputed hash of its header; undefined if the node has removed its first blocks. */
  readonly genesis: Hash | undefined;
};

/** The basis of all marks. */
type Anchor =
  | { readonly kind: "trusted"; readonly trust: Trust }
  /** Nothing the node shows can be verified; the verdict says why. */
  | { readonly kind: "refused"; readonly verdict: Verdict };

type Pin = TrustedBlock & ChainIdentity & { readonly since: number };

/** Values by key, stored for the pages' origin, and so separately for each node. */
type TrustStorage = {
  read<T>(key: string): T | undefined;
  write(key: string, value: unknown): void;
  remove(key: string): void;
};

type TrustModules = {
  readonly storage: TrustStorage;
  /** @throws errors of the node, and NodeError if it contradicts itself */
  readonly identify: () => Promise<ChainIdentity>;
  /** Unix seconds */
  readonly now: () => number;
};

const PINS = "pins";
const seenKey = ({ chainId, genesis }: ChainIdentity) => `seen:${chainId}:${genesis ?? ""}`;
const validatorsKey = ({ chainId, genesis }: ChainIdentity) => `validators:${chainId}:${genesis ?? ""}`;

/**
 * The blocks and validators of a node's chains that a browser trusts. A pin belongs to its chain id, whatever genesis block the node claims now:
 * otherwise a node could escape the pin by claiming another one.
 */
export class TrustAnchors {
  readonly #modules: TrustModules;
  #identity: Promise<ChainIdentity> | undefined;

  constructor(modules: TrustModules) {
    this.#modules = modules;
  }

  /** The anchor of the chain; `seen` becomes the anchor if nothing was pinned or seen before. @throws errors of the node */
  async anchorFor(seen: TrustedBlock): Promise<Anchor> {
    const { storage, now } = this.#modules;
    const known = await this.current();
    if (known !== undefined) return known;
    const identity = await this.#known();
    const trust = { number: seen.number, hash: seen.hash, isPinned: false, since: now() };
    storage.write(seenKey(identity), trust);
    return { kind: "trusted", trust };
  }

  /** undefined if no block of this chain was seen. @throws errors of the node */
  async current(): Promise<Anchor | undefined> {
    let identity: ChainIdentity;
    try {
      identity = await this.#known();
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      return { kind: "refused", verdict: falseVerdict(error.message) };
    }
    const pins = this.#pins();
    const pin = pins.find(({ chainId }) => chainId === identity.chainId);
    if (pin !== undefined) return anchorOf(pin, identity);
    if (pins.length > 0) {
      const pinned = pins.map(({ chainId }) => Number(chainId)).join(", ");
      const reason = `a block of chain ${pinned} is pinned here, and none of chain ${Number(identity.chainId)}`;
      return { kind: "refused", verdict: unverified(reason) };
    }
    const trust = this.#modules.storage.read<Trust>(seenKey(identity));
    return trust && { kind: "trusted", trust };
  }

  /** Trusts `block` from now on, and the first validators seen to sign after this. @throws errors of the node, NodeError */
  async pin({ number, hash }: TrustedBlock): Promise<void> {
    const { storage, now } = this.#modules;
    const identity = await this.#known();
    const others = this.#pins().filter(({ chainId }) => chainId !== identity.chainId);
    storage.remove(validatorsKey(identity));
    storage.write(PINS, [...others, { ...identity, number, hash, since: now() }]);
  }

  /** undefined before the first signed block */
  async validators(): Promise<TrustedValidators | undefined> {
    return this.#modules.storage.read(validatorsKey(await this.#known()));
  }

  async trustValidators(validators: TrustedValidators): Promise<void> {
    this.#modules.storage.write(validatorsKey(await this.#known()), validators);
  }

  #pins(): readonly Pin[] {
    return this.#modules.storage.read<Pin[]>(PINS) ?? [];
  }

  /** Requested once per page; again after a failure. */
  #known(): Promise<ChainIdentity> {
    this.#identity ??= this.#modules.identify().catch((error) => {
      this.#identity = undefined;
      throw error;
    });
    return this.#identity;
  }
}

function anchorOf({ number, hash, since, ...pinned }: Pin, now: ChainIdentity): Anchor {
  const isOther = pinned.genesis && now.genesis && pinned.genesis !== now.genesis;
  if (!isOther) return { kind: "trusted", trust: { number, hash, since, isPinned: true } };
  const reason = `block ${number} of another chain with this id is pinned here: its genesis block is ${pinned.genesis}, this node's ${now.genesis}`;
  return { kind: "refused", verdict: falseVerdict(reason) };
}

/**
 * The chain that a node claims to have.
 * @param genesis block 0 as returned by the node
 * @throws NodeError if the header does not have its claimed hash, or is not that of block 0
 */
export function identityOf(chainId: unknown, genesis: Json | null): ChainIdentity {
  const id = `0x${BigInt(checkedQuantity(chainId)).toString(16)}`;
  if (genesis === null) return { chainId: id, genesis: undefined };
  const verdict = checkHeader(genesis);
  if (verdict.kind !== "verified") throw new UnprovenGenesisError(verdict.reason);
  if (numberOf(genesis["number"]) !== 0) throw new UnprovenGenesisError("block 0 has a number");
  return { chainId: id, genesis: hashOf(genesis["hash"]) };
}

/** The node's block 0 contradicts its own hash or number. */
class UnprovenGenesisError extends NodeError {
  readonly code = "EXPLORER_UNPROVEN_GENESIS";
}

/** @throws UnprovenGenesisError */
function checkedQuantity(value: unknown): string {
  const text = textOf(value);
  if (/^0x[0-9a-f]{1,64}$/i.test(text)) return text;
  throw new UnprovenGenesisError("the chain id is no QUANTITY");
}

/** This browser's trust in the node that serves these pages. */
export const TRUST = new TrustAnchors({
  storage: { read: readStored, write: writeStored, remove: removeStored },
  async identify() {
    const [chainId, genesis] = await Promise.all([
      call<unknown>("eth_chainId"),
      call<Json | null>("eth_getBlockByNumber", "0x0", false),
    ]);
    return identityOf(chainId, genesis);
  },
  now: () => Math.floor(Date.now() / 1000),
});

export const CHAIN_READS: ChainReads = {
  blockByHash: (hash) => call("eth_getBlockByHash", hash, false),
  proof: (account, slots, blockHash) => call("eth_getProof", account, slots, { blockHash }),
};

/** Who decided a block, in words, and whether their signatures prove it; no verdict if blocks are not signed. */
export type Decision = { readonly text: string; readonly verdict: Verdict | undefined };

/** "Method not supported" (EIP-1474): the node's answer on a chain that a single process decides. */
const NOT_SUPPORTED = -32004;

/**
 * Checks the signatures that commit to `block`. undefined: this node has no method for them
 * @param header the verdict on its header
 */
export async function checkDecision(block: Block, header: Verdict): Promise<Decision | undefined> {
  const number = Number(block.number);
  let lightBlock: unknown;
  try {
    lightBlock = await call("clique_getLightBlock", block.number);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (error.isForbidden) return undefined;
    return error.code === NOT_SUPPORTED
      ? { text: "by one process: nobody else signs", verdict: undefined }
      : { text: "signatures are missing", verdict: unverified(error.message) };
  }
  if (lightBlock === null) {
    const verdict = unverified("the header that commits to a block is signed after it");
    return { text: `signatures come with block ${count(number + 1)}`, verdict };
  }
  const trusted = await TRUST.validators();
  const { verdict, signers, validators, percent, accepted } = checkSignatures(
    lightBlock,
    { number, hash: block.hash },
    trusted,
  );
  // On another chain than the trusted one, anybody may be a validator.
  if (header.kind === "verified" && accepted && isNewer(accepted, trusted)) {
    await TRUST.trustValidators(accepted);
  }
  return {
    text: `signed by ${count(signers)} of ${count(validators)} validators, ${percent} % of power`,
    verdict,
  };
}

function isNewer({ height }: TrustedValidators, trusted: TrustedValidators | undefined): boolean {
  return trusted === undefined || height > trusted.height;
}
