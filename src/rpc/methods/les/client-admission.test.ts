import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { clientIdOf } from "../../../heritage/les/client-id.ts";
import { CapacityExceededError } from "../../../heritage/les/errors.ts";
import type { AdmittedCall } from "../../../heritage/les/port.ts";
import { RequestContext } from "../../transport/dispatch/context.ts";
import { createClientAdmission } from "./client-admission.ts";

const CALL: AdmittedCall = { client: clientIdOf("ip", "127.0.0.1"), waitMs: 0, priority: 3, reserved: 7 };
const REJECTED_AFTER_MS = 500;

function admissionOf(admit: () => AdmittedCall) {
  const timers = new ManualTimers();
  const charged: number[] = [];
  const serving = { admit, charge: (_: AdmittedCall, cost: number) => void charged.push(cost) };
  const context = new RequestContext({
    transport: "http",
    access: { namespaces: new Set(), isOpen: true },
    credential: undefined,
    connection: undefined,
    source: { remoteAddress: "127.0.0.1", apiKey: undefined, certified: undefined },
  });
  return { admission: createClientAdmission({ serving, timers }), timers, charged, context };
}

test("ClientAdmission rejects after half a second: retries at once do not take the time of others", async () => {
  const { admission, timers, context } = admissionOf(() => {
    throw new CapacityExceededError(1_500);
  });
  const codes: unknown[] = [];
  const running = Promise.resolve(admission.run(context, () => assert.fail("it must not run"))).catch((error) => {
    codes.push(error.code);
  });
  await timers.advance(REJECTED_AFTER_MS - 1);
  assert.deepEqual(codes, []);
  await timers.advance(1);
  await running;
  assert.deepEqual(codes, ["LES_CAPACITY_EXCEEDED"]);
});

test("ClientAdmission starts a call once its client's wait is over, and charges the time of its work alone", async () => {
  const { admission, timers, charged, context } = admissionOf(() => ({ ...CALL, waitMs: 40 }));
  let begun = 0;
  const running = admission.run(context, (meter) =>
    meter(async () => {
      begun++;
      await timers.sleep(20);
      return "result";
    }),
  );
  await timers.advance(39);
  assert.equal(begun, 0);
  await timers.advance(21);
  assert.equal(await running, "result");
  assert.deepEqual([begun, context.priority, charged], [1, CALL.priority, [20e6]]);
});

test("ClientAdmission charges a call whose caller has left while it waited nothing", async () => {
  const { admission, timers, charged, context } = admissionOf(() => ({ ...CALL, waitMs: 40 }));
  const running = Promise.resolve(admission.run(context, () => assert.fail("it must not run")));
  const rejected = assert.rejects(running, { code: "RPC_TIMEOUT" });
  context.abort();
  await timers.advance(40);
  await rejected;
  assert.deepEqual(charged, [0]);
});
