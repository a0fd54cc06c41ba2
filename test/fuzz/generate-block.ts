import { addressFromPrivateKey, SECP256K1_ORDER } from "../../src/base/crypto/secp256k1.ts";
import { type Address, ZERO_ADDRESS } from "../../src/base/primitives/address.ts";
import { concatBytes } from "../../src/base/primitives/bytes.ts";
import { hashFromBigint, ZERO_HASH } from "../../src/base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { toQuantity } from "../../src/base/primitives/quantity.ts";
import { decodeRlp, encodeRlp } from "../../src/base/primitives/rlp.ts";
import type { TransactionFields } from "../../src/base/types/transaction/codec.ts";
import { signAuthorization, signTransaction } from "../../src/base/types/transaction/sign.ts";
import type { AccessList, Authorization, Transaction } from "../../src/base/types/transaction/transaction.ts";
import { create2Address, createAddress } from "../../src/evm/machine/contract-creation.ts";
import { systemContractsOf } from "../../src/node/config/predeploys.ts";
import type { JsonAlloc } from "../conformance/alloc.ts";
import { T8N_CHAIN_ID } from "../conformance/t8n-transactions.ts";
import { initCode, type ProgramWorld, programOf } from "./block-program.ts";
import { assemble, type CodeItem } from "./case.ts";
import { createCodeWriter } from "./code-writer.ts";
import { precompile } from "./generate.ts";
import { createRandom, type Random } from "./random.ts";
import type { T8nInput } from "./t8n-oracle.ts";

const CONTRACTS_OF_PROTOCOL = systemContractsOf("amsterdam");

/** Call data that the queues take: EIP-7002, EIP-7251, EIP-8282. */
const REQUEST_SIZES: Readonly<Record<string, number>> = { "7002": 56, "7251": 96, "0d8282": 184, "0e8282": 48 };

const KEYS = [1, 2, 3, 4].map((n) => new Uint8Array(32).fill(n));
const SENDERS: readonly Address[] = KEYS.map(addressFromPrivateKey);
const CONTRACTS = [1, 2, 3, 4, 5].map((i) => `0x${"c0de".repeat(9)}000${i}` as Address);
const PLAIN = `0x${"ba1a".repeat(10)}` as Address;
const EMPTY = [1, 2, 3].map((i) => `0x${"e0".repeat(19)}0${i}` as Address);
/** EIP-6110; only transactions call it, since a log of another form makes the block invalid. */
const DEPOSIT_CONTRACT = "0x00000000219ab540356cbb839cbe05303d7705fa" as Address;
const DEPOSIT_TOPIC = "649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5";
const LOGS_ITS_INPUT = hexToBytes(`0x365f5f377f${DEPOSIT_TOPIC}365fa1`);
const COINBASE = `0x${"c01b".repeat(10)}` as Address;
const NUMBER = 1_000;
const EXECUTION_GAS_MAX = 2 ** 24;
const UINT64_MAX = 2n ** 64n - 1n;

type World = {
  readonly random: Random;
  readonly accounts: Map<Address, Account>;
  /** Addresses that transactions and contracts name; repeated entries are likelier. */
  readonly targets: readonly Address[];
  /** What the next transaction of a sender, and the next authorization of an account, most likely has to have. */
  readonly nonces: Map<Address, bigint>;
  readonly baseFee: bigint;
  /** Of the block, in gas */
  readonly gasLimit: number;
};
type Account = { balance?: bigint; nonce?: bigint; code?: Uint8Array; storage?: Record<string, bigint> };

/**
 * A block on a small world under the rules of `fork`: transactions, requests and withdrawals, all from `seed`.
 * @param gasLimits of transactions by their index, in place of the generated ones
 */
