import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { connectPorts } from "../../../test/support/rpc/connect-ports.ts";
import { ALICE, BOB, CONTRACT, createTestModules } from "../../../test/support/rpc/test-chain.ts";
import { NodeError } from "../../base/errors.ts";
import type { Address } from "../../base/primitives/address.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import type { CancelToken } from "../../base/threads/cancel-token.ts";
import { type AnyMethod, PORT_METHODS, type PortMethod } from "./declarations.ts";
import type { ServedPorts } from "./port-channel.ts";
import type { RemotePorts } from "./remote-ports.ts";

const modules = createTestModules();
const { blocks, pooled } = modules;
const bytes = Uint8Array.of(1, 2, 3);
const hash = blocks[1]!.block.transactions[0]!.hash;
const at = { blockHash: blocks[1]!.block.hash, requireCanonical: true };
const args = { from: ALICE, to: BOB, value: 7n, data: bytes };
const call = { args, at: "latest", overrides: {} } as const;
const overrides = { stateOverrides: new Map([[BOB, { balance: 1n }]]) };
const request = { tracer: "callTracer", timeoutMs: 100 };
const trace = { at: "latest", request } as const;
const address = { address: ALICE };
const key = { address: ALICE, digest: new Uint8Array(32).fill(1) };
const attributes = {
  timestamp: 1,
  prevRandao: hash,
  feeRecipient: BOB,
  withdrawals: [],
  parentBeaconBlockRoot: hash,
  extraData: bytes,
  transactions: [bytes],
} as never;
const id = "filter";
const client = `0x${"11".repeat(32)}` as never;
const sidecar = { wrapperVersion: 0, blobs: [bytes], commitments: [bytes], proofs: [] } as const;

type InputOf<Method> = Method extends () => unknown
  ? undefined
  : Method extends (input: infer Input) => unknown
    ? Input
    : never;

