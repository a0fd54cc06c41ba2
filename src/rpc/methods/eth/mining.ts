import { andThen } from "../../../base/threads/maybe-promise.ts";
import { boolean, data, hash, type ParamCodec, quantity, string, typeFault } from "../../transport/codec.ts";
import { InvalidValueError, NoMiningWorkError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import type { RpcPorts } from "../rpc-ports.ts";

/** `eth_mining`: whether this node makes the next block. */
export const mining = defineMethod({
  name: "eth_mining",
  params: {},
  result: boolean,
  handle: (_params, { node }) => andThen(node.info(), ({ isValidator }) => isValidator),
});

/** `eth_hashrate`: hashes per second that miners reported in the last ten seconds. */
export const hashrate = defineMethod({
  name: "eth_hashrate",
  params: {},
  result: quantity,
  handle: (_params, { sessions }: RpcPorts) => sessions.hashrates.total(),
});

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

/** `eth_submitHashrate`: reports a miner's hash rate, which counts for ten seconds. */
export const submitHashrate = defineMethod({
  name: "eth_submitHashrate",
  params: { rate: hashrateParam, miner: hash },
  example: ["0x500000", SAMPLE.hash],
  result: boolean,
  handle({ rate, miner }, { sessions }: RpcPorts) {
    sessions.hashrates.report(miner, rate);
    return true;
  },
});

/**
 * `eth_getWork`: fails, because no block needs proof of work.
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

const blockNonce: ParamCodec<Uint8Array> = {
  decode(value, field) {
    const bytes = data.decode(value, field);
    if (bytes.length === 8) return bytes;
    throw new InvalidValueError(`hex string has length ${bytes.length * 2}, want 16 for types.BlockNonce`);
  },
};

/** `eth_submitWork`: false, because the node hands out no work. */
export const submitWork = defineMethod({
  name: "eth_submitWork",
  params: { nonce: blockNonce, powHash: hash, mixDigest: hash },
  example: ["0x0000000000000001", SAMPLE.hash, SAMPLE.hash],
  result: boolean,
  handle: () => false,
});
