import assert from "node:assert/strict";
import { test } from "node:test";
import { assemble } from "../../../../test/support/assembler.ts";
import {
  account,
  alice,
  blockContext,
  bob,
  coinbase,
  contract,
  messageOf,
  stateWith,
} from "../../../../test/support/evm/execution/factories.ts";
import { compileAtOnce } from "../../../../test/support/evm/machine/compile-at-once.ts";
import fc from "../../../../test/support/fast-check.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { createAddress } from "../../machine/contract-creation.ts";
import { createEvm } from "../../machine/engine.ts";
import { applyRewards, applyWithdrawals } from "../block/rewards.ts";
import { fullGasPool } from "../block-context.ts";
import { applyMessage } from "./apply-message.ts";
import type { TransactionMessage } from "./message.ts";

const MAX = 2n ** 256n - 1n;
const ENGINES = { interpreted: createEvm(), compiled: createEvm({ tier: compileAtOnce() }) };
const RICH = MAX - 1_000_000n;

const word = (value: bigint) => value.toString(16).padStart(64, "0");
const push = (value: bigint) => `PUSH32 ${word(value)}`;

/** One way to give `amount` to `recipient`, and what becomes of it where there is no room. */
type Place = {
  readonly recipient: Address;
  readonly end: "refused" | "capped";
  readonly message: (amount: bigint) => Partial<TransactionMessage>;
  readonly code?: (amount: bigint) => `0x${string}`;
};

const PLACES: Readonly<Record<string, Place>> = {
  "the value of a transaction": {
    recipient: bob,
    end: "refused",
    message: (value) => ({ to: bob, value }),
  },
  "the value of a creating transaction": {
    recipient: createAddress(alice, 0n),
    end: "refused",
    message: (value) => ({ to: null, value }),
  },
  "the value of CALL": {
    recipient: bob,
    end: "refused",
    message: () => ({ to: contract }),
    code: (value) => assemble(`PUSH0 PUSH0 PUSH0 PUSH0 ${push(value)} PUSH20 ${bob.slice(2)} GAS CALL STOP`),
  },
  "the value of CREATE": {
    recipient: createAddress(contract, 1n),
    end: "refused",
    message: () => ({ to: contract }),
    code: (value) => assemble(`PUSH0 PUSH0 ${push(value)} CREATE STOP`),
  },
  SELFDESTRUCT: {
    recipient: bob,
    end: "capped",
    message: () => ({ to: contract }),
    code: () => assemble(`PUSH20 ${bob.slice(2)} SELFDESTRUCT`),
  },
};

const nearMax = fc.oneof(
  fc.bigInt(MAX - 3n, MAX),
  fc.bigInt(0n, 3n),
  fc.constantFrom(2n ** 64n - 1n, 2n ** 64n, 2n ** 255n - 1n, 2n ** 255n, 2n ** 192n),
  fc.bigInt(0n, MAX),
);

for (const [engine, evm] of Object.entries(ENGINES)) {
  for (const [name, { recipient, end, message, code }] of Object.entries(PLACES)) {
    test(`applyMessage: ${name} never wraps a balance (${engine})`, () => {
      fc.assert(
        fc.property(nearMax, nearMax, (held, wanted) => {
          const amount = wanted < RICH ? wanted : RICH;
          const state = stateWith(
            new Map([
              [alice, account({ balance: MAX })],
              [contract, account({ nonce: 1n, balance: amount, ...(code && { code: code(amount) }) })],
              [recipient, account({ balance: held })],
            ]),
          );
          const environment = { evm, block: blockContext(), state, gasPool: fullGasPool(30_000_000n, 131_072n) };
          const { outcome } = applyMessage(
            messageOf({ ...message(amount), gasPrice: 7n, maxFeePerGas: 7n }),
            environment,
          );
          const sum = held + amount;
          const expected = sum <= MAX ? sum : end === "capped" ? MAX : held;
          assert.equal(state.account(recipient)?.balance ?? 0n, expected);
          if (code === undefined) assert.equal(outcome === "success", sum <= MAX);
        }),
        { numRuns: 60 },
      );
    });
  }

  test(`applyMessage: a transaction whose sender has all ether may pay itself (${engine})`, () => {
    const state = stateWith(new Map([[alice, account({ balance: MAX })]]));
    const environment = { evm, block: blockContext(), state, gasPool: fullGasPool(30_000_000n, 131_072n) };
    const { outcome, gasUsed } = applyMessage(messageOf({ to: alice, value: RICH }), environment);
    assert.equal(outcome, "success");
    assert.equal(state.account(alice)?.balance, MAX - gasUsed * 10n);
  });
}

test("applyMessage pays a fee recipient up to a full balance, and no transaction fails for it", () => {
  for (const missing of [0n, 1n, 62_999n, 63_000n, 63_001n]) {
    const state = stateWith(
      new Map([
        [alice, account({ balance: 10n ** 18n })],
        [coinbase, account({ balance: MAX - missing })],
      ]),
    );
    const environment = {
      evm: ENGINES.interpreted,
      block: blockContext(),
      state,
      gasPool: fullGasPool(30_000_000n, 131_072n),
    };
    assert.equal(applyMessage(messageOf({ to: bob }), environment).outcome, "success");
    assert.equal(state.account(coinbase)?.balance, missing < 63_000n ? MAX : MAX - missing + 63_000n);
  }
});

test("applyWithdrawals and applyRewards stop at a full balance", () => {
  const state = stateWith(
    new Map([
      [bob, account({ balance: MAX - 1n })],
      [coinbase, account({ balance: MAX - 1n })],
    ]),
  );
  applyWithdrawals([{ index: 0n, validatorIndex: 0n, address: bob, amount: 2n ** 64n - 1n }], state);
  applyRewards({ number: 10, coinbase, difficulty: 1n }, [{ number: 9, coinbase: bob }], "berlin", state);
  assert.equal(state.account(bob)?.balance, MAX);
  assert.equal(state.account(coinbase)?.balance, MAX);
});
