/** Each precompile of Osaka on good input, ours beside @ethereumjs/evm's, and the gas a second that ours stands for. */
import { Common, Hardfork, Mainnet } from "@ethereumjs/common";
import { createEVM, type EVM } from "@ethereumjs/evm";
import { blobVersionedHash } from "../../src/crypto/kzg/blob.ts";
import type { Precompile } from "../../src/evm/evm.ts";
import { precompilesAt } from "../../src/evm/precompiles/index.ts";
import { precompileInputs } from "../../src/evm/precompiles/testing/inputs.ts";
import { bigintToFixedBytes, concatBytes } from "../../src/primitives/bytes.ts";
import { hashToBytes } from "../../src/primitives/hash.ts";
import { hexToBytes } from "../../src/primitives/hex.ts";
import fc from "../../test/support/fast-check.ts";
import { printTable, writeResult } from "../support/report.ts";

/** CPU time one contender gets for one input. */
const BUDGET_MS = 150;
const GAS_LIMIT = 1_000_000_000n;
const SAMPLE = { seed: 7, numRuns: 40 };

type Case = { readonly name: string; readonly label: string; readonly input: Uint8Array };

export async function run(): Promise<void> {
  const precompiles = [...precompilesAt("osaka")];
  const common = new Common({ chain: Mainnet, hardfork: Hardfork.Osaka });
  const library = await createEVM({ common });
  const rows = [];
  for (const { name, label, input } of cases(precompiles.map(([, precompile]) => precompile))) {
    const [address, precompile] = precompiles.find(([, each]) => each.name === name)!;
    const gas = precompile.gas(input);
    const ours = await perSecond(() => precompile.run(input));
    // The library has point evaluation only with a KZG implementation from outside.
    const oracle = name === "KZG_POINT_EVALUATION" ? undefined : oracleOf(library, address, input);
    const theirs = oracle && (await perSecond(oracle));
    rows.push({
      precompile: label,
      "ours /s": Math.round(ours),
      "ethereumjs /s": theirs ? Math.round(theirs) : "-",
      ratio: theirs ? (ours / theirs).toFixed(1) : "-",
      "Mgas/s": ((ours * Number(gas)) / 1e6).toFixed(1),
    });
  }
  printTable(rows);
  writeResult("micro-precompiles", rows);
}

function* cases(precompiles: readonly Precompile[]): Generator<Case> {
  for (const { name, gas, run } of precompiles) {
    const arbitrary = precompileInputs[name];
    if (!arbitrary) continue;
    const works = (input: Uint8Array) => {
      const output = gas(input) < GAS_LIMIT && run(input);
      // Points at infinity would make it too easy.
      const easy = input.length === 0 || Buffer.from(input).includes(Buffer.alloc(64));
      return output instanceof Uint8Array && output.length > 0 && !easy;
    };
    const input = fc.sample(arbitrary, SAMPLE).find(works);
    if (input) yield { name, label: `${name} ${input.length} B`, input };
  }
  yield { name: "KZG_POINT_EVALUATION", label: "KZG_POINT_EVALUATION 192 B", input: opening() };
  for (const length of [32, 256, 1024]) {
    yield { name: "MODEXP", label: `MODEXP ${length} B each`, input: modexp(length, length) };
  }
  yield { name: "MODEXP", label: "MODEXP 1024 B, short exponent", input: modexp(1024, 32) };
  yield { name: "BLAKE2F", label: "BLAKE2F 1M rounds", input: blake2f(1_000_000) };
}

/** All bits set: as many multiplications as the length allows. */
function modexp(length: number, exponentLength: number): Uint8Array {
  const lengths = [length, exponentLength, length];
  const modulus = new Uint8Array(length).fill(0xff);
  modulus[length - 1] = 0xfb;
  return concatBytes(
    ...lengths.map((each) => bigintToFixedBytes(BigInt(each), 32)),
    new Uint8Array(length).fill(0xfe),
    new Uint8Array(exponentLength).fill(0xff),
    modulus,
  );
}

function blake2f(rounds: number): Uint8Array {
  return concatBytes(bigintToFixedBytes(BigInt(rounds), 4), new Uint8Array(209));
}

/** An opening of the polynomial X: its commitment is [τ], its value at z is z, its quotient is 1 and so the proof G₁. */
function opening(): Uint8Array {
  const tau = hexToBytes(
    "0xad3eb50121139aa34db1d545093ac9374ab7bca2c0f3bf28e27c8dcd8fc7cb42d25926fc0c97b336e9f0fb35e5a04c81",
  );
  const generator = hexToBytes(
    "0x97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac586c55e83ff97a1aeffb3af00adb22c6bb",
  );
  const z = bigintToFixedBytes(2n ** 250n + 12_345n, 32);
  return concatBytes(hashToBytes(blobVersionedHash(tau)), z, z, tau, generator);
}

function oracleOf(library: EVM, address: string, data: Uint8Array): () => unknown {
  const oracle = library.precompiles.get(address.slice(2))!;
  return () => oracle({ data, gasLimit: GAS_LIMIT, common: library.common, _EVM: library });
}

/** Calls a second of CPU time, once it is warm. */
async function perSecond(call: () => unknown): Promise<number> {
  await callsWithin(BUDGET_MS / 3, call);
  return callsWithin(BUDGET_MS, call);
}

async function callsWithin(budgetMs: number, call: () => unknown): Promise<number> {
  const start = process.cpuUsage();
  for (let calls = 1, batch = 1; ; calls += batch) {
    for (let i = 0; i < batch; i++) await call();
    const { user, system } = process.cpuUsage(start);
    const spentMs = (user + system) / 1000;
    if (spentMs >= budgetMs) return (calls / spentMs) * 1000;
    // Looking at the clock costs a microsecond.
    if (spentMs < budgetMs / 20) batch *= 2;
  }
}
