import { readFileSync } from "node:fs";
import { NodeError } from "../../../errors.ts";

/** A file of the engine's home holds something else than the node needs. */
export class EngineHomeError extends NodeError {
  readonly code = "ENGINE_HOME";
}

/** @throws EngineHomeError */
export function readJsonFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new EngineHomeError(`${file} cannot be read as JSON`, { file }, { cause });
  }
}

/** JSON as CometBFT writes its files: indented. */
export function jsonText(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
