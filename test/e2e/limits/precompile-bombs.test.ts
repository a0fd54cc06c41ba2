import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { bls12_381 } from "@noble/curves/bls12-381.js";
import { blobVersionedHash } from "../../../src/base/crypto/kzg/blob.ts";
import { DEFAULT_CHAIN_ID, renderGenesis } from "../../../src/node/config/genesis/genesis.ts";
import { callHttp } from "../../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../../support/test-node.ts";

const TARGET = `0x${"aa".repeat(20)}`;
const TIMEOUT_MS = 20;

const word = (value: bigint | number) => value.toString(16).padStart(64, "0");
const element = (value: bigint) => value.toString(16).padStart(128, "0");
const { x: x1, y: y1 } = bls12_381.G1.Point.BASE.toAffine();
const { x: x2, y: y2 } = bls12_381.G2.Point.BASE.toAffine();
const G1 = element(x1) + element(y1);
const G2 = [x2.c0, x2.c1, y2.c0, y2.c1].map(element).join("");

/** An opening of the polynomial X: its commitment is [τ] of the ceremony, its value at z is z, its proof the generator. */
function opening(): string {
  const tau = "ad3eb50121139aa34db1d545093ac9374ab7bca2c0f3bf28e27c8dcd8fc7cb42d25926fc0c97b336e9f0fb35e5a04c81";
  const hash = blobVersionedHash(new Uint8Array(Buffer.from(tau, "hex")));
  return hash.slice(2) + word(12_345) + word(12_345) + tau + bls12_381.G1.Point.BASE.toHex(true);
}

/** All succeed: a failing precompile takes the gas of the call, and few calls end the loop. */
const BOMBS: Readonly<Record<string, readonly [address: string, input: string]>> = {
  "G2 multi-scalar multiplication": ["0e", (G2 + word(2n ** 254n + 1n)).repeat(20)],
  "BLS12-381 pairing": ["0f", (G1 + G2).repeat(10)],
  "KZG point evaluation": ["0a", opening()],
  MODEXP: ["05", `${word(32).repeat(3)}${"ff".repeat(96)}`],
};

/**
 * A minute of the cheapest of these loops on the fastest machine and some ten thousand times the time limit. It takes a chain before Osaka, which bounds the gas of a transaction
 * (EIP-7825), with a gas limit of blocks that no chain has.
 */
const GAS = "0x4000000000";
const call = { to: TARGET, gas: GAS };
/** The default sender, which eth_createAccessList asks for the cost of its gas. */
const SENDER = `0x${"00".repeat(20)}`;
type Overrides = Readonly<Record<string, Readonly<Record<string, string>>>>;
/** Each method that executes code for any caller, with the parameters that run `input` against the overridden contract. */
const METHODS: Readonly<Record<string, (input: string, overrides: Overrides) => unknown[]>> = {
  eth_call: (input, overrides) => [{ ...call, input }, "latest", overrides],
  eth_estimateGas: (input, overrides) => [{ to: TARGET, input }, "latest", overrides],
  eth_createAccessList: (input, overrides) => [{ ...call, input }, "latest", overrides],
  eth_simulateV1: (input, stateOverrides) => [
    { blockStateCalls: [{ stateOverrides, calls: [{ to: TARGET, input }] }] },
    "latest",
  ],
  eth_callMany: (input, overrides) => [
    [{ transactions: [{ ...call, input }] }],
    { blockNumber: "latest", transactionIndex: -1 },
    overrides,
  ],
  debug_traceCall: (input, stateOverrides) => [
    { ...call, input },
    "latest",
    { stateOverrides, tracer: "callTracer", timeout: `${TIMEOUT_MS}ms` },
  ],
};

/** Calls `address` with the calldata for ever, ignoring failures. */
const forever = (address: string) => `0x365f5f375b5f5f365f60${address}5afa50600456`;

const home = mkdtempSync(join(tmpdir(), "evmint-bombs-"));
let node: TestNode;
before(async () => {
  mkdirSync(join(home, "config"));
  writeFileSync(join(home, "config/genesis.json"), genesisBeforeOsaka());
  node = await startTestNode({
    home,
    settings: { "json-rpc.gas-cap": "0", "json-rpc.evm-timeout": `${TIMEOUT_MS}ms` },
  });
  // The first execution of each emits and compiles its arithmetic, some 0.2 s of CPU time in all, which is not what is measured here.
  for (const [address, input] of Object.values(BOMBS)) {
    const to = `0x${address.padStart(40, "0")}`;
    await callHttp(node.url, "eth_call", [{ to, input: `0x${input}` }, "latest"]);
  }
});
after(async () => {
  await node.stop();
  rmSync(home, { recursive: true, force: true });
});

function genesisBeforeOsaka(): string {
  const genesis = JSON.parse(renderGenesis({ chainId: DEFAULT_CHAIN_ID, timestamp: 1_700_000_000, alloc: new Map() }));
  for (const fork of ["osaka", "bpo1", "bpo2", "bpo3", "bpo4", "bpo5"]) {
    delete genesis.config[`${fork}Time`];
    delete genesis.config.blobSchedule?.[fork];
  }
  return JSON.stringify({ ...genesis, gasLimit: GAS });
}

for (const [method, params] of Object.entries(METHODS)) {
  // `bench/worst-case/precompiles.ts` measures by how much it is exceeded.
  test(`${method} ends a loop over any precompile at its time limit`, async () => {
    for (const [name, [address, input]] of Object.entries(BOMBS)) {
      const overrides = {
        [TARGET]: { code: forever(address) },
        [SENDER]: { balance: `0x${"f".repeat(28)}` },
      };
      const answer = await callHttp(node.url, method, params(`0x${input}`, overrides));
      // geth's codes and texts: eth_simulateV1 reports internal errors of a call as -32603.
      assert.equal(answer.error?.code, method === "eth_simulateV1" ? -32603 : -32000, name);
      assert.match(answer.error?.message ?? "", /execution (aborted|timeout)/, name);
    }
  });
}
