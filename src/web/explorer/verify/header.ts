import { NodeError } from "../../../base/errors.ts";
import { HISTORY_SERVE_WINDOW, HISTORY_STORAGE_ADDRESS } from "../../../base/params/gas.ts";
import { type Hash, hashFromBigint } from "../../../base/primitives/hash.ts";
import type { Header } from "../../../base/types/header.ts";
import { headerHash } from "../../../base/types/header-codec.ts";
import { type HeaderReaders, headerFromJson } from "../../../base/types/header-json.ts";
import { InvalidProofError } from "../../../store/trie/proof.ts";
import { provenAccount, provenSlot } from "./account.ts";
import {
  addressOf,
  bigintOf,
  bytesOf,
  compare,
  falseVerdict,
  hashOf,
  type Json,
  numberOf,
  unverified,
  VERIFIED,
  type Verdict,
  verdictOf,
  worstOf,
} from "./verdict.ts";

/** Each throws InvalidHexError. */
const READERS: HeaderReaders = {
  hash: hashOf,
  address: addressOf,
  bytes: bytesOf,
  word: bigintOf,
  gas: bigintOf,
  number: numberOf,
};

/**
 * The header of a block from `eth_getBlockByNumber`.
 * @throws InvalidHexError
 */
export function headerOf(block: Json): Header {
  return headerFromJson(block, READERS);
}

/** The hash or number in a request for a block. */
export type Asked = { readonly hash: Hash } | { readonly number: number };

/** Whether the fields of `block` hash to its `hash`, and it is the requested block. */
export function checkHeader(block: Json, asked?: Asked): Verdict {
  return verdictOf(() => {
    const header = headerOf(block);
    const hash = headerHash(header);
    return worstOf([
      compare("block hash", block["hash"], hash),
      asked && "hash" in asked ? compare("block hash", asked.hash, hash) : VERIFIED,
      asked && "number" in asked ? compare("block number", asked.number, header.number) : VERIFIED,
    ]);
  });
}

/** A block that the user trusts: the first one of the chain that this browser has seen, or a pinned one. */
export type TrustedBlock = { readonly number: number; readonly hash: Hash };

/** The node's reads that linking needs. */
export type ChainReads = {
  /** @throws errors of the node */
  blockByHash(hash: Hash): Promise<Json | null>;
  proof(account: string, slots: readonly Hash[], block: Hash): Promise<Json>;
};

/** Parents to follow one by one: as much work as one proof. */
const PARENTS_MAX = 16;
/** Proofs from one block to the trusted one: 33 million blocks, more than any chain has today. */
const HOPS_MAX = 4096;

/**
 * Whether the block with `header`, which has `hash`, is in the same chain as `trusted`: by parent hashes if they are close, else by the hashes
 * of older blocks in the younger one's state (EIP-2935), 8191 blocks per proof.
 */
export async function checkChain(block: Json, trusted: TrustedBlock, reads: ChainReads): Promise<Verdict> {
  const number = headerOf(block).number;
  const hash = block["hash"] as Hash;
  if (number === trusted.number) {
    return compare(`hash of block ${number}, which this browser trusts`, hash, trusted.hash);
  }
  const isOlder = number < trusted.number;
  const target = isOlder ? { number, hash } : trusted;
  if (Math.abs(number - trusted.number) > HOPS_MAX * HISTORY_SERVE_WINDOW) {
    return unverified(`block ${trusted.number}, which this browser trusts, is too far away`);
  }
  try {
    return isOlder
      ? await linkDown(await verifiedBlock(trusted, reads), target, reads)
      : await linkDown(block, target, reads);
  } catch (error) {
    if (error instanceof NodeError) return falseVerdict(error.message);
    const reason = error instanceof Error ? error.message : String(error);
    return unverified(`the way to the trusted block ${trusted.number} is missing: ${reason}`);
  }
}

/**
 * Whether `younger`, whose header is verified, descends from `target`. Each round gets closer: a fetched block must have the requested number,
 * whatever headers a node makes up.
 */
async function linkDown(younger: Json, target: TrustedBlock, reads: ChainReads): Promise<Verdict> {
  let block = younger;
  while (true) {
    const header = headerOf(block);
    const distance = header.number - target.number;
    if (distance === 1) return compare(`parent of block ${header.number}`, target.hash, header.parentHash);
    if (distance <= PARENTS_MAX) {
      block = await verifiedBlock({ number: header.number - 1, hash: header.parentHash }, reads);
      continue;
    }
    const number = Math.max(target.number, header.number - HISTORY_SERVE_WINDOW);
    const hash = await ancestorHash(block, number, reads);
    if (number === target.number) return compare(`hash of block ${number}`, target.hash, hash);
    block = await verifiedBlock({ number, hash }, reads);
  }
}

/** Hash of block `number`, proven from the state after `block`. */
async function ancestorHash(block: Json, number: number, reads: ChainReads): Promise<Hash> {
  const { stateRoot } = headerOf(block);
  const slot = hashFromBigint(BigInt(number % HISTORY_SERVE_WINDOW));
  const answer = await reads.proof(HISTORY_STORAGE_ADDRESS, [slot], block["hash"] as Hash);
  const { storageRoot } = provenAccount(stateRoot, HISTORY_STORAGE_ADDRESS, answer);
  const [storage] = answer["storageProof"] as readonly Json[];
  const hash = provenSlot(storageRoot, slot, storage ?? {});
  if (BigInt(hash) === 0n) throw new Error(`the state does not hold the hash of block ${number}`);
  return hash;
}

/**
 * The block with that hash and number, its header recomputed. @throws InvalidProofError if the node has no such block, or a different one
 */
async function verifiedBlock({ number, hash }: TrustedBlock, reads: ChainReads): Promise<Json> {
  const block = await reads.blockByHash(hash);
  if (block === null) throw new InvalidProofError(`the node lacks block ${hash} of this chain`);
  const verdict = worstOf([checkHeader(block, { hash }), checkHeader(block, { number })]);
  if (verdict.kind !== "verified") throw new InvalidProofError(verdict.reason);
  return block;
}
