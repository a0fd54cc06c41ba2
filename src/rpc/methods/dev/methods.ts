import type { Method } from "../../transport/dispatch/method.ts";
import { exportedMethods } from "../define-method.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import * as accounts from "./accounts.ts";
import * as blocks from "./blocks.ts";
import * as client from "./client.ts";
import * as history from "./history.ts";
import * as pool from "./pool.ts";
import * as time from "./time.ts";
import * as wallet from "./wallet.ts";

/** Methods of dev chains only: elsewhere tools would mistake the chain for one whose state they may change. */
export const DEV_METHODS: readonly Method<ServingPorts>[] = exportedMethods(
  accounts,
  blocks,
  client,
  history,
  pool,
  time,
  wallet,
);
