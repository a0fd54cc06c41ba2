import { defineMethod } from "../../dispatch/method.ts";
import { boolean, hash, type ParamCodec, typeFault } from "../../params/codec.ts";
import type { Sessions } from "../../ports/rpc-ports.ts";

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

/** `eth_submitHashrate`: a miner's report, which counts for ten seconds. */
export const submitHashrate = defineMethod({
  name: "eth_submitHashrate",
  params: { rate: hashrateParam, miner: hash },
  result: boolean,
  handle({ rate, miner }, { sessions }: { sessions: Pick<Sessions, "hashrates"> }) {
    sessions.hashrates.report(miner, rate);
    return true;
  },
});
