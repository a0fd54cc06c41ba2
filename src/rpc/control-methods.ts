import type { AccountManager } from "../keystore/account-manager.ts";
import type { DappDb } from "../storage/dapp-db.ts";
import { exportChain, importChain } from "./admin/chain-file.ts";
import { startHttp, startRpc, startWs, stopHttp, stopRpc, stopWs } from "./admin/listeners.ts";
import {
  addPeer,
  addTrustedPeer,
  datadir,
  nodeInfo,
  peers,
  removePeer,
  removeTrustedPeer,
} from "./admin/node.ts";
import type { NodeAdmin } from "./admin/port.ts";
import { getHex, getString, putHex, putString } from "./db/db.ts";
import type { Method } from "./dispatch/method.ts";
import type { RpcModules } from "./methods.ts";
import {
  getHashrate,
  setEtherbase,
  setExtra,
  setGasLimit,
  setGasPrice,
  start,
  stop,
} from "./miner/miner.ts";
import type { MinerSettings } from "./miner/port.ts";
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
  readonly miner: MinerSettings;
  readonly admin: NodeAdmin;
  readonly dappDb: DappDb;
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

const miner: Namespace = [
  getHashrate,
  setExtra,
  setGasPrice,
  start,
  stop,
  setGasLimit,
  setEtherbase,
];

const admin: Namespace = [
  nodeInfo,
  peers,
  datadir,
  addPeer,
  removePeer,
  addTrustedPeer,
  removeTrustedPeer,
  startRpc,
  startHttp,
  stopRpc,
  stopHttp,
  startWs,
  stopWs,
  exportChain,
  importChain,
];

const db: Namespace = [putString, getString, putHex, getHex];

/** The namespaces of whoever runs the node. */
export const CONTROL_METHODS: Namespace = [...personal, ...miner, ...admin, ...db];
