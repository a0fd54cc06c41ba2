import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ForkChoice, storeForkChoice } from "../../../dev/fork/fork-point.ts";
import { syncDirectory } from "../../../store/storage/make-folder.ts";
import { dataPath, forkPointPath, loadedStatePath, pendingResetPath } from "../../config/home.ts";

/** Values that programs stored under chosen names; they do not belong to the chain. */
const NOT_OF_CHAIN = "dapp-db";

/** Sets durably which chain `home` opens at its next start. */
export function beginReset(home: string, choice: ForkChoice): void {
  storeForkChoice(pendingResetPath(home), choice);
}

/** Removes the chain of a home that is about to be replaced; none of its files may be open. */
export function finishReset(home: string): void {
  const pending = pendingResetPath(home);
  if (!existsSync(pending)) return;
  removeChain(home);
  // Last: until then, a restart repeats the removal.
  renameSync(pending, forkPointPath(home));
  syncDirectory(dirname(pending));
}

export function removeChain(home: string): void {
  const data = dataPath(home);
  for (const name of existsSync(data) ? readdirSync(data) : []) {
    if (name !== NOT_OF_CHAIN) rmSync(join(data, name), { recursive: true, force: true });
  }
  rmSync(loadedStatePath(home), { force: true });
}
