import type { Method } from "../dispatch/method.ts";
import type { RpcPorts } from "../ports/rpc-ports.ts";
import { addToGroup, newGroup } from "./groups.ts";
import { hasIdentity, newIdentity } from "./identities.ts";
import { getFilterChanges, getMessages, newFilter, uninstallFilter } from "./message-filters.ts";
import { postMessage } from "./post.ts";
import { version } from "./version.ts";

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
