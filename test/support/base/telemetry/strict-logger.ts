import { type Logger, SILENT_LOGGER } from "../../../../src/base/telemetry/logger.ts";

/**
 * For tests of parts that log an error and go on, as a chain does whose listener throws: it throws what is logged, which fails the test that caused it.
 * Other levels are silent.
 */
export const STRICT_LOGGER: Logger = {
  ...SILENT_LOGGER,
  error(message, data) {
    throw new Error(`logged: ${message}`, { cause: data?.["error"] ?? data });
  },
  child: () => STRICT_LOGGER,
};