export function generateBlock(
  seed: number,
  fork = "Amsterdam",
  gasLimits: ReadonlyMap<number, number> = new Map(),
): T8nInput {
  const random = createRandom(seed ^ 0x2c1b3c6d);
  const baseFee = BigInt(random.pick([7, 7, 0, 1_000_000_000]));
  const created = CONTRACTS.map((address) => createAddress(address, BigInt(random.int(3))));
  const coinbase = random.weighted<Address>([
    [6, COINBASE],
    [1, SENDERS[0]!],
    [1, CONTRACTS[1]!],
    [1, EMPTY[0]!],
    [1, random.pick(created)],
    [0.5, precompile(3)],
  ]);
  const targets: readonly Address[] = [
    ...CONTRACTS,
    ...CONTRACTS,
    ...EMPTY,
    ...SENDERS,
    PLAIN,
    coinbase,
    ...created.slice(0, 2),
    ...Array.from({ length: 3 }, () => precompile(random.pick([1, 2, 3, 4, 5, 6, 9, 10, 11, 0x100]))),
    random.pick(CONTRACTS_OF_PROTOCOL).address as Address,
  ];
  const accounts = new Map<Address, Account>();
  const nonces = new Map<Address, bigint>();
  const gasLimit = random.weighted([
    [4, 60_000_000],
    [2, 30_000_000],
    [2, 100_000_000],
    [1, 17_000_000],
    [0.5, 1_000_000],
  ]);
  const world: World = { random, accounts, targets, nonces, baseFee, gasLimit };
  addContracts(world, fork);
  addPeople(world, created, coinbase);
  addSystemContracts(world);
  const count = random.pick([1, 2, 3, 4, 6, 10]);
  const transactions = Array.from({ length: count }, (_, index) => generateTransaction(world, gasLimits.get(index)));
  const env = {
    currentCoinbase: coinbase,
    currentGasLimit: toQuantity(gasLimit),
    currentNumber: toQuantity(NUMBER),
    currentTimestamp: toQuantity(1_700_000_000 + random.int(1000)),
    currentRandom: hashFromBigint(BigInt(random.int(1000))),
    currentBaseFee: toQuantity(baseFee),
    currentExcessBlobGas: toQuantity(random.pick([0, 10_000_000, 40_000_000])),
    parentBeaconBlockRoot: random.chance(0.3) ? ZERO_HASH : hashFromBigint(BigInt(1 + random.int(1000))),
    blockHashes: Object.fromEntries(
      Array.from({ length: 256 }, (_, i) => [NUMBER - 1 - i, hashFromBigint(BigInt(NUMBER - i))]),
    ),
    withdrawals: withdrawals(world, coinbase),
    ...(fork === "Amsterdam" && { slotNumber: toQuantity(random.pick([0, 1, 1001, 2 ** 40])) }),
  };
  const txs = bytesToHex(encodeRlp(transactions.map(({ type, raw }) => (type === 0 ? decodeRlp(raw) : raw))));
  return { name: `seed ${seed}`, fork, alloc: allocOf(accounts), env, txs };
}

function addContracts({ random, accounts, targets }: World, fork: string): void {
  const hardfork = fork.toLowerCase() as "osaka";
  for (const [i, address] of CONTRACTS.entries()) {
    // Mostly each calls those behind it, so that calls end; some call back.
    const callees = random.chance(0.85) ? targets.filter((each) => !CONTRACTS.slice(0, i + 1).includes(each)) : targets;
    accounts.set(address, {
      balance: BigInt(random.pick([0, 0, 1, 5, 1_000_000])),
      nonce: random.chance(0.02) ? UINT64_MAX : 1n,
      code: assemble(random.chance(0.8) ? programOf({ random, targets: callees }, 1 + random.int(7)) : anyCode()),
      storage: Object.fromEntries(
        [0, 1, 2].filter(() => random.chance(0.4)).map((slot) => [slot, BigInt(1 + random.int(2))]),
      ),
    });
  }
  function anyCode(): CodeItem[] {
    const writer = createCodeWriter({ random, targets, hardfork });
    writer.program(2 + random.int(15));
    return writer.items;
  }
}

