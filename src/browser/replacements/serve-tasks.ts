/** Tasks run on this thread: see `task-thread.ts`. */
export function serveTasks(): void {}
