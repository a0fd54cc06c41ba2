import {
  type JsonSchema,
  json,
  jsonKind,
  type ParamCodec,
  type ResultCodec,
  typeFault,
} from "../../transport/codec.ts";
import type { Method, ParamCodecs, Params } from "../../transport/dispatch/method.ts";
import { InvalidValueError } from "../../transport/errors.ts";
import { defineForwardedMethod } from "../define-method.ts";
import type { RpcPorts, ServingPorts } from "../rpc-ports.ts";

/** One definition for the names that several tools have for it. */
export type ControlSpec<P extends ParamCodecs> = {
  /** `namespace_method`, each as on the wire */
  readonly names: readonly string[];
  /** In wire order. */
  readonly params: P;
  /** Of what `handle` returns; left out where it returns nothing. */
  readonly result?: Pick<ResultCodec<never>, "schema">;
  /** Returns nothing: the answer is `answerOf` the name, which it is called by. */
  readonly handle: (params: Params<P>, ports: RpcPorts, name: string) => unknown;
};

/** A method under each name. What it returns is its JSON result; one that returns nothing answers as its tool does. */
export function controlMethods<const P extends ParamCodecs>({
  names,
  params,
  result,
  handle,
}: ControlSpec<P>): readonly Method<ServingPorts>[] {
  return names.map((name) =>
    defineForwardedMethod({
      name,
      params,
      result: { ...json, schema: (result ?? emptyResult(name)).schema ?? {} },
      private: true,
      untimed: true,
      async handle(values: Params<P>, ports) {
        const result = await handle(values, ports, name);
        return result === undefined ? answerOf(name) : result;
      },
    }),
  );
}

function emptyResult(name: string): { readonly schema: JsonSchema } {
  return { schema: { type: answerOf(name) === null ? "null" : "boolean" } };
}

/** Hardhat and ganache answer true where anvil, which has Tenderly's names too, answers null. */
function answerOf(name: string): true | null {
  return /^(?:anvil_|tenderly_|evmint_|evm_set)/.test(name) ? null : true;
}

/** The method under the names of Hardhat and anvil, and of ganache where it has one. */
export function bothNames(method: string, ...more: readonly string[]): readonly string[] {
  return [`hardhat_${method}`, `anvil_${method}`, ...more];
}

const NUMBER = /^(?:0[xX][0-9a-fA-F]{1,64}|[0-9]{1,78})$/;

/**
 * A whole number from 0 as JSON number, as hex with or without leading zeros, or as decimal digits: the tools that control dev chains
 * send each of them.
 */
export const lenientNumber: ParamCodec<bigint> = {
  schema: { type: ["integer", "string"] },
  decode(value, field) {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return BigInt(value);
    if (typeof value === "string" && NUMBER.test(value)) return BigInt(value);
    const given = typeof value === "number" ? value : jsonKind(value);
    throw new InvalidValueError(
      `${field === undefined ? "" : `${field}: `}expected a non-negative integer, got ${given}`,
    );
  },
};

/** The same below 2^53. */
export const lenientCount: ParamCodec<number> = {
  schema: { type: ["integer", "string"] },
  decode(value, field) {
    const number = lenientNumber.decode(value, field);
    if (number <= BigInt(Number.MAX_SAFE_INTEGER)) return Number(number);
    throw typeFault(`number ${number}`, "uint64", field);
  },
};
