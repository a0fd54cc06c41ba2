import {
  type Abi,
  type AbiEvent,
  type AbiFunction,
  type AbiParameter,
  decodeErrorResult,
  decodeEventLog,
  decodeFunctionData,
  decodeFunctionResult,
  encodeFunctionData,
  getAbiItem,
  parseAbi,
} from "viem";
import type { Hex } from "../../../../base/primitives/hex.ts";
import type { AbiItem } from "../../../../dev/artifacts/abi.ts";
import type { Log } from "../rpc.ts";
import { COMMON_FUNCTIONS } from "./common-functions.ts";
import { nodeContractAt, nodeContracts } from "./known-contracts.ts";
import { uploadedAt, uploadedContracts } from "./uploaded.ts";

/** Name and ABI of a contract, and their source. */
export type NamedContract = {
  readonly name: string;
  readonly abi: readonly AbiItem[];
  readonly origin: "uploaded" | "verified" | "artifacts";
};

/** The contract uploaded in this browser, otherwise the node's last answer. */
export function contractAt(address: string): NamedContract | undefined {
  const uploaded = uploadedAt(address);
  if (uploaded !== undefined) return { name: uploaded.name, abi: uploaded.abi, origin: "uploaded" };
  return nodeContractAt(address);
}

/** ERC-20, ERC-721 and ERC-1155, to decode contracts without an uploaded ABI. */
const ERC20 = parseAbi([
  "function transfer(address to, uint256 value) returns (bool)",
  "function approve(address spender, uint256 value) returns (bool)",
  "function transferFrom(address from, address to, uint256 value) returns (bool)",
  "event Transfer(address indexed from, address indexed to, uint256 value)",
  "event Approval(address indexed owner, address indexed spender, uint256 value)",
]);
const OTHER_TOKENS = parseAbi([
  "function safeTransferFrom(address from, address to, uint256 tokenId)",
  "function setApprovalForAll(address operator, bool approved)",
  "function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)",
  "event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)",
  "event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)",
  "event ApprovalForAll(address indexed owner, address indexed operator, bool approved)",
  "event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)",
  "event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)",
]);

export type Argument = { readonly name: string; readonly type: string; readonly text: string };
export type Decoded = { readonly name: string; readonly args: readonly Argument[] };

/** Functions of many contracts; their arguments have no names. */
const COMMON = parseAbi(Object.values(COMMON_FUNCTIONS).map((signature) => `function ${signature}`));

/** ABIs to try for `address`, the most likely first. */
function abisFor(address: string | null): readonly Abi[] {
  const own = address === null ? [] : [uploadedAt(address), nodeContractAt(address)];
  const others = [...uploadedContracts(), ...nodeContracts()];
  const named = [...new Set([...own, ...others])].flatMap((contract) => (contract ? [contract.abi as Abi] : []));
  return [...named, ERC20, OTHER_TOKENS, COMMON];
}

/** The result of `decode` for the first of `abis` that does not throw. */
function firstDecoded(abis: readonly Abi[], decode: (abi: Abi) => Decoded): Decoded | undefined {
  for (const abi of abis) {
    try {
      return decode(abi);
    } catch {
      // viem throws if an ABI lacks the selector or the data has another form.
    }
  }
  return undefined;
}

/** Name and arguments of a call of `to`; undefined if no ABI has its selector. */
export function decodeCall(to: string | null, input: Hex): Decoded | undefined {
  if (input.length < 10) return undefined;
  return firstDecoded(abisFor(to), (abi) => {
    const { functionName, args = [] } = decodeFunctionData({ abi, data: input });
    // By selector: overloads share a name.
    const item = getAbiItem({ abi, name: input.slice(0, 10) as Hex }) as AbiFunction | undefined;
    return { name: functionName, args: argumentsOf(item?.inputs ?? [], args as unknown[]) };
  });
}

export function decodeLog(log: Log): Decoded | undefined {
  return firstDecoded(abisFor(log.address), (abi) => {
    const { eventName, args = {} } = decodeEventLog({
      abi,
      data: log.data,
      topics: log.topics as unknown as [Hex, ...Hex[]],
      strict: true,
    });
    const item = getAbiItem({ abi, name: log.topics[0]! }) as AbiEvent | undefined;
    const inputs = item?.inputs ?? [];
    const values = Array.isArray(args) ? args : inputs.map(({ name = "" }) => Reflect.get(args, name));
    return { name: String(eventName), args: argumentsOf(inputs, values) };
  });
}

/** The reason of a revert: `Error("…")`, `Panic(0x11)`, or an error of a known contract. */
export function decodeRevert(address: string | null, output: Hex): Decoded | undefined {
  if (output.length < 10) return undefined;
  return firstDecoded(abisFor(address), (abi) => {
    const { errorName, args = [], abiItem } = decodeErrorResult({ abi, data: output });
    const inputs = "inputs" in abiItem ? (abiItem.inputs as readonly AbiParameter[]) : [];
    return { name: errorName, args: argumentsOf(inputs, args as unknown[]) };
  });
}

function argumentsOf(inputs: readonly AbiParameter[], args: readonly unknown[]): Argument[] {
  return args.map((value, i) => ({
    name: inputs[i]?.name || String(i),
    type: inputs[i]?.type ?? typeOf(value),
    text: textOf(value),
  }));
}

function typeOf(value: unknown): string {
  return typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value) ? "address" : "";
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value === "bigint" || typeof value === "number") return String(value);
  return JSON.stringify(value, (_, each) => (typeof each === "bigint" ? String(each) : each), 1);
}

/** Functions of an ABI: view functions, and functions that need a transaction. */
export function functionsOf(abi: Abi): {
  readonly reads: AbiFunction[];
  readonly writes: AbiFunction[];
} {
  const functions = abi.filter((item) => item.type === "function");
  const isRead = ({ stateMutability }: AbiFunction) => stateMutability === "view" || stateMutability === "pure";
  return { reads: functions.filter(isRead), writes: functions.filter((item) => !isRead(item)) };
}

/**
 * Calldata of a function from a user's input: text for addresses, strings and bytes, numbers in decimal or hex, JSON for arrays and tuples.
 * @throws viem's errors for invalid values, and SyntaxError
 */
export function encodeCall(item: AbiFunction, typed: readonly string[]): Hex {
  const args = item.inputs.map(({ type }, i) => argumentOf(type, typed[i] ?? ""));
  return encodeFunctionData({ abi: [item], functionName: item.name, args });
}

function argumentOf(type: string, text: string): unknown {
  if (type.endsWith("]") || type.startsWith("tuple")) return JSON.parse(text);
  if (type === "bool") return text.trim() === "true";
  return /^u?int/.test(type) ? BigInt(text.trim()) : text;
}

/** The result of a call, one value per line. */
export function decodeResult(item: AbiFunction, data: Hex): string {
  const result = decodeFunctionResult({ abi: [item], functionName: item.name, data });
  return textOf(result);
}
