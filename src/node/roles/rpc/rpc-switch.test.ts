import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import type { RpcPorts } from "../../../rpc/methods/rpc-ports.ts";
import { json, type ResultCodec, rawAsciiJson } from "../../../rpc/transport/codec.ts";
import { inProcessContext } from "../../../rpc/transport/dispatch/context.ts";
import { createRegistry, defineMethod } from "../../../rpc/transport/dispatch/method.ts";
import { RpcSwitch } from "./rpc-switch.ts";

const PORTS = {} as RpcPorts;
const context = inProcessContext();

function targetOf(handle: () => unknown, result: ResultCodec<unknown> = json) {
  const method = defineMethod({ name: "test_call", params: {}, result, handle });
  return { registry: createRegistry([method]), ports: PORTS };
}

test("RpcSwitch: work waits for calls under way, and calls that arrive then get the new target", async () => {
  let end = () => {};
  const events: string[] = [];
  const slow = new Promise<void>((resolve) => {
    end = resolve;
  });
  const rpc = new RpcSwitch(
    targetOf(async () => {
      await slow;
      await rpc.whileIdle(async () => {
        events.push("work");
        rpc.target = targetOf(() => "new");
      });
      return "asked";
    }),
    fatalTimers,
  );
  const call = () => rpc.registry.get("test_call")!.run(PORTS, [], context);
  const [first, second] = [call(), call()];
  end();
  // Both calls ask for the work, so each waits for the other one and no call waits for itself.
  assert.deepEqual(await Promise.all([first, second]), ['"asked"', '"asked"']);
  assert.deepEqual(events, ["work", "work"]);
  assert.equal(await call(), '"new"');
});

test("RpcSwitch: a call that throws is not under way afterwards", async () => {
  const rpc = new RpcSwitch(
    targetOf(() => {
      throw new Error("at once");
    }),
    // A call that it took for one under way would hold the work for ever.
    new ManualTimers(),
  );
  const call = () => rpc.registry.get("test_call")!.run(PORTS, [], context);
  assert.throws(call);
  // As the call that asks for it would.
  let isDone = false;
  await rpc.whileIdle(async () => {
    isDone = true;
  });
  assert.ok(isDone);
});

test("RpcSwitch: a method answers in ASCII if it does for every target there was", () => {
  const [ascii, any] = [targetOf(() => "1", rawAsciiJson as ResultCodec<unknown>), targetOf(() => "ü")];
  const rpc = new RpcSwitch(ascii, fatalTimers);
  const isAscii = () => rpc.registry.get("test_call")!.isAscii;
  assert.equal(isAscii(), true);
  rpc.target = any;
  assert.equal(isAscii(), false);
  rpc.target = ascii;
  // A call of the target before may still be under way.
  assert.equal(isAscii(), false);
});
