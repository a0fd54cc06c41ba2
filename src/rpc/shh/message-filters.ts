import { defineMethod } from "../dispatch/method.ts";
import { boolean, string } from "../params/codec.ts";
import { criteria, messages } from "./message-codecs.ts";
import type { ShhPort } from "./port.ts";

type Modules<K extends keyof ShhPort> = { readonly shh: Pick<ShhPort, K> };

/**
 * `shh_newFilter`: id of a filter for messages by recipient, signer and topics. A topic matches by its position; an array in place of one means
 * any of them, null any at all.
 *
 * @throws WhisperLimitError
 */
export const newFilter = defineMethod({
  name: "shh_newFilter",
  params: { filter: criteria },
  result: string,
  handle: ({ filter }, { shh }: Modules<"newMessageFilter">) => shh.newMessageFilter(filter),
});

/** `shh_uninstallFilter`: false when there is no filter of this id. */
export const uninstallFilter = defineMethod({
  name: "shh_uninstallFilter",
  params: { id: string },
  result: boolean,
  handle: ({ id }, { shh }: Modules<"uninstallMessageFilter">) => shh.uninstallMessageFilter(id),
});

/** `shh_getFilterChanges`: messages that came since the last poll; none when there is no filter of this id. */
export const getFilterChanges = defineMethod({
  name: "shh_getFilterChanges",
  params: { id: string },
  result: messages,
  handle: ({ id }, { shh }: Modules<"messageFilterChanges">) => shh.messageFilterChanges(id),
});

/** `shh_getMessages`: every message that has not expired and that the filter lets through; `shh_getFilterChanges` does not return them again. */
export const getMessages = defineMethod({
  name: "shh_getMessages",
  params: { id: string },
  result: messages,
  heavy: true,
  handle: ({ id }, { shh }: Modules<"messages">) => shh.messages(id),
});
