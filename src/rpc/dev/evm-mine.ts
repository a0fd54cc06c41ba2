import type { MineRequest } from "../../dev/dev-chain.ts";
import { InvalidValueError } from "../dispatch/errors.ts";
import { optional, type ParamCodec } from "../params/codec.ts";
import { controlMethods, type DevModules } from "./control-methods.ts";
import { lenientCount } from "./lenient-number.ts";

/** A time in Unix seconds, or `{timestamp?, blocks?}` as ganache has it. */
const mineOptions: ParamCodec<MineRequest> = {
  decode(value, field) {
    if (typeof value !== "object" || value === null) {
      return { blocks: 1, timestamp: lenientCount.decode(value, field) };
    }
    if (Array.isArray(value)) throw new InvalidValueError("a time or an object is wanted");
    const { timestamp, blocks } = value as { timestamp?: unknown; blocks?: unknown };
    return {
      blocks: blocks == null ? 1 : lenientCount.decode(blocks, "blocks"),
      ...(timestamp != null && { timestamp: lenientCount.decode(timestamp, "timestamp") }),
    };
  },
};

/** `evm_mine`: makes one block now, or as many as asked for; "0x0". */
export const evmMine = controlMethods({
  names: ["evm_mine"],
  params: { options: optional(mineOptions, { blocks: 1 }) },
  async handle({ options }, { dev }: DevModules) {
    await dev.mine(options);
    return "0x0";
  },
});
