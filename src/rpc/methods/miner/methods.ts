import { NodeError } from "../../../base/errors.ts";
import { ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { andThen } from "../../../base/threads/maybe-promise.ts";
import { address, boolean, json, jsonInteger, optional, quantity } from "../../transport/codec.ts";
import type { Method } from "../../transport/dispatch/method.ts";
import { defineMethod } from "../define-method.ts";
import type { ServingPorts } from "../rpc-ports.ts";

/** The zero address would lose the rewards. */
class InvalidEtherbaseError extends NodeError {
  readonly code = "MINER_INVALID_ETHERBASE";
  constructor() {
    super("invalid etherbase: the zero address");
  }
}

/**
 * `miner_setEtherbase`: sets the address that receives the tips of blocks this node proposes, from the next block on and across restarts.
 */
export const setEtherbase = defineMethod({
  name: "miner_setEtherbase",
  params: { account: address },
  result: boolean,
  private: true,
  handle({ account }, { node }) {
    if (account === ZERO_ADDRESS) throw new InvalidEtherbaseError();
    return andThen(node.setEtherbase({ account }), () => true);
  },
});

/** `miner_setGasPrice`: writes the lowest gas price the node accepts and proposes to `app.toml`; it applies after a restart. */
export const setGasPrice = defineMethod({
  name: "miner_setGasPrice",
  params: { gasPrice: quantity },
  result: boolean,
  private: true,
  handle: ({ gasPrice }, { node }) => andThen(node.setMinimumGasPrice({ wei: gasPrice }), () => true),
});

// Proof-of-work methods, which callers still know and which have no effect.

/** A method of proof-of-work mining, which this node does not have. */
class UnsupportedFunctionError extends NodeError {
  readonly code = "MINER_UNSUPPORTED";
  constructor(name: string) {
    super(`unsupported rpc function: ${name}`, { name });
  }
}

/** `miner_getHashrate`: 0, because there is no proof of work. */
export const getHashrate = defineMethod({
  name: "miner_getHashrate",
  params: {},
  result: jsonInteger,
  private: true,
  handle: () => 0,
});

/** `miner_stop`: null and no effect, because there is no proof of work. */
export const stop = defineMethod({
  name: "miner_stop",
  params: {},
  result: json,
  private: true,
  handle: () => null,
});

/** `miner_setGasLimit`: false and no effect; set `consensus.gas-limit` instead. */
export const setGasLimit = defineMethod({
  name: "miner_setGasLimit",
  params: { gasLimit: optional(json) },
  result: boolean,
  private: true,
  handle: () => false,
});

/**
 * `miner_setExtra`: fails, as in Ethermint: there is no proof of work, and extra data does not identify a miner. @throws
 * UnsupportedFunctionError
 */
export const setExtra = unsupported("miner_setExtra");

/**
 * `miner_start`: fails, as in Ethermint: there is no proof of work to start. On a dev chain, use `evm_setAutomine`. @throws
 * UnsupportedFunctionError
 */
export const start = unsupported("miner_start");

function unsupported(name: string): Method<ServingPorts> {
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
