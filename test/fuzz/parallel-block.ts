import { REQUEST_CONTRACTS } from "../../src/base/params/gas.ts";
import type { GenesisAccount, GenesisAlloc } from "../../src/base/params/genesis-account.ts";
import { HARDFORKS, type Hardfork, RULES_AT } from "../../src/base/params/hardforks.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { type Hash, hashFromBigint, ZERO_HASH } from "../../src/base/primitives/hash.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import { EMPTY_TRIE_ROOT } from "../../src/base/types/constants.ts";
import type { Header } from "../../src/base/types/header.ts";
import { TransactionRejection } from "../../src/base/types/transaction/codec.ts";
import type { Transaction } from "../../src/base/types/transaction/transaction.ts";
import {
  BlockExecution,
  type BlockParent,
  blockEnvOf,
  type ExecutionModules,
  type TransactionResult,
} from "../../src/evm/execution/block/block-execution.ts";
import { sealBlock } from "../../src/evm/execution/block/build-block.ts";
import { ListedBlock, SpeculativeBlock } from "../../src/evm/execution/block/speculative-block.ts";
import type { OpenHeader } from "../../src/evm/execution/block-context.ts";
import { ListedChanges } from "../../src/evm/execution/parallel/listed-state.ts";
import type { RecordedBatch } from "../../src/evm/execution/parallel/recorded-batch.ts";
import { type AppliedCounts, RecordedExecution } from "../../src/evm/execution/parallel/recorded-execution.ts";
import type { Evm } from "../../src/evm/machine/evm.ts";
import { changesOfAlloc } from "../../src/evm/state/state-changes.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { FORKS } from "../conformance/forks.ts";
import { configOfNetwork } from "../conformance/networks.ts";
import { createMemoryState } from "../support/evm/state/memory-state.ts";
import { createMemoryNodes } from "../support/store/trie/memory-nodes.ts";
import { assemble, withoutBareStorage } from "./case.ts";
import { generateTransactionCase } from "./generate-transaction.ts";
import { createRandom, type Random } from "./random.ts";
import { SENDERS, type TransactionCase, transactionOf } from "./transaction-case.ts";

/** A block of transactions that have much or nothing to do with each other, on a world of a few accounts. */
export type ParallelCase = {
  readonly hardfork: Hardfork;
  readonly alloc: GenesisAlloc;
  readonly header: OpenHeader;
  readonly transactions: readonly { readonly tx: Transaction; readonly sender: Address }[];
};

/** How the transactions are executed before they are in the block. */
export const SPECULATIONS = ["in order", "shuffled", "each alone", "in lanes", "with gaps", "by access list"] as const;
export type SpeculationKind = (typeof SPECULATIONS)[number];

const at = (digits: string) => `0x${digits.padStart(40, "0")}` as Address;
const ETHER = 10n ** 18n;

/** Contracts that people share, in a few opcodes each; the call data is a word. */
const SHARED: readonly (readonly [address: Address, code: string, storage: Readonly<Record<string, bigint>>])[] = [
  // A token: slot CALLER loses 1, or the call reverts; the slot in the data gets 1; a log.
  [at("70"), "335480600b5760006000fd5b6001900333556000358054600101905560016000523360206000a100", {}],
  // An exchange: each call changes the price in slot 0 and shows it.
  [at("71"), "6000546003026007018060005560005260206000a000", { "0": 5n }],
  // Pays CALLER what it was sent.
  [at("72"), "600060006000600034335af160005500", {}],
  // Stores the coinbase's balance, and pays it 1 wei.
  [at("73"), "413160005560006000600060006001415af100", {}],
  // Stores the balances of ORIGIN and of the contract.
  [at("74"), "32316000554760015500", {}],
  // Creates a contract, and stores its address.
  [at("75"), "6160016000526002601e6000f060005500", {}],
  // Destroys itself for CALLER.
  [at("76"), "33ff", { "1": 9n }],
  // Clears a slot for a refund, or fills it.
  [at("77"), "60005415600d576000600055005b600160005500", { "0": 1n }],
  // Stores time, number, and a block hash.
  [at("78"), "4260005543600155600143034060025500", {}],
  // Reverts after a write.
  [at("79"), "6001600055602060006000fd", {}],
];

