import type { Method } from "../../transport/dispatch/method.ts";
import { exportedMethods } from "../define-method.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import * as accounts from "./accounts.ts";
import * as signing from "./signing.ts";
import * as wallets from "./wallets.ts";

export const PERSONAL_METHODS: readonly Method<ServingPorts>[] = exportedMethods(accounts, signing, wallets);
