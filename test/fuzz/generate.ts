import { HARDFORKS, type Hardfork, RULES_AT } from "../../src/base/params/hardforks.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import type { AccessListEntry, FuzzAccount, FuzzCase } from "./case.ts";
import { createCodeWriter } from "./code-writer.ts";
import { createRandom, type Random } from "./random.ts";
import { CALLER, COINBASE } from "./run.ts";

const CONTRACTS = [1, 2, 3].map((i) => `0x${"c0de".repeat(9)}000${i}` as Address);
const DELEGATED = `0x${"de1e".repeat(10)}` as Address;
const EMPTY = `0x${"e0".repeat(20)}` as Address;
const PLAIN = `0x${"ba1a".repeat(10)}` as Address;

/** Those in which the oracle is complete; `evm t8n` judges Amsterdam (`generate-block.ts`). */
export const ORACLE_FORKS = HARDFORKS.filter((name) => !RULES_AT[name].amsterdam);

/** Three contracts that call each other and what else there is, and a message to the first or a creation. All from `seed`. */
export function generateCase(seed: number, fork?: Hardfork): FuzzCase {
  const random = createRandom(seed);
  const hardfork = fork ?? random.weighted(ORACLE_FORKS.map((name, i) => [1 + i, name] as const));
  const delegates = RULES_AT[hardfork].prague;
  const targets = [
    ...CONTRACTS,
    ...CONTRACTS,
    CALLER,
    COINBASE,
    EMPTY,
    PLAIN,
    ...(delegates ? [DELEGATED] : []),
    ...precompileAddresses(random),
  ];
  const code = (length: number) => {
    const writer = createCodeWriter({ random, targets, hardfork });
    writer.program(length);
    return writer.items;
  };
  const accounts: FuzzAccount[] = CONTRACTS.map((address) => ({
    address,
    balance: random.pick(["0", "1", "1000000"]),
    nonce: "1",
    code: code(5 + random.int(40)),
    storage: storage(random),
  }));
  accounts.push({ address: PLAIN, balance: "5", nonce: "0", code: [], storage: {} });
  if (delegates) {
    const target = random.pick([...CONTRACTS, EMPTY, DELEGATED, precompile(4)]);
    accounts.push({
      address: DELEGATED,
      balance: "9",
      nonce: "1",
      code: [`ef0100${target.slice(2)}`],
      storage: {},
    });
  }
  const creates = random.chance(0.15);
  return {
    hardfork,
    accounts,
    to: creates ? null : CONTRACTS[0]!,
    initCode: creates ? code(5 + random.int(40)) : [],
    value: random.pick(["0", "0", "1", "1000"]),
    data: bytesToHex(random.bytes(random.int(70))),
    gas: (20_000 + random.int(random.pick([200_000, 1_000_000, 20_000_000]))).toString(),
    accessList: RULES_AT[hardfork].berlin ? accessList(random, targets) : [],
  };
}

export function accessList(random: Random, targets: readonly Address[]): AccessListEntry[] {
  const length = random.chance(0.7) ? 0 : random.int(4);
  return Array.from({ length }, () => ({
    address: random.pick(targets),
    slots: ["0", "1", "2", "3"].filter(() => random.chance(0.3)),
  }));
}

export function storage(random: Random): Record<string, string> {
  const slots: Record<string, string> = {};
  for (const slot of ["0", "1", "2"]) {
    if (random.chance(0.5))
      slots[slot] = random.pick([
        "1",
        "2",
        "115792089237316195423570985008687907853269984665640564039457584007913129639935",
      ]);
  }
  return slots;
}

export function precompileAddresses(random: Random): Address[] {
  return Array.from({ length: 3 }, () => precompile(random.pick([1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 16, 18, 0x100])));
}

export function precompile(number: number): Address {
  return `0x${number.toString(16).padStart(40, "0")}` as Address;
}
