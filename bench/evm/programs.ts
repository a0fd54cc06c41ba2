import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Abi, encodeFunctionData } from "viem";
import type { GenesisAccount } from "../../src/base/params/genesis-account.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import { opcodesOf } from "../../src/evm/machine/opcodes.ts";

/** Code and input of one call. */
export type Program = {
  readonly name: string;
  readonly code: Uint8Array;
  readonly data: Uint8Array;
  /** Who is called, where that is one of `accounts` */
  readonly to?: Address;
  /** Accounts besides, or in place of a single contract with `code` */
  readonly accounts?: ReadonlyMap<Address, GenesisAccount>;
  /** The same with less to do, for an engine that would take minutes. */
  readonly light?: Program;
};

const BY_NAME = new Map(opcodesOf("osaka").flatMap((opcode) => (opcode ? [[opcode.name, opcode.code] as const] : [])));

/** Bytecode of opcode names and hexadecimal immediates. */
export function assemble(text: string): Uint8Array {
  return hexToBytes(
    `0x${text
      .split(/\s+/)
      .filter((word) => word !== "")
      .map((word) => BY_NAME.get(word)?.toString(16).padStart(2, "0") ?? word)
      .join("")}`,
  );
}

/** Runs `body` `count` times, with the counter on top of the stack; `body` leaves the stack as it finds it. */
function loop(name: string, count: number, body: string, before = ""): Program {
  const prologue = assemble(before).length + 4;
  const text = `${before} PUSH3 ${count.toString(16).padStart(6, "0")} JUMPDEST ${body}
    PUSH1 01 SWAP1 SUB DUP1 PUSH1 ${prologue.toString(16).padStart(2, "0")} JUMPI STOP`;
  return { name, code: assemble(text), data: EMPTY_BYTES };
}

const ODD = "f1e2d3c4b5a697887766554433221100f1e2d3c4b5a6978877665544332211ff";

function solidity(contract: string, name: string, functionName: string, args: bigint[]): Program {
  const path = fileURLToPath(new URL(`../contracts/${contract}.json`, import.meta.url));
  const { abi, runtime } = JSON.parse(readFileSync(path, "utf8")) as {
    readonly abi: Abi;
    readonly runtime: string;
  };
  return {
    name,
    code: hexToBytes(runtime),
    data: hexToBytes(encodeFunctionData({ abi, functionName, args })),
  };
}

/** The longest of them: 200 million gas. */
export const RAY_TRACER: Program = {
  ...solidity("RayTracer", "ray tracer", "render", [68n, 51n]),
  light: solidity("RayTracer", "ray tracer", "render", [16n, 12n]),
};

export const STOP: Program = { name: "stop", code: Uint8Array.of(0), data: EMPTY_BYTES };

export const PROGRAMS: readonly Program[] = [
  loop("arithmetic 256 bits", 200_000, `SWAP1 PUSH32 ${ODD} MUL PUSH32 ${ODD} ADD SWAP1`, "PUSH1 07"),
  loop("division", 50_000, `PUSH4 00ffee01 PUSH32 ${ODD} DIV PUSH16 ${ODD.slice(0, 32)} PUSH32 ${ODD} MOD POP POP`),
  loop("keccak 32 bytes", 50_000, "PUSH1 20 PUSH1 00 KECCAK256 PUSH1 00 MSTORE"),
  loop("memory", 200_000, "DUP1 PUSH2 0fff AND DUP1 MLOAD PUSH1 01 ADD SWAP1 MSTORE"),
  loop("storage, 8 warm slots", 50_000, "DUP1 PUSH1 07 AND DUP1 SLOAD PUSH1 01 ADD SWAP1 SSTORE"),
  solidity("EvmPrograms", "fibonacci", "fib", [100_000n]),
  solidity("EvmPrograms", "quicksort", "sort", [2_000n]),
  solidity("EvmPrograms", "erc20 transfers", "transfers", [1_500n]),
  solidity("EvmPrograms", "message calls", "calls", [5_000n]),
  solidity("EvmPrograms", "call tree, depth 200, value", "trees", [20n, 200n]),
  RAY_TRACER,
];
