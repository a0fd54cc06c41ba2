import type { Method } from "../../transport/dispatch/method.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import {
  chaindbCompact,
  chaindbProperty,
  dbAncient,
  dbAncients,
  dbGet,
  getBadBlocks,
  getTrieFlushInterval,
  seedHash,
  setHead,
  setTrieFlushInterval,
} from "./database.ts";
import { backtraceAt, verbosity, vmodule } from "./logging.ts";
import { freeOsMemory, gcStats, memStats, setGcPercent, setMemoryLimit } from "./memory.ts";
import { clearTxpool, discoveryV4Table } from "./network.ts";
import {
  blockProfile,
  cpuProfile,
  goTrace,
  mutexProfile,
  setBlockProfileRate,
  setMutexProfileFraction,
  startCpuProfile,
  startGoTrace,
  stopCpuProfile,
  stopGoTrace,
  writeBlockProfile,
  writeMemProfile,
  writeMutexProfile,
} from "./profiles.ts";
import {
  getBlockRlp,
  getHeaderRlp,
  getRawBlock,
  getRawHeader,
  getRawReceipts,
  getRawTransaction,
  printBlock,
} from "./raw.ts";
import { stacks } from "./stacks.ts";
import { accountRange, dumpBlock, getAccessibleState, storageRangeAt } from "./state.ts";
import {
  executionWitness,
  executionWitnessByHash,
  getModifiedAccountsByHash,
  getModifiedAccountsByNumber,
  preimage,
  stateSize,
} from "./state-changes.ts";
import {
  intermediateRoots,
  standardTraceBadBlockToFile,
  standardTraceBlockToFile,
  traceBadBlock,
  traceBlock,
  traceBlockByHash,
  traceBlockByNumber,
  traceBlockFromFile,
} from "./trace-blocks.ts";
import { debugSubscriptions } from "./trace-chain.ts";
import { traceCall, traceCallMany, traceTransaction } from "./trace-transactions.ts";

/** Methods about the process rather than the chain. */
const RUNTIME_METHODS: readonly Method<ServingPorts>[] = [
  memStats,
  gcStats,
  freeOsMemory,
  setGcPercent,
  setMemoryLimit,
  stacks,
  verbosity,
  vmodule,
  backtraceAt,
  cpuProfile,
  startCpuProfile,
  stopCpuProfile,
  goTrace,
  startGoTrace,
  stopGoTrace,
  blockProfile,
  setBlockProfileRate,
  writeBlockProfile,
  mutexProfile,
  setMutexProfileFraction,
  writeMutexProfile,
  writeMemProfile,
];

export const DEBUG_METHODS: readonly Method<ServingPorts>[] = [
  getRawBlock,
  getRawHeader,
  getRawReceipts,
  getRawTransaction,
  getBlockRlp,
  getHeaderRlp,
  printBlock,
  seedHash,
  dumpBlock,
  accountRange,
  storageRangeAt,
  getModifiedAccountsByNumber,
  getModifiedAccountsByHash,
  preimage,
  executionWitness,
  executionWitnessByHash,
  traceTransaction,
  traceBlockByNumber,
  traceBlockByHash,
  traceBlock,
  traceCall,
  traceCallMany,
  chaindbCompact,
  chaindbProperty,
  dbAncient,
  dbAncients,
  dbGet,
  getAccessibleState,
  stateSize,
  getBadBlocks,
  clearTxpool,
  discoveryV4Table,
  setHead,
  getTrieFlushInterval,
  setTrieFlushInterval,
  intermediateRoots,
  standardTraceBadBlockToFile,
  standardTraceBlockToFile,
  traceBadBlock,
  traceBlockFromFile,
  ...debugSubscriptions,
  ...RUNTIME_METHODS,
];