/** Where slots of SHARED hold balances: those of the senders. */
const TOKEN = at("70");

export function generateParallelCase(seed: number, fork?: Hardfork): ParallelCase {
  const random = createRandom(seed ^ 0x5bd1e995);
  const hardfork =
    fork ?? random.weighted(HARDFORKS.map((name, i) => [RULES_AT[name].berlin ? i : (i + 1) / 8, name] as const));
  const world = generateTransactionCase(seed, hardfork);
  const alloc = allocOf(world, random);
  const header = headerOf(world, hardfork);
  const count = 2 + random.int(random.pick([3, 6, 12]));
  const nonces = SENDERS.map((address) => alloc.get(address)?.nonce ?? 0n);
  const transactions: { tx: Transaction; sender: Address }[] = [];
  for (let i = 0; i < count; i++) {
    const generated = generateTransactionCase(seed * 31 + i, hardfork);
    const sender = random.int(SENDERS.length);
    const tx = transactionOf(varied(generated, world, random, { sender, nonce: nonces[sender]! }));
    // Some are rejected, and then the nonce is used by the next one, or by none.
    if (!random.chance(0.05)) nonces[sender] = nonces[sender]! + 1n;
    transactions.push({ tx, sender: SENDERS[sender]! });
  }
  return { hardfork, alloc, header, transactions };
}

function varied(
  generated: TransactionCase,
  world: TransactionCase,
  random: Random,
  { sender, nonce }: { readonly sender: number; readonly nonce: bigint },
): TransactionCase {
  const { baseFeePerGas, coinbase } = world;
  const tip = BigInt(generated.maxPriorityFeePerGas);
  const base = {
    ...generated,
    baseFeePerGas,
    coinbase,
    sender,
    nonce: nonce.toString(),
    chainId: generated.chainId === null ? null : "1",
    maxFeePerGas: (BigInt(baseFeePerGas) * 2n + tip + 1n).toString(),
    authorizations: generated.authorizations.map((each) => ({
      ...each,
      chainId: random.pick(["0", "1"]),
      nonce: BigInt(each.nonce) > 10n ? each.nonce : random.int(3).toString(),
    })),
  };
  if (base.to === null || random.chance(0.4)) return base;
  if (random.chance(0.2)) return { ...base, to: random.pick(SENDERS), data: "0x" };
  if (random.chance(0.1)) return { ...base, to: SENDERS[sender]! };
  const [to] = random.pick(SHARED);
  const word = random.chance(0.7) ? BigInt(random.pick(SENDERS)) : random.int(4);
  return { ...base, to, data: `0x${word.toString(16).padStart(64, "0")}`, gas: "300000" };
}

function allocOf(world: TransactionCase, random: Random): Map<Address, GenesisAccount> {
  const alloc = new Map<Address, GenesisAccount>();
  for (const { address, balance, nonce, code, storage } of withoutBareStorage(world.accounts)) {
    const slots = Object.entries(storage).map(
      ([slot, value]) => [hashFromBigint(BigInt(slot)), BigInt(value)] as const,
    );
    alloc.set(address, {
      balance: BigInt(balance),
      nonce: BigInt(nonce),
      code: assemble(code),
      storage: new Map(slots),
    });
  }
  for (const address of SENDERS) {
    const before = alloc.get(address) ?? { nonce: 0n, balance: 0n };
    const nonce = (before.nonce ?? 0n) > 1000n ? 3n : (before.nonce ?? 0n);
    // Some are poor: whether they can pay depends on what came before.
    const account = { ...before, nonce, balance: random.chance(0.9) ? 100n * ETHER : 10n ** 15n };
    const runsShared = RULES_AT[world.hardfork].prague && random.chance(0.2);
    const code = runsShared && { code: hexToBytes(`0xef0100${random.pick(SHARED)[0].slice(2)}`) };
    alloc.set(address, { ...account, ...code });
  }
  for (const [address, code, storage] of SHARED) {
    const slots = Object.entries(storage).map(([slot, value]) => [hashFromBigint(BigInt(slot)), value] as const);
    const owned = address === TOKEN ? SENDERS.map((sender) => [hashFromBigint(BigInt(sender)), 100n] as const) : [];
    alloc.set(address, {
      balance: 7n,
      nonce: 1n,
      code: hexToBytes(`0x${code}`),
      storage: new Map([...slots, ...owned]),
    });
  }
  for (const { address } of REQUEST_CONTRACTS) {
    alloc.set(address, { balance: 0n, code: hexToBytes("0x5f5ff3") });
  }
  return alloc;
}

