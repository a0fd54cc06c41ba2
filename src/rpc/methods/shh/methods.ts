import { identityFromBytes } from "../../../heritage/shh/message.ts";
import { PROTOCOL_VERSION } from "../../../heritage/shh/peers/peer.ts";
import { array, boolean, optional, string } from "../../transport/codec.ts";
import { InvalidValueError } from "../../transport/errors.ts";
import { defineMethod } from "../define-method.ts";
import { SAMPLE } from "../example-values.ts";
import { criteria, identity, messages, post, recipient } from "./message-codecs.ts";

/** `shh_version`: version of the Whisper protocol, as a decimal string. */
export const version = defineMethod({
  name: "shh_version",
  params: {},
  result: string,
  handle: () => String(PROTOCOL_VERSION),
});

/** `shh_newIdentity`: creates a key pair, which stays in this node; returns its public key (65 bytes). */
export const newIdentity = defineMethod({
  name: "shh_newIdentity",
  params: {},
  result: identity,
  private: true,
  handle: (_params, { shh }) => shh.newIdentity(),
});

/** `shh_hasIdentity`: whether this node has the private key of an identity or group. */
export const hasIdentity = defineMethod({
  name: "shh_hasIdentity",
  params: { identity },
  example: [SAMPLE.whisperIdentity],
  result: boolean,
  handle: (params, { shh }) => shh.hasIdentity({ identity: params.identity }),
});

/**
 * `shh_newGroup`: creates a group and returns its public key. If members are given, they receive the group's key at once; `from` must be an
 * identity of this node.
 *
 * @throws UnknownIdentityError, WhisperLimitError
 */
export const newGroup = defineMethod({
  name: "shh_newGroup",
  params: { from: optional(identity), members: optional(array(recipient), []) },
  result: identity,
  private: true,
  handle: ({ from, members }, { shh }) => shh.newGroup({ from, members }),
});

/**
 * `shh_addToGroup`: sends the key of a group, encrypted, to an identity, which can then read the group's messages. With one parameter, uses
 * this node's newest group. False if this node lacks the group's key or `who` is not a public key.
 *
 * @throws WhisperLimitError
 */
export const addToGroup = defineMethod({
  name: "shh_addToGroup",
  params: { groupOrWho: string, who: optional(string) },
  result: boolean,
  private: true,
  handle({ groupOrWho, who }, { shh }) {
    const key = publicKeyOf(who ?? groupOrWho);
    if (key === undefined) return false;
    if (who === undefined) return shh.addToGroup({ group: undefined, who: key });
    const group = publicKeyOf(groupOrWho);
    return group !== undefined && shh.addToGroup({ group: identityFromBytes(group), who: key });
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

/**
 * `shh_post`: signs a message with `from`, encrypts it for `to`, spends `priority` milliseconds on proof of work, and sends it to every
 * node, which keeps it for `ttl` seconds. The maximum is a week, and ten seconds of work.
 *
 * @throws UnknownIdentityError, WhisperLimitError
 */
export const postMessage = defineMethod({
  name: "shh_post",
  params: { message: post },
  result: boolean,
  private: true,
  handle: ({ message }, { shh }) => shh.post(message),
});

/**
 * `shh_newFilter`: creates a filter for messages by recipient, signer and topics; returns its id. Topics match by position; an array
 * matches any of its topics, null matches every topic.
 *
 * @throws WhisperLimitError
 */
export const newFilter = defineMethod({
  name: "shh_newFilter",
  params: { filter: criteria },
  example: [{ topics: ["0x68656c6c6f20776f726c64"] }],
  result: string,
  handle: ({ filter }, { shh }) => shh.newMessageFilter(filter),
});

/** `shh_uninstallFilter`: removes a filter; false if the id is unknown. */
export const uninstallFilter = defineMethod({
  name: "shh_uninstallFilter",
  params: { id: string },
  example: ["0x1"],
  result: boolean,
  handle: ({ id }, { shh }) => shh.uninstallMessageFilter({ id }),
});

/** `shh_getFilterChanges`: messages received since the last poll; empty for an unknown filter id. */
export const getFilterChanges = defineMethod({
  name: "shh_getFilterChanges",
  params: { id: string },
  example: ["0x1"],
  result: messages,
  handle: ({ id }, { shh }) => shh.messageFilterChanges({ id }),
});

/** `shh_getMessages`: every unexpired message that matches the filter; `shh_getFilterChanges` does not return them again. */
export const getMessages = defineMethod({
  name: "shh_getMessages",
  params: { id: string },
  example: ["0x1"],
  result: messages,
  heavy: true,
  handle: ({ id }, { shh }) => shh.messages({ id }),
});
