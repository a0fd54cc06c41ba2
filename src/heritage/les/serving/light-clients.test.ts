import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { createMemoryKv } from "../../../store/storage/memory-kv.ts";
import { type ClientId, clientIdOf, parseClientId, readBalances, writeBalances } from "../client-id.ts";
import { ClientBalance, connectionPrice, DEFAULT_PRICES, PRICE_SCALE, requestPrice } from "./client-balance.ts";
import { CAPACITY_MIN, LightClients } from "./light-clients.ts";

const ALICE = clientIdOf("key", "alice");
const BOB = clientIdOf("ip", "10.0.0.2");
const INT63_MAX = 2n ** 63n - 1n;

function openClients(totalCapacity = 10 * CAPACITY_MIN) {
  const kv = createMemoryKv();
  const clock = { ms: 1_000 };
  const open = () =>
    new LightClients(
      { totalCapacity },
      {
        nowMs: () => clock.ms,
        random: () => 0.5,
        balances: readBalances(kv),
        save: (changes) => writeBalances(kv, changes),
      },
    );
  return { clients: open(), clock, reopen: open };
}

/** A connection that says whether it was closed. */
function connection() {
  const state = { isClosed: false };
  return Object.assign(state, {
    onClose: () => {},
    overCapacity() {
      state.isClosed = true;
    },
  });
}

const infoOf = (clients: LightClients, id: ClientId) => clients.clientInfo([id])[0]![1];

describe("ClientBalance", () => {
  test("add stops at 0 and rejects more than 2^63 - 1 with nothing changed", () => {
    const balance = new ClientBalance();
    assert.deepEqual(balance.add(INT63_MAX), { before: 0n, after: INT63_MAX });
    assert.throws(() => balance.add(1n), { code: "LES_BALANCE_OVERFLOW" });
    assert.equal(balance.positive, INT63_MAX);
    assert.deepEqual(balance.add(-INT63_MAX), { before: INT63_MAX, after: 0n });
    assert.deepEqual(balance.add(-INT63_MAX), { before: 0n, after: 0n });
    assert.throws(() => balance.add(INT63_MAX + 1n), { code: "LES_BALANCE_OVERFLOW" });
  });

  test("many small charges cost what one large charge costs, to the unit", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 1_000_000_000 }), { minLength: 1, maxLength: 40 }),
        fc.integer({ min: CAPACITY_MIN, max: 10 ** 7 }),
        fc.bigInt({ min: 0n, max: 10n ** 9n }),
        (parts, capacity, start) => {
          const [whole, pieces] = [new ClientBalance(start), new ClientBalance(start)];
          let total = 0n;
          for (const part of parts) {
            total += BigInt(part);
            pieces.charge(DEFAULT_PRICES, (factors) => connectionPrice(factors, capacity, BigInt(part)));
          }
          whole.charge(DEFAULT_PRICES, (factors) => connectionPrice(factors, capacity, total));
          assert.equal(pieces.positive, whole.positive);
          assert.equal(pieces.negative, whole.negative);
        },
      ),
    );
  });

  test("the positive balance pays first, at its own price; the rest grows the negative one at the other price", () => {
    const balance = new ClientBalance(100n);
    const prices = {
      positive: { timeFactor: 0, capacityFactor: 0, requestCostFactor: 1e9 },
      negative: { timeFactor: 0, capacityFactor: 0, requestCostFactor: 3e9 },
    };
    balance.charge(prices, (factors) => requestPrice(factors, 150n));
    assert.equal(balance.positive, 0n);
    assert.equal(balance.negative, 150n);
  });

  test("the default price of a second of connection with the minimum capacity is 16 million", () => {
    assert.equal(connectionPrice(DEFAULT_PRICES.positive, CAPACITY_MIN, 10n ** 9n) / PRICE_SCALE, 16_000_000n);
    assert.equal(requestPrice(DEFAULT_PRICES.positive, 12_345n) / PRICE_SCALE, 12_345n);
  });
});

