import { identityFromBytes } from "../../shh/message.ts";
import { InvalidValueError } from "../dispatch/errors.ts";
import { defineMethod } from "../dispatch/method.ts";
import { array, boolean, optional, string } from "../params/codec.ts";
import { identity, recipient } from "./message-codecs.ts";
import type { ShhPort } from "./port.ts";

/**
 * `shh_newGroup`: public key of a new group. With members its key is sent to them at once; `from` has to be an identity of this node.
 *
 * @throws UnknownIdentityError, WhisperLimitError
 */
export const newGroup = defineMethod({
  name: "shh_newGroup",
  params: { from: optional(identity), members: optional(array(recipient), []) },
  result: identity,
  private: true,
  handle: ({ from, members }, { shh }: { shh: Pick<ShhPort, "newGroup"> }) =>
    shh.newGroup(from, members),
});

/**
 * `shh_addToGroup`: sends the key of a group to an identity, encrypted; from then on messages to the group open there. With one parameter, the
 * group is the newest one of this node. False when this node does not have the group's key, or the other is no public key.
 *
 * @throws WhisperLimitError
 */
export const addToGroup = defineMethod({
  name: "shh_addToGroup",
  params: { groupOrWho: string, who: optional(string) },
  result: boolean,
  private: true,
  handle({ groupOrWho, who }, { shh }: { shh: Pick<ShhPort, "addToGroup"> }) {
    const key = publicKeyOf(who ?? groupOrWho);
    if (key === undefined) return false;
    if (who === undefined) return shh.addToGroup(undefined, key);
    const group = publicKeyOf(groupOrWho);
    return group !== undefined && shh.addToGroup(identityFromBytes(group), key);
  },
});

function publicKeyOf(text: string): Uint8Array | undefined {
  try {
    return recipient.decode(text);
  } catch (error) {
    if (error instanceof InvalidValueError) return undefined;
    throw error;
  }
}
