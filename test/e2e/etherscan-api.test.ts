import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { encodeDeployData, encodeFunctionData, type Hex } from "viem";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { overHttp } from "../support/clients.ts";
import { contract } from "../support/contracts.ts";
import { ONE_PROCESS, startTestNode, type TestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";

const { abi, bytecode, runtime } = contract("Token");
const SOURCE = readFileSync(new URL("../contracts/Token.sol", import.meta.url), "utf8");
/** As `scripts/compile-contracts.ts` compiles it. */
const SETTINGS = { optimizer: { enabled: true, runs: 200 }, metadata: { appendCBOR: false }, evmVersion: "cancun" };
/** Without the commit, any build of the version will do. */
const COMPILER = `v${(createRequire(import.meta.url)("solc/package.json") as { version: string }).version}`;
const SUPPLY = 10n ** 24n;
const ARGUMENTS = SUPPLY.toString(16).padStart(64, "0");

const home = mkdtempSync(join(tmpdir(), "evmint-etherscan-"));
const artifacts = mkdtempSync(join(tmpdir(), "evmint-artifacts-"));
let node: TestNode;
let token: Hex;
let creation: Hex;

const start = () => startTestNode({ dev: true, home, settings: { ...ONE_PROCESS, artifacts: artifacts } });

async function call<T>(method: string, ...params: unknown[]): Promise<T> {
  const { result, error } = await overHttp(node.url, method, params);
  assert.equal(error, undefined);
  return result as T;
}

before(async () => {
  const artifact = { contractName: "Token", abi, bytecode, deployedBytecode: runtime };
  writeFileSync(join(artifacts, "Token.json"), JSON.stringify(artifact));
  node = await start();
  const data = encodeDeployData({ abi, bytecode, args: [SUPPLY] });
  creation = await call("eth_sendTransaction", { from: DEV_ADDRESSES[0], gas: "0x200000", data });
  token = (await call<{ contractAddress: Hex }>("eth_getTransactionReceipt", creation)).contractAddress;
  const transfer = encodeFunctionData({ abi, functionName: "transfer", args: [DEV_ADDRESSES[1], 5n] });
  await call("eth_sendTransaction", { from: DEV_ADDRESSES[0], to: token, data: transfer });
});
after(async () => {
  await node?.stop();
  rmSync(home, { recursive: true });
  rmSync(artifacts, { recursive: true });
});

type Answer = { readonly status: string; readonly message: string; readonly result: never };

/** @param form sent by POST where there is one */
async function api(query: Readonly<Record<string, string>>, form?: Readonly<Record<string, string>>): Promise<Answer> {
  const url = `${node.url}/api?${new URLSearchParams({ chainid: "31337", ...query })}`;
  const response = await fetch(url, form && { method: "POST", body: new URLSearchParams(form) });
  assert.equal(response.status, 200);
  return (await response.json()) as Answer;
}

const request = (changes: Readonly<Record<string, string>> = {}) => ({
  module: "contract",
  action: "verifysourcecode",
  contractaddress: token,
  sourceCode: JSON.stringify({
    language: "Solidity",
    sources: { "Token.sol": { content: SOURCE } },
    settings: SETTINGS,
  }),
  codeformat: "solidity-standard-json-input",
  contractname: "Token.sol:Token",
  compilerversion: COMPILER,
  constructorArguements: ARGUMENTS,
  ...changes,
});

/** The outcome of a verification, once it has one. */
async function outcomeOf(guid: string): Promise<Answer> {
  let answer: Answer | undefined;
  await until(async () => {
    answer = await api({ module: "contract", action: "checkverifystatus", guid });
    return String(answer.result) !== "Pending in queue";
  }, `the outcome of ${guid}`);
  return answer!;
}

const known = () => call<(object | null)[]>("eth_getKnownContracts", [token, DEV_ADDRESSES[0]]);

test("a contract of --artifacts has its name, and is not verified", async () => {
  assert.deepEqual(await known(), [
    {
      address: token,
      name: "Token",
      origin: "artifacts",
      match: "exact",
      abi: JSON.parse(JSON.stringify(abi)),
      sources: {},
    },
    null,
  ]);
  assert.deepEqual(await call("eth_findContracts", "tok"), [{ address: token, name: "Token", origin: "artifacts" }]);
  assert.deepEqual(await call("eth_findContracts", "oken"), []);
  const { status, result } = await api({ module: "contract", action: "getabi", address: token });
  assert.deepEqual([status, result], ["0", "Contract source code not verified"]);
});

const REJECTED: Readonly<Record<string, readonly [changes: Record<string, string>, reason: RegExp]>> = {
  "an address without code": [{ contractaddress: `0x${"12".repeat(20)}` }, /^Unable to locate ContractCode at 0x1212/],
  "another compiler": [{ compilerversion: "v0.8.1+commit.df193b15" }, /npm package solc@0\.8\.1 /],
  "a file that is not there": [{ contractname: "Other.sol:Token" }, /no source Other\.sol/],
  "another format": [{ codeformat: "vyper-json" }, /vyper-json/],
};

for (const [what, [changes, reason]] of Object.entries(REJECTED)) {
  test(`verifysourcecode rejects ${what} at once, and says why`, async () => {
    const { status, message, result } = await api({}, request(changes));
    assert.deepEqual([status, message], ["0", "NOTOK"]);
    assert.match(result, reason);
  });
}

test("arguments that are not those of the creation fail, after the sources were compiled", async () => {
  const { result: guid } = await api({}, request({ constructorArguements: "00" }));
  const { status, result } = await outcomeOf(guid);
  assert.equal(status, "0");
  assert.match(result, /^Fail - Unable to verify.*arguments/);
});

test("sources are verified as forge asks for it, and stay verified over a restart", async () => {
  const { status, result: guid } = await api({}, request());
  assert.equal(status, "1");
  assert.deepEqual(await outcomeOf(guid), { status: "1", message: "OK", result: "Pass - Verified" });
  await node.stop();
  node = await start();
  const [contract] = await call<Record<string, unknown>[]>("eth_getKnownContracts", [token], true);
  assert.equal(contract!["origin"], "verified");
  assert.deepEqual(contract!["sources"], { "Token.sol": SOURCE });
  const { result } = await api({ module: "contract", action: "getsourcecode", address: token });
  const [shown] = result as Record<string, string>[];
  assert.deepEqual(
    [shown!["ContractName"], shown!["ConstructorArguments"], shown!["Runs"]],
    ["Token", ARGUMENTS, "200"],
  );
  assert.match(shown!["CompilerVersion"]!, new RegExp(`^${COMPILER}\\+commit\\.[0-9a-f]{8}$`));
  assert.equal(JSON.parse(shown!["SourceCode"]!.slice(1, -1)).sources["Token.sol"].content, SOURCE);
  const again = await api({}, request());
  assert.deepEqual([again.status, again.result], ["0", "Contract source code already verified"]);
});

test("eth_compileSolidity compiles with the same compiler, and there is no other", async () => {
  assert.deepEqual(await call("eth_getCompilers"), ["solidity"]);
  const source = "contract Seven { function times(uint a) public pure returns (uint) { return a * 7; } }";
  type Compiled = {
    readonly code: Hex;
    readonly info: { readonly abiDefinition: readonly { readonly name: string }[] };
  };
  const { Seven } = await call<{ readonly Seven: Compiled }>("eth_compileSolidity", source);
  assert.match(Seven.code, /^0x60/);
  assert.equal(Seven.info.abiDefinition[0]!.name, "times");
  const { error } = await overHttp(node.url, "eth_compileLLL", ["(seq)"]);
  assert.equal(error?.message, "compiler not available: lll");
});

test("getcontractcreation, balance and txlist answer as at Etherscan", async () => {
  const { result: creations } = await api({
    module: "contract",
    action: "getcontractcreation",
    contractaddresses: `${token},${DEV_ADDRESSES[0]}`,
  });
  const [first, ...others] = creations as Record<string, string>[];
  assert.deepEqual([first!["txHash"], first!["contractAddress"], others.length], [creation, token, 0]);
  const { result: wei } = await api({ module: "account", action: "balance", address: token });
  assert.equal(wei, "0");
  const list = { module: "account", action: "txlist", address: token };
  const hashes = async (more: object) =>
    ((await api({ ...list, ...more })).result as { hash: Hex }[]).map(({ hash }) => hash);
  const all = await hashes({});
  assert.equal(all.length, 2);
  assert.equal(all[0], creation);
  assert.deepEqual(await hashes({ sort: "desc" }), all.toReversed());
  assert.deepEqual(await hashes({ page: "2", offset: "1" }), [all[1]]);
  assert.deepEqual(await hashes({ startblock: "2" }), [all[1]]);
});

test("/api rejects other actions, other types and what is too long", async () => {
  for (const query of [{}, { module: "contract" }, { module: "stats", action: "ethprice" }]) {
    assert.equal((await api(query)).status, "0");
  }
  const json = await fetch(`${node.url}/api`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: "{}",
  });
  assert.equal(((await json.json()) as Answer).status, "0");
  const large = await fetch(`${node.url}/api`, {
    method: "POST",
    body: new URLSearchParams({ a: "x".repeat(13 << 20) }),
  });
  assert.match(((await large.json()) as Answer).result, /more than/);
  const foreign = await fetch(`${node.url}/api`, { headers: { origin: "http://evil.example" } });
  assert.equal(foreign.status, 403);
});

