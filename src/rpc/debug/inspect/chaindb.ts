import { defineMethod } from "../../dispatch/method.ts";
import { json, string } from "../../params/codec.ts";
import type { InspectionPort } from "../../ports/inspection.ts";

/** `debug_chaindbProperty`: figures of the block log and its index, for people. */
export const chaindbProperty = defineMethod({
  name: "debug_chaindbProperty",
  params: {},
  result: string,
  handle: (_params, { inspection }: { inspection: Pick<InspectionPort, "storeStats"> }) =>
    inspection.storeStats(),
});

/** `debug_chaindbCompact`: writes what waits in memory to the index now. */
export const chaindbCompact = defineMethod({
  name: "debug_chaindbCompact",
  params: {},
  result: json,
  private: true,
  heavy: true,
  async handle(_params, { inspection }: { inspection: Pick<InspectionPort, "compactStore"> }) {
    await inspection.compactStore();
    return null;
  },
});
