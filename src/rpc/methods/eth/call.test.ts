import assert from "node:assert/strict";
import { test } from "node:test";
import { ALICE, CONTRACT, createTestModules, TOPIC } from "../../../../test/support/rpc/test-chain.ts";
import { hashFromBigint, ZERO_HASH } from "../../../base/primitives/hash.ts";
import type { CallArguments } from "../../../evm/execution/call/call-arguments.ts";
import type { BlockSelector } from "../../ports/block-selector.ts";
import type { CallOverrides } from "../../ports/execution.ts";
import { call, createAccessList, estimateGas } from "./execute.ts";

/** Modules whose execution port records what it is asked. */
function recording() {
  const asked: { args: CallArguments; at: BlockSelector; overrides: CallOverrides }[] = [];
  const modules = createTestModules({
    execution: {
      call({ args, at, overrides }) {
        asked.push({ args, at, overrides });
        return Uint8Array.of(1);
      },
    },
  });
  return { modules, asked };
}

test("eth_call hands over the request, the block and both kinds of overrides", async () => {
  const { modules, asked } = recording();
  const request = {
    from: ALICE,
    To: CONTRACT,
    gasLimit: "0x10",
    data: "0x01",
    input: "0x02",
    accessList: [{ address: CONTRACT, storageKeys: [ZERO_HASH] }],
    networkId: 5,
    value: null,
  };
  const overrides = { [CONTRACT]: { balance: "0x5", code: "0x", state: { [TOPIC]: ZERO_HASH } } };
  const result = await call.call(modules, [request, "0x1", overrides, { number: "0x9" }]);
  assert.equal(result, "0x01");
  const [{ args, at, overrides: seen }] = asked as [(typeof asked)[0]];
  assert.deepEqual(given(args), {
    from: ALICE,
    to: CONTRACT,
    gas: 16n,
    data: Uint8Array.of(1),
    input: Uint8Array.of(2),
    accessList: [{ address: CONTRACT, storageKeys: [ZERO_HASH] }],
  });
  assert.equal(at, 1);
  assert.deepEqual(seen.stateOverrides?.get(CONTRACT), {
    balance: 5n,
    code: new Uint8Array(),
    state: new Map([[TOPIC, 0n]]),
  });
  assert.deepEqual(seen.blockOverrides, { number: 9n });
});

test("eth_call takes an empty object for a call of nothing on the latest block, and no null", async () => {
  const { modules, asked } = recording();
  await call.call(modules, [{}]);
  assert.deepEqual([given(asked[0]!.args), asked[0]!.at], [{}, "latest"]);
  await assert.rejects(call.call(modules, [null]), { message: "missing value for required argument 0" });
});

test("eth_call names what it cannot read in geth's words", async () => {
  const { modules } = recording();
  for (const [params, reason] of [
    [
      [{ data: "0x1" }],
      "json: cannot unmarshal hex string of odd length into Go struct field TransactionArgs.data of type hexutil.Bytes",
    ],
    [
      [{ gas: "0x00" }],
      "json: cannot unmarshal hex number with leading zero digits into Go struct field TransactionArgs.gas of type hexutil.Uint64",
    ],
    [
      [{ value: 5 }],
      "json: cannot unmarshal non-string into Go struct field TransactionArgs.value of type *hexutil.Big",
    ],
    [[{ to: "0x00" }], "hex string has length 2, want 40 for common.Address"],
    [["0x"], "json: cannot unmarshal string into Go value of type ethapi.TransactionArgs"],
    [[{ accessList: [{ address: CONTRACT }] }], "missing required field 'storageKeys' for AccessTuple"],
    [
      [{ authorizationList: [{ chainId: "0x1", address: CONTRACT, nonce: "0x0" }] }],
      "missing required field 'yParity' for SetCodeAuthorization",
    ],
  ] as const) {
    await assert.rejects(call.call(modules, params), {
      code: "RPC_INVALID_PARAMS",
      message: `invalid argument 0: ${reason}`,
    });
  }
  await assert.rejects(call.call(modules, [{}, "latest", { "0x00": {} }]), {
    message: "invalid argument 2: hex string has length 2, want 40 for Address",
  });
});

test("eth_estimateGas is QUANTITY", async () => {
  assert.equal(await estimateGas.call(createTestModules(), [{}]), "0x5208");
});

test("eth_createAccessList is a result also when the execution fails", async () => {
  const modules = createTestModules();
  const accessList = [{ address: CONTRACT, storageKeys: [hashFromBigint(1n)] }];
  assert.deepEqual(await createAccessList.call(modules, [{}]), { accessList, gasUsed: "0x6590" });
  const failing = createTestModules({
    execution: {
      createAccessList: () => ({ accessList: [], gasUsed: 1n, error: "execution reverted" }),
    },
  });
  assert.deepEqual(await createAccessList.call(failing, [{}]), {
    accessList: [],
    error: "execution reverted",
    gasUsed: "0x1",
  });
});

/** The members that are there. */
function given(args: CallArguments): object {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
}
