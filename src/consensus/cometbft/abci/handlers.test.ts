import assert from "node:assert/strict";
import { test } from "node:test";
import { testApplicationContract } from "../../../../test/support/consensus/application-contract.ts";
import { applicationOverAbci } from "../../../../test/support/consensus/cometbft/application-over-abci.ts";
import {
  inputOf,
  openTestApplication,
  proposalOf,
  withCalls,
} from "../../../../test/support/consensus/test-application.ts";
import { createAbciHandlers } from "./handlers.ts";

testApplicationContract("application behind ABCI", () => {
  const { application, chain, clock } = openTestApplication();
  return {
    application: applicationOverAbci(application),
    genesisHash: chain.genesisHash,
    head: () => chain.head().block.header,
    advanceClock(milliseconds: number) {
      clock.now += milliseconds;
    },
  };
});

test("info reports a solo chain to CometBFT only after the network decided a block", () => {
  const { application } = openTestApplication();
  const decide = (height: number) => {
    const proposal = proposalOf(height);
    const input = inputOf(proposal, application.prepareProposal({ ...proposal, maxTxBytes: 1e6 }));
    application.finalizeBlock(input);
    application.commit();
  };
  for (let height = 1; height <= 3; height++) decide(height);
  const { info } = createAbciHandlers({ version: "1", initialHeight: 4 }, application);
  const heightOf = async () => (await info({} as never)).lastBlockHeight;
  return (async () => {
    assert.equal(await heightOf(), 0n);
    decide(4);
    assert.equal(await heightOf(), 4n);
  })();
});

test("replies that would halt CometBFT are never sent", () => {
  const { application } = openTestApplication();
  const proposal = proposalOf(1);
  const bad = (overrides: object) =>
    applicationOverAbci(
      withCalls(application, {
        finalizeBlock: (input) => ({ ...application.finalizeBlock(input), ...overrides }),
      }),
    );
  const txs = application.prepareProposal({ ...proposal, maxTxBytes: 1e6 });
  const input = inputOf(proposal, txs);
  const validator = { publicKey: new Uint8Array(33), address: proposal.proposer, power: 1 };
  for (const overrides of [
    { results: [] },
    { validatorUpdates: [validator] },
    { validatorUpdates: [{ ...validator, power: -1 }] },
  ]) {
    assert.throws(() => bad(overrides).finalizeBlock(input), { name: "InvariantError" });
  }
  assert.throws(() => bad({}).finalizeBlock({ ...input, height: 2 }), { name: "InvariantError" });
  const oversize = applicationOverAbci(
    withCalls(application, {
      prepareProposal: () => [new Uint8Array(60), new Uint8Array(60)],
    }),
  );
  assert.throws(() => oversize.prepareProposal({ ...proposal, maxTxBytes: 100 }), {
    name: "InvariantError",
  });
});
