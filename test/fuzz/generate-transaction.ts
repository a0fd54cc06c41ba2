import { type Hardfork, RULES_AT } from "../../src/base/params/hardforks.ts";
import { type Address, ZERO_ADDRESS } from "../../src/base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../src/base/primitives/hash.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { createAddress } from "../../src/evm/machine/contract-creation.ts";
import type { FuzzAccount } from "./case.ts";
import { createCodeWriter } from "./code-writer.ts";
import { accessList, ORACLE_FORKS, precompile, precompileAddresses, storage } from "./generate.ts";
import { createRandom, type Random } from "./random.ts";
import { COINBASE } from "./run.ts";
import { type FuzzAuthorization, SENDERS, type TransactionCase } from "./transaction-case.ts";

const CONTRACTS = [1, 2, 3].map((i) => `0x${"c0de".repeat(9)}000${i}` as Address);
const EMPTY = `0x${"e0".repeat(20)}` as Address;
const PLAIN = `0x${"ba1a".repeat(10)}` as Address;
const ETHER = 10n ** 18n;
/** Sets slots 0 to 2 to 0: for refunds beyond their cap (EIP-3529). */
const CLEAR_SLOTS = ["6000", "6000", "55", "6000", "6001", "55", "6000", "6002", "55"];
const CHAIN_ID = "1337";
const UINT64_MAX = 2n ** 64n - 1n;

/** Forks are the likelier the newer: they have more rules. */
const FORKS = ORACLE_FORKS.map((name, i) => [RULES_AT[name].berlin ? i : (i + 1) / 8, name] as const);

/** Accounts that call each other, and a usually valid transaction to one of them. Everything depends only on `seed`. */
export function generateTransactionCase(seed: number, fork?: Hardfork): TransactionCase {
  const random = createRandom(seed);
  const hardfork = fork ?? random.weighted(FORKS);
  const nonce = random.weighted([
    [6, BigInt(random.int(3))],
    [1, 255n],
    [0.2, UINT64_MAX - 1n],
    [0.1, UINT64_MAX],
  ]);
  const created = createAddress(SENDERS[0]!, nonce);
  const coinbase = random.weighted([
    [6, COINBASE],
    [1, SENDERS[0]!],
    [1, CONTRACTS[1]!],
    [1, created],
    [0.5, precompile(3)],
  ]);
  const delegates = RULES_AT[hardfork].prague;
  const type = typeOf(random, hardfork);
  const creates = type < 3 ? random.chance(0.2) : random.chance(0.02);
  const targets = [
    ...CONTRACTS,
    ...CONTRACTS,
    ...SENDERS,
    ...(type === 4 ? [...SENDERS, ...SENDERS] : []),
    coinbase,
    EMPTY,
    PLAIN,
    created,
    ...precompileAddresses(random),
  ];
  const delegated = delegates ? [...SENDERS, ...SENDERS] : [];
  const code = (length: number) => {
    const writer = createCodeWriter({ random, targets, hardfork });
    writer.program(length);
    return writer.items;
  };
  const delegation = () => [`ef0100${delegate(random).slice(2)}`];
  const accounts: FuzzAccount[] = CONTRACTS.map((address) => {
    const clears = random.chance(0.3);
    return {
      address,
      balance: random.pick(["0", "1", "1000000"]),
      nonce: "1",
      code: [...(clears ? CLEAR_SLOTS : []), ...code(random.int(30))],
      storage: clears ? { "0": "1", "1": "2", "2": "3" } : storage(random),
    };
  });
  accounts.push(account(PLAIN, { balance: "5" }));
  const sender = account(SENDERS[0]!, { balance: (100n * ETHER).toString(), nonce });
  // There are no delegations before Prague: geth would accept such a sender, the library would not.
  accounts.push({
    ...sender,
    code: delegates && random.chance(0.15) ? delegation() : random.chance(0.02) ? ["00"] : [],
  });
  for (const address of SENDERS.slice(1)) {
    if (random.chance(0.4)) continue;
    const kind = random.weighted([
      [3, "plain"],
      [delegates ? 2 : 0, "delegated"],
      [0.7, "contract"],
    ] as const);
    accounts.push({
      ...account(address, { balance: "9", nonce: BigInt(random.int(3)) }),
      code: kind === "plain" ? [] : kind === "delegated" ? delegation() : code(5),
      storage: random.chance(0.2) ? storage(random) : {},
    });
  }
  if (coinbase === COINBASE && random.chance(0.5)) {
    accounts.push(account(COINBASE, { balance: "1" }));
  }
  // EIP-161: only older forks have accounts that are empty.
  if (!RULES_AT[hardfork].spuriousDragon && random.chance(0.5)) accounts.push(account(EMPTY));
  if (random.chance(creates ? 0.4 : 0.05)) accounts.push(occupant(random, created));
  const blobs = type === 3 ? random.pick([1, 1, 1, 2, 3, 6, 6, 7, 7, 9, 10, 0]) : 0;
  const unprotected = RULES_AT[hardfork].spuriousDragon ? 0.5 : 0.9;
  const baseFeePerGas = BigInt(random.pick([7, 7, 1_000_000_000, 0]));
  const tip = BigInt(random.pick([0, 1, 1_000_000_007]));
  return {
    hardfork,
    accounts,
    type,
    sender: 0,
    nonce: nonce.toString(),
    chainId: type === 0 && random.chance(unprotected) ? null : CHAIN_ID,
    to: creates ? null : random.pick([...CONTRACTS, ...CONTRACTS, ...targets, ...delegated]),
    initCode: creates ? code(3 + random.int(30)) : [],
    value: random.pick(["0", "0", "1", "1000"]),
    data: data(random),
    gas: (120_000 + random.int(random.pick([100_000, 1_000_000]))).toString(),
    accessList: type === 0 ? [] : accessListOf(random, [...CONTRACTS, ...CONTRACTS, ...targets]),
    maxFeePerGas: (baseFeePerGas + BigInt(random.int(3)) * 1_000_000_000n + tip).toString(),
    maxPriorityFeePerGas: tip.toString(),
    maxFeePerBlobGas: random.pick(["3", "4", "1000000000"]),
    blobVersionedHashes: Array.from({ length: blobs }, () => blobHash(random)),
    authorizations: type === 4 ? authorizations(random, accounts) : [],
    coinbase,
    baseFeePerGas: baseFeePerGas.toString(),
    blobBaseFee: random.pick(["1", "3"]),
  };
}

