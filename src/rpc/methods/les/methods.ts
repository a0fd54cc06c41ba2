import type { Method } from "../../transport/dispatch/method.ts";
import type { RpcPorts } from "../rpc-ports.ts";
import { benchmark } from "./benchmark.ts";
import { getCheckpoint, getCheckpointContractAddress, getHeaderProof, latestCheckpoint } from "./checkpoints.ts";
import {
  addBalance,
  clientInfo,
  freezeClient,
  priorityClientInfo,
  serverInfo,
  setClientParams,
  setConnectedBias,
  setDefaultParams,
} from "./clients.ts";

export const LES_METHODS: readonly Method<RpcPorts>[] = [
  latestCheckpoint,
  getCheckpoint,
  getCheckpointContractAddress,
  getHeaderProof,
  serverInfo,
  clientInfo,
  priorityClientInfo,
  addBalance,
  setClientParams,
  setDefaultParams,
  setConnectedBias,
  freezeClient,
  benchmark,
];
