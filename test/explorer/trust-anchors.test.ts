import assert from "node:assert/strict";
import { test } from "node:test";
import { type Hash, parseHash } from "../../src/base/primitives/hash.ts";
import { headerHash } from "../../src/base/types/header-codec.ts";
import { identityOf, TrustAnchors } from "../../src/web/explorer/ui/trust.ts";
import { headerOf } from "../../src/web/explorer/verify/header.ts";
import type { TrustedValidators } from "../../src/web/explorer/verify/signatures.ts";
import type { Json } from "../../src/web/explorer/verify/verdict.ts";
import { RECORDED } from "./recorded-chain.ts";

const hashOf = (digit: string) => parseHash(`0x${digit.repeat(64)}`);
const [GENESIS_A, GENESIS_B] = [hashOf("a"), hashOf("b")];
const FIRST = { number: 3, hash: hashOf("3") };
const OTHER = { number: 7, hash: hashOf("7") };

/** A browser, which keeps what it has stored, and the pages it opens on nodes. */
function browser() {
  const stored = new Map<string, string>();
  const storage = {
    read: <T>(key: string) => (stored.has(key) ? (JSON.parse(stored.get(key)!) as T) : undefined),
    write: (key: string, value: unknown) => void stored.set(key, JSON.stringify(value)),
    remove: (key: string) => void stored.delete(key),
  };
  return (genesis: Hash | undefined, chainId = "0x1") =>
    new TrustAnchors({ storage, now: () => 5, identify: async () => ({ chainId, genesis }) });
}

test("the first block that is seen of a chain is trusted, on later pages too", async () => {
  const open = browser();
  assert.equal(await open(GENESIS_A).current(), undefined);
  const trust = { ...FIRST, since: 5, isPinned: false };
  assert.deepEqual(await open(GENESIS_A).anchorFor(FIRST), { kind: "trusted", trust });
  assert.deepEqual(await open(GENESIS_A).anchorFor(OTHER), { kind: "trusted", trust });
  // A dev chain that was started over.
  const fresh = { ...OTHER, since: 5, isPinned: false };
  assert.deepEqual(await open(GENESIS_B).anchorFor(OTHER), { kind: "trusted", trust: fresh });
});

test("a pin binds whatever genesis block the node claims, or hides", async () => {
  const open = browser();
  await open(GENESIS_A).pin(FIRST);
  const trust = { ...FIRST, since: 5, isPinned: true };
  for (const genesis of [GENESIS_A, undefined]) {
    assert.deepEqual(await open(genesis).anchorFor(OTHER), { kind: "trusted", trust });
  }
  const anchor = await open(GENESIS_B).anchorFor(OTHER);
  assert.ok(anchor.kind === "refused" && anchor.verdict.kind === "false");
  // Until the user decides.
  await open(GENESIS_B).pin(OTHER);
  const decided = { ...OTHER, since: 5, isPinned: true };
  assert.deepEqual(await open(GENESIS_B).anchorFor(FIRST), { kind: "trusted", trust: decided });
});

test("where something is pinned, nothing of another chain id is verified by having been seen", async () => {
  const open = browser();
  await open(GENESIS_A, "0x1").pin(FIRST);
  const anchor = await open(GENESIS_B, "0x2").anchorFor(OTHER);
  assert.ok(anchor.kind === "refused" && anchor.verdict.kind === "unverified");
  assert.equal(
    await open(GENESIS_B, "0x2")
      .current()
      .then((each) => each?.kind),
    "refused",
  );
  await open(GENESIS_B, "0x2").pin(OTHER);
  for (const [genesis, chainId, pinned] of [
    [GENESIS_A, "0x1", FIRST],
    [GENESIS_B, "0x2", OTHER],
  ] as const) {
    const trust = { ...pinned, since: 5, isPinned: true };
    assert.deepEqual(await open(genesis, chainId).current(), { kind: "trusted", trust });
  }
});

test("trusted validators are forgotten by a pin", async () => {
  const open = browser();
  const set = { chainId: "x", height: 2 } as TrustedValidators;
  await open(GENESIS_A).trustValidators(set);
  assert.deepEqual(await open(GENESIS_A).validators(), set);
  assert.equal(await open(GENESIS_B).validators(), undefined);
  await open(GENESIS_A).pin(FIRST);
  assert.equal(await open(GENESIS_A).validators(), undefined);
});

const block = Object.values(RECORDED.blocks)[0]!;
/** A block 0 whose hash is that of its fields. */
function genesisWith(members: Json): Json {
  const changed = { ...block, number: "0x0", ...members };
  return { ...changed, hash: headerHash(headerOf(changed)) };
}

test("a genesis block counts where its header has the hash that is claimed", () => {
  const genesis = genesisWith({});
  assert.deepEqual(identityOf("0x01", genesis), { chainId: "0x1", genesis: genesis["hash"] });
  assert.deepEqual(identityOf("0x1", null), { chainId: "0x1", genesis: undefined });
  for (const lie of [
    { ...genesis, hash: GENESIS_A },
    { ...genesis, gasLimit: "0x1" },
    { hash: GENESIS_A, number: "0x0" },
    genesisWith({ number: "0x1" }),
  ]) {
    assert.throws(() => identityOf("0x1", lie), { name: /Error$/, code: /^[A-Z_]+$/ });
  }
  for (const chainId of [null, 1, "1", "__proto__", `0x${"1".repeat(65)}`]) {
    assert.throws(() => identityOf(chainId, genesis), { code: /^[A-Z_]+$/ });
  }
});

test("a node that contradicts itself gets false marks, one that does not answer is asked again", async () => {
  const answers = [
    () => Promise.reject(new TypeError("not reached")),
    async () => identityOf("0x1", { ...genesisWith({}), hash: GENESIS_A }),
    async () => identityOf("0x1", genesisWith({})),
  ];
  const storage = { read: () => undefined, write() {}, remove() {} };
  const anchors = new TrustAnchors({ storage, now: () => 5, identify: () => answers.shift()!() });
  await assert.rejects(anchors.anchorFor(FIRST), TypeError);
  const anchor = await anchors.anchorFor(FIRST);
  assert.ok(anchor.kind === "refused" && anchor.verdict.kind === "false");
  assert.equal((await anchors.anchorFor(FIRST)).kind, "trusted");
});
