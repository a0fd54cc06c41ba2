import assert from "node:assert/strict";
import { test } from "node:test";
import {
  ACCOUNTS,
  inputOf,
  KEYS,
  openTestApplication,
  proposalOf,
  type TestApplication,
} from "../../test/support/consensus/test-application.ts";
import { compressPublicKey } from "../base/crypto/compressed-public-key.ts";
import { publicKeyFromPrivate } from "../base/crypto/secp256k1.ts";
import { EMPTY_TRIE_ROOT } from "../base/types/constants.ts";
import { readChanges } from "../chain/records/changes-record.ts";
import { deferNothing } from "../chain/store/background-work.ts";
import { openLogBlockStore } from "../chain/store/log-block-store.ts";
import { createStateTrie } from "../evm/state/state-trie.ts";
import { ByteReader } from "../store/storage/byte-io.ts";
import type { LogDirectory } from "../store/storage/log/log-file.ts";
import { createMemoryLogDirectory } from "../store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../store/storage/memory-kv.ts";
import { StateParts } from "./state-sync/state-parts.ts";

const [FIRST, SECOND] = [0, 1].map((account) => ({
  address: ACCOUNTS[account]!,
  publicKey: compressPublicKey(publicKeyFromPrivate(KEYS[account]!)),
})) as [Signer, Signer];
type Signer = { readonly address: (typeof ACCOUNTS)[0]; readonly publicKey: Uint8Array };

function openNode(log?: LogDirectory): TestApplication {
  const startingSet = { initialHeight: 1, signers: [FIRST] };
  return openTestApplication({ startingSet, ...(log && { log }) });
}

/** The next block, which the first validator proposes. */
function decide({ application }: TestApplication): void {
  const proposal = proposalOf(application.info().height + 1, { proposer: FIRST.address });
  const txs = application.prepareProposal({ ...proposal, maxTxBytes: 1 << 20 });
  application.finalizeBlock(inputOf(proposal, txs));
  application.commit();
}

/** A node whose chain begins with the head of `origin`, as after state sync. */
async function openFromHead({ chain, store }: TestApplication): Promise<TestApplication> {
  const { number } = chain.head().block.header;
  const log = createMemoryLogDirectory();
  const copy = openLogBlockStore({ defer: deferNothing, log, index: createMemoryKv(), createTrie: createStateTrie });
  const state = chain.stateAt(number);
  const parts = new StateParts({ end() {} }, (codeHash) => state.code(codeHash), Infinity);
  for (const piece of store.statePieces(number)) if (piece !== undefined) parts.add(piece);
  const changes = readChanges(new ByteReader(parts.finish()!));
  const { nodes } = createStateTrie(copy.trieNodes).update(EMPTY_TRIE_ROOT, changes);
  const consensusData = chain.consensusDataOf(number);
  copy.append({ ...chain.head(), changes, consensusData }, nodes);
  return openNode(log);
}

test("a chain that begins with a vote has its validators; whom that vote added is unknown", async () => {
  const origin = openNode();
  decide(origin);
  origin.voting.propose(SECOND.address, true, SECOND.publicKey);
  decide(origin);
  assert.deepEqual([...origin.voting.activeFrom(2)!], [[SECOND.address, 4]]);

  const { voting, ...node } = await openFromHead(origin);
  assert.deepEqual(voting.snapshotAt(2), origin.voting.snapshotAt(2));
  assert.equal(voting.activeFrom(2), undefined);
  assert.deepEqual([...voting.recentSigners(2, 2)], [[2, FIRST.address]]);
  assert.equal(voting.activity().blocks, 0);
  assert.throws(() => voting.snapshotAt(1), { code: "BLOCK_PRUNED" });

  decide({ voting, ...node });
  assert.deepEqual(voting.snapshotAt(3), voting.snapshotAt(2));
  assert.deepEqual([...voting.activeFrom(3)!], []);
  assert.deepEqual([...voting.recentSigners(3, 2).keys()], [2, 3]);
  assert.deepEqual(
    { ...voting.activity(), proposed: [...voting.activity().proposed] },
    {
      blocks: 1,
      inTurn: 1,
      proposed: [FIRST, SECOND]
        .map(({ address }) => [address, address === FIRST.address ? 1 : 0] as const)
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    },
  );
});
