import type { ClientId } from "../../les/serving/client-id.ts";
import type { ServerInfo } from "../../les/serving/light-clients.ts";
import { defineMethod } from "../dispatch/method.ts";
import { array, json, optional, type ResultCodec, string } from "../params/codec.ts";
import { lenientInteger } from "../params/lenient-integer.ts";
import { andThen, type MaybePromise } from "../ports/maybe-promise.ts";
import { clientId, clientInfos, clientParameters, int64 } from "./client-codecs.ts";
import type { LightClientControl } from "./port.ts";

type Modules<K extends keyof LightClientControl> = {
  readonly les: Pick<LightClientControl, K>;
};

const ZERO_ID = "0".repeat(64);

const ids = array(clientId, "[]enode.ID");
const balances: ResultCodec<{ readonly before: bigint; readonly after: bigint }> = {
  schema: { type: "array", items: { type: "integer" } },
  encode: ({ before, after }) => `[${before},${after}]`,
};
const serverInfoResult: ResultCodec<ServerInfo> = {
  schema: { title: "server info", type: "object" },
  encode: (info) => JSON.stringify(info),
};

/** `les_serverInfo`: capacities of this node and of its clients, in cost units a millisecond; a unit is some nanosecond of one thread. */
export const serverInfo = defineMethod({
  name: "les_serverInfo",
  params: {},
  result: serverInfoResult,
  handle: (_params, { les }: Modules<"serverInfo">) => les.serverInfo(),
});

/** `les_clientInfo`: connection, capacity and balances of clients by id; of all that are connected when none is named. */
export const clientInfo = defineMethod({
  name: "les_clientInfo",
  params: { ids },
  result: clientInfos,
  handle: (params, { les }: Modules<"clientInfo">) => les.clientInfo(params.ids),
});

/**
 * `les_priorityClientInfo`: clients with a positive balance in the order of their ids, from `start` to before `stop`; a `stop` of zeros is the
 * end. `{}` marks the first client beyond `maxCount`.
 */
export const priorityClientInfo = defineMethod({
  name: "les_priorityClientInfo",
  params: { start: clientId, stop: clientId, maxCount: lenientInteger },
  result: clientInfos,
  handle: ({ start, stop, maxCount }, { les }: Modules<"priorityClientInfo">) =>
    les.priorityClientInfo(start, stop === (ZERO_ID as ClientId) ? undefined : stop, maxCount),
});

/** `les_addBalance`: adds `value`, which may be negative, to a client's balance; `[before, after]`. @throws BalanceOverflowError */
export const addBalance = defineMethod({
  name: "les_addBalance",
  params: { id: clientId, value: int64, meta: optional(string) },
  result: balances,
  private: true,
  handle: ({ id, value, meta }, { les }: Modules<"addBalance">) => les.addBalance(id, value, meta),
});

/**
 * `les_setClientParams`: capacity and prices of clients that are connected; of all of them when none is named.
 *
 * @throws ClientNotConnectedError, ClientParameterError, PriorityTooLowError
 */
export const setClientParams = defineMethod({
  name: "les_setClientParams",
  params: { ids, parameters: clientParameters },
  result: json,
  private: true,
  handle: (params, { les }: Modules<"setClientParameters">) =>
    nothing(les.setClientParameters(params.ids, params.parameters)),
});

/** `les_setDefaultParams`: prices of clients that connect from now on. @throws ClientParameterError */
export const setDefaultParams = defineMethod({
  name: "les_setDefaultParams",
  params: { parameters: clientParameters },
  result: json,
  private: true,
  handle: ({ parameters }, { les }: Modules<"setDefaultParameters">) =>
    nothing(les.setDefaultParameters(parameters)),
});

/** `les_setConnectedBias`: nanoseconds for which a connected client counts as better than one that wants its place. */
export const setConnectedBias = defineMethod({
  name: "les_setConnectedBias",
  params: { nanoseconds: lenientInteger },
  result: json,
  private: true,
  handle: ({ nanoseconds }, { les }: Modules<"setConnectedBias">) =>
    nothing(les.setConnectedBias(nanoseconds)),
});

/** `debug_freezeClient`: calls of the client are rejected for about a second, and until its buffer is an eighth full. */
export const freezeClient = defineMethod({
  name: "debug_freezeClient",
  params: { id: clientId },
  result: json,
  private: true,
  handle: ({ id }, { les }: Modules<"freeze">) => nothing(les.freeze(id)),
});

function nothing(done: MaybePromise<void>) {
  return andThen(done, () => null);
}
