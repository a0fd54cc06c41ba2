import { identityFromBytes } from "../../../heritage/shh/message.ts";
import { PROTOCOL_VERSION } from "../../../heritage/shh/peers/peer.ts";
import type { ShhPort } from "../../../heritage/shh/port.ts";
import { array, boolean, optional, string } from "../../transport/codec.ts";
import { defineMethod, type Method } from "../../transport/dispatch/method.ts";
import { InvalidValueError } from "../../transport/errors.ts";
import { SAMPLE } from "../example-values.ts";
import type { RpcPorts } from "../rpc-ports.ts";
import { criteria, identity, messages, post, recipient } from "./message-codecs.ts";

/** `shh_version`: version of the whisper protocol, a decimal number as text. */
const version = defineMethod({
  name: "shh_version",
  params: {},
  result: string,
  handle: () => String(PROTOCOL_VERSION),
});

/** `shh_newIdentity`: public key (65 bytes) of a new key pair, which stays in this node. */
const newIdentity = defineMethod({
  name: "shh_newIdentity",
  params: {},
  result: identity,
  private: true,
  handle: (_params, { shh }: { shh: Pick<ShhPort, "newIdentity"> }) => shh.newIdentity(),
});

/** `shh_hasIdentity`: whether this node has the private key of an identity or group. */
const hasIdentity = defineMethod({
  name: "shh_hasIdentity",
  params: { identity },
  example: [SAMPLE.whisperIdentity],
  result: boolean,
  handle: (params, { shh }: { shh: Pick<ShhPort, "hasIdentity"> }) => shh.hasIdentity({ identity: params.identity }),
});

/**
 * `shh_newGroup`: public key of a new group. With members its key is sent to them at once; `from` has to be an identity of this node.
 *
 * @throws UnknownIdentityError, WhisperLimitError
 */
const newGroup = defineMethod({
  name: "shh_newGroup",
  params: { from: optional(identity), members: optional(array(recipient), []) },
  result: identity,
  private: true,
  handle: ({ from, members }, { shh }: { shh: Pick<ShhPort, "newGroup"> }) => shh.newGroup({ from, members }),
});

/**
 * `shh_addToGroup`: sends the key of a group to an identity, encrypted; from then on messages to the group open there. With one parameter, the
 * group is the newest one of this node. False when this node does not have the group's key, or the other is no public key.
 *
 * @throws WhisperLimitError
 */
const addToGroup = defineMethod({
  name: "shh_addToGroup",
  params: { groupOrWho: string, who: optional(string) },
  result: boolean,
  private: true,
  handle({ groupOrWho, who }, { shh }: { shh: Pick<ShhPort, "addToGroup"> }) {
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
 * `shh_post`: signs a message with `from`, encrypts it for `to`, works `priority` milliseconds for its place and sends it to every node, where it
 * stays for `ttl` seconds. A week and ten seconds of work count at most.
 *
 * @throws UnknownIdentityError, WhisperLimitError
 */
const postMessage = defineMethod({
  name: "shh_post",
  params: { message: post },
  result: boolean,
  private: true,
  handle: ({ message }, { shh }: { shh: Pick<ShhPort, "post"> }) => shh.post(message),
});

type Modules<K extends keyof ShhPort> = { readonly shh: Pick<ShhPort, K> };

/**
 * `shh_newFilter`: id of a filter for messages by recipient, signer and topics. A topic matches by its position; an array in place of one means
 * any of them, null any at all.
 *
 * @throws WhisperLimitError
 */
const newFilter = defineMethod({
  name: "shh_newFilter",
  params: { filter: criteria },
  example: [{ topics: ["0x68656c6c6f20776f726c64"] }],
  result: string,
  handle: ({ filter }, { shh }: Modules<"newMessageFilter">) => shh.newMessageFilter(filter),
});

/** `shh_uninstallFilter`: false when there is no filter of this id. */
const uninstallFilter = defineMethod({
  name: "shh_uninstallFilter",
  params: { id: string },
  example: ["0x1"],
  result: boolean,
  handle: ({ id }, { shh }: Modules<"uninstallMessageFilter">) => shh.uninstallMessageFilter({ id }),
});

/** `shh_getFilterChanges`: messages that came since the last poll; none when there is no filter of this id. */
const getFilterChanges = defineMethod({
  name: "shh_getFilterChanges",
  params: { id: string },
  example: ["0x1"],
  result: messages,
  handle: ({ id }, { shh }: Modules<"messageFilterChanges">) => shh.messageFilterChanges({ id }),
});

/** `shh_getMessages`: every message that has not expired and that the filter lets through; `shh_getFilterChanges` does not return them again. */
const getMessages = defineMethod({
  name: "shh_getMessages",
  params: { id: string },
  example: ["0x1"],
  result: messages,
  heavy: true,
  handle: ({ id }, { shh }: Modules<"messages">) => shh.messages({ id }),
});

export const SHH_METHODS: readonly Method<RpcPorts>[] = [
  version,
  newIdentity,
  hasIdentity,
  postMessage,
  newGroup,
  addToGroup,
  newFilter,
  uninstallFilter,
  getFilterChanges,
  getMessages,
];