function account(
  address: Address,
  { balance = "0", nonce = 0n }: { balance?: string; nonce?: bigint } = {},
): FuzzAccount {
  return { address, balance, nonce: nonce.toString(), code: [], storage: {} };
}

/** An account where the transaction wants to create one: EIP-684, EIP-7610; or only its balance is there. */
function occupant(random: Random, address: Address): FuzzAccount {
  const plain = account(address, { balance: "3" });
  return random.pick([
    plain,
    { ...plain, nonce: "1" },
    { ...plain, code: ["00"] },
    { ...plain, storage: { "0": "1" } },
  ]);
}

function delegate(random: Random): Address {
  return random.pick([...CONTRACTS, ...CONTRACTS, ...SENDERS, EMPTY, precompile(4)]);
}

function typeOf(random: Random, hardfork: Hardfork): TransactionCase["type"] {
  if (random.chance(0.02)) return random.pick([1, 2, 3, 4]);
  const since = (fork: Hardfork, weight: number) => (RULES_AT[hardfork][fork] ? weight : 0);
  return random.weighted([
    [1, 0],
    [since("berlin", 1), 1],
    [since("london", 1.5), 2],
    [since("cancun", 1), 3],
    [since("prague", 3), 4],
  ] as const);
}

/** Call data short and long, of zeros and others. */
function data(random: Random): TransactionCase["data"] {
  const length = random.int(random.pick([4, 70, 70, 3000]));
  const bytes = random.bytes(length);
  return bytesToHex(random.chance(0.3) ? bytes.map((byte) => (byte < 128 ? 0 : byte)) : bytes);
}

/** With addresses and slots named twice. */
function accessListOf(random: Random, targets: readonly Address[]) {
  const list = [...accessList(random, targets), ...accessList(random, CONTRACTS)];
  if (list.length === 0 || random.chance(0.7)) return list;
  const again = random.pick(list);
  return [...list, { address: again.address, slots: [...again.slots, ...again.slots] }];
}

function blobHash(random: Random): Hash {
  const version = random.chance(0.01) ? 2n : 1n;
  return hashFromBigint((version << 248n) + BigInt(random.int(1000)));
}

function authorizations(random: Random, accounts: readonly FuzzAccount[]): FuzzAuthorization[] {
  // The sender's nonce is raised before its authorizations are looked at.
  const nonces = SENDERS.map((address, i) => {
    const nonce = BigInt(accounts.find((each) => each.address === address)?.nonce ?? 0);
    return i === 0 ? nonce + 1n : nonce;
  });
  const length = random.chance(0.02) ? 0 : 1 + random.int(4);
  return Array.from({ length }, () => {
    const signer = random.int(SENDERS.length);
    const isGood = random.chance(0.75);
    const nonce = nonces[signer]!;
    if (isGood && nonce < UINT64_MAX) nonces[signer] = nonce + 1n;
    const good = {
      signer,
      chainId: random.pick(["0", CHAIN_ID]),
      address: random.chance(0.2) ? ZERO_ADDRESS : delegate(random),
      nonce: (nonce > UINT64_MAX ? UINT64_MAX : nonce).toString(),
    };
    if (isGood) return good;
    return random.pick<FuzzAuthorization>([
      { ...good, chainId: "1" },
      { ...good, nonce: (nonce + 1n > UINT64_MAX ? UINT64_MAX : nonce + 1n).toString() },
      { ...good, nonce: (nonce === 0n ? UINT64_MAX : nonce - 1n).toString() },
      { ...good, fault: random.pick(["yParity", "highS", "zeroR", "otherParity"] as const) },
    ]);
  });
}
