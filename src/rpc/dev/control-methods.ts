import type { CallContext } from "../dispatch/context.ts";
import { defineMethod, type Method, type ParamCodecs, type Params } from "../dispatch/method.ts";
import { type JsonSchema, json, type ResultCodec } from "../params/codec.ts";
import type { DevPort } from "../ports/dev.ts";

/** Port of the methods that bend a dev chain. */
export type DevModules = { readonly dev: DevPort };

/** One definition for the names that several tools have for it. */
export type ControlSpec<P extends ParamCodecs, Modules> = {
  /** `namespace_method`, each as on the wire */
  readonly names: readonly string[];
  /** In wire order. */
  readonly params: P;
  /** Of what `handle` returns; left out where it returns nothing. */
  readonly result?: Pick<ResultCodec<never>, "schema">;
  /** Returns nothing: the answer is `answerOf` the name. */
  handle(params: Params<P>, modules: Modules, context: CallContext): unknown;
};

/** A method under each name. What it returns is its JSON result; one that returns nothing answers as its tool does. */
export function controlMethods<const P extends ParamCodecs, Modules>({
  names,
  params,
  result,
  handle,
}: ControlSpec<P, Modules>): readonly Method<Modules>[] {
  return names.map((name) =>
    defineMethod({
      name,
      params,
      result: { ...json, schema: (result ?? emptyResult(name)).schema ?? {} },
      private: true,
      async handle(values: Params<P>, modules: Modules, context) {
        const result = await handle(values, modules, context);
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
  return /^(?:anvil_|tenderly_|evm_set)/.test(name) ? null : true;
}

/** The method under the names of Hardhat and anvil, and of ganache where it has one. */
export function bothNames(method: string, ...more: readonly string[]): readonly string[] {
  return [`hardhat_${method}`, `anvil_${method}`, ...more];
}
