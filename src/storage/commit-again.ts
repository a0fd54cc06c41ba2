/** LMDB's code of a transaction that it has aborted. */
const BAD_TRANSACTION = -30782;

/**
 * Commits a transaction a second time where LMDB aborted the first. Its list of free pages can need no change, and have no row yet: then lmdb-js 3
 * reads the length of that row from memory that it has not set, and takes 0 for a fault. The list is read again for the next transaction.
 */
export function commitAgain<T>(commit: () => T): T {
  try {
    return commit();
  } catch (error) {
    if ((error as { readonly code?: unknown }).code !== BAD_TRANSACTION) throw error;
    return commit();
  }
}
