import {
  copyFileSync,
  existsSync,
  lstatSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { NodeError } from "../../../base/errors.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";
import { ifPresent } from "../../../store/storage/if-present.ts";
import { makeFolder, syncDirectory, syncFile } from "../../../store/storage/make-folder.ts";
import { replaceFile } from "../../../store/storage/replace-file.ts";
import { DATA_FILE, INDEX_FOLDER, removeIndexFiles } from "./index-files.ts";

/** File in the folder of an index outside its data directory. It holds the path of that directory. */
const OWNER_FILE = "data-directory";
/** A copy that is not whole yet. */
const UNFINISHED = `${DATA_FILE}.moving`;

/** The folder of the index cannot be used. */
class IndexFolderError extends NodeError {
  readonly code = "STORE_INDEX_FOLDER";
}

/**
 * Moves the index of a closed data directory to `folder`, or back into the directory if that is null. A link in the directory then leads
 * every reader to the folder. A process that dies on the way leaves the index in one of the two places, and the next start continues.
 * `index.state` names the file that was closed, so a copy is checked before use.
 * @param folder undefined: the index stays where it is
 * @throws IndexFolderError if the folder is missing, say because its disk is not mounted, or belongs to another data directory
 */
export function placeIndex(directory: string, folder: string | null | undefined, log: Logger): void {
  const place = join(directory, INDEX_FOLDER);
  const moving = `${place}.moving`;
  const linked = ifPresent(() => lstatSync(place))?.isSymbolicLink() ? readlinkSync(place) : undefined;
  const owner = linked && ownerOf(linked);
  // A link that somebody else made.
  if (typeof folder !== "string" && linked !== undefined && owner === undefined) return;
  if (linked !== undefined && owner !== realpathSync(directory)) {
    throw new IndexFolderError(
      `the index of ${directory} is not in ${linked}: mount its disk, or remove the link ${place} to make the index anew`,
      { folder: linked },
    );
  }
  if (folder === undefined) return;
  if (linked === undefined && folder === null) {
    if (!existsSync(place) && existsSync(join(moving, DATA_FILE))) renameSync(moving, place);
    return;
  }
  if (linked === folder) return;
  if (folder !== null) own(folder, directory);
  const target = folder ?? moving;
  if (existsSync(join(place, DATA_FILE))) {
    log.info("index is moved", { from: linked ?? place, to: folder ?? place });
    makeFolder(target);
    copyFileSync(join(place, DATA_FILE), join(target, UNFINISHED));
    syncFile(join(target, UNFINISHED));
    renameSync(join(target, UNFINISHED), join(target, DATA_FILE));
    syncDirectory(target);
  }
  rmSync(place, { recursive: true, force: true });
  if (folder !== null) symlinkSync(folder, place, "junction");
  else if (existsSync(target)) renameSync(target, place);
  syncDirectory(directory);
  if (linked === undefined) return;
  removeIndexFiles(linked);
  rmSync(join(linked, UNFINISHED), { force: true });
  rmSync(join(linked, OWNER_FILE), { force: true });
}

/** Makes `folder` one of this data directory. */
function own(folder: string, directory: string): void {
  makeFolder(folder);
  const owner = ownerOf(folder);
  const self = realpathSync(directory);
  if (owner === self) return;
  if (owner !== undefined || existsSync(join(folder, DATA_FILE))) {
    const other = owner ?? "an unknown data directory";
    throw new IndexFolderError(`${folder} has the index of ${other}: choose another folder, or empty this one`, {
      folder,
    });
  }
  replaceFile(join(folder, OWNER_FILE), self, 0o600);
}

function ownerOf(folder: string): string | undefined {
  return ifPresent(() => readFileSync(join(folder, OWNER_FILE), "utf8"));
}
