import type * as Native from "../../../base/crypto/secp256k1-native.ts";
import type * as Positions from "../../../base/telemetry/source-positions.ts";
import type * as IndexPlace from "../../../chain/store/index/index-place.ts";
import type * as Whisper from "../../../heritage/shh/peers/libp2p-transport.ts";
import type * as ExecutionThreads from "../../../node/calls/execution-threads.ts";
import type * as SpeculationThreads from "../../../node/calls/speculation-threads.ts";
import type * as Tls from "../../../node/config/tls-files.ts";
import type * as Metrics from "../../../node/observe/metrics-listener.ts";
import type * as OtherRequests from "../../../node/observe/other-requests.ts";
import type * as Tracing from "../../../node/observe/otlp-tracer.ts";
import type * as RpcProcesses from "../../../node/processes/rpc-processes.ts";
import type * as Profiling from "../../../node/profiling/runtime-port.ts";
import type * as NetworkEngine from "../../../node/roles/chain/network-engine.ts";
import type * as Solidity from "../../../node/services/solidity-compiler.ts";
import type * as Server from "../../../rpc/transport/server/server.ts";
import type * as LmdbCheck from "../../../store/storage/lmdb/lmdb-check.ts";
import type * as Lmdb from "../../../store/storage/lmdb/lmdb-kv.ts";
import type * as Lock from "../../../store/storage/lock.ts";
import { createMemoryKv } from "../../../store/storage/memory-kv.ts";
import { fileTree } from "../platform/fs.ts";
import { UnsupportedInBrowserError } from "../unsupported.ts";

/** Replaces modules for features that a page lacks: with an empty answer if that is true, else with an error. */

const without = (what: string) => (): never => {
  throw new UnsupportedInBrowserError(what);
};

/** Pages have no native code; the curve is WebAssembly. */
export const loadNativeBackend: typeof Native.loadNativeBackend = () => undefined;

/** A file in OPFS that one tab has open cannot be opened in another, so no lock is needed. */
export const lockFile: typeof Lock.lockFile = () => ({ release() {} });

/** A page has no other disk. */
export const placeIndex: typeof IndexPlace.placeIndex = () => {};

/** The files survive a crash of the browser like that of a process. */
export const bootId: typeof Lock.bootId = () => undefined;

/** A browser's own tools apply source maps. */
export const createSourcePositions: typeof Positions.createSourcePositions = () => (position) => position;

/** LMDB maps files into memory, which pages cannot. The index is in memory instead, as on machines without LMDB. */
export class NativeStoreMissingError extends UnsupportedInBrowserError {
  constructor() {
    super("LMDB");
  }
}

const withoutLmdb = (): never => {
  throw new NativeStoreMissingError();
};

export const openLmdbKv: typeof Lmdb.openLmdbKv = withoutLmdb;

/** Pages have no LMDB files. */
export const findLmdbFault: typeof LmdbCheck.findLmdbFault = () => undefined;

export class BackgroundLmdbCheck {
  constructor() {
    withoutLmdb();
  }
}

/** In memory, for a chain in memory, whose values end with it. */
export const openDurableLmdbKv: typeof Lmdb.openDurableLmdbKv = (directory) =>
  fileTree.isDurable(directory) ? withoutLmdb() : createMemoryKv();

/** CometBFT is a program beside the node. */
const withoutEngine = without("consensus.engine = cometbft");
export const syncFromPeers: typeof NetworkEngine.syncFromPeers = async () => withoutEngine();
export const createNetworkEngine: typeof NetworkEngine.createNetworkEngine = withoutEngine;
export const startingSet: typeof NetworkEngine.startingSet = withoutEngine;
export const blocksNameForks: typeof NetworkEngine.blocksNameForks = withoutEngine;
export const validatorPower: typeof NetworkEngine.validatorPower = withoutEngine;
export const defaultFeeRecipient: typeof NetworkEngine.defaultFeeRecipient = withoutEngine;

/** Whisper works inside this node, but its peers need TCP. */
export const startTransport: typeof Whisper.startTransport = async () => without("shh.address and shh.peers")();

export const declareCertificateMetrics: typeof Metrics.declareCertificateMetrics = () =>
  without("a certificate of its own")();
export const startOtlpTracer: typeof Tracing.startOtlpTracer = async () => without("tracing.endpoint")();
export const listenMetrics: typeof Metrics.listenMetrics = async () => without("a listener for metrics")();

/** A page has no listeners, so it needs no TLS. */
export const openTlsFiles: typeof Tls.openTlsFiles = ({ tls }) =>
  tls.cert === "" && tls.key === "" && tls.clientCa === "" ? undefined : without("tls.cert")();

/** A page has no listeners, so it gets no requests. */
export const createOtherRequests: typeof OtherRequests.createOtherRequests = () => () => false;

/** A page accepts no connections: programs in it talk to the provider. */
export const startRpcServer: typeof Server.startRpcServer = async ({ http, ws, ipc }) => {
  if (http ?? ws ?? ipc) throw new UnsupportedInBrowserError("a listener");
  return {
    urls: {},
    open: async (kind) => without(`a listener of ${kind}`)(),
    setTls() {},
    async shut() {},
    accept: (kind) => without(`a listener of ${kind}`)(),
    async close() {},
  };
};

/** A page cannot inspect its engine's memory or profile itself: the browser's developer tools do that. */
export const createRuntimePort: typeof Profiling.createRuntimePort = () => ({
  memoryStats: without("statistics of memory"),
  gcStats: without("statistics of garbage collection"),
  collectGarbage: without("garbage collection on request"),
  setGcPercent: without("settings of garbage collection"),
  setMemoryLimit: without("settings of garbage collection"),
  stacks: without("stacks"),
  setVerbosity: without("verbosity"),
  setFileLevels: without("verbosity"),
  setBacktraceAt: without("verbosity"),
  startProfile: without("profiles"),
  stopProfile: without("profiles"),
  recordProfile: without("profiles"),
  writeHeapProfile: without("profiles"),
  setBlockProfileRate: without("profiles"),
  setMutexProfileFraction: without("profiles"),
  writeMutexProfile: without("profiles"),
  writeBlockProfile: without("profiles"),
  async close() {},
});

/** Other threads cannot read the index, which is in this thread's memory. */
export const createExecutionThreads: typeof ExecutionThreads.createExecutionThreads = () => undefined;
export const createSpeculationThreads: typeof SpeculationThreads.createSpeculationThreads = () => undefined;

/** Calls for threads run on this one: see `pool.ts`. */
export function serveThread(): void {}

/** Without listeners there is nothing for other processes to serve. */
export const startRpcProcesses: typeof RpcProcesses.startRpcProcesses = () => undefined;

/** The EVM blocks until the remote chain answers, which a page must not do. */
export class RemoteThread {
  constructor() {
    throw new UnsupportedInBrowserError("dev.fork-url");
  }
}

/** The compiler is a package that the operator installs beside the node. */
export const createSolidityCompiler: typeof Solidity.createSolidityCompiler = () => ({
  compilerVersion: async () => undefined,
  compile: async () => without("solc")(),
  close() {},
});
