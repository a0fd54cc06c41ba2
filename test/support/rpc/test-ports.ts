import type { LesPort } from "../../../src/heritage/les/port.ts";
import type { ShhPort } from "../../../src/heritage/shh/port.ts";
import type { ChainView } from "../../../src/rpc/ports/chain-view.ts";
import type { ContractsPort } from "../../../src/rpc/ports/contracts.ts";
import type { DevPort } from "../../../src/rpc/ports/dev.ts";
import type { ExecutionPort } from "../../../src/rpc/ports/execution.ts";
import type { InspectionPort } from "../../../src/rpc/ports/inspection.ts";
import type { KeysPort } from "../../../src/rpc/ports/keys.ts";
import type { NodePort } from "../../../src/rpc/ports/node.ts";
import type { RuntimePort } from "../../../src/rpc/ports/runtime.ts";
import type { ToolsPort } from "../../../src/rpc/ports/tools.ts";

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
