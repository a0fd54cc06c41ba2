import { readFileSync } from "node:fs";
import { type Abi, type AbiFunction, type AbiParameter, encodeDeployData, encodeFunctionData } from "viem";
import type { Address } from "../../src/base/primitives/address.ts";
import { bytesToHex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { createAddress } from "../../src/evm/machine/contract-creation.ts";
import type { Evm, ExecutionResult } from "../../src/evm/machine/evm.ts";
import { createWorldState } from "../../src/evm/state/world-state.ts";
import { testBlock, testMessage } from "../support/evm/machine/environment.ts";
import { createMemoryState } from "../support/evm/state/memory-state.ts";
import { createRandom, type Random } from "./random.ts";

const CALLER = `0x${"ca11".repeat(10)}` as Address;
const OTHER = `0x${"0b".repeat(20)}` as Address;
const CONTRACT = createAddress(CALLER, 0n);
const DEPENDENCY = createAddress(CALLER, 1n);
const ZERO = `0x${"00".repeat(20)}` as Address;

export type PublishedContract = {
  readonly name: string;
  readonly abi: Abi;
  readonly bytecode: `0x${string}`;
  readonly args: readonly unknown[];
  /** Deployed before it, at `DEPENDENCY` */
  readonly dependency?: PublishedContract;
  /** A function of which at least one call must succeed, besides the constructor. */
  readonly succeeds?: string;
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
    artifact("UniswapV3Factory", "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json", []),
    artifact("Safe", "@safe-global/safe-smart-account/build/artifacts/contracts/Safe.sol/Safe.json", []),
    artifact("PublicResolver", "@ensdomains/resolver/build/contracts/PublicResolver.json", [OTHER]),
    {
      ...artifact("Seaport", "../test/contracts/seaport/Seaport.json", [DEPENDENCY]),
      dependency: artifact("", "../test/contracts/seaport/ConduitController.json", []),
      succeeds: "fulfillOrder",
    },
  ];
}

/** @param path in `node_modules` */
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
  { abi, bytecode, args, dependency }: PublishedContract,
  seed: number,
  rounds: number,
): string[] {
  const random = createRandom(seed);
  const state = createWorldState(createMemoryState(new Map([[CALLER, { balance: 10n ** 18n }]])));
  const lines: string[] = [];
  const note = (name: string, { outcome, halt, gasLeft, gasRefund, returnData, logs }: ExecutionResult) =>
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
  const run = (to: Address | null, data: Uint8Array, value = 0n, createAddress = CONTRACT) =>
    evm.execute(
      testMessage({
        to,
        data,
        value,
        caller: CALLER,
        origin: CALLER,
        gas: 20_000_000n,
        ...(to === null ? { createAddress } : {}),
      }),
      testBlock({ timestamp: 1_700_000_000, chainId: 1n }),
      state,
    );
  const deploy = (contract: Pick<PublishedContract, "abi" | "bytecode" | "args">, at: Address) =>
    note("constructor", run(null, hexToBytes(encodeDeployData(contract)), 0n, at));
  if (dependency) deploy(dependency, DEPENDENCY);
  deploy({ abi, bytecode, args }, CONTRACT);
  const functions = abi.filter((item): item is AbiFunction => item.type === "function");
  for (let round = 0; round < rounds; round++) {
    for (const item of functions) {
      const data = encodeFunctionData({
        abi: [item],
        functionName: item.name,
        args: item.inputs.map((input) => argumentOf(random, input)),
      });
      note(item.name, run(CONTRACT, hexToBytes(data), item.stateMutability === "payable" ? 10n : 0n));
    }
  }
  const { accounts } = state.changes();
  lines.push(
    ...accounts.map(({ address, account, storage }) =>
      JSON.stringify([address, String(account?.nonce), account?.codeHash, ...[...storage].map(String).sort()]),
    ),
  );
  return lines;
}

/** What parameters of these names mostly have, so that calls get beyond the first checks of an order. */
const USUAL: Readonly<Record<string, unknown>> = {
  offerer: CALLER,
  zone: ZERO,
  recipient: CALLER,
  startTime: 0n,
  endTime: 2n ** 40n,
  startAmount: 1n,
  endAmount: 1n,
  itemType: 0,
  orderType: 0,
  token: ZERO,
  identifierOrCriteria: 0n,
  conduitKey: bytesToHex(new Uint8Array(32)),
  fulfillerConduitKey: bytesToHex(new Uint8Array(32)),
  counter: 0n,
  numerator: 1n,
  denominator: 1n,
  totalOriginalConsiderationItems: 1n,
  orderIndex: 0n,
  itemIndex: 0n,
};
/** And how long arrays of these names mostly are. */
const USUAL_LENGTHS: Readonly<Record<string, number>> = {
  orders: 1,
  advancedOrders: 1,
  offer: 0,
  consideration: 1,
  criteriaResolvers: 0,
  criteriaProof: 0,
};
const USUAL_PROBABILITY = 0.95;

function argumentOf(random: Random, parameter: AbiParameter): unknown {
  const { type, name = "" } = parameter;
  const array = /^(.*)\[(\d*)\]$/.exec(type);
  if (array) {
    const isUsual = name in USUAL_LENGTHS && random.chance(USUAL_PROBABILITY);
    const any = isUsual ? USUAL_LENGTHS[name]! : random.int(4);
    const length = array[2] === "" ? any : Number(array[2]);
    return Array.from({ length }, () => argumentOf(random, { ...parameter, type: array[1]!, name: "" }));
  }
  if (name in USUAL && random.chance(USUAL_PROBABILITY)) return USUAL[name];
  if ("components" in parameter) {
    return Object.fromEntries(parameter.components.map((component) => [component.name, argumentOf(random, component)]));
  }
  if (type === "address") return random.pick([CALLER, OTHER, CONTRACT, DEPENDENCY]);
  if (type === "bool") return random.chance(0.5);
  if (type === "string") return "text".repeat(random.int(20));
  const bytes = /^bytes(\d*)$/.exec(type);
  if (bytes) return bytesToHex(random.bytes(bytes[1] === "" ? random.int(100) : Number(bytes[1])));
  const bits = Number(/^u?int(\d*)$/.exec(type)?.[1] || 256);
  const isSigned = type.startsWith("int");
  const value = BigInt(bytesToHex(random.bytes(32))) >> BigInt(random.int(256));
  return isSigned ? BigInt.asIntN(bits, value) : BigInt.asUintN(bits, value);
}
