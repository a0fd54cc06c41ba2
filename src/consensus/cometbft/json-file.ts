import { NodeError } from "../../base/errors.ts";
import { readJsonFile as readJson } from "../../store/storage/read-file.ts";

/** Unusable content in a file of the engine's home. */
export class EngineHomeError extends NodeError {
  readonly code = "ENGINE_HOME";
}

/** CometBFT's genesis contains only the chain's rules and validators. */
const BYTES_MAX = 64 << 20;

/** @throws EngineHomeError */
export function readJsonFile(file: string): unknown {
  try {
    return readJson(file, { bytesMax: BYTES_MAX });
  } catch (cause) {
    throw new EngineHomeError(`${file} cannot be read as JSON: ${(cause as Error).message}`, { file }, { cause });
  }
}

/** Indented JSON, as in CometBFT's files. */
export function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
