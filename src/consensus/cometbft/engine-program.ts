import { accessSync, constants } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { NodeError } from "../../errors.ts";

/** The version of CometBFT this node is built and tested for; its socket lacks calls before it. */
const COMETBFT_VERSION = "v0.40.0";

/** `cometbft.binary` names no program. */
export class CometBftMissingError extends NodeError {
  readonly code = "COMETBFT_MISSING";
  constructor(binary: string) {
    super(
      `consensus.engine = cometbft needs the program "${binary}" (cometbft.binary): ` +
        `go install github.com/cometbft/cometbft/cmd/cometbft@${COMETBFT_VERSION}`,
      { binary },
    );
  }
}

/** Path of the program `cometbft.binary` names, looked up in PATH unless it has a slash. @throws CometBftMissingError */
export function findProgram(name: string): string {
  const candidates = name.includes("/")
    ? [resolve(name)]
    : (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, name));
  const found = candidates.find(isProgram);
  if (found === undefined) throw new CometBftMissingError(name);
  return found;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
