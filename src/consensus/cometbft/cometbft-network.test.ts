import assert from "node:assert/strict";
import { test } from "node:test";
import { CometBftNetwork } from "./cometbft-network.ts";
import type { EnginePeer } from "./rpc/answers.ts";

function problemOf(isCatchingUp: boolean, peerCount: number): string | undefined {
  const view = {
    status: { isCatchingUp, votingPower: 0 },
    peers: Array.from({ length: peerCount }, () => ({}) as EnginePeer),
    quorum: "present",
    step: undefined,
  };
  const network = new CometBftNetwork({ nodeId: "", p2pAddress: "" }, {
    application: { behind: undefined },
    signing: { isWaiting: false, reason: undefined },
    supervisor: { state: { kind: "running" } },
    headAge: { isLate: false },
    ownVotes: { problem: undefined },
    view,
  } as unknown as ConstructorParameters<typeof CometBftNetwork>[1]);
  return network.status().problem;
}

test("CometBftNetwork that catches up without a peer names the settings to look at", () => {
  assert.match(problemOf(true, 0) ?? "", /cometbft\.persistent-peers/);
  assert.doesNotMatch(problemOf(true, 1) ?? "", /cometbft/);
  assert.notEqual(problemOf(true, 1), undefined);
  assert.equal(problemOf(false, 0), undefined);
});
