import { jsonKind, type ParamCodec, schemaOf, string, typeFault } from "../../params/codec.ts";

/** null is an id that no filter has, as Go decodes it. */
export const filterId: ParamCodec<string> = {
  ...schemaOf(string),
  decode(value) {
    if (typeof value === "string") return value;
    if (value === null) return "";
    throw typeFault(jsonKind(value), "rpc.ID");
  },
};
