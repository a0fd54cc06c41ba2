import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_AGREEMENT } from "../../chain/agreement/agreement.ts";
import { createValidatorVoting } from "./validator-voting.ts";

test("cliqueParameters names the rules about which open votes differ", async () => {
  const votes = [
    { signer: "0x01", block: 1, name: "osakaTime", value: 100n },
    { signer: "0x02", block: 2, name: "osakaTime", value: 101n },
    { signer: "0x01", block: 3, name: "gasLimit", value: 30_000_000n },
    { signer: "0x02", block: 4, name: "gasLimit", value: 30_000_000n },
  ];
  const voting = { agreementAt: () => ({ ...NO_AGREEMENT, votes }), parameterProposals: { all: () => [] } };
  const chain = { blockHash: () => "0x00", config: {} };
  const { cliqueParameters } = createValidatorVoting(voting as never, chain as never, {} as never, undefined);
  assert.deepEqual((await cliqueParameters({ number: 5 })).differing, ["osakaTime"]);
});