describe("LightClients", () => {
  test("a client that used up its buffer of six seconds waits, then is rejected until it recharged", () => {
    const { clients, clock } = openClients();
    assert.equal(clients.admit(BOB, undefined), 0);
    clients.charge(BOB, 6000 * CAPACITY_MIN);
    assert.equal(clients.admit(BOB, undefined), 0);
    clients.charge(BOB, 500 * CAPACITY_MIN);
    assert.equal(clients.admit(BOB, undefined), 500);
    clients.charge(BOB, 2000 * CAPACITY_MIN);
    assert.throws(() => clients.admit(BOB, undefined), {
      code: "LES_CAPACITY_EXCEEDED",
      details: { data: { retryAfterMs: 2500 } },
    });
    clock.ms += 2500;
    assert.equal(clients.admit(BOB, undefined), 0);
  });

  test("calls under way count by what they are expected to cost, and by what they did once they end", () => {
    const { clients } = openClients(100 * CAPACITY_MIN);
    const begin = () => {
      clients.admit(BOB, undefined);
      return clients.reserve(BOB);
    };
    // Also one that made cheap calls only has no more than 32 at once before it waits.
    for (let i = 0; i < 20; i++) clients.charge(BOB, 0, begin());
    const reserved = Array.from({ length: 32 }, begin);
    assert.equal(clients.admit(BOB, undefined), 0);
    reserved.push(begin());
    assert.ok(clients.admit(BOB, undefined) > 0);
    for (const each of reserved) clients.charge(BOB, 25_000, each);
    // After an expensive call the next ones are expected to be so.
    clients.charge(BOB, 40_000_000, begin());
    assert.equal(begin(), 40_000_000);
    assert.equal(begin(), 40_000_000);
    assert.throws(begin, { code: "LES_CAPACITY_EXCEEDED" });
  });

  test("clients without balance wait for the calls under way of all, one with a balance does not", () => {
    const { clients } = openClients(2 * CAPACITY_MIN);
    clients.addBalance(ALICE, 10n ** 12n, undefined);
    clients.admit(ALICE, undefined);
    const reserved = clients.reserve(ALICE);
    assert.equal(clients.admit(BOB, undefined), reserved / (2 * CAPACITY_MIN) - 100);
    assert.equal(clients.admit(ALICE, undefined), 0);
    clients.charge(ALICE, 0, reserved);
    assert.equal(clients.admit(BOB, undefined), 0);
  });

  test("capacities never sum to more than the total; the lowest priority loses its place", () => {
    const { clients } = openClients(3 * CAPACITY_MIN);
    const lines = ["a", "b", "c"].map((name) => ({
      id: clientIdOf("ip", name),
      line: connection(),
    }));
    for (const { id, line } of lines) clients.admit(id, line);
    clients.charge(lines[1]!.id, 1_000_000);
    assert.equal(clients.serverInfo().totalConnectedCapacity, 3 * CAPACITY_MIN);
    // Connected clients are preferred to another free one.
    assert.throws(() => clients.admit(BOB, undefined), { code: "LES_CAPACITY_EXCEEDED" });
    clients.addBalance(ALICE, 10n ** 12n, undefined);
    clients.admit(ALICE, undefined);
    assert.deepEqual(
      lines.map(({ line }) => line.isClosed),
      [false, true, false],
    );
    assert.equal(clients.serverInfo().totalConnectedCapacity, 3 * CAPACITY_MIN);
    assert.equal(clients.serverInfo().priorityConnectedCapacity, CAPACITY_MIN);
    clients.setClientParameters([ALICE], { capacity: 2 * CAPACITY_MIN });
    assert.equal(clients.serverInfo().totalConnectedCapacity, 3 * CAPACITY_MIN);
    assert.throws(() => clients.setClientParameters([ALICE], { capacity: 4 * CAPACITY_MIN }), {
      code: "LES_PRIORITY_TOO_LOW",
    });
  });

  test("without the bias a free client with a smaller debt takes the place of one with a larger debt", () => {
    const { clients, clock } = openClients(CAPACITY_MIN);
    clients.setConnectedBias(0);
    clients.admit(BOB, undefined);
    clock.ms += 10;
    clients.charge(BOB, 1_000);
    clients.admit(clientIdOf("ip", "other"), undefined);
    assert.equal(infoOf(clients, BOB).connected, undefined);
  });

  test("a capacity above the minimum ends with the positive balance", () => {
    const { clients, clock } = openClients();
    clients.addBalance(ALICE, 1_000_000n, undefined);
    clients.admit(ALICE, undefined);
    clients.setClientParameters([ALICE], { capacity: 5 * CAPACITY_MIN });
    assert.equal(infoOf(clients, ALICE).connected?.capacity, 5 * CAPACITY_MIN);
    clock.ms += 60_000;
    const { balance, connected } = infoOf(clients, ALICE);
    assert.equal(balance, 0n);
    assert.equal(connected?.capacity, CAPACITY_MIN);
    assert.ok(connected.negativeBalance > 0n);
  });

  test("balances and notes are there after a restart; those that were added and spent exactly", () => {
    const { clients, clock, reopen } = openClients();
    clients.addBalance(ALICE, INT63_MAX, "qwerty");
    clients.admit(ALICE, undefined);
    clients.charge(ALICE, 1_000);
    clock.ms += 1_000;
    clients.sweep();
    const after = reopen();
    assert.equal(infoOf(after, ALICE).balance, INT63_MAX - 1_000n - 16_000_000n);
    assert.equal(infoOf(after, ALICE).balanceMeta, "qwerty");
    after.addBalance(ALICE, -INT63_MAX, "");
    assert.equal(reopen().isKnown(ALICE), false);
  });

  test("parameters are rejected with geth's texts", () => {
    const { clients } = openClients();
    clients.admit(BOB, undefined);
    for (const [parameters, message] of [
      [{ capacity: CAPACITY_MIN - 1 }, "invalid value for parameter 'capacity'"],
      [{ capacity: "20000" }, "invalid value for parameter 'capacity'"],
      [{ "pricing/timeFactor": -1 }, "invalid value for parameter 'pricing/timeFactor'"],
      [{ "pricing/timeFactor": Number.NaN }, "invalid value for parameter 'pricing/timeFactor'"],
      [{ "pricing/other": 1 }, "invalid client parameter 'pricing/other'"],
      [{ capacity: CAPACITY_MIN + 1 }, "priority too low to raise capacity"],
    ] as const) {
      assert.throws(() => clients.setClientParameters([BOB], parameters), { message });
    }
    assert.throws(() => clients.setDefaultParameters({ capacity: CAPACITY_MIN }), {
      message: "invalid default parameter 'capacity'",
    });
    assert.throws(() => clients.setClientParameters([ALICE], {}), {
      message: `client ${ALICE} is not connected`,
    });
    clients.setDefaultParameters({ "pricing/negative/capacityFactor": 0 });
  });

  test("priorityClientInfo lists ids from start to before stop and marks the first that did not fit", () => {
    const { clients } = openClients();
    const ids = ["1", "2", "3", "4"].map((digit) => digit.repeat(64) as ClientId);
    for (const id of ids) clients.addBalance(id, 5n, undefined);
    clients.addBalance(ids[1]!, -5n, "spent");
    const listed = (stop: ClientId | undefined, max: number) =>
      clients.priorityClientInfo(ids[0]!, stop, max).map(([id, info]) => [id[0], info?.balance]);
    assert.deepEqual(listed(undefined, 9), [
      ["1", 5n],
      ["3", 5n],
      ["4", 5n],
    ]);
    assert.deepEqual(listed(ids[3], 9), [
      ["1", 5n],
      ["3", 5n],
    ]);
    assert.deepEqual(listed(undefined, 1), [
      ["1", 5n],
      ["3", undefined],
    ]);
    assert.deepEqual(listed(undefined, 0), [["1", undefined]]);
  });

  test("a frozen client is rejected for about a second and until an eighth of its buffer is there", () => {
    const { clients, clock } = openClients();
    assert.throws(() => clients.freeze(BOB), { code: "LES_NOT_CONNECTED" });
    clients.admit(BOB, undefined);
    clients.charge(BOB, 6000 * CAPACITY_MIN);
    clients.freeze(BOB);
    clock.ms += 999;
    assert.throws(() => clients.admit(BOB, undefined), { code: "LES_CAPACITY_EXCEEDED" });
    assert.equal(clients.admit(ALICE, undefined), 0);
    clock.ms = 1_000 + 751;
    assert.throws(() => clients.admit(BOB, undefined), { code: "LES_CAPACITY_EXCEEDED" });
    clock.ms = 1_000 + 1_001;
    assert.equal(clients.admit(BOB, undefined), 0);
  });

  test("a client over HTTP is gone after five minutes of silence, one with a connection is not", () => {
    const { clients, clock } = openClients();
    clients.admit(BOB, undefined);
    clients.admit(ALICE, connection());
    clock.ms += 300_001;
    clients.sweep();
    assert.equal(infoOf(clients, BOB).connected, undefined);
    assert.equal(infoOf(clients, ALICE).connected?.seconds, 300.001);
  });

  test("debts of clients that are gone are remembered for a bounded number of them", () => {
    const { clients, clock } = openClients(100 * CAPACITY_MIN);
    for (let i = 0; i < 11_000; i++) {
      const id = clientIdOf("ip", String(i));
      clients.admit(id, undefined);
      clients.charge(id, 1_000);
      if (i % 100 === 99) {
        clock.ms += 300_001;
        clients.sweep();
      }
    }
    const last = clients.priority(clientIdOf("ip", "10999"));
    assert.ok(last < 0);
    assert.equal(clients.priority(clientIdOf("ip", "0")), -0);
  });
});

test("parseClientId reads ids with and without prefix and enode URLs, and nothing else", () => {
  assert.equal(parseClientId(`0x${ALICE.toUpperCase()}`), ALICE);
  assert.equal(parseClientId(ALICE), ALICE);
  assert.match(parseClientId(`enode://${"ab".repeat(64)}@1.2.3.4:30303`)!, /^[0-9a-f]{64}$/);
  for (const text of ["", "0x", ALICE.slice(1), `${ALICE}0`, "enode://12@1.2.3.4:1", "zz".repeat(32)]) {
    assert.equal(parseClientId(text), undefined);
  }
});
