import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { deriveAccount } from "./derive-account.ts";
import { ecRecover } from "./ec-recover.ts";
import { importRawKey } from "./import-raw-key.ts";
import { initializeWallet } from "./initialize-wallet.ts";
import { listAccounts } from "./list-accounts.ts";
import { listWallets } from "./list-wallets.ts";
import { lockAccount } from "./lock-account.ts";
import { newAccount } from "./new-account.ts";
import { openWallet } from "./open-wallet.ts";
import { personalSendTransaction } from "./send-transaction.ts";
import { personalSign } from "./sign.ts";
import { personalSignTransaction } from "./sign-transaction.ts";
import { personalSignTypedData } from "./sign-typed-data.ts";
import { unlockAccount } from "./unlock-account.ts";
import { unpair } from "./unpair.ts";

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
