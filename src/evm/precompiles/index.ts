import { HARDFORKS, type Hardfork, isAtLeast } from "../../params/hardforks.ts";
import { type Address, parseAddress } from "../../primitives/address.ts";
import type { Precompile } from "../evm.ts";
import { ecrecover } from "./01-ecrecover.ts";
import { sha256 } from "./02-sha256.ts";
import { ripemd160 } from "./03-ripemd160.ts";
import { identity } from "./04-identity.ts";
import { modexpBerlin, modexpByzantium, modexpOsaka } from "./05-modexp.ts";
import { bn254AddByzantium, bn254AddIstanbul } from "./06-bn254-add.ts";
import { bn254MulByzantium, bn254MulIstanbul } from "./07-bn254-mul.ts";
import { bn254PairingByzantium, bn254PairingIstanbul } from "./08-bn254-pairing.ts";
import { blake2f } from "./09-blake2f.ts";

/** Which contract a fork puts at which address; a later line takes the place of an earlier one. */
const SCHEDULE: readonly (readonly [since: Hardfork, address: number, precompile: Precompile])[] = [
  ["frontier", 0x01, ecrecover],
  ["frontier", 0x02, sha256],
  ["frontier", 0x03, ripemd160],
  ["frontier", 0x04, identity],
  ["byzantium", 0x05, modexpByzantium],
  ["byzantium", 0x06, bn254AddByzantium],
  ["byzantium", 0x07, bn254MulByzantium],
  ["byzantium", 0x08, bn254PairingByzantium],
  ["istanbul", 0x06, bn254AddIstanbul],
  ["istanbul", 0x07, bn254MulIstanbul],
  ["istanbul", 0x08, bn254PairingIstanbul],
  ["istanbul", 0x09, blake2f],
  ["berlin", 0x05, modexpBerlin],
  ["osaka", 0x05, modexpOsaka],
];

const BY_HARDFORK: ReadonlyMap<Hardfork, ReadonlyMap<Address, Precompile>> = new Map(
  HARDFORKS.map((hardfork) => [hardfork, new Map(scheduled(hardfork))]),
);

/** The precompiled contracts of `hardfork` by address, lowest first; always the same object. */
export function precompilesAt(hardfork: Hardfork): ReadonlyMap<Address, Precompile> {
  return BY_HARDFORK.get(hardfork)!;
}

function scheduled(hardfork: Hardfork): (readonly [Address, Precompile])[] {
  return SCHEDULE.filter(([since]) => isAtLeast(hardfork, since)).map(
    ([, address, precompile]) => [precompileAddress(address), precompile] as const,
  );
}

function precompileAddress(value: number): Address {
  return parseAddress(`0x${value.toString(16).padStart(40, "0")}`);
}
