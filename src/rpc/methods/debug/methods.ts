import type { Method } from "../../transport/dispatch/method.ts";
import { exportedMethods } from "../define-method.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import * as database from "./database.ts";
import * as logging from "./logging.ts";
import * as memory from "./memory.ts";
import * as network from "./network.ts";
import * as profiles from "./profiles.ts";
import * as raw from "./raw.ts";
import * as stacks from "./stacks.ts";
import * as state from "./state.ts";
import * as stateChanges from "./state-changes.ts";
import * as traceBlocks from "./trace-blocks.ts";
import * as traceChain from "./trace-chain.ts";
import * as traceTransactions from "./trace-transactions.ts";

export const DEBUG_METHODS: readonly Method<ServingPorts>[] = exportedMethods(
  database,
  logging,
  memory,
  network,
  profiles,
  raw,
  stacks,
  state,
  stateChanges,
  traceBlocks,
  traceChain,
  traceTransactions,
);
