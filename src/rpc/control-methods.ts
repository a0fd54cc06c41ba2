import type { AccountManager } from "../keystore/account-manager.ts";
import type { Method } from "./method.ts";
import type { RpcModules } from "./methods.ts";
import {
  deriveAccount,
  importRawKey,
  initializeWallet,
  listAccounts,
  listWallets,
  newAccount,
  openWallet,
  unpair,
} from "./personal/accounts.ts";
import { ecRecover, personalSign, personalSignTypedData } from "./personal/sign.ts";
import { personalSendTransaction, personalSignTransaction } from "./personal/transactions.ts";
import { lockAccount, unlockAccount } from "./personal/unlock.ts";

/** What the methods ask for that work on the node itself: its keys, settings, listeners and files. */
export type ControlModules = {
  readonly keys: AccountManager;
};

type Namespace = readonly Method<RpcModules>[];

const personal: Namespace = [
  listAccounts,
  listWallets,
  newAccount,
  importRawKey,
  unlockAccount,
  lockAccount,
  personalSendTransaction,
  personalSignTransaction,
  personalSign,
  personalSignTypedData,
  ecRecover,
  openWallet,
  deriveAccount,
  initializeWallet,
  unpair,
];

/** The namespaces of whoever runs the node. */
export const CONTROL_METHODS: Namespace = [...personal];
