import type { LesPort } from "../../heritage/les/port.ts";
import type { ShhPort } from "../../heritage/shh/port.ts";
import type { ChainView } from "./chain-view.ts";
import type { ContractsPort } from "./contracts.ts";
import type { DevPort } from "./dev.ts";
import type { ExecutionPort } from "./execution.ts";
import type { InspectionPort } from "./inspection.ts";
import type { KeysPort } from "./keys.ts";
import type { NodePort } from "./node.ts";
import type { RuntimePort } from "./runtime.ts";
import type { ToolsPort } from "./tools.ts";

/** The ports that may be answered by another thread or process. */
export type RemotePorts = {
  /** Reads, pool, fees, submit and events: one chain, one order of events. */
  readonly chain: ChainView;
  /** Separate from `chain`, because a call costs milliseconds and a read microseconds, and because it may get its own threads. */
  readonly execution: ExecutionPort;
  /** Apart from `chain`, because it scans states and the store. */
  readonly inspection: InspectionPort;
  /** Apart from `node`, because private keys are reached through nothing else. */
  readonly keys: KeysPort;
  readonly node: NodePort;
  /** Apart from `node`, because only a dev chain has it. */
  readonly dev: DevPort;
  /** Separate from `node`, because it has its own stores. */
  readonly les: LesPort;
  /** Apart from `node`, because it needs neither chain nor node. */
  readonly shh: ShhPort;
  /** Apart from `node`, because it is about the process and needs no chain. */
  readonly runtime: RuntimePort;
  /** Apart from `chain`, because it needs no chain. */
  readonly tools: ToolsPort;
  /** Separate from `chain`, because knowledge about contracts is not part of it. */
  readonly contracts: ContractsPort;
};
