import { InvalidValueError } from "../dispatch/errors.ts";
import type { ParamCodec } from "../params/codec.ts";

/** The address of a node of another chain. */
export const remoteUrl: ParamCodec<string> = {
  schema: { title: "url", type: "string", pattern: "^https?://" },
  decode(value, field = "url") {
    if (typeof value === "string" && /^https?:\/\//.test(value) && URL.canParse(value)) {
      return value;
    }
    throw new InvalidValueError(`${field}: the address of a node over HTTP is wanted`);
  },
};
