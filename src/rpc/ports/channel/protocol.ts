import type { ErrorCode } from "../../../error-codes.ts";
import type { ChainConstants, ChainListener } from "../chain-view.ts";
import type { RemotePorts } from "../remote-ports.ts";

/**
 * The ports over a `MessagePort`. The server sends the chain's constants first; then each call gets one `result` or `error` with its
 * id, in any order, and events come between them in the order they happened. An event that the server sends before a result was
 * there before that result was read.
 */
export type ClientMessage =
  | {
      readonly kind: "call";
      readonly id: number;
      readonly port: RemotePortName;
      readonly method: string;
      readonly args: readonly unknown[];
    }
  /** Nobody waits for the result of call `id` any more. */
  | { readonly kind: "abort"; readonly id: number }
  | { readonly kind: "subscribe"; readonly id: number; readonly events: readonly ChainEvent[] }
  | { readonly kind: "unsubscribe"; readonly id: number };

export type ServerMessage =
  | { readonly kind: "constants"; readonly constants: ChainConstants }
  | { readonly kind: "result"; readonly id: number; readonly value: unknown }
  | { readonly kind: "error"; readonly id: number; readonly error: ErrorData }
  /** @property id of the subscription */
  | {
      readonly kind: "event";
      readonly id: number;
      readonly event: ChainEvent;
      readonly value: unknown;
    };

/** An error without its class, which no structured clone preserves. */
export type ErrorData = {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly cause: ErrorData | undefined;
  /** Present for a `NodeError`. */
  readonly rejection?: {
    readonly code: ErrorCode;
    readonly details: Readonly<Record<string, unknown>>;
  };
};

export type RemotePortName = keyof RemotePorts;
export type ChainEvent = keyof ChainListener;

/** What a method of a port is: an ordinary call, or one whose parameter at `cancelAt` is a `CancelToken`. */
type Remote = { readonly cancelAt?: number };

type FunctionName<P> = Extract<
  { [K in keyof P]: P[K] extends (...args: never[]) => unknown ? K : never }[keyof P],
  string
>;

const CALL: Remote = {};