test("/api answers over RPC processes, and what their listener keeps closed stays closed", async () => {
  const own = await startTestNode({
    dev: true,
    settings: { "json-rpc.processes": "1", "json-rpc.api": "eth" },
  });
  try {
    const ask = async (query: Record<string, string>) =>
      (await (await fetch(`${own.url}/api?${new URLSearchParams(query)}`)).json()) as Answer;
    const address = DEV_ADDRESSES[0]!;
    assert.deepEqual(await ask({ module: "contract", action: "checkverifystatus", guid: "x" }), {
      status: "0",
      message: "NOTOK",
      result: "Unknown UID",
    });
    const form = new URLSearchParams(request({ contractaddress: address }));
    const answer = (await (await fetch(`${own.url}/api`, { method: "POST", body: form })).json()) as Answer;
    assert.match(answer.result, /^Unable to locate ContractCode/);
    // `ots` is closed.
    assert.match((await ask({ module: "account", action: "txlist", address })).result, /not enabled/);
  } finally {
    await own.stop();
  }
});

test("without explorer.enable there is no /api, and a closed namespace stays closed there", async () => {
  const off = await startTestNode({ dev: true, settings: { "explorer.enable": "false" } });
  assert.equal((await fetch(`${off.url}/api?module=account`)).status, 404);
  await off.stop();
  const closed = await startTestNode({ dev: true, settings: { "json-rpc.api": "net" } });
  const address = `0x${"00".repeat(20)}`;
  const response = await fetch(`${closed.url}/api?module=account&action=balance&address=${address}`);
  const { status, result } = (await response.json()) as Answer;
  assert.equal(status, "0");
  assert.match(result, /eth_getBalance is not enabled/);
  await closed.stop();
});
