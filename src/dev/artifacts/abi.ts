import { bytesToHex, type Hex } from "../../primitives/hex.ts";
import { keccak256 } from "../../primitives/keccak.ts";

/** A parameter as Solidity's JSON ABI has it. */
export type AbiParameter = {
  readonly name?: string;
  readonly type: string;
  readonly indexed?: boolean;
  readonly components?: readonly AbiParameter[];
};

/** A function, event or error of a contract's ABI. */
export type AbiItem = {
  readonly type: string;
  readonly name?: string;
  readonly inputs?: readonly AbiParameter[];
  readonly outputs?: readonly AbiParameter[];
};

/** keccak256 of `name(type,…)`: the topic of an event; its first four bytes select a function or an error. */
export function signatureHash({ name = "", inputs = [] }: AbiItem): Hex {
  return bytesToHex(keccak256(Buffer.from(`${name}(${inputs.map(canonicalType).join()})`)));
}

export function selectorOf(item: AbiItem): Hex {
  return signatureHash(item).slice(0, 10) as Hex;
}

/** `tuple` written out, as signatures have it. */
function canonicalType({ type, components = [] }: AbiParameter): string {
  if (!type.startsWith("tuple")) return type;
  return `(${components.map(canonicalType).join()})${type.slice("tuple".length)}`;
}