/** Every method that crosses; one that is missing does not compile. `subscribe` has messages of its own. */
export const REMOTE_METHODS = {
  chain: {
    head: CALL,
    oldest: CALL,
    header: CALL,
    block: CALL,
    blockHashes: CALL,
    transaction: CALL,
    transactionAt: CALL,
    transactionBySender: CALL,
    receipt: CALL,
    account: CALL,
    code: CALL,
    accountWithCode: CALL,
    storage: CALL,
    storageValues: CALL,
    proof: CALL,
    logs: { cancelAt: 2 },
    addressPage: CALL,
    pooled: CALL,
    nextNonce: CALL,
    poolContent: CALL,
    poolContentFrom: CALL,
    poolCounts: CALL,
    suggestTip: CALL,
    feeHistory: CALL,
    submit: CALL,
  },
  execution: {
    call: { cancelAt: 3 },
    estimateGas: { cancelAt: 3 },
    createAccessList: { cancelAt: 3 },
    callMany: { cancelAt: 3 },
    simulate: { cancelAt: 2 },
    traceTransaction: { cancelAt: 2 },
    traceBlock: { cancelAt: 2 },
    traceRawBlock: { cancelAt: 2 },
    traceCall: { cancelAt: 3 },
    traceBundles: { cancelAt: 3 },
    traceCalls: { cancelAt: 3 },
    traceRawTransaction: { cancelAt: 3 },
    buildBlock: CALL,
    commitBlock: CALL,
  },
  inspection: {
    dumpState: CALL,
    storageRange: CALL,
    stateSize: CALL,
    modifiedAccounts: CALL,
    preimage: CALL,
    storeStats: CALL,
    compactStore: CALL,
    row: CALL,
    rewind: CALL,
    badBlocks: CALL,
    traceBadBlock: CALL,
    traceBlockFile: CALL,
    intermediateRoots: CALL,
    executionWitness: CALL,
    writeStandardTraces: CALL,
  },
  keys: {
    accounts: CALL,
    assertKnown: CALL,
    sign: CALL,
    signTransaction: CALL,
    signWithPassphrase: CALL,
    unlock: CALL,
    lock: CALL,
    create: CALL,
    importKey: CALL,
    wallets: CALL,
    openWallet: CALL,
    deriveAccount: CALL,
    initializeWallet: CALL,
    unpairWallet: CALL,
  },
  node: {
    info: CALL,
    readiness: CALL,
    devChain: CALL,
    dataDirectory: CALL,
    adminInfo: CALL,
    peers: CALL,
    addPeer: CALL,
    removePeer: CALL,
    trustPeer: CALL,
    distrustPeer: CALL,
    startListener: CALL,
    stopListener: CALL,
    exportChain: CALL,
    importChain: CALL,
    cliqueSnapshot: CALL,
    cliqueSigner: CALL,
    cliqueLightBlock: CALL,
    cliqueStatus: CALL,
    cliqueProposals: CALL,
    cliquePropose: CALL,
    cliqueDiscard: CALL,
    setMinimumGasPrice: CALL,
    setEtherbase: CALL,
    getValue: CALL,
    putValue: CALL,
  },
  dev: {
    settings: CALL,
    configure: CALL,
    setNextBlock: CALL,
    increaseTime: CALL,
    setTime: CALL,
    edit: CALL,
    mine: CALL,
    snapshot: CALL,
    revert: CALL,
    rollback: CALL,
    reorg: CALL,
    reset: CALL,
    setForkUrl: CALL,
    impersonate: CALL,
    submitUnsigned: CALL,
    drop: CALL,
    dropAll: CALL,
    dumpState: CALL,
  },
  les: {
    latestCheckpoint: CALL,
    checkpoint: CALL,
    proveHash: CALL,
    checkpointOracle: CALL,
    serverInfo: CALL,
    clientInfo: CALL,
    priorityClientInfo: CALL,
    addBalance: CALL,
    setClientParameters: CALL,
    setDefaultParameters: CALL,
    setConnectedBias: CALL,
    freeze: CALL,
  },
  shh: {
    newIdentity: CALL,
    hasIdentity: CALL,
    post: CALL,
    newGroup: CALL,
    addToGroup: CALL,
    newMessageFilter: CALL,
    uninstallMessageFilter: CALL,
    messageFilterChanges: CALL,
    messages: CALL,
  },
  runtime: {
    memoryStats: CALL,
    gcStats: CALL,
    collectGarbage: CALL,
    setGcPercent: CALL,
    setMemoryLimit: CALL,
    stacks: CALL,
    setVerbosity: CALL,
    setFileLevels: CALL,
    setBacktraceAt: CALL,
    startProfile: CALL,
    stopProfile: CALL,
    recordProfile: CALL,
    writeHeapProfile: CALL,
    setBlockProfileRate: CALL,
    writeBlockProfile: CALL,
  },
  tools: { compilerVersion: CALL, compile: CALL, proveBlobs: CALL, verifyBlobs: CALL },
} as const satisfies {
  readonly [P in RemotePortName]: Readonly<
    Record<Exclude<FunctionName<RemotePorts[P]>, "subscribe">, Remote>
  >;
};

/** The facts of a method; undefined when no such method crosses. */
export function remoteMethod(port: string, method: string): Remote | undefined {
  const table = REMOTE_METHODS as Readonly<Record<string, Readonly<Record<string, Remote>>>>;
  const methods = Object.hasOwn(table, port) ? table[port]! : {};
  return Object.hasOwn(methods, method) ? methods[method] : undefined;
}

/** What carries the messages of a channel: a `MessagePort`, or a part of the messages between two processes. */
export interface ChannelPort {
  postMessage(message: ClientMessage | ServerMessage): void;
  on(event: "message" | "messageerror" | "close", listener: (value: unknown) => void): unknown;
  /** While it is referenced, an open port keeps its process running. */
  ref(): void;
  unref(): void;
  close(): void;
}