function headerOf({ coinbase, baseFeePerGas }: TransactionCase, hardfork: Hardfork): OpenHeader {
  return {
    parentHash: PARENT_HASH,
    number: 1_000,
    timestamp: 1_700_000_000,
    difficulty: RULES_AT[hardfork].paris ? 0n : 131_072n,
    coinbase,
    gasLimit: 30_000_000n,
    mixHash: hashFromBigint(77n),
    ...(RULES_AT[hardfork].london && { baseFeePerGas: BigInt(baseFeePerGas) }),
    ...(RULES_AT[hardfork].cancun && { excessBlobGas: 0n, parentBeaconBlockRoot: ZERO_HASH }),
    ...(RULES_AT[hardfork].amsterdam && { slotNumber: 7n }),
  };
}

const PARENT_HASH = hashFromBigint(999n);

const configs = new Map(
  Object.entries(FORKS).map(([network, hardfork]) => [hardfork, configOfNetwork(network)!] as const),
);

type Scene = { readonly header: OpenHeader; readonly parent: BlockParent; readonly modules: ExecutionModules };

function sceneOf({ hardfork, alloc, header }: ParallelCase, evm: Evm): Scene {
  const nodes = createMemoryNodes();
  const stateTrie = createStateTrie(nodes, { cacheBytes: 1 << 16 });
  const { root, nodes: created } = stateTrie.update(EMPTY_TRIE_ROOT, changesOfAlloc(alloc));
  nodes.keep(created);
  const parent = {
    header: { stateRoot: root } as Header,
    state: createMemoryState(alloc),
    blockHash: (number: number) => hashFromBigint(BigInt(number)),
  };
  return { header, parent, modules: { config: configs.get(hardfork)!, evm, stateTrie } };
}

/** All that a block is, and what became of each transaction that was to be in it. */
function build(
  { header, parent, modules }: Scene,
  {
    transactions,
  }: { readonly transactions: readonly { readonly tx: Transaction; readonly sender: Address | undefined }[] },
) {
  const env = blockEnvOf(header, parent, modules.config);
  const execution = new BlockExecution(env, header, modules);
  const packed: Transaction[] = [];
  const results: (TransactionResult | string)[] = [];
  for (const { tx, sender } of transactions) {
    try {
      results.push(execution.addTransaction(tx, sender));
      packed.push(tx);
    } catch (error) {
      if (!(error instanceof TransactionRejection)) throw error;
      results.push(error.code);
    }
  }
  const withdrawals = RULES_AT[execution.context.hardfork].shanghai && { withdrawals: [] };
  const outcome = execution.finish({ ...withdrawals });
  const content = { transactions: packed, extraData: EMPTY_BYTES, ...withdrawals };
  const { block } = sealBlock(header, content, outcome);
  return {
    block,
    hash: block.hash,
    results,
    receipts: outcome.receipts,
    changes: outcome.changes,
    gasUsed: outcome.gasUsed,
    accessList: outcome.accessList,
  };
}

