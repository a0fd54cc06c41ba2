import { VerifiedBlobs } from "../../../src/base/crypto/kzg/verified-blobs.ts";
import { addressFromPrivateKey } from "../../../src/base/crypto/secp256k1.ts";
import { allForksAtGenesis } from "../../../src/base/params/blob-schedule.ts";
import type { GenesisAlloc } from "../../../src/base/params/genesis-account.ts";
import type { Address } from "../../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../src/base/primitives/bytes.ts";
import { type Hash, hashFromBigint, ZERO_HASH } from "../../../src/base/primitives/hash.ts";
import { hexToBytes } from "../../../src/base/primitives/hex.ts";
import { keccak256Hash } from "../../../src/base/primitives/keccak.ts";
import { fatalTimers } from "../../../src/base/telemetry/fatal-timers.ts";
import type { Timers } from "../../../src/base/telemetry/timers.ts";
import { SharedSlices } from "../../../src/base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../../../src/base/types/block.ts";
import { EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from "../../../src/base/types/constants.ts";
import type { Header } from "../../../src/base/types/header.ts";
import { headerHash } from "../../../src/base/types/header-codec.ts";
import type { Log, Receipt } from "../../../src/base/types/receipt.ts";
import { effectiveGasPrice } from "../../../src/base/types/transaction/fees.ts";
import { signAuthorization, signTransaction } from "../../../src/base/types/transaction/sign.ts";
import type { Transaction } from "../../../src/base/types/transaction/transaction.ts";
import { AddressIndexOffError } from "../../../src/chain/addresses/address-index.ts";
import { gasPaymentsOf, includedTransaction } from "../../../src/chain/block-store.ts";
import type { FeeHistory } from "../../../src/chain/fees/fee-history.ts";
import { LogIndex } from "../../../src/chain/logs/log-index.ts";
import type { ChainReader } from "../../../src/chain/reader.ts";
import { PayloadAttributesError } from "../../../src/consensus/block-tester.ts";
import type { PooledTransaction, PoolReader } from "../../../src/consensus/mempool/pool.ts";
import { Submissions } from "../../../src/consensus/mempool/submission.ts";
import { calldataOf } from "../../../src/evm/execution/call/call-arguments.ts";
import { createLocalChainView, type LocalChainModules } from "../../../src/node/adapters/chain-view.ts";
import { UnknownAccountError } from "../../../src/node/keystore/errors.ts";
import { CallBundles } from "../../../src/rpc/methods/call-bundles.ts";
import { type FilterOptions, Filters } from "../../../src/rpc/methods/filters/filters.ts";
import { BlockJsonCache } from "../../../src/rpc/methods/json/block-json-cache.ts";
import { LogTextCache } from "../../../src/rpc/methods/json/log-text-cache.ts";
import type { RpcPorts, RpcSettings } from "../../../src/rpc/methods/rpc-ports.ts";
import { HashrateRegistry, KeyedLock, type Sessions, TraceChains } from "../../../src/rpc/methods/sessions.ts";
import { EthFeeds } from "../../../src/rpc/methods/subscriptions/eth-feeds.ts";
import { LogFeed } from "../../../src/rpc/methods/subscriptions/log-feed.ts";
import { Notifier } from "../../../src/rpc/methods/subscriptions/notifier.ts";
import { Subscriptions } from "../../../src/rpc/methods/subscriptions/subscriptions.ts";
import type { BlockNumberOrTag } from "../../../src/rpc/ports/block-selector.ts";
import type { NextBlock } from "../../../src/rpc/ports/chain-view.ts";
import type { ExecutionPort } from "../../../src/rpc/ports/execution.ts";
import type { InspectionPort } from "../../../src/rpc/ports/inspection.ts";
import type { NodeInfo } from "../../../src/rpc/ports/node.ts";
import type { ToolsPort } from "../../../src/rpc/ports/tools.ts";
import { createMemoryKv } from "../../../src/store/storage/memory-kv.ts";
import { createMemoryState } from "../evm/state/memory-state.ts";
import { createUnlockedSigner } from "../node/keystore/unlocked-signer.ts";
import { createTestEvents, settlingEmitter, type TestEmitter } from "./test-events.ts";
import { TEST_NODE_INFO } from "./test-methods.ts";
import type { ConnectPorts, TestPorts } from "./test-ports.ts";

/** The limits of a default configuration. */
const TEST_LOG_LIMITS = {
  resultsMax: 10_000,
  bytesMax: 20_000_000,
  workMax: 1_000_000,
  termsMax: 1000,
};

export const ALICE_KEY = hexToBytes(`0x${"a1".repeat(32)}`);
export const ALICE = addressFromPrivateKey(ALICE_KEY);
export const BOB = `0x${"b0".repeat(20)}` as Address;
export const CONTRACT = `0x${"cc".repeat(20)}` as Address;
export const TOPIC = hashFromBigint(7n);
export const CODE = hexToBytes("0x6001600055");
export const CHAIN_ID = 1337n;
export const BASE_FEE = 10n ** 9n;

const CONFIG = allForksAtGenesis(CHAIN_ID);
const SLOT_ONE = hashFromBigint(1n);

/** What a test may replace of the chain and what is around it. */
export type TestBackend = {
  readonly reader: Partial<ChainReader>;
  readonly pool: Partial<PoolReader>;
  readonly submit: LocalChainModules["submit"];
  readonly suggestTip: () => bigint;
  readonly feeHistory: (input: { readonly at: BlockNumberOrTag }) => FeeHistory;
  readonly execution: Partial<ExecutionPort>;
  readonly inspection: Partial<InspectionPort>;
  readonly keys: Partial<TestPorts["keys"]>;
  readonly info: Partial<NodeInfo>;
  readonly settings: Partial<RpcSettings>;
  readonly filterOptions: Partial<FilterOptions>;
  readonly subscriptionsMax: number;
  readonly timers: Timers;
};

/**
 * The ports over a chain of three blocks; block 1 holds one transaction of each type. Methods of ports that no test of the
 * modules reaches are missing.
 */
export type TestModules = RpcPorts & {
  readonly blocks: readonly ExecutedBlock[];
  readonly pooled: readonly PooledTransaction[];
  readonly submitted: Transaction[];
  readonly backend: { readonly reader: ChainReader; readonly submit: LocalChainModules["submit"] };
  readonly emitter: TestEmitter;
  readonly logs: LogIndex;
};

/** @param connect how the ports are reached; directly if left out */
export function createTestModules(
  replace: Partial<TestBackend> = {},
  connect: ConnectPorts = (ports) => ports,
): TestModules {
  const genesis = blockOf(0, ZERO_HASH, []);
  const first = blockOf(1, genesis.block.hash, transactions());
  const second = blockOf(2, first.block.hash, []);
  const blocks = [genesis, first, second];
  const pooled = pooledTransactions();
  const submitted: Transaction[] = [];
  const settings: RpcSettings = {
    isAnvil: false,
    submissionRules: { txFeeWeiMax: 10n ** 18n, allowUnprotected: false },
    chainName: "Ethereum",
    logLimits: TEST_LOG_LIMITS,
    traceFilter: { blocksMax: 100, bytesMax: 1_000_000 },
    otsPageSizeMax: 25,
    methods: [],
    ...replace.settings,
  };
  const logs = new LogIndex(createMemoryKv());
  const addresses = {
    search(): never {
      throw new AddressIndexOffError();
    },
  };
  for (const executed of blocks) logs.remember(executed);
  const { subscribe, ...emitter } = createTestEvents();
  const { submit } = new Submissions(settings.submissionRules, {
    pool: { add: ({ tx }) => submitted.push(tx), checkGasLimit() {}, checkBlob: () => 1, checkSetCode() {} },
    authorities: { recover: async () => {} },
    blobs: {
      verify: async () => undefined,
      prove: async () => ({ commitments: [], proofs: [] }),
    },
  });
  const backend = {
    submit,
    suggestTip: () => 5n,
    feeHistory: ({ at: newest }: { readonly at: BlockNumberOrTag }) => ({
      oldestBlock: typeof newest === "number" ? newest : newest === "pending" ? 3 : 2,
      reward: [[1n, 2n]],
      baseFeePerGas: [BASE_FEE, BASE_FEE],
      gasUsedRatio: [0.5],
      baseFeePerBlobGas: [1n, 1n],
      blobGasUsedRatio: [0],
    }),
    nextBlock: (): NextBlock => ({ target: { at: "latest" }, baseFeePerGas: BASE_FEE }),
    genesisTime: 0,
    isControlled: false,
    filterOptions: {},
    subscriptionsMax: 128,
    timers: fatalTimers,
    ...replace,
    reader: { ...chainOf(blocks), ...replace.reader },
    pool: { ...poolOf(pooled), ...replace.pool },
  };
  // Read anew at each call, so that a test can change what it gave.
  const info = () => ({ ...TEST_NODE_INFO, coinbase: BOB, ...replace.info });
  const signer = createUnlockedSigner([ALICE_KEY]);
  const ports = connect({
    chain: createLocalChainView({
      ...backend,
      logs,
      subscribe,
      addresses,
      logTexts: new LogTextCache(1 << 20),
    }),
    execution: { ...executionOf(first), ...replace.execution },
    inspection: { ...TEST_INSPECTION, ...replace.inspection },
    keys: {
      accounts: () => signer.accounts(),
      assertKnown: ({ address }) => signer.assertKnown(address),
      sign: ({ address, digest }) => signer.sign(address, digest),
      signTransaction: ({ address, digest }) => signer.sign(address, digest),
      signWithPassphrase,
      ...replace.keys,
    },
    dev: {},
    node: { info },
    les: {},
    shh: {},
    runtime: {},
    tools: TEST_TOOLS,
    contracts: TEST_CONTRACTS,
  });
  return {
    ...ports,
    settings,
    blocks,
    pooled,
    submitted,
    backend,
    logs,
    sessions: sessionsOf(ports, settings, backend),
    timers: backend.timers,
    emitter: settlingEmitter(emitter, ports.chain),
  } as object as TestModules;
}

function sessionsOf(
  { chain, node }: TestPorts,
  { logLimits }: RpcSettings,
  { filterOptions, subscriptionsMax, timers }: Pick<TestBackend, "filterOptions" | "subscriptionsMax" | "timers">,
): Sessions {
  const slices = { json: new SharedSlices(timers), hash: new SharedSlices(timers) };
  const blockJson = new BlockJsonCache({ bytesMax: 1 << 20, nullPowFields: false }, slices.json);
  const notifier = new Notifier(
    {
      queueCharsMax: 1_000_000,
      onError(error) {
        throw error;
      },
    },
    { now: () => timers.now(), deferred: (_where, work) => () => void work() },
  );
  return {
    filters: new Filters(
      {
        max: 10_000,
        maxPerConnection: 1000,
        termsMax: 200_000,
        idleMs: 300_000,
        logLimits,
        ...filterOptions,
      },
      { chain, timers, slices: slices.json },
    ),
    subscriptions: new Subscriptions({ maxPerConnection: subscriptionsMax, max: 1000 }),
    feeds: new EthFeeds({
      chain,
      node,
      blockJson,
      notifier,
      timers,
      logs: new LogFeed({ termsMax: 1000 }, notifier),
    }),
    traceChains: new TraceChains({
      max: 2,
      onError: (error) => {
        throw error;
      },
    }),
    blockJson,
    slices,
    sendLock: new KeyedLock(),
    callBundles: new CallBundles(),
    hashrates: new HashrateRegistry(() => timers.now()),
  };
}

async function signWithPassphrase({ address }: { readonly address: Address }): Promise<never> {
  throw new UnknownAccountError(address);
}

/** ALICE's address has a known contract. */
const TEST_CONTRACTS: TestPorts["contracts"] = {
  known: async ({ addresses, withSources }) =>
    addresses.map((address) =>
      address !== ALICE
        ? undefined
        : {
            address,
            name: "Token",
            origin: "verified",
            match: "exact",
            abi: [{ type: "function", name: "f" }],
            compilerVersion: "0.8.30",
            sources: withSources ? { "Token.sol": "contract Token {}" } : {},
          },
    ),
  find: async ({ name }) => (name === "Token" ? [{ address: ALICE, name, origin: "verified" }] : []),
};

const TEST_TOOLS: ToolsPort = {
  compilerVersion: async () => "0.8.0+commit.c7dfd78e",
  compile: async () => ({
    contracts: {
      "source.sol": {
        Empty: { abi: [], userdoc: {}, devdoc: {}, evm: { bytecode: { object: "00" } } },
      },
    },
  }),
  proveBlobs: async ({ blobs }) => ({
    commitments: blobs.map(() => new Uint8Array(48)),
    proofs: blobs.map(() => new Uint8Array(48)),
  }),
  verifyBlobs: async (sidecar) => new VerifiedBlobs().faultOf(sidecar),
};

const TEST_INSPECTION: InspectionPort = {
  dumpState: () => ({ root: ZERO_HASH, accounts: [], next: undefined }),
  storageRange: () => ({ slots: [], next: undefined, isEmpty: true }),
  stateSize: () => {
    const none = { count: 0, bytes: 0 };
    return {
      number: 0,
      root: ZERO_HASH,
      accounts: none,
      slots: none,
      codes: none,
      accountNodes: none,
      storageNodes: none,
    };
  },
  modifiedAccounts: () => [],
  preimage: () => undefined,
  storeStats: () => "",
  compactStore: async () => {},
  row: () => undefined,
  rewind: async () => {},
  badBlocks: () => [],
  traceBadBlock: () => "[]",
  traceBlockFile: () => "[]",
  intermediateRoots: () => [],
  writeStandardTraces: () => [],
};

function executionOf(executed: ExecutedBlock): ExecutionPort {
  return {
    call: ({ args }) => calldataOf(args),
    callMany: ({ bundles }) => bundles.map(({ calls }) => calls.map((args) => ({ value: calldataOf(args) }))),
    estimateGas: () => 21_000n,
    createAccessList: () => ({
      accessList: [{ address: CONTRACT, storageKeys: [SLOT_ONE] }],
      gasUsed: 26_000n,
    }),
    simulate: () => [{ executed, calls: [] }],
    traceTransaction: () => "{}",
    traceBlock: () => [],
    traceBlockText: () => "[]",
    traceBlockFrames: () => "[]",
    traceRawBlock: () => "[]",
    traceCall: () => "{}",
    traceBundles: ({ bundles }) => bundles.map(({ calls }) => calls.map(() => "{}")),
    traceCalls: ({ calls }) => calls.map(() => "{}"),
    traceRawTransaction: () => "{}",
    executionWitness: () => "{}",
    buildBlock() {
      throw new PayloadAttributesError("parentHash is not current head");
    },
    commitBlock: () => executed.block.hash,
  };
}

function chainOf(blocks: readonly ExecutedBlock[]): ChainReader {
  const states = blocks.map((_, number) => createMemoryState(allocAt(number)));
  const byHash = (wanted: Hash) => blocks.find(({ block }) => block.hash === wanted);
  return {
    config: CONFIG,
    genesisHash: blocks[0]!.block.hash,
    head: () => blocks.at(-1)!,
    oldest: () => ({ block: 0, state: 0, proof: 0 }),
    block: (at) => (typeof at === "number" ? blocks[at] : byHash(at)),
    blockInSlices: (number) => blocks[number],
    header: (number) => blocks[number]?.block.header,
    blockHash: (number) => blocks[number]?.block.hash,
    transactionCount: (number) => blocks[number]?.block.transactions.length,
    accessList: () => undefined,
    gasPayments: (number) => blocks[number] && gasPaymentsOf(blocks[number]),
    transactionAt(number, index) {
      const executed = blocks[number];
      return executed && includedTransaction(executed, index);
    },
    numberOf: (hash) => byHash(hash)?.block.header.number,
    transactionPosition(wanted) {
      for (const [number, { block }] of blocks.entries()) {
        const index = block.transactions.findIndex(({ hash }) => hash === wanted);
        if (index >= 0) return { number, index };
      }
      return undefined;
    },
    transaction(wanted) {
      for (const executed of blocks) {
        const index = executed.block.transactions.findIndex(({ hash }) => hash === wanted);
        if (index >= 0) return includedTransaction(executed, index);
      }
      return undefined;
    },
    stateAt: (number) => states[number]!,
    patchAt: () => undefined,
    proof: (address, slots) => ({
      accountProof: [Uint8Array.of(1)],
      storageRoot: address === CONTRACT ? EMPTY_TRIE_ROOT : undefined,
      storageProofs: slots.map((slot) => ({ slot, value: 9n, proof: [Uint8Array.of(2)] })),
    }),
    pending: () => ({
      executed: blockOf(blocks.length, blocks.at(-1)!.block.hash, transactions().slice(0, 1)),
      state: createMemoryState(allocAt(blocks.length)),
      changes: { accounts: [], codes: new Map() },
    }),
  };
}

/** Alice has as many wei as the block has a number, so that states differ. */
function allocAt(number: number): GenesisAlloc {
  const none = { code: EMPTY_BYTES, storage: new Map<Hash, bigint>() };
  return new Map([
    [ALICE, { ...none, nonce: BigInt(number), balance: BigInt(number) }],
    [CONTRACT, { nonce: 1n, balance: 0n, code: CODE, storage: new Map([[SLOT_ONE, 0x2an]]) }],
  ]);
}

function poolOf(pooled: readonly PooledTransaction[]): PoolReader {
  const [pending, ...queued] = pooled;
  const content = { pending: [pending!], queued };
  return {
    get: (wanted) => pooled.find(({ tx }) => tx.hash === wanted),
    nonceOf: () => 4n,
    content: () => ({
      pending: new Map([[ALICE, content.pending]]),
      queued: new Map([[ALICE, content.queued]]),
    }),
    contentFrom: (sender) => (sender === ALICE ? content : { pending: [], queued: [] }),
    counts: () => ({ pending: content.pending.length, queued: content.queued.length }),
  };
}

const plain = { to: BOB, value: 1n, data: EMPTY_BYTES, gasLimit: 21_000n, chainId: CHAIN_ID };
const fees = { maxFeePerGas: 3n * BASE_FEE, maxPriorityFeePerGas: BASE_FEE, accessList: [] };

function transactions(): Transaction[] {
  const authorization = signAuthorization({ chainId: CHAIN_ID, address: CONTRACT, nonce: 1n }, ALICE_KEY);
  const accessList = [{ address: CONTRACT, storageKeys: [SLOT_ONE] }];
  return [
    signTransaction({ type: 0, ...plain, nonce: 0n, gasPrice: 2n * BASE_FEE }, ALICE_KEY),
    signTransaction({ type: 1, ...plain, nonce: 1n, gasPrice: 2n * BASE_FEE, accessList }, ALICE_KEY),
    signTransaction({ type: 2, ...plain, ...fees, nonce: 2n, to: null, data: CODE }, ALICE_KEY),
    signTransaction(
      {
        type: 3,
        ...plain,
        ...fees,
        nonce: 3n,
        maxFeePerBlobGas: 10n,
        blobVersionedHashes: [`0x01${"ab".repeat(31)}` as Hash],
      },
      ALICE_KEY,
    ),
    signTransaction({ type: 4, ...plain, ...fees, nonce: 4n, authorizationList: [authorization] }, ALICE_KEY),
  ];
}

function pooledTransactions(): PooledTransaction[] {
  return [4n, 6n].map((nonce) => ({
    tx: signTransaction({ type: 2, ...plain, ...fees, nonce }, ALICE_KEY),
    sender: ALICE,
  }));
}

function blockOf(number: number, parentHash: Hash, transactions: readonly Transaction[]): ExecutedBlock {
  const header: Header = {
    parentHash,
    sha3Uncles: EMPTY_UNCLES_HASH,
    coinbase: BOB,
    stateRoot: keccak256Hash(Uint8Array.of(number)),
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: 0n,
    number,
    gasLimit: 60_000_000n,
    gasUsed: 21_000n * BigInt(transactions.length),
    timestamp: 1000 + number,
    extraData: EMPTY_BYTES,
    mixHash: ZERO_HASH,
    nonce: new Uint8Array(8),
    baseFeePerGas: BASE_FEE,
    withdrawalsRoot: EMPTY_TRIE_ROOT,
    blobGasUsed: 0n,
    excessBlobGas: 0n,
    parentBeaconBlockRoot: ZERO_HASH,
    requestsHash: ZERO_HASH,
  };
  return {
    block: { hash: headerHash(header), header, transactions, uncles: [], withdrawals: [] },
    senders: transactions.map(() => ALICE),
    receipts: transactions.map(receiptOf),
  };
}

/** Two logs each, so that indexes in the block and in the transaction differ. */
function receiptOf(tx: Transaction, index: number): Receipt {
  const log: Log = { address: CONTRACT, topics: [TOPIC], data: Uint8Array.of(1, 2) };
  return {
    type: tx.type,
    status: 1,
    cumulativeGasUsed: 21_000n * BigInt(index + 1),
    gasUsed: 21_000n,
    logsBloom: new Uint8Array(256),
    logs: [log, { ...log, topics: [] }],
    contractAddress: tx.to === null ? CONTRACT : null,
    effectiveGasPrice: effectiveGasPrice(tx, BASE_FEE),
    ...(tx.type === 3 && { blobGasUsed: 131_072n, blobGasPrice: 1n }),
  };
}
