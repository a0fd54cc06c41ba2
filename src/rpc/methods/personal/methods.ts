import type { Method } from "../../transport/dispatch/method.ts";
import type { RpcPorts } from "../rpc-ports.ts";
import { deriveAccount, importRawKey, listAccounts, lockAccount, newAccount, unlockAccount } from "./accounts.ts";
import {
  ecRecover,
  personalSendTransaction,
  personalSign,
  personalSignTransaction,
  personalSignTypedData,
} from "./signing.ts";
import { initializeWallet, listWallets, openWallet, unpair } from "./wallets.ts";

export const PERSONAL_METHODS: readonly Method<RpcPorts>[] = [
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
