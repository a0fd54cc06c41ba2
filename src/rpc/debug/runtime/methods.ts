import type { Method } from "../../dispatch/method.ts";
import type { RpcPorts } from "../../ports/rpc-ports.ts";
import { blockProfile, setBlockProfileRate, writeBlockProfile } from "./block-profile.ts";
import { cpuProfile, startCpuProfile, stopCpuProfile } from "./cpu-profile.ts";
import { freeOsMemory } from "./free-os-memory.ts";
import { gcStats } from "./gc-stats.ts";
import { goTrace, startGoTrace, stopGoTrace } from "./go-trace.ts";
import { backtraceAt, verbosity, vmodule } from "./logging.ts";
import { memStats } from "./mem-stats.ts";
import { setGcPercent } from "./set-gc-percent.ts";
import { setMemoryLimit } from "./set-memory-limit.ts";
import { stacks } from "./stacks.ts";
import { writeMemProfile } from "./write-mem-profile.ts";

/** Methods about the process rather than the chain. */
export const RUNTIME_METHODS: readonly Method<RpcPorts>[] = [
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
  writeMemProfile,
];
