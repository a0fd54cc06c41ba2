import { PROTOCOL_VERSION } from "../../shh/peers/frame.ts";
import { defineMethod } from "../dispatch/method.ts";
import { string } from "../params/codec.ts";

/** `shh_version`: version of the whisper protocol, a decimal number as text. */
export const version = defineMethod({
  name: "shh_version",
  params: {},
  result: string,
  handle: () => String(PROTOCOL_VERSION),
});
