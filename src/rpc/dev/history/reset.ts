import { InvalidValueError } from "../../dispatch/errors.ts";
import { optional, type ParamCodec } from "../../params/codec.ts";
import type { Forking } from "../../ports/dev.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";
import { lenientCount } from "../lenient-number.ts";
import { remoteUrl } from "../remote-url.ts";

/** `{forking: {jsonRpcUrl?, blockNumber?}}`; without `forking` nothing is forked. */
const resetOptions: ParamCodec<Forking | undefined> = {
  schema: {
    title: "ResetOptions",
    type: "object",
    properties: {
      forking: {
        type: "object",
        properties: { jsonRpcUrl: remoteUrl.schema!, blockNumber: lenientCount.schema! },
      },
    },
  },
  decode(value) {
    const { forking } = object(value, "options");
    if (forking === undefined || forking === null) return undefined;
    const { jsonRpcUrl: url, blockNumber } = object(forking, "forking");
    return {
      ...(url != null && { url: remoteUrl.decode(url, "jsonRpcUrl") }),
      // viem sends NaN, null over a wire, where its caller gave no number.
      ...(blockNumber != null &&
        !Number.isNaN(blockNumber) && {
          blockNumber: lenientCount.decode(blockNumber, "blockNumber"),
        }),
    };
  },
};

function object(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new InvalidValueError(`${name}: an object is wanted`);
}

/**
 * Begins anew with nothing set, an empty pool, no snapshots and no filters: at the genesis block, or with `forking` at a block of another chain,
 * the newest unless a number is given, through the node at `jsonRpcUrl` or, left out, the one in use.
 *
 * @throws DevControlError where no node is known to fork from, ForkRemoteError when it does not answer: nothing has changed then
 */
export const reset = controlMethods({
  names: bothNames("reset"),
  params: { options: optional(resetOptions) },
  handle: ({ options }, { dev }: DevModules) => dev.reset(options),
});
