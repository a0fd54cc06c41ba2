import { HARDFORKS, type Hardfork, RULES_AT } from "../../../base/params/hardforks.ts";
import { type Address, parseAddress } from "../../../base/primitives/address.ts";
import type { Precompile } from "../state-port.ts";
import { kzgPointEvaluation } from "./0a-kzg-point-evaluation.ts";
import { bls12G1Add } from "./0b-bls12-g1add.ts";
import { bls12G1Msm } from "./0c-bls12-g1msm.ts";
import { bls12G2Add } from "./0d-bls12-g2add.ts";
import { bls12G2Msm } from "./0e-bls12-g2msm.ts";
import { bls12Pairing } from "./0f-bls12-pairing.ts";
import { ecrecover } from "./01-ecrecover.ts";
import { sha256 } from "./02-sha256.ts";
import { ripemd160 } from "./03-ripemd160.ts";
import { identity } from "./04-identity.ts";
import { modexpBerlin, modexpByzantium, modexpOsaka } from "./05-modexp.ts";
import { bn254AddByzantium, bn254AddIstanbul } from "./06-bn254-add.ts";
import { bn254MulByzantium, bn254MulIstanbul } from "./07-bn254-mul.ts";
import { bn254PairingByzantium, bn254PairingIstanbul } from "./08-bn254-pairing.ts";
import { blake2f } from "./09-blake2f.ts";
import { bls12MapFpToG1 } from "./10-bls12-map-fp-to-g1.ts";
import { bls12MapFp2ToG2 } from "./11-bls12-map-fp2-to-g2.ts";
import { p256Verify } from "./100-p256verify.ts";

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
  ["cancun", 0x0a, kzgPointEvaluation],
  ["prague", 0x0b, bls12G1Add],
  ["prague", 0x0c, bls12G1Msm],
  ["prague", 0x0d, bls12G2Add],
  ["prague", 0x0e, bls12G2Msm],
  ["prague", 0x0f, bls12Pairing],
  ["prague", 0x10, bls12MapFpToG1],
  ["prague", 0x11, bls12MapFp2ToG2],
  ["osaka", 0x05, modexpOsaka],
  ["osaka", 0x100, p256Verify],
];

const BY_HARDFORK: ReadonlyMap<Hardfork, ReadonlyMap<Address, Precompile>> = new Map(
  HARDFORKS.map((hardfork) => [hardfork, new Map(scheduled(hardfork))]),
);

/** The precompiled contracts of `hardfork` by address, lowest first; always the same object. */
export function precompilesAt(hardfork: Hardfork): ReadonlyMap<Address, Precompile> {
  return BY_HARDFORK.get(hardfork)!;
}

function scheduled(hardfork: Hardfork): (readonly [Address, Precompile])[] {
  return SCHEDULE.filter(([since]) => RULES_AT[hardfork][since]).map(
    ([, address, precompile]) => [precompileAddress(address), precompile] as const,
  );
}

function precompileAddress(value: number): Address {
  return parseAddress(`0x${value.toString(16).padStart(40, "0")}`);
}
