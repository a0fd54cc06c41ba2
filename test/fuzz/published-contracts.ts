import { readFileSync } from "node:fs";
import { type Abi, type AbiFunction, encodeDeployData, encodeFunctionData } from "viem";
import { createAddress } from "../../src/evm/create-address.ts";
import type { Evm, ExecutionResult } from "../../src/evm/evm.ts";
import { testBlock, testMessage } from "../../src/evm/testing/environment.ts";
import type { Address } from "../../src/primitives/address.ts";
import { bytesToHex, hexToBytes } from "../../src/primitives/hex.ts";
import { createMemoryState } from "../../src/state/memory-state.ts";
import { createWorldState } from "../../src/state/world-state.ts";
import { createRandom, type Random } from "./random.ts";

const CALLER = `0x${"ca11".repeat(10)}` as Address;
const OTHER = `0x${"0b".repeat(20)}` as Address;

export type PublishedContract = {
  readonly name: string;
  readonly abi: Abi;
  readonly bytecode: `0x${string}`;
  readonly args: readonly unknown[];
};

type Artifact = {
  readonly abi: Abi;
  readonly bytecode?: string;
  readonly evm?: { readonly bytecode: { readonly object: string } };
};

/** Contracts that much value depends on, as their authors published them. */
export function publishedContracts(): PublishedContract[] {
  return [
    artifact("ERC20", "@uniswap/v2-core/build/ERC20.json", [10n ** 24n]),
    artifact("UniswapV2Factory", "@uniswap/v2-core/build/UniswapV2Factory.json", [CALLER]),
    artifact("UniswapV2Pair", "@uniswap/v2-core/build/UniswapV2Pair.json", []),
    artifact(
      "UniswapV3Factory",
      "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json",
      [],
    ),
    artifact(
      "Safe",
      "@safe-global/safe-smart-account/build/artifacts/contracts/Safe.sol/Safe.json",
      [],
    ),
    artifact("PublicResolver", "@ensdomains/resolver/build/contracts/PublicResolver.json", [OTHER]),
  ];
}

function artifact(name: string, path: string, args: readonly unknown[]): PublishedContract {
  const file = new URL(`../../node_modules/${path}`, import.meta.url);
  const { abi, bytecode, evm } = JSON.parse(readFileSync(file, "utf8")) as Artifact;
  const code = (bytecode ?? evm!.bytecode.object).replace(/^0x/, "");
  return { name, abi, bytecode: `0x${code}`, args };
}

/**
 * Deploys `contract` on `evm` and calls each of its functions `rounds` times with arguments drawn from `seed`, one call after the other
 * on the same state: what each led to, as text.
 */
export function callEveryFunction(
  evm: Evm,
  { abi, bytecode, args }: PublishedContract,
  seed: number,
  rounds: number,
): string[] {
  const random = createRandom(seed);
  const state = createWorldState(createMemoryState());
  const lines: string[] = [];
  const note = (
    name: string,
    { outcome, halt, gasLeft, gasRefund, returnData, logs }: ExecutionResult,
  ) =>
    lines.push(
      JSON.stringify([
        name,
        outcome,
        halt,
        `${gasLeft} ${gasRefund}`,
        bytesToHex(returnData),
        logs.map(({ address, topics, data }) => [address, topics, bytesToHex(data)]),
      ]),
    );
  const run = (to: Address | null, data: Uint8Array) =>
    evm.execute(
      testMessage({
        ...{ to, data, caller: CALLER, origin: CALLER, gas: 20_000_000n },
        ...(to === null ? { createAddress: contractAddress } : {}),
      }),
      testBlock({ timestamp: 1_700_000_000, chainId: 1n }),
      state,
    );
  const contractAddress = createAddress(CALLER, 0n);
  const initCode = hexToBytes(encodeDeployData({ abi, bytecode, args }));
  note("constructor", run(null, initCode));
  const functions = abi.filter((item): item is AbiFunction => item.type === "function");
  for (let round = 0; round < rounds; round++) {
    for (const item of functions) {
      const data = encodeFunctionData({
        abi: [item],
        functionName: item.name,
        args: item.inputs.map(({ type }) => argumentOf(random, type)),
      });
      note(item.name, run(contractAddress, hexToBytes(data)));
    }
  }
  const { accounts } = state.changes();
  lines.push(
    ...accounts.map(({ address, account, storage }) =>
      JSON.stringify([
        address,
        String(account?.nonce),
        account?.codeHash,
        ...[...storage].map(String).sort(),
      ]),
    ),
  );
  return lines;
}

function argumentOf(random: Random, type: string): unknown {
  const array = /^(.*)\[(\d*)\]$/.exec(type);
  if (array) {
    const length = array[2] === "" ? random.int(4) : Number(array[2]);
    return Array.from({ length }, () => argumentOf(random, array[1]!));
  }
  if (type === "address")
    return random.pick([CALLER, OTHER, createAddress(CALLER, 0n), createAddress(CALLER, 1n)]);
  if (type === "bool") return random.chance(0.5);
  if (type === "string") return "text".repeat(random.int(20));
  const bytes = /^bytes(\d*)$/.exec(type);
  if (bytes) return bytesToHex(random.bytes(bytes[1] === "" ? random.int(100) : Number(bytes[1])));
  const bits = Number(/^u?int(\d*)$/.exec(type)?.[1] || 256);
  const isSigned = type.startsWith("int");
  const value = BigInt(bytesToHex(random.bytes(32))) >> BigInt(random.int(256));
  return isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
}
