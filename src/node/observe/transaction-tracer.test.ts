import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from "viem";
import { DEV_ADDRESSES } from "../../../test/support/accounts.ts";
import { overHttp } from "../../../test/support/clients.ts";
import { startTestNode } from "../../../test/support/test-node.ts";
import { HANG_MS, until } from "../../../test/support/until.ts";
import { createLogger } from "../../base/telemetry/create-logger.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { type Logger, SILENT_LOGGER } from "../../base/telemetry/logger.ts";
import { createNode, type EvmintNode } from "../../index.ts";
import { ActivityLog } from "./activity/activity-log.ts";
import { createPaint } from "./activity/paint.ts";

const [ALICE] = DEV_ADDRESSES;
const solc = createRequire(import.meta.url)("solc") as { compile(input: string): string };

const SOURCE = `// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.30;

struct Point { uint256 x; string label; }

contract Store {
    address immutable owner;
    uint256 public value;
    event Stored(address indexed by, uint256 value, string note);
    error TooLarge(uint256 value, uint256 max);

    constructor(uint256 first) {
        owner = msg.sender;
        value = first;
        require(first != 13, "unlucky");
    }

    function store(uint256 next, string calldata note) external returns (uint256) {
        if (next > 1000) {
            revert TooLarge(next, 1000);
        }
        value = next;
        emit Stored(msg.sender, next, note);
        return next;
    }

    function points(Point[] calldata list, bytes4 tag) external pure returns (uint256, bytes4) {
        return (list.length, tag);
    }
}

contract Caller {
    function forward(Store store, uint256 next) external returns (uint256) {
        return store.store(next, "from caller");
    }
}
`;

type Compiled = {
  readonly abi: readonly object[];
  readonly evm: {
    readonly bytecode: { readonly object: string; readonly sourceMap: string };
    readonly deployedBytecode: {
      readonly object: string;
      readonly sourceMap: string;
      readonly immutableReferences: object;
    };
  };
};

const PATH = "src/Store.sol";
const input = {
  language: "Solidity",
  sources: { [PATH]: { content: SOURCE } },
  settings: {
    optimizer: { enabled: true, runs: 200 },
    outputSelection: { "*": { "*": ["abi", "evm.bytecode", "evm.deployedBytecode"] } },
  },
};

const folder = mkdtempSync(join(tmpdir(), "evmint-artifacts-"));
after(() => rmSync(folder, { recursive: true }));

let contracts: Readonly<Record<string, Compiled>>;

function write(path: string, content: unknown): void {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
}

/** Folders as `forge build` and `hardhat build` leave them. */
before(() => {
  const output = JSON.parse(solc.compile(JSON.stringify(input)));
  contracts = output.contracts[PATH];
  write("foundry/src/Store.sol", SOURCE);
  for (const [name, { abi, evm }] of Object.entries(contracts)) {
    const { bytecode, deployedBytecode } = evm;
    write(`foundry/out/Store.sol/${name}.json`, {
      abi,
      bytecode: { ...bytecode, object: `0x${bytecode.object}` },
      deployedBytecode: { ...deployedBytecode, object: `0x${deployedBytecode.object}` },
      metadata: { settings: { compilationTarget: { [PATH]: name } } },
      id: 0,
    });
    write(`hardhat2/artifacts/src/Store.sol/${name}.json`, {
      _format: "hh-sol-artifact-1",
      contractName: name,
      sourceName: PATH,
      abi,
      bytecode: `0x${bytecode.object}`,
      deployedBytecode: `0x${deployedBytecode.object}`,
    });
  }
  write("hardhat2/artifacts/build-info/1.json", { _format: "hh-sol-build-info-1", input, output });
  const project = { ...input, sources: { [`project/${PATH}`]: { content: SOURCE } } };
  const built = {
    contracts: { [`project/${PATH}`]: contracts },
    sources: { [`project/${PATH}`]: { id: 0 } },
  };
  write("hardhat3/artifacts/build-info/1.json", {
    _format: "hh3-sol-build-info-1",
    input: project,
  });
  write("hardhat3/artifacts/build-info/1.output.json", { output: built });
  write("hardhat3/artifacts/other.json", "not JSON");
});

