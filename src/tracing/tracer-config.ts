import { InvalidTracerError } from "./errors.ts";
import type { TracerConfig } from "./transaction-tracer.ts";

/** geth's types of the configurations, which its errors name; the other tracers take any and ignore it. */
const CONFIG_TYPES: Readonly<Record<string, string>> = {
  callTracer: "native.callTracerConfig",
  erc7562Tracer: "native.erc7562TracerConfig",
  flatCallTracer: "native.flatCallTracerConfig",
  muxTracer: "map[string]json.RawMessage",
  prestateTracer: "native.PrestateTracerConfig",
};

/**
 * The configuration in the JSON value `value`.
 * @throws InvalidTracerError unless it is an object or null
 */
export function tracerConfigOf(tracer: string, value: unknown): TracerConfig {
  if (value === null || value === undefined) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value as TracerConfig;
  const type = CONFIG_TYPES[tracer];
  if (type === undefined) return {};
  throw new InvalidTracerError(
    `json: cannot unmarshal ${kindOf(value)} into Go value of type ${type}`,
  );
}

/**
 * The switches of `tracer`, false where `config` does not set them.
 * @throws InvalidTracerError for one that is no boolean
 */
export function readSwitches<Name extends string>(
  tracer: string,
  config: TracerConfig,
  names: readonly Name[],
): Readonly<Record<Name, boolean>> {
  const switches = {} as Record<Name, boolean>;
  for (const name of names) {
    const value = config[name] ?? false;
    if (typeof value !== "boolean") {
      const field = `${CONFIG_TYPES[tracer]?.replace("native.", "")}.${name}`;
      throw new InvalidTracerError(
        `json: cannot unmarshal ${kindOf(value)} into Go struct field ${field} of type bool`,
      );
    }
    switches[name] = value;
  }
  return switches;
}

/** Go's word for the JSON type of `value`. */
export function kindOf(value: unknown): string {
  if (typeof value === "boolean") return "bool";
  return Array.isArray(value) ? "array" : typeof value;
}
