import type { LesPort } from "../../les/port.ts";
import type { ShhPort } from "../../shh/port.ts";
import type { ChainView } from "../ports/chain-view.ts";
import type { ContractsPort } from "../ports/contracts.ts";
import type { DevPort } from "../ports/dev.ts";
import type { ExecutionPort } from "../ports/execution.ts";
import type { InspectionPort } from "../ports/inspection.ts";
import type { KeysPort } from "../ports/keys.ts";
import type { NodePort } from "../ports/node.ts";
import type { RuntimePort } from "../ports/runtime.ts";
import type { ToolsPort } from "../ports/tools.ts";

/** The ports of test modules. */
export type TestPorts = {
  readonly chain: ChainView;
  readonly execution: ExecutionPort;
  readonly inspection: InspectionPort;
  readonly keys: Pick<KeysPort, "accounts" | "assertKnown" | "sign" | "signTransaction" | "signWithPassphrase">;
  readonly dev: Partial<DevPort>;
  readonly node: Pick<NodePort, "info">;
  readonly les: Partial<LesPort>;
  readonly shh: Partial<ShhPort>;
  readonly runtime: Partial<RuntimePort>;
  readonly tools: ToolsPort;
  readonly contracts: Pick<ContractsPort, "known" | "find">;
};

/** Puts something between a caller and the ports. */
export type ConnectPorts = (ports: TestPorts) => TestPorts;