function addPeople({ random, accounts, nonces }: World, created: readonly Address[], coinbase: Address): void {
  for (const address of SENDERS) {
    const nonce = random.weighted<bigint>([
      [8, BigInt(random.int(3))],
      [0.1, UINT64_MAX - 1n],
      [0.05, UINT64_MAX],
    ]);
    nonces.set(address, nonce);
    const balance = random.weighted<bigint>([
      [12, 10n ** 20n],
      [0.5, 10n ** 15n],
      [0.2, 0n],
    ]);
    const code = random.chance(0.25)
      ? delegation(delegate(random))
      : random.chance(0.02)
        ? Uint8Array.of(0)
        : undefined;
    if (balance === 0n && nonce === 0n && !code) continue;
    accounts.set(address, {
      balance,
      nonce,
      ...(code && { code }),
      ...(code && random.chance(0.3) && { storage: { 0: 1n } }),
    });
  }
  accounts.set(PLAIN, { balance: 5n });
  accounts.set(DEPOSIT_CONTRACT, { nonce: 1n, code: LOGS_ITS_INPUT });
  if (random.chance(0.4) && !accounts.has(coinbase)) accounts.set(coinbase, { balance: 1n });
  // Where contracts and transactions create: EIP-684.
  for (const address of [...created, createAddress(SENDERS[0]!, nonces.get(SENDERS[0]!)!)]) {
    if (!random.chance(0.15)) continue;
    accounts.set(
      address,
      random.pick<Account>([
        { balance: 3n },
        { nonce: 1n },
        { code: Uint8Array.of(0) },
        { balance: 1n, code: Uint8Array.of(0x5f) },
      ]),
    );
  }
  if (random.chance(0.1)) {
    const code = hexToBytes(`0x${initCode({ random, targets: CONTRACTS, depth: 0 })}`);
    accounts.set(create2Address(CONTRACTS[0]!, ZERO_HASH, code), { nonce: 1n });
  }
}

function addSystemContracts({ random, accounts }: World): void {
  for (const [i, { address, code }] of CONTRACTS_OF_PROTOCOL.entries()) {
    // A block without the queues is invalid; those of ancestors may lack.
    if (i < 2 && random.chance(0.1)) continue;
    const simple = i >= 2 && random.chance(0.2);
    accounts.set(address as Address, {
      nonce: 1n,
      code: hexToBytes(simple ? random.pick(["0x5f5ff3", "0x60015f5560205ff3", "0x5f545060205ff3", "0x00"]) : code),
      ...(random.chance(0.1) && { storage: random.pick([{ 0: 1n }, { 1: 1n, 3: 1n }, { 0: 2n ** 256n - 1n }]) }),
    });
  }
}

function generateTransaction(world: World, ownGasLimit?: number): Transaction {
  const { random, nonces, baseFee } = world;
  const sender = random.int(SENDERS.length);
  const from = SENDERS[sender]!;
  const expected = nonces.get(from)!;
  const nonce = random.chance(0.97) ? expected : BigInt.asUintN(64, expected + BigInt(random.pick([1, -1])));
  const type = random.weighted<Transaction["type"]>([
    [2, 0],
    [2, 1],
    [2, 2],
    [0.7, 3],
    [4, 4],
  ]);
  const creates = type < 3 && random.chance(0.25);
  const to = creates
    ? null
    : random.weighted<() => Address>([
        [6, () => random.pick(CONTRACTS)],
        [4, () => random.pick(world.targets)],
        [1, () => from],
        [type === 4 ? 3 : 1, () => random.pick(SENDERS)],
        [0.5, () => random.pick(CONTRACTS_OF_PROTOCOL).address as Address],
        [0.1, () => DEPOSIT_CONTRACT],
      ])();
  const accessList = type === 0 ? [] : accessListOf(world);
  const data = creates ? creationData(world) : callData(random, to!);
  const tip = BigInt(random.pick([0, 0, 1, 1_000]));
  const maxFeePerGas = random.chance(0.005) ? 0n : baseFee + tip + BigInt(random.int(2));
  const isRequest = to !== null && requestSize(to) !== undefined;
  const value = BigInt(
    random.chance(isRequest ? 0.1 : 0.5) ? 0 : random.pick([1, 1, 3, 1000, isRequest ? 10 ** 9 * 2 : 5]),
  );
  const generated = gasLimitOf(random, data.length);
  const gas = ownGasLimit ?? generated;
  const before = [...nonces];
  nonces.set(from, BigInt.asUintN(64, expected + 1n));
  const authorizationList = type === 4 ? authorizations(world, sender, to!) : [];
  const least = leastGas({ from, to, value, data, accessList, authorizationList });
  const isIncluded = nonce === expected && nonce < UINT64_MAX && gas >= least && gas <= world.gasLimit;
  // Most transactions after a rejected one still fit.
  if (!isIncluded) for (const [address, each] of before) nonces.set(address, each);
  const base = { nonce, to, value, data, gasLimit: BigInt(gas) };
  const fields = fieldsOf(random, type, base, { accessList, maxFeePerGas, tip, authorizationList });
  return signTransaction(fields, KEYS[sender]!);
}

