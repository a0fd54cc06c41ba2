import { join } from "node:path";
import { createFile, replaceFile } from "../../../store/storage/replace-file.ts";
import { EngineHomeError, jsonText, readJsonFile } from "../json-file.ts";

/** What a validator signs in a round, in order. */
export const SIGNING_STEPS = { proposal: 1, prevote: 2, precommit: 3 } as const;

/** How far a key has signed: CometBFT never signs at or before this position again. */
export type SigningPosition = {
  readonly height: number;
  readonly round: number;
  /** One of `SIGNING_STEPS`; 0 if nothing was signed. */
  readonly step: number;
};

const NOTHING_SIGNED: SigningPosition = { height: 0, round: 0, step: 0 };

/** Positive if `left` is after `right`, 0 if they are equal. */
export function comparePositions(left: SigningPosition, right: SigningPosition): number {
  return left.height - right.height || left.round - right.round || left.step - right.step;
}

/** The signing state of CometBFT, relative to its home. */
export const SIGNING_STATE_FILE = "data/priv_validator_state.json";

/** Creates the signing state of a key that has signed nothing, if it is missing. @param file relative to the home */
export function createSigningState(directory: string, file = SIGNING_STATE_FILE): void {
  createFile(join(directory, file), jsonText(fileOf(NOTHING_SIGNED)), 0o600);
}

/** @throws EngineHomeError for a file that is not a signing state */
export function readSigningState(directory: string): SigningPosition {
  const file = join(directory, SIGNING_STATE_FILE);
  const state = readJsonFile(file);
  const { height, round, step } = (typeof state === "object" && state !== null ? state : {}) as Record<string, unknown>;
  const isHeight = typeof height === "string" && /^\d{1,15}$/.test(height);
  if (!isHeight || !isCount(round) || !isCount(step) || step > SIGNING_STEPS.precommit) {
    throw new EngineHomeError(`${file} is not a signing state of CometBFT`, { file });
  }
  return { height: Number(height), round, step };
}

/**
 * Raises the signing state to at least `position`, durably; one at or beyond it keeps its signature. Not while CometBFT runs with this key: it
 * reads the file at its start, and writes it.
 * @returns whether it changed
 * @throws EngineHomeError, and errors of the disk
 */
export function raiseSigningState(directory: string, position: SigningPosition): boolean {
  if (comparePositions(position, readSigningState(directory)) <= 0) return false;
  // Without a signature, so that CometBFT rejects this position too.
  replaceFile(join(directory, SIGNING_STATE_FILE), jsonText(fileOf(position)), 0o600);
  return true;
}

function fileOf({ height, round, step }: SigningPosition): object {
  return { height: String(height), round, step };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
