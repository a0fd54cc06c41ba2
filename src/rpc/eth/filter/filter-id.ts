import { type ParamCodec, schemaOf, string, typeFault } from "../../params/codec.ts";

export const filterId: ParamCodec<string> = {
  ...schemaOf(string),
  decode(value) {
    if (typeof value === "string") return value;
    throw typeFault(value === null ? "null" : typeof value, "rpc.ID");
  },
};