/** What a transaction has to bring under Amsterdam's rules (EIP-2780, EIP-7976, EIP-7981). */
function leastGas({
  from,
  to,
  value,
  data,
  accessList,
  authorizationList,
}: Pick<Transaction, "to" | "value" | "data"> & {
  readonly from: Address;
  readonly accessList: AccessList;
  readonly authorizationList: readonly Authorization[];
}): number {
  const recipient = to === null ? 12_000 : to === from ? 0 : value === 0n ? 3_000 : 9_000;
  const keys = accessList.reduce((sum, { storageKeys }) => sum + storageKeys.length, 0);
  const zeros = data.filter((byte) => byte === 0).length;
  const input = 4 * zeros + 16 * (data.length - zeros) + (to === null ? 2 * Math.ceil(data.length / 32) : 0);
  const intrinsic = input + 4_180 * accessList.length + 4_048 * keys + 7_816 * authorizationList.length;
  const floor = 64 * data.length + 1_280 * accessList.length + 2_048 * keys;
  return 12_000 + recipient + Math.max(intrinsic, floor);
}

type Base = Pick<Transaction, "nonce" | "to" | "value" | "data" | "gasLimit">;
type Rest = {
  readonly accessList: AccessList;
  readonly maxFeePerGas: bigint;
  readonly tip: bigint;
  readonly authorizationList: readonly Authorization[];
};

function fieldsOf(
  random: Random,
  type: Transaction["type"],
  base: Base,
  { accessList, maxFeePerGas, tip, authorizationList }: Rest,
): TransactionFields {
  const chainId = T8N_CHAIN_ID;
  if (type === 0) return { ...base, type, chainId: random.chance(0.2) ? undefined : chainId, gasPrice: maxFeePerGas };
  if (type === 1) return { ...base, type, chainId, accessList, gasPrice: maxFeePerGas };
  const market = { ...base, chainId, accessList, maxFeePerGas, maxPriorityFeePerGas: tip };
  if (type === 2) return { ...market, type };
  if (type === 4) return { ...market, type, authorizationList };
  const blobVersionedHashes = Array.from(
    {
      length: random.weighted([
        [4, 1],
        [2, 2],
        [1, 6],
        [0.2, 7],
        [0.1, 0],
      ]),
    },
    (_, i) => hashFromBigint((1n << 248n) + BigInt(i)),
  );
  return { ...market, type, maxFeePerBlobGas: BigInt(random.pick([1, 1000, 1000, 1000])), blobVersionedHashes };
}

/** Gas limits around the intrinsic gas, random ones, and ones that leave a reservoir for state gas (EIP-8037). */
function gasLimitOf(random: Random, dataLength: number): number {
  const near = (gas: number) => gas + random.int(5) - 2;
  return random.weighted<() => number>([
    [4, () => 100_000 + random.int(random.pick([400_000, 2_000_000, 10_000_000]))],
    [2, () => Math.floor(12_000 * 2 ** (random.int(10_000) / 1_000))],
    [0.5, () => near(random.pick([12_000, 15_000, 18_000, 21_000, 24_000, 195_600, 204_600, 207_600, 213_600]))],
    [0.5, () => near(random.pick([12_000, 15_000, 18_000, 21_000]) + 64 * dataLength)],
    [0.3, () => near(EXECUTION_GAS_MAX)],
    [3, () => EXECUTION_GAS_MAX + random.int(random.pick([100_000, 400_000, 1_000_000, 5_000_000]))],
    [1, () => near(EXECUTION_GAS_MAX + 97_920 * random.int(4) + 183_600 * random.int(3) + 35_190 * random.int(3))],
    [0.05, () => near(2 ** 32)],
  ])();
}

function creationData(world: World): Uint8Array {
  const { random } = world;
  const program: ProgramWorld = { random, targets: world.targets };
  if (random.chance(0.02)) return new Uint8Array(random.pick([49_152, 49_153, 131_072, 131_073]));
  if (random.chance(0.6)) return hexToBytes(`0x${initCode(program)}`);
  return assemble(programOf(program, 1 + random.int(5)));
}

