import { invariant } from "../../base/errors.ts";
import { type Address, addressFromBytes, addressToBytes } from "../../base/primitives/address.ts";
import { bigintToBytes, bytesToBigint } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes, ZERO_HASH } from "../../base/primitives/hash.ts";
import { decodeRlp, encodeRlp, type RlpItem } from "../../base/primitives/rlp.ts";
import type { AccountWriter } from "../../evm/machine/state-port.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import { readAccountBytes, writeAccountBytes } from "./account-bytes.ts";

/** The account whose storage holds what the validators agreed on: "evmint.rules" in ASCII. */
export const RULES_ADDRESS = "0x65766d696e742e72756c65730000000000000000" as Address;

/** A parameter of the chain and its value: a fork as its field in genesis files (`osakaTime`, Unix seconds), or a row of `PARAMETERS`. */
export type Parameter = { readonly name: string; readonly value: bigint };

/** A vote for a value, with its author and the block it is in. */
export type CastParameterVote = Parameter & { readonly signer: Address; readonly block: number };

/** What the validators agreed on up to some block, and the votes that are open. */
export type Agreement = {
  /** In the order of their first agreement, which for forks is the order of their times. */
  readonly values: readonly Parameter[];
  /** In the order in which they were cast. */
  readonly votes: readonly CastParameterVote[];
  /** The starting set from which the votes count (`voting/starting-set.ts`). */
  readonly startingSetHash: Hash;
};

/** What a chain has agreed on before the first vote. */
export const NO_AGREEMENT: Agreement = { values: [], votes: [], startingSetHash: ZERO_HASH };

/** Every name of a fork ends so; that of no other parameter does. */
const FORK_NAME = /^[a-z][a-zA-Z0-9]{0,26}Time$/;

export function isForkName(name: string): boolean {
  return FORK_NAME.test(name);
}

/** Rules about which open votes differ, with the values: only votes for the same value count together. */
export function differingValues(votes: readonly Parameter[]): ReadonlyMap<string, readonly bigint[]> {
  const values = new Map<string, Set<bigint>>();
  for (const { name, value } of votes) values.set(name, (values.get(name) ?? new Set()).add(value));
  return new Map([...values].filter(([, each]) => each.size > 1).map(([name, each]) => [name, [...each]]));
}

/** What is agreed in `state`. */
export function readAgreement(state: Pick<StateReader, "storage">): Agreement {
  const bytes = readAccountBytes(state, RULES_ADDRESS);
  return bytes === undefined ? NO_AGREEMENT : decode(bytes);
}

/**
 * Writes it, outside of any transaction:
 *
 *     RLP([startingSetHash, [[name, value] …], [[signer, block, name, value] …]])
 */
export function writeAgreement(agreement: Agreement, state: AccountWriter): void {
  writeAccountBytes(state, RULES_ADDRESS, encode(agreement));
}

function encode({ startingSetHash, values, votes }: Agreement): Uint8Array {
  return encodeRlp([
    hashToBytes(startingSetHash),
    values.map(parameterItem),
    votes.map(({ signer, block, ...parameter }) => [
      addressToBytes(signer),
      bigintToBytes(BigInt(block)),
      ...parameterItem(parameter),
    ]),
  ]);
}

function decode(bytes: Uint8Array): Agreement {
  const [hash, values, votes] = decodeRlp(bytes) as readonly [Uint8Array, readonly RlpItem[], readonly Uint8Array[][]];
  return {
    startingSetHash: hashFromBytes(hash),
    values: values.map(storedParameter),
    votes: votes.map(([signer, block, ...parameter]) => ({
      ...storedParameter(parameter),
      signer: addressFromBytes(signer!),
      block: Number(bytesToBigint(block!)),
    })),
  };
}

function storedParameter(item: RlpItem): Parameter {
  const parameter = parameterOfItem(item);
  invariant(parameter, "a stored parameter decodes");
  return parameter;
}

const NAME = /^[a-z][a-zA-Z0-9]{0,31}$/;
/** Unsigned, 8 bytes: wei, gas, milliseconds or seconds. */
const VALUE_BYTES_MAX = 8;

/** `[name, value]`: ASCII, and an integer without leading zeros. */
export function parameterItem({ name, value }: Parameter): readonly Uint8Array[] {
  return [new TextEncoder().encode(name), bigintToBytes(value)];
}

/** undefined for what `parameterItem` never makes. Names of newer programs are read too. */
export function parameterOfItem(item: RlpItem): Parameter | undefined {
  if (item instanceof Uint8Array || item.length !== 2) return undefined;
  const [nameBytes, value] = item;
  if (!(nameBytes instanceof Uint8Array && value instanceof Uint8Array)) return undefined;
  const name = String.fromCharCode(...nameBytes.subarray(0, 33));
  if (!NAME.test(name) || value.length > VALUE_BYTES_MAX || value[0] === 0) return undefined;
  return { name, value: bytesToBigint(value) };
}
