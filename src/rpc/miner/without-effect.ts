import { NodeError } from "../../errors.ts";
import { defineMethod, type Method } from "../dispatch/method.ts";
import { boolean, json, jsonInteger, optional } from "../params/codec.ts";

// Methods of proof of work, which callers still know: none of them has an effect.

/** A method that exists in name alone: there is no proof of work. */
export class UnsupportedFunctionError extends NodeError {
  readonly code = "MINER_UNSUPPORTED";
  constructor(name: string) {
    super(`unsupported rpc function: ${name}`, { name });
  }
}

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
