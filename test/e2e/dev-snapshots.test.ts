/** Many snapshots at once: each one holds its own state until it, or one before it, is used up. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createNode, type EvmintNode } from "../../src/index.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";

const SNAPSHOTS = 10_000;
/** A block with a transaction after so many snapshots; the others have state set by hand alone. */
const SNAPSHOTS_PER_BLOCK = 100;
const STRANGER = "0x00000000000000000000000000000000000beef1";

const stateOf = async ({ rpc }: EvmintNode) => [
  Number(await rpc.eth_getBalance(STRANGER)),
  Number(await rpc.eth_blockNumber()),
];

test(`${SNAPSHOTS} snapshots are held, and each can be reverted to`, async () => {
  await using node = await createNode();
  const { rpc } = node;
  const ids: string[] = [];
  const states: (readonly number[])[] = [];
  for (let i = 0; i < SNAPSHOTS; i++) {
    await rpc.anvil_setBalance(STRANGER, `0x${i.toString(16)}`);
    if (i % SNAPSHOTS_PER_BLOCK === 0) {
      await rpc.eth_sendTransaction({ from: DEV_ADDRESSES[0], to: DEV_ADDRESSES[1], value: "0x1" });
    }
    ids.push(await rpc.evm_snapshot());
    states.push([i, Math.floor(i / SNAPSHOTS_PER_BLOCK) + 1]);
  }
  for (const at of [9_999, 9_950, 5_050, 5_049, 1, 0]) {
    await rpc.anvil_setBalance(STRANGER, "0xffffff");
    assert.equal(await rpc.evm_revert(ids[at]!), true);
    assert.deepEqual(await stateOf(node), states[at]);
    assert.equal(await rpc.evm_revert(ids[at]!), false);
    assert.equal(await rpc.evm_revert(ids[SNAPSHOTS - 1]!), false);
  }
});
