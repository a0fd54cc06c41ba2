import { readTextFile } from "../../../store/storage/read-file.ts";

/** A million accounts take 200 MB; V8 cannot hold a longer string. */
export const GENESIS_FILE_BYTES_MAX = 500 << 20;

/** The text of a genesis file. @throws UnusableFileError, and errors of the file system */
export function readGenesisText(path: string): string {
  return readTextFile(path, { bytesMax: GENESIS_FILE_BYTES_MAX });
}
