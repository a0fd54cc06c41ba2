import assert from "node:assert/strict";
import { test } from "node:test";
import { CometBftNetwork } from "./cometbft-network.ts";
import type { EnginePeer } from "./rpc/answers.ts";

type Engine = {
  readonly isCatchingUp?: boolean;
  readonly peers?: number;
  readonly power?: number;
  readonly isAwaited?: boolean;
  readonly state?: object;
};

function problemOf({
  isCatchingUp = false,
  peers = 3,
  power = 0,
  isAwaited = false,
  state = { kind: "running" },
}: Engine): string | undefined {
  const view = {
    status: { isCatchingUp, votingPower: power, validatorAddress: "11".repeat(20) },
    peers: Array.from({ length: peers }, () => ({}) as EnginePeer),
    quorum: "present",
    step: undefined,
  };
  const network = new CometBftNetwork({ nodeId: "", p2pAddress: "" }, {
    application: { behind: undefined },
    signing: { isWaiting: false, reason: undefined },
    supervisor: { state },
    headAge: { isLate: false },
    ownVotes: { problem: undefined, isAwaited },
    view,
  } as unknown as ConstructorParameters<typeof CometBftNetwork>[1]);
  return network.status().problem;
}

test("CometBftNetwork that catches up without a peer names the settings to look at", () => {
  assert.match(problemOf({ isCatchingUp: true, peers: 0 }) ?? "", /cometbft\.persistent-peers/);
  assert.doesNotMatch(problemOf({ isCatchingUp: true }) ?? "", /cometbft/);
  assert.notEqual(problemOf({ isCatchingUp: true }), undefined);
  assert.equal(problemOf({ peers: 0 }), undefined);
});

test("CometBftNetwork reports a problem of a validator until a commit has its vote, and none of a follower", () => {
  assert.notEqual(problemOf({ power: 10, isAwaited: true }), undefined);
  assert.equal(problemOf({ power: 10 }), undefined);
  assert.equal(problemOf({ power: 0, isAwaited: true }), undefined);
});

test("CometBftNetwork reports the last words of a CometBFT that does not start", () => {
  const reason = 'ERROR: unknown mempool type: "app"';
  assert.ok(problemOf({ state: { kind: "restarting", restarts: 2, reason } })?.includes(reason));
  assert.notEqual(problemOf({ state: { kind: "restarting", restarts: 2 } }), undefined);
});
