import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { compressPublicKey } from "../../base/crypto/compressed-public-key.ts";
import { addressFromPrivateKey, publicKeyFromPrivate } from "../../base/crypto/secp256k1.ts";
import { bigintToFixedBytes, EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { openProposals, PROPOSALS_MAX } from "./proposals.ts";
import { EPOCH_BLOCKS, type Vote } from "./snapshot.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-proposals-"));
after(() => rmSync(folder, { recursive: true }));

function keyOf(n: number) {
  const privateKey = bigintToFixedBytes(BigInt(n), 32);
  const publicKey = compressPublicKey(publicKeyFromPrivate(privateKey));
  return { address: addressFromPrivateKey(privateKey), publicKey };
}

function add(n: number): Vote {
  const { address, publicKey } = keyOf(n);
  return { candidate: address, authorize: true, publicKey };
}

function drop(n: number): Vote {
  return { candidate: keyOf(n).address, authorize: false, publicKey: EMPTY_BYTES };
}

const SELF = keyOf(1);
const snapshotOf = (...numbers: readonly number[]) => ({ signers: numbers.map(keyOf), votes: [] });

test("proposals survive a restart, in a file that only the user reads", () => {
  const path = join(folder, "a", "proposals.json");
  const proposals = openProposals(path);
  proposals.propose(add(2));
  proposals.propose(add(3));
  proposals.propose(drop(2));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  const expected = [drop(2), add(3)].sort((a, b) => (a.candidate < b.candidate ? -1 : 1));
  assert.deepEqual(
    openProposals(path)
      .all()
      .map((vote) => ({ ...vote, publicKey: [...vote.publicKey] })),
    expected.map((vote) => ({ ...vote, publicKey: [...vote.publicKey] })),
  );
  proposals.discard(keyOf(2).address);
  proposals.discard(keyOf(9).address);
  assert.deepEqual(
    openProposals(path)
      .all()
      .map(({ candidate }) => candidate),
    [keyOf(3).address],
  );
});

test("a damaged file, or one with the key of another address, is an error", () => {
  const path = join(folder, "damaged.json");
  for (const text of [
    "{",
    "[1]",
    JSON.stringify({ [keyOf(2).address]: { authorize: true, publicKey: "0x00" } }),
    JSON.stringify({
      [keyOf(2).address]: {
        authorize: true,
        publicKey: `0x${Buffer.from(keyOf(3).publicKey).toString("hex")}`,
      },
    }),
  ]) {
    writeFileSync(path, text);
    assert.throws(() => openProposals(path), { code: "CLIQUE_PROPOSALS_FILE" }, text);
  }
});

test("there are no more proposals than there can be validators", () => {
  const proposals = openProposals(undefined);
  for (let n = 1; n <= PROPOSALS_MAX; n++) proposals.propose(drop(n));
  proposals.propose(add(1));
  assert.throws(() => proposals.propose(drop(PROPOSALS_MAX + 1)), {
    code: "CLIQUE_TOO_MANY_PROPOSALS",
  });
});

test("next is the lowest address whose vote would change something and is not cast yet", () => {
  const proposals = openProposals(undefined);
  const votes = [add(2), add(3), drop(4)].sort((a, b) => (a.candidate < b.candidate ? -1 : 1));
  for (const vote of votes) proposals.propose(vote);
  const next = (snapshot: Parameters<typeof proposals.next>[0], height = 1) =>
    proposals.next(snapshot, SELF.address, height);
  assert.deepEqual(next(snapshotOf(1, 4)), votes[0]);
  const cast = (vote: Vote) => ({ ...vote, signer: SELF.address, block: 1 });
  const afterOne = { ...snapshotOf(1, 4), votes: [cast(votes[0]!)] };
  assert.deepEqual(next(afterOne), votes[1]);
  assert.equal(next({ ...snapshotOf(1, 4), votes: votes.map(cast) }), undefined);
  assert.equal(next(snapshotOf(1, 2, 3)), undefined);
  assert.equal(next(snapshotOf(1, 4), EPOCH_BLOCKS), undefined);
});
