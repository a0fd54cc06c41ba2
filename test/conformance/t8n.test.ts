import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { signedTransactionText } from "../../src/rpc/methods/json/transaction-json.ts";
import { createEngines } from "./engines.ts";
import { executeCase, executeCaseByList, readT8nCases, run, type T8nCase, t8nDifference } from "./t8n.ts";
import { transactionReaders } from "./t8n-transactions.ts";

/**
 * Answers of `evm t8n` of go-ethereum 1.17.10. With its `evm` on the PATH they are recorded again by
 * `npm run conformance -- fuzz --kind blocks --seed 1 --fork NAME --count COUNT --record FILE` with the file in `recordings/`,
 * 240 blocks for `amsterdam` and 100 for `osaka`.
 */
const RECORDINGS = ["amsterdam", "osaka"];

const evm = await createEngines("evmint");
const folder = mkdtempSync(join(tmpdir(), "evmint-t8n-test-"));
after(() => rmSync(folder, { recursive: true }));

const recorded = (fork: string) =>
  readT8nCases(fileURLToPath(new URL(`./recordings/t8n-${fork}.json.br`, import.meta.url)));

for (const fork of RECORDINGS) {
  const cases = recorded(fork);
  for (const engine of ["evmint", "evmint-compiled", "evmint-recorded"]) {
    test(`${engine} makes of ${fork} blocks what evm t8n does`, async () => {
      const each = await createEngines(engine);
      for (const t8nCase of cases) assert.equal(t8nDifference(t8nCase, each), undefined, t8nCase.name);
    });
  }

  test(`t8nDifference names the first value that is another one, in ${fork} blocks`, () => {
    const { result, body, ...rest } = cases.find(hasEverything)!;
    for (const [name, value] of Object.entries({ ...result, body })) {
      if (IGNORED.has(name)) continue;
      // Encoded lists become empty ones.
      const other = ["body", "blockAccessList"].includes(name) ? "0xc0" : another(value);
      const changed =
        name === "body"
          ? { ...rest, result, body: other as string }
          : { ...rest, body: body!, result: { ...result, [name]: other } };
      const text = t8nDifference(changed, evm);
      assert.match(text ?? "no difference", new RegExp(`^${name}\\b`), name);
      assert.ok(!text!.includes("also:"), name);
    }
  });
}

test("amsterdam blocks are the same where each transaction is executed on the state that their access list gives", () => {
  let applied = 0;
  for (const t8nCase of recorded("amsterdam")) {
    const listed = executeCaseByList(t8nCase, evm);
    assert.deepEqual(listed.result, executeCase(t8nCase, evm), t8nCase.name);
    applied += listed.applied;
  }
  assert.ok(applied > 500, `${applied} applied`);
});

test("a block stores the hash of its parent where its environment has hashes, and 0 where that of the parent is not among them", () => {
  const cases = recorded("hashes");
  for (const t8nCase of cases) assert.equal(t8nDifference(t8nCase, evm), undefined, t8nCase.name);
  const lists = cases.filter(({ fork }) => fork === "Amsterdam").map(({ result }) => result["blockAccessListHash"]);
  assert.equal(new Set(lists).size, 3);
});

test("transactionReaders read JSON and RLP alike", () => {
  const types = new Set<number>();
  for (const t8nCase of recorded("osaka")) {
    const readers = transactionReaders(t8nCase.txs);
    const transactions = readers.flatMap((read) => {
      try {
        return [read()];
      } catch {
        // Of these there is no JSON.
        return [];
      }
    });
    const json = transactions.map((tx) => JSON.parse(signedTransactionText(tx)));
    const again = transactionReaders(json).map((read) => bytesToHex(read().raw));
    assert.deepEqual(
      again,
      transactions.map(({ raw }) => bytesToHex(raw)),
    );
    for (const { type } of transactions) types.add(type);
  }
  assert.deepEqual([...types].sort(), [0, 1, 2, 3, 4]);
});

test("transactionReaders sign a transaction that comes with a key, for chain 1 unless it is unprotected", () => {
  // The transaction of EIP-155, whose key is 32 bytes of 0x46; v there is 37.
  const unsigned = {
    ...{ nonce: "0x9", gasPrice: "0x4a817c800", gas: "0x5208", to: `0x${"35".repeat(20)}`, value: "0xde0b6b3a7640000" },
    ...{ input: "0x", v: "0x0", r: "0x0", s: "0x0", secretKey: `0x${"46".repeat(32)}` },
  };
  const [signed, unprotected] = transactionReaders([unsigned, { ...unsigned, protected: false }]).map((read) => read());
  assert.equal(signed!.v, 37n);
  assert.equal(signed!.s, 46948507304638947509940763649030358759909902576025900602547168820602576006531n);
  assert.ok(unprotected!.v === 27n || unprotected!.v === 28n);
});

test("run counts what passes and what fails, and names a file that it cannot read", async (t) => {
  const lines: string[] = [];
  t.mock.method(console, "log", (line: string) => lines.push(line));
  const [good, other] = recorded("osaka");
  const bad: T8nCase = { ...other!, name: "changed", result: { ...other!.result, gasUsed: "0x1" } };
  const file = join(folder, "cases.json");
  writeFileSync(file, JSON.stringify([good, bad]));
  assert.deepEqual(await run([file]), { passed: 1, failed: 1 });
  assert.equal(lines.length, 1);
  assert.match(lines[0]!, /^changed: gasUsed\n/);

  const broken = join(folder, "broken.json");
  const { result: _, ...withoutResult } = good!;
  for (const content of ["[", "{}", "[1]", JSON.stringify([withoutResult])]) {
    writeFileSync(broken, content);
    await assert.rejects(run([file, broken]), { message: new RegExp(`^${broken}: `) });
  }
  await assert.rejects(run([join(folder, "none.json")]), { message: /none\.json: ENOENT/ });
});

/** What follows from the environment alone. */
const IGNORED: ReadonlySet<string> = new Set(["currentDifficulty"]);

/** True for a block with receipts, logs, requests and a rejected transaction: each member has something to be wrong about. */
function hasEverything({ result }: T8nCase): boolean {
  const lists = ["receipts", "requests", "rejected"].map((name) => result[name] as readonly unknown[] | undefined);
  return lists.every((list) => (list?.length ?? 0) > 0) && /[^0]/.test((result["logsBloom"] as string).slice(2));
}

/** `value` with its last digit changed, in a list of its last element. */
function another(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "string") return value.slice(0, -1) + (value.endsWith("1") ? "2" : "1");
  if (Array.isArray(value)) return [...value.slice(0, -1), another(value.at(-1))];
  const entries = Object.entries(value as Record<string, unknown>);
  const [name, member] = entries.find(([each]) => each === "index" || each === "gasUsed")!;
  return { ...Object.fromEntries(entries), [name]: another(member) };
}
