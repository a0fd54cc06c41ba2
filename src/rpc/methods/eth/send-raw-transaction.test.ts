import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE_KEY, BOB, CHAIN_ID, createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { signTransaction } from "../../../base/types/transaction/sign.ts";
import { sendRawTransaction } from "./submit.ts";

const plain = { to: BOB, value: 0n, data: EMPTY_BYTES, gasLimit: 21_000n, nonce: 0n };
const raw = (gasPrice: bigint, chainId: bigint | undefined = CHAIN_ID) =>
  bytesToHex(signTransaction({ type: 0, ...plain, gasPrice, chainId }, ALICE_KEY).raw);

test("eth_sendRawTransaction hands the transaction over and gives its hash", async () => {
  const modules = createTestModules();
  const result = await sendRawTransaction.call(modules, [raw(1n)]);
  assert.equal(result, modules.submitted[0]!.hash);
});

test("eth_sendRawTransaction protects from a fee beyond the cap and from replay", async () => {
  const modules = createTestModules();
  await assert.rejects(sendRawTransaction.call(modules, [raw(10n ** 15n)]), {
    code: "RPC_FEE_CAP_EXCEEDED",
    message: "tx fee (21.00 ether) exceeds the configured cap (1.00 ether)",
  });
  await assert.rejects(sendRawTransaction.call(modules, [raw(2n ** 256n - 1n)]), {
    code: "RPC_FEE_CAP_EXCEEDED",
    message: /^tx fee \(2431633873983639\d{48}\.00 ether\) exceeds/,
  });
  const { type, ...fields } = { type: 0 as const, ...plain, gasPrice: 1n, chainId: undefined };
  const unprotected = signTransaction({ type, ...fields }, ALICE_KEY);
  await assert.rejects(sendRawTransaction.call(modules, [bytesToHex(unprotected.raw)]), {
    code: "RPC_UNPROTECTED_TRANSACTION",
  });
  assert.equal(modules.submitted.length, 0);
});

test("eth_sendRawTransaction rejects bytes that are no transaction", async () => {
  const modules = createTestModules();
  for (const [bytes, code] of [
    ["0x", "TX_TOO_SHORT"],
    ["0x02", "TX_TOO_SHORT"],
    ["0x05c0", "TX_TYPE_NOT_SUPPORTED"],
    ["0xc0", "RLP_TOO_FEW_ELEMENTS"],
  ]) {
    await assert.rejects(sendRawTransaction.call(modules, [bytes]), { code }, bytes);
  }
});