/** The recorded executions of the block's transactions, each on the state that the access list of the block gives for it. */
function executeListed(
  { header, parent, modules }: Scene,
  { transactions }: ParallelCase,
  { block, accessList }: ReturnType<typeof build>,
  random: Random,
) {
  const lane = new ListedBlock(header, new ListedChanges(accessList!), parent, modules);
  const senders = new Map(transactions.map(({ tx, sender }) => [tx.hash, sender]));
  const positions = [...block.transactions.keys()].sort(() => random.int(3) - 1);
  for (const position of positions) {
    const tx = block.transactions[position]!;
    lane.execute(tx, senders.get(tx.hash)!, position);
  }
  return [lane.take()];
}

/** The recorded executions of the transactions, made in the way of `kind`. */
function speculate(
  { header, parent, modules }: Scene,
  { transactions }: ParallelCase,
  kind: SpeculationKind,
  random: Random,
) {
  const begin = () => new SpeculativeBlock(header, parent, modules);
  const lanes =
    kind === "each alone" ? transactions.map(begin) : Array.from({ length: kind === "in lanes" ? 3 : 1 }, begin);
  const order = [...transactions.keys()];
  if (kind === "shuffled") order.sort(() => random.int(3) - 1);
  const batches: RecordedBatch[] = [];
  for (const index of order) {
    if (kind === "with gaps" && random.chance(0.3)) continue;
    const { tx, sender } = transactions[index]!;
    const lane = lanes[kind === "each alone" ? index : random.int(lanes.length)]!;
    lane.execute(tx, sender);
    if (random.chance(0.3)) batches.push(lane.take());
  }
  for (const lane of lanes) batches.push(lane.take());
  return random.chance(0.1) ? structuredClone(batches) : batches;
}

export type ParallelResult = AppliedCounts & { readonly difference?: string; readonly transactions: number };

/** Builds the block serially and with the recorded executions of `kinds`; says what differs. */
export function compareParallel(
  seed: number,
  evm: Evm,
  kinds: readonly SpeculationKind[],
  fork?: Hardfork,
): ParallelResult {
  const parallelCase = generateParallelCase(seed, kinds.includes("by access list") ? "amsterdam" : fork);
  const random = createRandom(seed + 1);
  const scene = sceneOf(parallelCase, evm);
  const serial = build(scene, parallelCase);
  const total = { applied: 0, conflicts: 0, transactions: 0 };
  for (const kind of kinds) {
    const executions = new Map<Hash, readonly [RecordedBatch, number]>();
    const batches =
      kind === "by access list"
        ? executeListed(scene, parallelCase, serial, random)
        : speculate(scene, parallelCase, kind, random);
    for (const batch of batches) {
      batch.hashes.forEach((hash, i) => void executions.set(hash, [batch, batch.starts[i]!]));
    }
    const counts = { applied: 0, conflicts: 0 };
    const recorded = {
      evmOf(_: OpenHeader, hash: Hash, own: Evm) {
        const found = executions.get(hash);
        return found && new RecordedExecution(found[0], found[1], own, counts);
      },
    };
    const parallel = build({ ...scene, modules: { ...scene.modules, recorded } }, parallelCase);
    total.applied += counts.applied;
    total.conflicts += counts.conflicts;
    total.transactions += parallelCase.transactions.length;
    const difference = differenceOf(serial, parallel);
    if (difference) return { ...total, difference: `${kind}: ${difference}` };
    // Each finds the state that the transactions before leave: nothing can conflict.
    if (kind === "by access list" && counts.conflicts > 0) return { ...total, difference: `${kind}: a conflict` };
  }
  return total;
}

function differenceOf(serial: ReturnType<typeof build>, parallel: ReturnType<typeof build>): string | undefined {
  for (const field of ["hash", "gasUsed", "results", "receipts", "changes"] as const) {
    const [a, b] = [text(serial[field]), text(parallel[field])];
    if (a !== b) return `${field}\n${a}\n${b}`;
  }
  return undefined;
}

/** With the order of maps, and of the accounts of the changes: the log has them in that order. */
function text(value: unknown): string {
  return JSON.stringify(value, (_, each) => {
    if (typeof each === "bigint") return `${each}n`;
    if (each instanceof Map) return [...each];
    return each instanceof Uint8Array ? Buffer.from(each).toString("hex") : each;
  });
}
