import type { Hash } from "../../primitives/hash.ts";
import type { ChainReads, TrustedBlock } from "../verify/chain.ts";
import type { Json } from "../verify/json.ts";
import type { TrustedValidators } from "../verify/signatures.ts";
import { call } from "./rpc.ts";
import { readStored, removeStored, writeStored } from "./stored.ts";

/** The block this browser trusts of a chain: the first it has seen, until the user pins another. */
export type Trust = TrustedBlock & {
  /** Unix seconds */
  readonly since: number;
  readonly isPinned: boolean;
};

const validatorsKeyOf = (genesis: Hash) => `validators:${genesis}`;
const keyOf = (genesis: Hash) => `trusted:${genesis}`;

/** What tells chains apart: the hash of block 0, or the chain id where the node has removed its first blocks. */
async function genesisHash(): Promise<Hash> {
  const block = await call<Json | null>("eth_getBlockByNumber", "0x0", false);
  if (block !== null) return block["hash"] as Hash;
  return call<Hash>("eth_chainId");
}

let genesis: Promise<Hash> | undefined;

function knownGenesis(): Promise<Hash> {
  genesis ??= genesisHash();
  return genesis;
}

/** The trusted block; `seen` becomes it where there is none yet. */
export async function trustOf(seen: TrustedBlock): Promise<Trust> {
  const key = keyOf(await knownGenesis());
  const stored = readStored<Trust>(key);
  if (stored !== undefined) return stored;
  return store(key, seen, false);
}

export async function currentTrust(): Promise<Trust | undefined> {
  return readStored<Trust>(keyOf(await knownGenesis()));
}

/** Trusts `block` from now on, and the first validators that are seen to sign after this. */
export async function pin(block: TrustedBlock): Promise<Trust> {
  const genesis = await knownGenesis();
  removeStored(validatorsKeyOf(genesis));
  return store(keyOf(genesis), block, true);
}

/** undefined before the first signed block that is seen */
export async function trustedValidators(): Promise<TrustedValidators | undefined> {
  return readStored<TrustedValidators>(validatorsKeyOf(await knownGenesis()));
}

export async function trustValidators(validators: TrustedValidators): Promise<void> {
  writeStored(validatorsKeyOf(await knownGenesis()), validators);
}

function store(key: string, { number, hash }: TrustedBlock, isPinned: boolean): Trust {
  const trust = { number, hash, isPinned, since: Math.floor(Date.now() / 1000) };
  writeStored(key, trust);
  return trust;
}

export const CHAIN_READS: ChainReads = {
  blockByHash: (hash) => call("eth_getBlockByHash", hash, false),
  proof: (account, slots, blockHash) => call("eth_getProof", account, slots, { blockHash }),
};
