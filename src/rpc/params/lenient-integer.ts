import { jsonKind, type ParamCodec, typeFault } from "./codec.ts";

const HEX = /^0[xX][0-9a-fA-F]{1,16}$/;

/**
 * A whole number from 0, as JSON number or as hex with or without leading zeros: clients of the historic namespaces disagree on which,
 * because servers did.
 */
export const lenientInteger: ParamCodec<number> = {
  decode(value, field) {
    const number = typeof value === "string" && HEX.test(value) ? Number(value) : value;
    if (typeof number === "number" && Number.isInteger(number) && number >= 0) return number;
    const reason = typeof value === "number" ? `number ${value}` : jsonKind(value);
    throw typeFault(reason, "uint64", field);
  },
};
