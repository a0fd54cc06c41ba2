import { defineMethod } from "../../dispatch/method.ts";
import { optional, rawJson, string } from "../../params/codec.ts";
import type { InspectionPort } from "../../ports/inspection.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import { traceConfig } from "../trace-config.ts";
import { tracesText } from "../traces-text.ts";

/**
 * `debug_traceBlockFromFile`: `debug_traceBlock` of the RLP in a file of the home's debug folder.
 *
 * @throws FileNameError, AdminError, and as debug_traceBlock
 */
export const traceBlockFromFile = defineMethod({
  name: "debug_traceBlockFromFile",
  params: { file: string, config: optional(traceConfig, {}) },
  result: rawJson,
  private: true,
  heavy: true,
  handle: (
    { file, config },
    { inspection }: { inspection: Pick<InspectionPort, "traceBlockFile"> },
  ) => andThen(inspection.traceBlockFile(file, config), tracesText),
});
