import { InvalidValueError, NoMiningWorkError } from "../../dispatch/errors.ts";
import { defineMethod } from "../../dispatch/method.ts";
import {
  boolean,
  data,
  hash,
  type ParamCodec,
  quantity,
  string,
  typeFault,
} from "../../params/codec.ts";
import type { NodeInfo } from "../../ports/node-info.ts";
import type { HashrateRegistry } from "./hashrate-registry.ts";

// Blocks here are not found by work. What miners ask is answered as geth does after the merge.

/** A rate as QUANTITY, or as the 32 zero-padded bytes of older miners; at most 2^64 − 1. */
const hashrateParam: ParamCodec<bigint> = {
  decode(value, field) {
    if (typeof value !== "string") throw typeFault("non-string", "hexutil.Uint64", field);
    if (!/^0[xX][0-9a-fA-F]{1,64}$/.test(value)) {
      throw typeFault("invalid hex string", "hexutil.Uint64", field);
    }
    const rate = BigInt(value);
    if (rate >= 2n ** 64n) throw typeFault("hex number > 64 bits", "hexutil.Uint64", field);
    return rate;
  },
};

/** DATA of 8 bytes. */
const blockNonce: ParamCodec<Uint8Array> = {
  decode(value, field) {
    const bytes = data.decode(value, field);
    if (bytes.length === 8) return bytes;
    throw new InvalidValueError(
      `hex string has length ${bytes.length * 2}, want 16 for types.BlockNonce`,
    );
  },
};

/** `eth_mining`: whether this node makes the next block. */
export const mining = defineMethod({
  name: "eth_mining",
  params: {},
  result: boolean,
  handle: (_params, { node }: { node: NodeInfo }) => node.isValidator(),
});

/** `eth_hashrate`: what miners reported in the last ten seconds, in hashes a second. */
export const hashrate = defineMethod({
  name: "eth_hashrate",
  params: {},
  result: quantity,
  handle: (_params, { hashrates }: { hashrates: HashrateRegistry }) => hashrates.total(),
});

/** `eth_submitHashrate`: a miner's report, which counts for ten seconds. */
export const submitHashrate = defineMethod({
  name: "eth_submitHashrate",
  params: { rate: hashrateParam, miner: hash },
  result: boolean,
  handle({ rate, miner }, { hashrates }: { hashrates: HashrateRegistry }) {
    hashrates.report(miner, rate);
    return true;
  },
});

/**
 * `eth_getWork`: no block waits for work.
 *
 * @throws NoMiningWorkError always
 */
export const getWork = defineMethod({
  name: "eth_getWork",
  params: {},
  result: string,
  handle(): string {
    throw new NoMiningWorkError();
  },
});

/** `eth_submitWork`: false, because no work was given out. */
export const submitWork = defineMethod({
  name: "eth_submitWork",
  params: { nonce: blockNonce, powHash: hash, mixDigest: hash },
  result: boolean,
  handle: () => false,
});
