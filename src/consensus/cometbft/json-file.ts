import { NodeError } from "../../base/errors.ts";
import { readJsonFile as readJson } from "../../store/storage/read-file.ts";

/** A file in the engine's home has unusable content. */
export class EngineHomeError extends NodeError {
  readonly code = "ENGINE_HOME";
}

/** CometBFT's genesis has only the chain's rules, and one vote of each validator. */
const BYTES_MAX = 64 << 20;

/** @throws EngineHomeError */
export function readJsonFile(file: string): unknown {
  try {
    return readJson(file, { bytesMax: BYTES_MAX });
  } catch (cause) {
    throw new EngineHomeError(`${file} cannot be read as JSON: ${(cause as Error).message}`, { file }, { cause });
  }
}

/** JSON as CometBFT writes its files: indented. */
export function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
