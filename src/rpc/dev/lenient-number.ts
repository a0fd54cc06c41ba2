import { jsonKind, type ParamCodec, typeFault } from "../params/codec.ts";

const NUMBER = /^(?:0[xX][0-9a-fA-F]{1,64}|[0-9]{1,78})$/;

/**
 * A whole number from 0 as JSON number, as hex with or without leading zeros, or as decimal digits: the tools that control dev chains
 * send each of them.
 */
export const lenientNumber: ParamCodec<bigint> = {
  schema: { type: ["integer", "string"] },
  decode(value, field) {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0)
      return BigInt(value);
    if (typeof value === "string" && NUMBER.test(value)) return BigInt(value);
    const reason = typeof value === "number" ? `number ${value}` : jsonKind(value);
    throw typeFault(reason, "uint256", field);
  },
};

/** The same below 2^53. */
export const lenientCount: ParamCodec<number> = {
  schema: { type: ["integer", "string"] },
  decode(value, field) {
    const number = lenientNumber.decode(value, field);
    if (number <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(number);
    throw typeFault(`number ${number}`, "uint64", field);
  },
};
