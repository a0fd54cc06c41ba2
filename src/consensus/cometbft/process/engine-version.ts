import { readFileSync, statSync } from "node:fs";
import { NodeError } from "../../../base/errors.ts";

/** The CometBFT version for which this node is built and tested; the sockets of older ones lack calls. */
export const COMETBFT_VERSION = "v0.40.0";
/** The version that it reports to its user and to peers. */
export const COMETBFT_CORE_VERSION = "0.39.0";
/** How to install it. */
export const COMETBFT_INSTALL = `go install github.com/cometbft/cometbft/cmd/cometbft@${COMETBFT_VERSION}`;

/** `cometbft.binary` is another release, with a different configuration, log and socket. */
class OtherCometBftError extends NodeError {
  readonly code = "COMETBFT_OTHER_VERSION";
  constructor(details: { readonly binary: string; readonly version: string }) {
    const { binary, version } = details;
    super(`${binary} is CometBFT ${version}, but this node needs ${COMETBFT_VERSION}: ${COMETBFT_INSTALL}`, details);
  }
}

/** @throws OtherCometBftError for another release; patch releases and builds of a checkout are accepted */
export function assertEngineVersion(binary: string): void {
  const version = builtVersion(binary);
  if (version !== undefined && isOtherRelease(version)) throw new OtherCometBftError({ binary, version });
}

/** Whether `built` names a release with another minor version. */
export function isOtherRelease(built: string): boolean {
  const release = minorOf(built);
  return release !== undefined && release !== minorOf(COMETBFT_VERSION);
}

function minorOf(version: string): string | undefined {
  return /^v\d+\.\d+(?=\.\d+)/.exec(version)?.[0];
}

/** Go programs contain the list of their modules as text (`go version -m`). */
const MODULE = "\tgithub.com/cometbft/cometbft\t";
/** CometBFT has 60 MB. */
const PROGRAM_BYTES_MAX = 512 << 20;

/** Version of the Go module the program was built from, such as `v0.40.0`; undefined if the file has none. */
export function builtVersion(path: string): string | undefined {
  const program = readProgram(path);
  const at = program?.indexOf(MODULE) ?? -1;
  if (program === undefined || at < 0) return undefined;
  const start = at + MODULE.length;
  return /^[\w.+()-]+/.exec(program.toString("latin1", start, start + 80))?.[0];
}

function readProgram(path: string): Buffer | undefined {
  try {
    return statSync(path).size > PROGRAM_BYTES_MAX ? undefined : readFileSync(path);
  } catch {
    // An unreadable file can still be executable.
    return undefined;
  }
}