function callData(random: Random, to: Address): Uint8Array {
  if (to === DEPOSIT_CONTRACT) return depositEvent(random);
  const size = requestSize(to);
  if (size !== undefined && random.chance(0.8)) return concatBytes(random.bytes(8), new Uint8Array(size - 8).fill(1));
  const bytes = random.bytes(random.int(random.pick([4, 4, 70, 1000])));
  return random.chance(0.3) ? bytes.map((byte) => (byte < 128 ? 0 : byte)) : bytes;
}

/** Five byte strings in Solidity's layout. */
function depositEvent(random: Random): Uint8Array {
  const data = random.bytes(576);
  const view = new DataView(data.buffer);
  for (const [i, [offset, length]] of [
    [160, 48],
    [256, 32],
    [320, 8],
    [384, 96],
    [512, 8],
  ].entries()) {
    data.fill(0, 32 * i, 32 * i + 32).fill(0, offset, offset! + 32);
    view.setUint32(32 * i + 28, offset!);
    view.setUint32(offset! + 28, length!);
  }
  return data;
}

function requestSize(to: Address): number | undefined {
  return Object.entries(REQUEST_SIZES).find(([end]) => to.endsWith(end))?.[1];
}

function accessListOf({ random, targets }: World): AccessList {
  const length = random.chance(0.6) ? 0 : random.int(4);
  return Array.from({ length }, () => ({
    address: random.pick(targets),
    storageKeys: [0n, 1n, 2n].filter(() => random.chance(0.3)).map(hashFromBigint),
  }));
}

/** EIP-7702: valid ones and others, several of one account, and of the sender and the recipient. */
function authorizations({ random, nonces }: World, sender: number, to: Address): Authorization[] {
  const recipient = SENDERS.indexOf(to);
  return Array.from(
    {
      length: random.weighted([
        [0.05, 0],
        [4, 1],
        [3, 2],
        [2, 3],
        [1, 5],
      ]),
    },
    () => {
      const signer = random.weighted<() => number>([
        [4, () => random.int(SENDERS.length)],
        [1, () => sender],
        [recipient === -1 ? 0 : 2, () => recipient],
      ])();
      const account = SENDERS[signer]!;
      const expected = nonces.get(account)!;
      const isGood = random.chance(0.85);
      const nonce = isGood ? expected : BigInt.asUintN(64, expected + BigInt(random.pick([1, -1, 2])));
      const chainId = random.chance(0.93) ? random.pick([0n, T8N_CHAIN_ID]) : 2n;
      const address = random.chance(0.3) ? ZERO_ADDRESS : delegate(random);
      const signed = signAuthorization({ chainId, address, nonce }, KEYS[signer]!);
      if (nonce === expected && chainId !== 2n && nonce < UINT64_MAX) nonces.set(account, expected + 1n);
      if (random.chance(0.96)) return signed;
      return random.pick<Authorization>([
        { ...signed, yParity: 1n - signed.yParity },
        { ...signed, yParity: 2n },
        { ...signed, s: SECP256K1_ORDER - signed.s, yParity: 1n - signed.yParity },
        { ...signed, r: 0n },
      ]);
    },
  );
}

function delegate(random: Random): Address {
  return random.pick([...CONTRACTS, ...CONTRACTS, ...SENDERS.slice(1), EMPTY[1]!, precompile(4), ZERO_ADDRESS]);
}

function delegation(address: Address): Uint8Array {
  return hexToBytes(`0xef0100${address.slice(2)}`);
}

function withdrawals({ random, targets }: World, coinbase: Address) {
  return Array.from({ length: random.pick([0, 0, 1, 3]) }, (_, i) => ({
    index: toQuantity(i),
    validatorIndex: "0x1",
    address: random.pick([...targets, coinbase, `0x${"d0".repeat(20)}`]),
    amount: toQuantity(random.pick([0, 1, 1000])),
  }));
}

function allocOf(accounts: ReadonlyMap<Address, Account>): JsonAlloc {
  return Object.fromEntries(
    [...accounts].map(([address, { balance = 0n, nonce = 0n, code, storage }]) => [
      address,
      {
        balance: toQuantity(balance),
        ...(nonce > 0n && { nonce: toQuantity(nonce) }),
        ...(code && { code: bytesToHex(code) }),
        ...(storage && {
          storage: Object.fromEntries(
            Object.entries(storage).map(([slot, value]) => [hashFromBigint(BigInt(slot)), hashFromBigint(value)]),
          ),
        }),
      },
    ]),
  );
}
