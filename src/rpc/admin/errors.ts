import { NodeError } from "../../errors.ts";

/** The node cannot or will not do that to itself. */
export class AdminError extends NodeError {
  readonly code = "ADMIN_REFUSED";
}

/** A file name that leads out of where callers may read and write. */
export class FileNameError extends NodeError {
  readonly code = "ADMIN_FILE_NAME";
}
