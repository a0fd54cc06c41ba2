import assert from "node:assert/strict";
import { test } from "node:test";
import { hashFromBigint } from "../../../base/primitives/hash.ts";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import { RequestContext } from "../../transport/dispatch/context.ts";
import { Dispatcher } from "../../transport/dispatch/dispatcher.ts";
import { createRegistry } from "../../transport/dispatch/method.ts";
import { SILENT_OBSERVER } from "../../transport/dispatch/observer.ts";
import { DEFAULT_RPC_LIMITS } from "../../transport/limits.ts";
import { replyBytes } from "../../transport/server/http-request.ts";
import { getLogs } from "../eth/filters.ts";
import type { RpcPorts } from "../rpc-ports.ts";
import { forkedMethods } from "./forked-methods.ts";

test("an answer with a remote result of any letters has the length of its bytes", async () => {
  const hash = hashFromBigint(17n);
  const registry = forkedMethods(createRegistry<RpcPorts>([getLogs]), {
    number: 5,
    hash,
    call: async () => ["größer"],
    missedBy: () => [],
  });
  const limits = DEFAULT_RPC_LIMITS;
  const dispatcher = new Dispatcher(
    { limits, observer: SILENT_OBSERVER },
    { registry, modules: {} as RpcPorts, timers: fatalTimers },
  );
  const context = new RequestContext({
    transport: "http",
    access: { namespaces: new Set(["eth"]), isOpen: true },
    credential: undefined,
    connection: undefined,
  });
  const params = [{ blockHash: hash }];
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params });
  const reply = await dispatcher.dispatch(Buffer.from(body), context);
  const text = reply!.parts.join("");
  assert.equal(text, '{"jsonrpc":"2.0","id":1,"result":"größer"}');
  assert.equal(replyBytes(reply), Buffer.byteLength(text));
});
