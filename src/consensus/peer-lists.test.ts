import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestApplication } from "../../test/support/consensus/test-application.ts";
import { createAbciHandlers, createRestoreHandlers } from "./cometbft/abci/handlers.ts";
import { engineConfigToml } from "./cometbft/home/config.ts";
import { PeerLists } from "./peer-lists.ts";

const A = "aa".repeat(20);
const B = "bb".repeat(20);
const EMPTY = { persistent: [], trusted: [], rejected: [] };

test("a removed peer is rejected, also under another address, until it is added again", () => {
  const lists = new PeerLists({ ...EMPTY, persistent: [`${A}@host:1`, `${B}@host:2`] });
  assert.equal(lists.remove(A), true);
  assert.equal(lists.remove(A), false);
  assert.deepEqual(lists.settings, { ...EMPTY, persistent: [`${B}@host:2`], rejected: [A] });
  assert.equal(lists.add(`${A}@other:3`), true);
  assert.equal(lists.add(`${A}@other:3`), false);
  assert.deepEqual(lists.settings, { ...EMPTY, persistent: [`${B}@host:2`, `${A}@other:3`] });
  assert.equal(lists.add(`${A}@host:1`), true);
  assert.deepEqual(lists.settings.persistent, [`${B}@host:2`, `${A}@host:1`]);
  assert.equal(lists.isPersistent(A), true);
});

test("trust is given and taken once", () => {
  const lists = new PeerLists(EMPTY);
  assert.deepEqual([lists.trust(A), lists.trust(A)], [true, false]);
  assert.equal(lists.isTrusted(A), true);
  assert.deepEqual([lists.distrust(A), lists.distrust(A)], [true, false]);
  assert.deepEqual(lists.settings, EMPTY);
});

test("CometBFT connects to every peer but a refused one, also while a snapshot is restored", async () => {
  const peers = { refusal: (id: string) => (id === A ? "removed" : undefined) };
  const { application } = openTestApplication();
  for (const { query } of [
    createAbciHandlers({ version: "1", initialHeight: 1, peers }, application),
    createRestoreHandlers({ version: "1", peers }, application),
  ]) {
    const codeOf = async (path: string) => (await query({ path } as never)).code;
    assert.equal(await codeOf(`/p2p/filter/id/${A}`), 1);
    assert.equal(await codeOf(`/p2p/filter/id/${A.toUpperCase()}`), 1);
    assert.equal(await codeOf(`/p2p/filter/id/${B}`), 0);
    assert.equal(await codeOf("/p2p/filter/addr/10.0.0.1:26656"), 0);
    assert.equal(await codeOf("/store/key"), 1);
  }
});

test("engineConfigToml has the lists of peers", () => {
  const peers = { persistent: [`${A}@host:1`, `${B}@host:2`], trusted: [A, B], rejected: [] };
  const toml = engineConfigToml({
    abciSocket: "/s",
    moniker: "m",
    p2pAddress: "0.0.0.0:1",
    externalAddress: "",
    isLocalNet: false,
    p2p: { isEnabled: true, seeds: [], privateIds: [], inboundMax: 40 },
    metricsAddress: "",
    additions: new Map(),
    blockTimeMs: 1000,
    key: { kind: "file" },
    peers,
  });
  assert.match(toml, new RegExp(`^persistent_peers = "${peers.persistent.join()}"$`, "m"));
  assert.match(toml, new RegExp(`^unconditional_peer_ids = "${A},${B}"$`, "m"));
  assert.match(toml, /^filter_peers = true$/m);
});
