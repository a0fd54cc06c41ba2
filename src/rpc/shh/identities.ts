import { defineMethod } from "../dispatch/method.ts";
import { boolean } from "../params/codec.ts";
import { identity } from "./message-codecs.ts";
import type { ShhPort } from "./port.ts";

/** `shh_newIdentity`: public key (65 bytes) of a new key pair, which stays in this node. */
export const newIdentity = defineMethod({
  name: "shh_newIdentity",
  params: {},
  result: identity,
  private: true,
  handle: (_params, { shh }: { shh: Pick<ShhPort, "newIdentity"> }) => shh.newIdentity(),
});

/** `shh_hasIdentity`: whether this node has the private key of an identity or group. */
export const hasIdentity = defineMethod({
  name: "shh_hasIdentity",
  params: { identity },
  result: boolean,
  handle: (params, { shh }: { shh: Pick<ShhPort, "hasIdentity"> }) =>
    shh.hasIdentity(params.identity),
});
