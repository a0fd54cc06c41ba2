import { defineMethod } from "../../dispatch/method.ts";
import { json } from "../../params/codec.ts";
import { lenientInteger } from "../../params/lenient-integer.ts";
import type { InspectionPort } from "../../ports/inspection.ts";

/**
 * `debug_setHead`: removes every block after `number`, for good. Subscribers get the removed logs again with `removed`; transactions of removed
 * blocks are not pooled again, as in geth.
 *
 * @throws DebugError for the head and what is after it
 */
export const setHead = defineMethod({
  name: "debug_setHead",
  params: { number: lenientInteger },
  result: json,
  private: true,
  heavy: true,
  async handle({ number }, { inspection }: { inspection: Pick<InspectionPort, "rewind"> }) {
    await inspection.rewind(number);
    return null;
  },
});
