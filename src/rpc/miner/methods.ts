import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { setEtherbase } from "./set-etherbase.ts";
import { setGasPrice } from "./set-gas-price.ts";
import { getHashrate, setExtra, setGasLimit, start, stop } from "./without-effect.ts";

export const MINER_METHODS: readonly Method<RpcPorts>[] = [
  getHashrate,
  setExtra,
  setGasPrice,
  start,
  stop,
  setGasLimit,
  setEtherbase,
];
