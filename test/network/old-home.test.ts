import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { readValidatorKey } from "../../src/consensus/cometbft/signing/key-files.ts";
import { readSigningState, SIGNING_STATE_FILE } from "../../src/consensus/cometbft/signing/signing-state.ts";
import { cometbftPath } from "../../src/node/config/home.ts";
import { eventually, Network, type NetworkNode, whyLeftOut } from "./network.ts";

/** CometBFT says so where it has signed twice, or refuses to. */
const CONFLICT = /conflicting|double|misbehav|double-signed|regression/i;

/** Heights that the key had signed, as the home says, and the raised height at which it begins. */
function raisedTo(node: NetworkNode): number {
  const line = node
    .log()
    .split("\n")
    .findLast((each) => each.includes("raised the signing state"));
  return Number(
    /height=(\d+)|"height":(\d+)/
      .exec(line ?? "")
      ?.slice(1)
      .find(Boolean) ?? "0",
  );
}

test("a validator signs nothing again from a copy of its home, nor without its signing state, nor beside a second home", {
  skip: whyLeftOut(),
}, async (t) => {
  const network = await Network.create({ validators: 4, followers: 1 });
  t.after(() => network.stop());
  for (const node of network.nodes) node.start();
  const [validator, other] = network.nodes as [NetworkNode, NetworkNode];
  const directory = cometbftPath(validator.home);
  const { address } = readValidatorKey(directory);
  const signs = async () => {
    const height = (await other.height()) - 1;
    return (await other.committers(height)).has(address);
  };
  const reaches = (node: NetworkNode, height: number) =>
    eventually(`block ${height}`, async () => (await node.height()) >= height);
  t.diagnostic(`block 5 after ${Math.round(await reaches(validator, 5))} ms`);

  const copy = join(network.folder, "copy");
  cpSync(validator.home, copy, { recursive: true, filter: (path) => !/\.(sock|ipc)$|LOCK$/i.test(path) });
  await reaches(validator, (await validator.height()) + 12);

  for (const kind of ["a copy of before", "no signing state", "the home as it is"] as const) {
    await validator.killBoth();
    const signed = readSigningState(directory).height;
    if (kind === "a copy of before") {
      rmSync(validator.home, { recursive: true });
      cpSync(copy, validator.home, { recursive: true });
      assert.ok(readSigningState(directory).height < signed - 10);
    }
    if (kind === "no signing state") rmSync(join(directory, SIGNING_STATE_FILE));
    validator.start();
    const reasons = new Set<string>();
    const took = await eventually(`it signs again: ${kind}`, async () => {
      const reason = await validator.problem();
      if (reason !== undefined) reasons.add(reason);
      return reason === undefined && (await signs());
    });
    t.diagnostic(
      `${kind}: signed ${signed} before, raised to ${raisedTo(validator)}, back after ${Math.round(took)} ms`,
    );
    assert.ok(raisedTo(validator) >= signed, kind);
    assert.doesNotMatch(validator.log(), CONFLICT);
    t.diagnostic([...reasons].join("; "));
    assert.ok([...reasons].some((reason) => /this validator does not sign: it waits/.test(reason)));
  }

  // The same key in a second home: as in the copy, at the ports of the follower.
  const follower = network.nodes[4]!;
  await follower.stop();
  const key = "cometbft/config/priv_validator_key.json";
  cpSync(join(validator.home, key), join(follower.home, key));
  follower.start();
  const second = await eventually("it sees the key", async () =>
    /another or an earlier node signed/.test((await follower.problem()) ?? ""),
  );
  t.diagnostic(`${Math.round(second)} ms: ${await follower.problem()}`);
  const height = await other.height();
  await reaches(other, height + 20);
  assert.match((await follower.problem()) ?? "", /another or an earlier node signed/);
  assert.doesNotMatch(network.nodes.map((node) => node.log()).join(""), /double-signed/);
});
