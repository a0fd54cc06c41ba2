import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { exportChain, importChain } from "./chain-file.ts";
import { addPeer, addTrustedPeer, removePeer, removeTrustedPeer } from "./change-peers.ts";
import { datadir } from "./datadir.ts";
import { startHttp, startRpc, startWs, stopHttp, stopRpc, stopWs } from "./listeners.ts";
import { nodeInfo } from "./node-info.ts";
import { peers } from "./peers.ts";

export const ADMIN_METHODS: readonly Method<RpcPorts>[] = [
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
