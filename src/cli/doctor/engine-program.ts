import {
  COMETBFT_CORE_VERSION,
  COMETBFT_INSTALL,
  COMETBFT_VERSION,
  isOtherRelease,
} from "../../consensus/cometbft/process/engine-version.ts";
import { type Finding, findingsOf } from "./finding.ts";
import type { ProgramVersion } from "./system.ts";

/** Whether the program is the CometBFT that this node is built for: its log and its answers are compared word by word. */
export function programFinding(path: string, { built, printed }: ProgramVersion): Finding {
  const { ok, warning, fault } = findingsOf("engine");
  if (printed === undefined)
    return fault(`${path} does not print a version, so it is not CometBFT: ${COMETBFT_INSTALL}`);
  if (built === COMETBFT_VERSION) return ok(`${path} ${built}`);
  if (isRelease(built)) {
    const text = `${path} is ${built}, but this node needs ${COMETBFT_VERSION}: ${COMETBFT_INSTALL}`;
    return isOtherRelease(built) ? fault(text) : warning(text);
  }
  // A build of a checkout, or a script that starts the program.
  if (printed === COMETBFT_CORE_VERSION) return ok(`${path} prints ${printed}, as ${COMETBFT_VERSION} does`);
  return warning(
    `${path} prints ${printed}, but ${COMETBFT_VERSION} prints ${COMETBFT_CORE_VERSION}: ${COMETBFT_INSTALL}`,
  );
}

function isRelease(built: string | undefined): built is string {
  return built !== undefined && /^v\d+\.\d+\.\d+/.test(built);
}
