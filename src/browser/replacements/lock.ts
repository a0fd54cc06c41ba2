import type * as Replaced from "../../storage/lock.ts";

/** A file in OPFS that is open in one tab cannot be opened in another: there is nothing left to lock. */
export const lockFile: typeof Replaced.lockFile = () => ({ release() {} });

/** The files survive a crash of the browser as of a process. */
export const bootId: typeof Replaced.bootId = () => undefined;
