import { NodeError } from "../../errors.ts";
import { ZERO_ADDRESS } from "../../primitives/address.ts";
import { defineMethod, type Method } from "../dispatch/method.ts";
import { address, boolean, json, jsonInteger, optional, quantity } from "../params/codec.ts";
import type { MinerSettings } from "./port.ts";

type Modules = { readonly miner: MinerSettings };

/** A method that exists in name alone: there is no proof of work. */
export class UnsupportedFunctionError extends NodeError {
  readonly code = "MINER_UNSUPPORTED";
  constructor(name: string) {
    super(`unsupported rpc function: ${name}`, { name });
  }
}

/** Rewards of the zero address would be lost. */
export class InvalidEtherbaseError extends NodeError {
  readonly code = "MINER_INVALID_ETHERBASE";
  constructor() {
    super("invalid etherbase: the zero address");
  }
}

/** `miner_setGasPrice`: writes the lowest gas price the node accepts and proposes to `app.toml`; in force after a restart. */
export const setGasPrice = defineMethod({
  name: "miner_setGasPrice",
  params: { gasPrice: quantity },
  result: boolean,
  private: true,
  handle({ gasPrice }, { miner }: Modules) {
    miner.setMinimumGasPrice(gasPrice);
    return true;
  },
});

/** `miner_setEtherbase`: changes who receives the tips of blocks this node proposes, from the next block on and after a restart. */
export const setEtherbase = defineMethod({
  name: "miner_setEtherbase",
  params: { account: address },
  result: boolean,
  private: true,
  handle({ account }, { miner }: Modules) {
    if (account === ZERO_ADDRESS) throw new InvalidEtherbaseError();
    miner.setEtherbase(account);
    return true;
  },
});

/** `miner_getHashrate`: 0, nothing is hashed. */
export const getHashrate = defineMethod({
  name: "miner_getHashrate",
  params: {},
  result: jsonInteger,
  private: true,
  handle: () => 0,
});

/** `miner_stop`: nothing happens. */
export const stop = defineMethod({
  name: "miner_stop",
  params: {},
  result: json,
  private: true,
  handle: () => null,
});

/** `miner_setGasLimit`: false; the target is `consensus.gas-limit`. */
export const setGasLimit = defineMethod({
  name: "miner_setGasLimit",
  params: { gasLimit: optional(json) },
  result: boolean,
  private: true,
  handle: () => false,
});

/** `miner_setExtra`. @throws UnsupportedFunctionError */
export const setExtra = unsupported("miner_setExtra");

/** `miner_start`. @throws UnsupportedFunctionError */
export const start = unsupported("miner_start");

function unsupported(name: string): Method<unknown> {
  return defineMethod({
    name,
    params: { value: optional(json) },
    result: json,
    private: true,
    handle() {
      throw new UnsupportedFunctionError(name);
    },
  });
}