/** An input of every method of every port; one that is missing does not compile. */
const INPUTS: {
  readonly [P in keyof RemotePorts]: {
    readonly [M in keyof RemotePorts[P] as RemotePorts[P][M] extends (...args: never[]) => unknown
      ? Exclude<M, "subscribe">
      : never]: InputOf<RemotePorts[P][M]>;
  };
} = {
  chain: {
    head: undefined,
    nextBlock: undefined,
    oldest: undefined,
    header: { at },
    block: { at: 1 },
    transactionCount: { at: 1 },
    accessList: { at: 1 },
    blockHashes: { first: 0, countMax: 2 },
    transaction: { hash },
    transactionAt: { at: 1, index: 3 },
    transactionBySender: { sender: ALICE, nonce: 1n },
    receipt: { hash },
    account: { ...address, at: "latest" },
    code: { address: CONTRACT, at: "latest" },
    accountWithCode: { address: CONTRACT, at },
    storage: { address: CONTRACT, slot: hashFromBigint(1n), at: "latest" },
    storageValues: { slots: [[CONTRACT, [hashFromBigint(1n)]]], at: "latest" },
    proof: { ...address, slots: [], at: "pending" },
    logs: { query: { terms: {}, from: 0, to: 2 }, limits: modules.settings.logLimits },
    suggestTip: undefined,
    feeHistory: { blockCount: 1, at: "pending", percentiles: [50] },
    addressPage: { address: ALICE, before: undefined, after: undefined, countMax: 1 } as never,
    pooled: { hash: pooled[0]!.tx.hash },
    nextNonce: address,
    poolContent: undefined,
    poolContentFrom: address,
    poolCounts: undefined,
    submit: { transaction: pooled[0]!.tx.raw, sender: pooled[0]!.sender },
  },
  execution: {
    call,
    estimateGas: { ...call, overrides },
    createAccessList: call,
    callMany: { bundles: [{ calls: [args] }], at: "latest", request: { txIndex: 1 } },
    simulate: { request: { blocks: [], validation: true, traceTransfers: false }, at: "latest" },
    traceTransaction: { hash, request },
    traceBlock: { at: 1, request },
    traceBlockText: { at: 1, request },
    traceBlockFrames: { at: 1 },
    traceRawBlock: { rlp: bytes, request },
    traceCall: { ...trace, args },
    traceBundles: { ...trace, bundles: [{ calls: [args] }] },
    traceCalls: { ...trace, calls: [{ args, tracerConfig: {} }] },
    traceRawTransaction: { ...trace, raw: bytes },
    executionWitness: { hash: hashFromBigint(1n) },
    buildBlock: attributes,
    commitBlock: attributes,
  },
  inspection: {
    dumpState: { at: "latest", request: {} as never },
    storageRange: { at: 1, txIndex: 0, ...address, start: bytes, slotsMax: 3 },
    stateSize: { at: 1 },
    modifiedAccounts: { first: 0, at: 1 },
    preimage: { hash },
    storeStats: undefined,
    compactStore: undefined,
    row: { key: bytes },
    rewind: { number: 1 },
    badBlocks: undefined,
    traceBadBlock: { hash, request },
    traceBlockFile: { file: "block", request },
    intermediateRoots: { hash },
    writeStandardTraces: { hash, which: "chain", request },
  },
  keys: {
    accounts: undefined,
    assertKnown: address,
    sign: key,
    signTransaction: key,
    signWithPassphrase: { ...key, passphrase: "secret" },
    unlock: { ...address, passphrase: "secret", seconds: 1 },
    lock: address,
    create: { passphrase: "secret" },
    importKey: { privateKey: bytes, passphrase: "secret" },
    wallets: undefined,
    openWallet: { url: "keystore://a", passphrase: undefined },
    deriveAccount: { url: "keystore://a", path: "m/0", isPinned: true },
    initializeWallet: { url: "keystore://a" },
    unpairWallet: { url: "keystore://a", password: "secret" },
  },
  node: {
    info: undefined,
    readiness: undefined,
    devChain: undefined,
    dataDirectory: undefined,
    adminInfo: undefined,
    peers: undefined,
    addPeer: { address: "id@host:1" },
    removePeer: { id: "id" },
    trustPeer: { address: "id@host:1" },
    distrustPeer: { id: "id" },
    clearPool: undefined,
    startListener: {
      kind: "ws",
      request: {
        host: "127.0.0.1",
        port: 0,
        origins: ["*"],
        namespaces: undefined,
        hosts: undefined,
      },
    },
    stopListener: { kind: "http" },
    exportChain: { file: "chain", first: undefined, last: 1 },
    importChain: { file: "chain" },
    cliqueSnapshot: { number: 1 },
    cliqueSigner: { number: 1 },
    cliqueLightBlock: { number: 1 },
    cliqueStatus: undefined,
    cliqueProposals: undefined,
    cliquePropose: { candidate: BOB, authorize: true, publicKey: bytes },
    cliqueDiscard: { candidate: BOB },
    cliqueParameters: { number: 1 },
    cliqueProposeParameter: { name: "gasLimit", value: 1 },
    cliqueDiscardParameter: { name: "gasLimit" },
    setMinimumGasPrice: { wei: 1n },
    setEtherbase: { account: BOB },
    getValue: { database: "a", key: "b" },
    putValue: { database: "a", key: "b", value: bytes },
  },
  dev: {
    settings: undefined,
    configure: {},
    setChainId: { chainId: 1n },
    setNextBlock: {},
    increaseTime: { seconds: 1 },
    setTime: { timestamp: 1 },
    loadState: { state: { edits: [], blocks: [] } },
    edit: { edits: [] },
    mine: { count: 1 } as never,
    snapshot: undefined,
    snapshots: undefined,
    revert: { id: 1 },
    rollback: { depth: 1 },
    reorg: { depth: 1, transactions: [{ raw: bytes, block: 0 }] },
    reset: { forking: { url: "http://a", blockNumber: undefined } },
    setForkUrl: { url: "http://a" },
    impersonate: { ...address, isOn: true },
    submitUnsigned: { raw: bytes },
    drop: { hash },
    dropAll: { sender: undefined },
    dumpState: undefined,
  },
  les: {
    latestCheckpoint: undefined,
    checkpoint: { index: 1 },
    proveHash: { index: 1, number: 2 },
    checkpointOracle: undefined,
    serverInfo: undefined,
    clientInfo: { ids: [client] },
    priorityClientInfo: { start: client, stop: undefined, maxCount: 3 },
    addBalance: { id: client, amount: -1n, meta: undefined },
    setClientParameters: { ids: [client], parameters: {} as never },
    setDefaultParameters: { parameters: {} as never },
    setConnectedBias: { ns: 1 },
    freeze: { id: client },
  },
  shh: {
    newIdentity: undefined,
    hasIdentity: { identity: "0x04" as never },
    post: { payload: bytes, topics: [bytes] } as never,
    newGroup: { from: undefined, members: [bytes] },
    addToGroup: { group: undefined, who: bytes },
    newMessageFilter: { topics: [[bytes]] } as never,
    uninstallMessageFilter: { id },
    messageFilterChanges: { id },
    messages: { id },
  },
  runtime: {
    memoryStats: undefined,
    gcStats: undefined,
    collectGarbage: undefined,
    setGcPercent: { percent: 100 },
    setMemoryLimit: { bytes: Number.POSITIVE_INFINITY },
    stacks: undefined,
    setVerbosity: { level: 3 },
    setFileLevels: { rules: "a=5" },
    setBacktraceAt: { position: "a.ts:1" },
    startProfile: { kind: "cpu", file: "a" },
    stopProfile: { kind: "cpu" },
    recordProfile: { kind: "block", file: "a", seconds: 1 },
    writeHeapProfile: { file: "a" },
    setBlockProfileRate: { nanoseconds: 1 },
    writeBlockProfile: { file: "a" },
    setMutexProfileFraction: { fraction: 1 },
    writeMutexProfile: { file: "a" },
  },
  tools: {
    compilerVersion: undefined,
    compile: { language: "Solidity" },
    proveBlobs: { blobs: [bytes], wrapperVersion: 1 },
    verifyBlobs: sidecar,
  },
  contracts: {
    known: { addresses: [ALICE], withSources: true },
    find: { name: "Token", countMax: 1 },
    verify: {
      ...address,
      input: { language: "Solidity", sources: { "A.sol": { content: "contract A {}" } } },
      contract: "A.sol:A",
      compilerVersion: "0.8.30",
      constructorArguments: undefined,
    },
    verification: { id },
  },
};

