/** Calls run on this thread: see `pool.ts`. */
export function serveThread(): void {}
