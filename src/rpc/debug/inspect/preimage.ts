import { defineMethod } from "../../dispatch/method.ts";
import { data, hash } from "../../params/codec.ts";
import type { InspectionPort } from "../../ports/inspection.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import { DebugError } from "../errors.ts";

/**
 * `debug_preimage`: the address or slot that is stored under a hash in the state tries, of now or of an old block. What contracts hash is not recorded:
 * `keccak256PreimageTracer` shows it.
 *
 * @throws DebugError with geth's text where there is none, TracingTimeoutError
 */
export const preimage = defineMethod({
  name: "debug_preimage",
  params: { hash },
  result: data,
  heavy: true,
  handle: ({ hash }, { inspection }: { inspection: Pick<InspectionPort, "preimage"> }) =>
    andThen(inspection.preimage(hash), (found) => {
      if (found === undefined) throw new DebugError("unknown preimage");
      return found;
    }),
});
