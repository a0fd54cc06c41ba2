import type { Method } from "../../transport/dispatch/method.ts";
import { exportedMethods } from "../define-method.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import * as blocks from "./blocks.ts";
import * as client from "./client.ts";
import * as compilers from "./compilers.ts";
import * as contracts from "./contracts.ts";
import * as execute from "./execute.ts";
import * as fees from "./fees.ts";
import * as filters from "./filters.ts";
import * as mining from "./mining.ts";
import * as signing from "./sign.ts";
import * as simulate from "./simulate.ts";
import * as state from "./state.ts";
import * as submit from "./submit.ts";
import * as subscriptions from "./subscriptions.ts";
import * as transactions from "./transactions.ts";

export const ETH_METHODS: readonly Method<ServingPorts>[] = exportedMethods(
  blocks,
  client,
  compilers,
  contracts,
  execute,
  fees,
  filters,
  mining,
  signing,
  simulate,
  state,
  submit,
  subscriptions,
  transactions,
);