for (const artifacts of ["foundry/out", "hardhat2/artifacts", "hardhat3/artifacts"]) {
  test(`calls, events and reverts are logged by the names of ${artifacts}`, async () => {
    const seen: string[] = [];
    const passedOver: string[] = [];
    const log: Logger = {
      ...SILENT_LOGGER,
      info: (message, data) => void (message === "call" && seen.push(String(data!["text"]))),
      warn: (_message, data) => void passedOver.push(basename(String(data?.["file"]))),
      enabled: () => true,
      child: () => log,
    };
    const node = await createNode({
      log,
      settings: { artifacts: join(folder, artifacts) },
    });
    try {
      await exercise(node, seen);
      assert.deepEqual(passedOver, artifacts === "hardhat3/artifacts" ? ["other.json"] : []);
    } finally {
      await node.stop();
    }
  });
}

test("the log for people has a transaction with its calls, and where a call reverted, in one piece each", async () => {
  const pieces: string[] = [];
  const write = (text: string) => void pieces.push(text);
  const activity = new ActivityLog({
    write,
    paint: createPaint(false),
    // No details come too late on a clock that stands still, however busy the machine is.
    timers: { ...fatalTimers, now: () => 0 },
    isEnabled: () => true,
  });
  const log = Object.assign(createLogger({ level: "info", format: "pretty", write }), { activity });
  const settings = { artifacts: join(folder, "foundry/out") };
  const limits = { details: { transactionMs: HANG_MS, callMs: HANG_MS } };
  const node = await startTestNode({ dev: true, log, settings, limits });
  const { abi, evm } = contracts["Store"]!;
  const store = getContractAddress({ from: ALICE, nonce: 0n });
  const send = (request: object) =>
    overHttp(node.url, "eth_sendTransaction", [{ from: ALICE, gas: "0x100000", ...request }]);
  const data = (value: bigint) => encodeFunctionData({ abi, functionName: "store", args: [value, "a note"] } as never);
  const written = async (pattern: RegExp) => {
    const piece = await until(() => pieces.find((each) => pattern.test(each)), `a piece like ${pattern}`);
    return piece!.trimEnd().split("\n");
  };
  try {
    const args = [1n];
    await send({ data: encodeDeployData({ abi: abi as never, bytecode: `0x${evm.bytecode.object}`, args } as never) });
    const created = await written(/^block 1 /);
    assert.equal(created[3], `    creates  ${store} (Store)`);
    assert.match(created.at(-1)!, /^ {4}calls {4}new Store\(first: 1\) → 0x\w{40} \[\d+ gas\]$/);

    const hash = (await send({ to: store, data: data(2000n) })).result as string;
    const failed = await written(/^block 2 /);
    const line = SOURCE.split("\n").findIndex((each) => each.includes("revert TooLarge")) + 1;
    assert.deepEqual(failed.slice(1, 2), [`  transaction ${hash}`]);
    assert.deepEqual(failed.slice(-3, -1), [
      "    status   failed: execution reverted: TooLarge(value: 2000, max: 1000)",
      `    at       ${PATH}:${line}`,
    ]);
    assert.match(failed.at(-1)!, /^ {4}calls {4}Store\.store\(next: 2000, note: "a note"\) ✗ TooLarge\(/);

    await overHttp(node.url, "eth_call", [{ from: ALICE, to: store, data: data(3000n) }, "latest"]);
    const call = await written(/^eth_call /m);
    const at = call.findIndex((each) => each.startsWith("eth_call "));
    const reason = 'Store.store(next: 3000, note: "a note") ✗ execution reverted: TooLarge(value: 3000, max: 1000)';
    assert.ok(call[at]!.startsWith(`eth_call ${reason} `), call[at]);
    assert.equal(call[at + 1], `    reverted at ${PATH}:${line}`);
    const answer = await overHttp(node.url, "eth_call", [{ from: ALICE, to: store, data: data(3000n) }, "latest"]);
    assert.equal(answer.error?.message, "execution reverted");
  } finally {
    await node.stop();
  }
});

async function exercise(node: EvmintNode, seen: string[]): Promise<void> {
  const from = node.accounts[0]!.address;
  /** The lines of a transaction, which come some turns after its block. */
  const linesOf = async (request: { readonly to?: Hex; readonly data: Hex }, count: number) => {
    seen.length = 0;
    const hash = await node.rpc.eth_sendTransaction({ from, gas: 1_000_000n, ...request });
    const receipt = await node.rpc.eth_getTransactionReceipt(hash);
    await until(() => seen.length >= count, `${count} lines`);
    return { address: receipt!.contractAddress!, lines: seen.map(withoutGas) };
  };
  const deploy = (count: number, name: string, args: readonly unknown[]) => {
    const { abi, evm } = contracts[name]!;
    const bytecode = `0x${evm.bytecode.object}` as Hex;
    return linesOf({ data: encodeDeployData({ abi: abi as never, bytecode, args } as never) }, count);
  };
  const call = (count: number, to: Hex, name: string, functionName: string, args: readonly unknown[]) => {
    const { abi } = contracts[name]!;
    return linesOf({ to, data: encodeFunctionData({ abi, functionName, args } as never) }, count);
  };
  const store = await deploy(1, "Store", [5n]);
  assert.equal(store.lines.length, 1);
  assert.match(store.lines[0]!, /^new Store\(first: 5\) → 0x[0-9a-fA-F]{40}$/);
  const caller = await deploy(1, "Caller", []);

  const stored = await call(2, store.address, "Store", "store", [7n, "a note"]);
  assert.equal(stored.lines[0], 'Store.store(next: 7, note: "a note") → 7');
  assert.match(stored.lines[1]!, /^ {2}emit Stored\(by: 0xf39F\S+, value: 7, note: "a note"\)$/);

  const forwarded = await call(3, caller.address, "Caller", "forward", [store.address, 8n]);
  assert.match(forwarded.lines[0]!, /^Caller\.forward\(store: 0x\S+, next: 8\) → 8$/);
  assert.equal(forwarded.lines[1], '  Store.store(next: 8, note: "from caller") → 8');
  assert.match(forwarded.lines[2]!, /^ {4}emit Stored\(/);

  const listed = await call(1, store.address, "Store", "points", [
    [
      { x: 1n, label: "one" },
      { x: 2n, label: "two" },
    ],
    "0x01020304",
  ]);
  assert.equal(
    listed.lines[0],
    'Store.points(list: [(x: 1, label: "one"), (x: 2, label: "two")], tag: 0x01020304) → 2, 0x01020304',
  );

  const line = (text: string) => SOURCE.split("\n").findIndex((each) => each.includes(text)) + 1;
  const rejected = await call(3, caller.address, "Caller", "forward", [store.address, 2000n]);
  assert.match(rejected.lines[1]!, /^ {2}Store\.store\(.*\) ✗ TooLarge\(value: 2000, max: 1000\)$/);
  assert.equal(rejected.lines.at(-1), `reverted at ${PATH}:${line("revert TooLarge")}`);

  const unlucky = await deploy(2, "Store", [13n]);
  assert.match(unlucky.lines[0]!, /^new Store\(first: 13\) ✗ revert\("unlucky"\)$/);
  assert.equal(unlucky.lines.at(-1), `reverted at ${PATH}:${line('"unlucky"')}`);
}

/** Each line of a call ends with its gas. */
function withoutGas(line: string): string {
  if (/^ *(?:emit|reverted)/.test(line)) return line;
  assert.match(line, / \[\d+ gas\]$/);
  return line.replace(/ \[\d+ gas\]$/, "");
}
