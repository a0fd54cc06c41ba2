import { SYSTEM_ADDRESS } from "../../base/params/gas.ts";
import type { Address } from "../../base/primitives/address.ts";
import { checksumAddress } from "../../base/primitives/address.ts";
import { type Hex, hexToBytes } from "../../base/primitives/hex.ts";
import { CONSOLE_ADDRESS } from "../console-log.ts";
import type { AbiItem } from "./abi.ts";
import { abiText } from "./abi.ts";
import type { Contract, Contracts } from "./contracts.ts";

/** Lines of one transaction's tree. */
const LINES_MAX = 200;

/** A frame as `callTracer` shows it, with its logs. */
export type TracedFrame = {
  readonly type: string;
  readonly to?: Hex;
  readonly input: Hex;
  readonly output?: Hex;
  readonly gasUsed: Hex;
  readonly value?: Hex;
  readonly error?: string;
  readonly calls?: readonly TracedFrame[];
  readonly logs?: readonly TracedLog[];
};

type TracedLog = {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  /** Number of the calls before it. */
  readonly position: Hex;
};

type CallTreeModules = {
  readonly contracts: Contracts;
  /** The contract at an address; undefined if the project has no contract with its code. */
  readonly contractAt: (address: Address) => Contract | undefined;
  /** What other addresses are called; undefined: they have no name. */
  readonly nameOf?: (address: Address) => string | undefined;
};

/** The calls of a transaction with their events and results by name, a line each, indented by depth. */
export function callTreeLines(top: TracedFrame, modules: CallTreeModules): string[] {
  const lines: string[] = [];
  const add = (depth: number, text: string) => {
    if (lines.length < LINES_MAX) lines.push(`${"  ".repeat(depth)}${text}`);
    else if (lines.length === LINES_MAX) lines.push("…");
  };
  const visit = (frame: TracedFrame, depth: number): void => {
    // What it prints has lines of its own.
    if (frame.to === CONSOLE_ADDRESS) return;
    const contract = contractOf(frame, modules);
    add(depth, `${frameText(frame, contract, modules)} [${Number(frame.gasUsed)} gas]`);
    const calls = frame.calls ?? [];
    // The line of a call has its value: the log with which the protocol reports it (EIP-7708) says nothing more.
    const logs = (frame.logs ?? []).filter(({ address }) => address !== SYSTEM_ADDRESS);
    for (let i = 0; i <= calls.length; i++) {
      for (const log of logs.filter(({ position }) => Number(position) === i)) {
        add(depth + 1, `emit ${eventText(log, contract, modules)}`);
      }
      if (calls[i] !== undefined) visit(calls[i]!, depth + 1);
    }
  };
  visit(top, 0);
  return lines;
}

function contractOf(
  { type, to, input }: TracedFrame,
  { contracts, contractAt }: CallTreeModules,
): Contract | undefined {
  if (isCreation(type)) return contracts.withCreation(hexToBytes(input));
  return to === undefined ? undefined : contractAt(to as Address);
}

function isCreation(type: string): boolean {
  return type === "CREATE" || type === "CREATE2";
}

function frameText(frame: TracedFrame, contract: Contract | undefined, modules: CallTreeModules): string {
  const { contracts, nameOf } = modules;
  const { type, to, input, output = "0x", value, error } = frame;
  const address = to as Address | undefined;
  const name = contract?.name ?? (address === undefined ? "?" : (nameOf?.(address) ?? checksumAddress(address)));
  const paid = value !== undefined && BigInt(value) > 0n ? ` {value: ${BigInt(value)}}` : "";
  const failure = error === undefined ? "" : ` ✗ ${failureText(error, output, contract, contracts)}`;
  if (isCreation(type)) {
    const declared = contract?.abi.find((item) => item.type === "constructor");
    const data = hexToBytes(input).subarray(contract?.creation.bytes.length ?? 0);
    const at = error === undefined && to !== undefined ? ` → ${checksumAddress(to as Address)}` : "";
    return `new ${name}(${abiText(declared?.inputs ?? [], data) ?? ""})${paid}${at}${failure}`;
  }
  const item = contracts.item("function", input.slice(0, 10), contract);
  const by = type === "CALL" ? "" : ` ${type.toLowerCase()}`;
  const call = item === undefined ? shortened(input) : callText(item, input);
  const result = item && error === undefined ? abiText(item.outputs ?? [], hexToBytes(output)) : "";
  return `${name}.${call}${paid}${by}${result ? ` → ${result}` : ""}${failure}`;
}

/** `transfer(to: 0x…, value: 5)` */
export function callText({ name = "", inputs = [] }: AbiItem, data: Hex): string {
  const text = abiText(inputs, hexToBytes(data).subarray(4));
  return `${name}(${text ?? shortened(data)})`;
}

/** `InsufficientBalance(…)` of the project's errors, the text of `require`, or the EVM's reason. */
export function failureText(error: string, output: Hex, contract: Contract | undefined, contracts: Contracts): string {
  const item = BUILT_IN[output.slice(0, 10)] ?? contracts.item("error", output.slice(0, 10), contract);
  return item === undefined ? error : callText(item, output);
}

/** The errors of `require` and `assert`. */
const BUILT_IN: Readonly<Record<string, AbiItem>> = {
  "0x08c379a0": { type: "error", name: "revert", inputs: [{ type: "string" }] },
  "0x4e487b71": { type: "error", name: "panic", inputs: [{ type: "uint256" }] },
};

function eventText(
  { topics, data, address }: TracedLog,
  contract: Contract | undefined,
  { contracts }: CallTreeModules,
): string {
  const item = topics[0] && contracts.item("event", topics[0], contract, topics.length - 1);
  if (!item) return `${checksumAddress(address as Address)} ${topics.join(" ")} ${shortened(data)}`;
  const inputs = item.inputs ?? [];
  const values = abiText(
    inputs.filter(({ indexed }) => !indexed),
    hexToBytes(data),
  );
  const indexed = inputs
    .filter((input) => input.indexed)
    .map((input, i) => {
      // Of a value that takes more than a word, the topic is the hash.
      const isHashed = !/^(?:u?int\d*|address|bool|bytes\d+)$/.test(input.type);
      const parameter = isHashed ? { ...input, type: "bytes32" } : input;
      return abiText([parameter], hexToBytes(topics[i + 1] ?? "0x"));
    });
  return `${item.name}(${[...indexed, values].filter(Boolean).join(", ")})`;
}

function shortened(data: Hex): string {
  return data.length <= 74 ? data : `${data.slice(0, 74)}… (${data.length / 2 - 1} bytes)`;
}
