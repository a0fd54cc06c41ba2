import { defineMethod } from "../dispatch/method.ts";
import { boolean } from "../params/codec.ts";
import { post } from "./message-codecs.ts";
import type { ShhPort } from "./port.ts";

/**
 * `shh_post`: signs a message with `from`, encrypts it for `to`, works `priority` milliseconds for its place and sends it to every node, where it
 * stays for `ttl` seconds. A week and ten seconds of work count at most.
 *
 * @throws UnknownIdentityError, WhisperLimitError
 */
export const postMessage = defineMethod({
  name: "shh_post",
  params: { message: post },
  result: boolean,
  private: true,
  handle: ({ message }, { shh }: { shh: Pick<ShhPort, "post"> }) => shh.post(message),
});