/** What the test chain lacks answers with its input and values of each kind that ports carry. */
const echo: AnyMethod = (input) => ({
  input,
  map: new Map<Address, readonly bigint[]>([[ALICE, [1n, -2n]]]),
  set: new Set([bytes]),
  nothing: undefined,
});

/** Every method of every port. @param replaceBy in place of all of them */
function ports(replaceBy?: AnyMethod): ServedPorts {
  const served = Object.entries(INPUTS).map(([port, methods]) => {
    const own = (modules as unknown as Record<string, Record<string, AnyMethod>>)[port];
    const entries = Object.keys(methods).map((name) => [
      name,
      replaceBy ?? ((input?: never) => (own?.[name] ?? echo)(input)),
    ]);
    return [port, Object.fromEntries(entries)];
  });
  const { config, genesisHash, genesisTime, subscribe } = modules.chain;
  const { chain, ...others } = Object.fromEntries(served);
  return { ...others, chain: { ...chain, config, genesisHash, genesisTime, subscribe } };
}

class TestRejection extends NodeError {
  readonly code = "DEV_CONTROL";
}

async function outcomeOf(run: () => unknown): Promise<unknown> {
  try {
    return { value: await run() };
  } catch (error) {
    const { name, message, code, details } = error as NodeError;
    return { name, message, code, details };
  }
}

const DECLARED: Readonly<Record<string, Readonly<Record<string, PortMethod>>>> = PORT_METHODS;

for (const [port, inputs] of Object.entries(INPUTS)) {
  describe(`port ${port} over a MessageChannel`, () => {
    for (const [name, input] of Object.entries<object | undefined>(inputs)) {
      const { cancel, at } = DECLARED[port]?.[name] ?? {};
      const methodOf = (served: unknown) => (served as Record<string, Record<string, AnyMethod>>)[port]![name]!;

      test(`${name} answers as it does directly, and its rejections cross`, async () => {
        const direct = ports();
        const channel = connectPorts(direct);
        assert.deepEqual(
          await outcomeOf(() => methodOf(channel.ports)(input)),
          await outcomeOf(() => methodOf(direct)(input)),
        );
        channel.close();
        const rejecting = connectPorts(
          ports(() => {
            throw new TestRejection("no", { bytes, amount: 1n });
          }),
        );
        assert.deepEqual(await outcomeOf(() => methodOf(rejecting.ports)(input)), {
          name: "TestRejection",
          message: "no",
          code: "DEV_CONTROL",
          details: { bytes, amount: 1n },
        });
        rejecting.close();
        if (at) assert.ok(input && "at" in input, "a method that reads at a state is tested with one");
      });

      if (cancel) {
        test(`${name} is aborted with its caller`, async () => {
          const caller = new AbortController();
          const { signal } = caller;
          const waiting: AnyMethod = (received) =>
            new Promise((_resolve, reject) => {
              const { cancel } = received as { readonly cancel: CancelToken };
              cancel.signal.addEventListener("abort", () =>
                reject(new TestRejection(cancel.isAborted ? "aborted" : "not aborted")),
              );
              caller.abort();
            });
          const channel = connectPorts(ports(waiting));
          const answer = methodOf(channel.ports)({
            ...input,
            cancel: { isAborted: false, signal },
          } as object);
          await assert.rejects(answer as Promise<unknown>, { message: "aborted" });
          channel.close();
        });
      }
    }
  });
}
