import assert from "node:assert/strict";
import { test } from "node:test";
import { readTrace, type TraceName } from "../traces/trace.ts";
import { GuidedReplay } from "./testing/guided-replay.ts";

/** Those whose calls differ most: a node that begins with a snapshot follows one that was there before. */
const NODES: Readonly<Record<TraceName, readonly number[]>> = {
  traffic: [0, 3],
  // Node 1 proposed block 3 twice: with a late vote, and after its kill without. The guide gives votes once.
  kills: [0, 2, 3],
  "state-sync": [0, 4],
};

for (const [name, nodes] of Object.entries(NODES)) {
  test(`the model calls its application as the real CometBFT did in ${name}`, async () => {
    const replay = new GuidedReplay(readTrace(name as TraceName));
    for (const node of nodes) await replay.replay(node);
    assert.ok(replay.calls > 100, String(replay.calls));
    replay.close();
  });
}

test("the guided replay rejects a recording with one more byte of room for transactions", async () => {
  const events = readTrace("traffic").map((event) => {
    if (event.kind !== "request" || event.message.call !== "prepareProposal") return event;
    const { fields, call } = event.message;
    return { ...event, message: { call, fields: { ...fields, maxTxBytes: fields.maxTxBytes + 1n } } };
  });
  const replay = new GuidedReplay(events);
  await assert.rejects(replay.replay(0), /prepareProposal: the fields differ/);
  replay.close();
});
