import { type JsonSchema, type JsonText, jsonString, type ParamCodec, type ResultCodec } from "../codec.ts";
import { InvalidParamsError, InvalidValueError } from "../errors.ts";
import { type CallContext, inProcessContext } from "./context.ts";
import type { RawParams } from "./message.ts";

/** The declaration of one JSON-RPC method: data, and a handler that sees domain values only. */
export type MethodSpec<P extends ParamCodecs, Modules, Result> = {
  /** `namespace_method`, as on the wire */
  readonly name: string;
  /** In wire order. */
  readonly params: P;
  /** Parameters of one call, for the documentation and for a test that each can be read. */
  readonly example?: readonly unknown[];
  readonly result: ResultCodec<Result>;
  /** Needs the credential wherever a stranger can connect. */
  readonly private?: true;
  /** Notifies its caller: only for transports with a connection. */
  readonly needsConnection?: true;
  /** How long it takes is up to the caller: it waits for its turn when there is more to do. */
  readonly heavy?: true;
  /** It changes the chain over many turns: a caller that was told of a time-out would take it for undone while it goes on. */
  readonly untimed?: true;
  readonly handle: (
    params: Params<P>,
    modules: Modules,
    context: CallContext,
  ) => NoInfer<Result> | Promise<NoInfer<Result>>;
};

export type ParamCodecs = Readonly<Record<string, ParamCodec<unknown>>>;

export type Params<P extends ParamCodecs> = {
  readonly [K in keyof P]: P[K] extends ParamCodec<infer T> ? T : never;
};

/** One parameter as `rpc_discover` shows it. */
type ParamInfo = {
  readonly name: string;
  readonly isRequired: boolean;
  readonly schema: JsonSchema;
};

export type Method<Modules> = {
  readonly name: string;
  readonly namespace: string;
  /** In wire order. */
  readonly params: readonly ParamInfo[];
  readonly example: readonly unknown[] | undefined;
  readonly resultSchema: JsonSchema;
  /** A result that is a string has as many bytes as letters. */
  readonly isAscii: boolean;
  readonly isPrivate: boolean;
  readonly needsConnection: boolean;
  readonly isHeavy: boolean;
  readonly isUntimed: boolean;
  /** Where several processes serve connections, one of them runs it for all. */
  readonly isForwarded: boolean;
  /**
   * Decodes, handles, encodes; synchronous when the handler is.
   * @throws InvalidParamsError and whatever the handler throws
   */
  readonly run: (modules: Modules, rawParams: RawParams, context: CallContext) => JsonText | Promise<JsonText>;
  /** `run` for tests: the parsed result. */
  readonly call: (modules: Fakes<Modules>, rawParams?: RawParams, context?: CallContext) => Promise<unknown>;
};

/** The ports of a method that a test's call reaches. */
type Fakes<Modules> = { readonly [Port in keyof Modules]?: FakeOf<Modules[Port]> };
type FakeOf<Port> = {
  readonly [Name in keyof Port]?: Port[Name] extends (...args: never[]) => unknown ? Port[Name] : Partial<Port[Name]>;
};

/** What a method says of itself. */
export type MethodInfo = Pick<Method<never>, "name" | "params" | "resultSchema" | "isPrivate">;

/** Makes a method of its declaration. */
export function defineMethod<const P extends ParamCodecs, Modules, Result>(
  spec: MethodSpec<P, Modules, Result>,
): Method<Modules> {
  const codecs = Object.entries(spec.params);
  const { encode } = spec.result;

  function run(modules: Modules, rawParams: RawParams, context: CallContext) {
    const params = decodeParams(codecs, rawParams) as Params<P>;
    const result = spec.handle(params, modules, context);
    return result instanceof Promise ? result.then(encode) : encode(result);
  }

  return {
    name: spec.name,
    namespace: namespaceOf(spec.name),
    params: codecs.map(([name, { absent, schema = {} }]) => ({
      name,
      isRequired: absent === undefined,
      schema,
    })),
    example: spec.example,
    resultSchema: spec.result.schema ?? {},
    isAscii: spec.result.isAscii === true,
    isPrivate: spec.private === true,
    needsConnection: spec.needsConnection === true,
    isHeavy: spec.heavy === true,
    isUntimed: spec.untimed === true,
    isForwarded: false,
    run,
    async call(modules, rawParams = [], context = inProcessContext()) {
      return JSON.parse(jsonString(await run(modules as Modules, rawParams, context)));
    },
  };
}

/** The same method under another name. @param example where that of `method` does not fit */
export function aliasMethod<Modules>(method: Method<Modules>, name: string, example = method.example): Method<Modules> {
  return { ...method, name, namespace: namespaceOf(name), example };
}

/** Methods by name. */
export type Registry<Modules> = ReadonlyMap<string, Method<Modules>>;

/** @throws Error when two methods have one name */
export function createRegistry<Modules>(methods: readonly Method<Modules>[]): Registry<Modules> {
  const registry = new Map<string, Method<Modules>>();
  for (const method of methods) {
    if (registry.has(method.name)) throw new Error(`method ${method.name} is defined twice`);
    if (!method.name.includes("_")) throw new Error(`method ${method.name} has no namespace`);
    registry.set(method.name, method);
  }
  return registry;
}

/** What stands before the first underscore. */
export function namespaceOf(method: string): string {
  return method.slice(0, Math.max(0, method.indexOf("_")));
}

export type NamedCodecs = readonly (readonly [name: string, codec: ParamCodec<unknown>])[];

function missingValue(index: number, name: string): InvalidParamsError {
  return new InvalidParamsError(`missing value for required argument ${index}`, name);
}

/**
 * The parameters by name. A null counts as absent, as in geth.
 * @throws InvalidParamsError
 */
export function decodeParams(codecs: NamedCodecs, raw: RawParams): Readonly<Record<string, unknown>> {
  if (raw === undefined) throw new InvalidParamsError("non-array args");
  const params: Record<string, unknown> = {};
  for (let i = 0; i < codecs.length && i < raw.length; i++) {
    const [name, codec] = codecs[i]!;
    if (raw[i] === null && !codec.absent && !codec.takesNull) throw missingValue(i, name);
    try {
      params[name] = codec.decode(raw[i]);
    } catch (error) {
      if (!(error instanceof InvalidValueError)) throw error;
      throw new InvalidParamsError(`invalid argument ${i}: ${error.message}`, name);
    }
  }
  if (raw.length > codecs.length) {
    throw new InvalidParamsError(`too many arguments, want at most ${codecs.length}`);
  }
  for (let i = raw.length; i < codecs.length; i++) {
    const [name, codec] = codecs[i]!;
    if (!codec.absent) throw missingValue(i, name);
    params[name] = codec.absent.value;
  }
  return params;
}
