import type { Method } from "../../transport/dispatch/method.ts";
import type { RpcPorts } from "../rpc-ports.ts";
import { startHttp, startRpc, startWs, stopHttp, stopRpc, stopWs } from "./listeners.ts";
import { datadir, exportChain, importChain, nodeInfo, readiness } from "./node.ts";
import { addPeer, addTrustedPeer, peers, removePeer, removeTrustedPeer } from "./peers.ts";

export const ADMIN_METHODS: readonly Method<RpcPorts>[] = [
  nodeInfo,
  readiness,
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
