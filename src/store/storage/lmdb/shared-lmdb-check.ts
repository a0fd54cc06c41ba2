import type { CheckedFile, Subtree, TreeCheck, TreeCounts } from "./lmdb-tree-check.ts";

/** Words that the threads share which check a file together. */
export const WORD = {
  /** Subtrees that somebody has begun with. */
  next: 0,
  /** Pages that were read. */
  pages: 1,
  /** 0: no other thread has begun; 1: it has; 2: none may begin any more. */
  begun: 2,
  /** 1 once the other thread has read its last page, and sent what it found. */
  ended: 3,
  /** 1 once the result is no longer needed. */
  stopped: 4,
  count: 5,
} as const;

/** Shared by the threads that check the main tree of a file together. Each takes the next subtree that no thread has begun. */
export type SharedCheck = {
  readonly checked: CheckedFile;
  readonly depth: number;
  readonly subtrees: readonly Subtree[];
  readonly words: Int32Array<SharedArrayBuffer>;
};

/** Checks subtrees until all are done or the check is stopped. @throws LmdbFault, after which the other threads end too */
export function checkSubtrees(tree: TreeCheck, { subtrees, words }: SharedCheck): void {
  try {
    while (Atomics.load(words, WORD.stopped) === 0) {
      const index = Atomics.add(words, WORD.next, 1);
      if (index >= subtrees.length) return;
      tree.check(subtrees[index]!);
    }
  } catch (error) {
    Atomics.store(words, WORD.stopped, 1);
    throw error;
  }
}

export function addCounts(a: TreeCounts, b: TreeCounts | undefined): TreeCounts {
  if (b === undefined) return a;
  return {
    branches: a.branches + b.branches,
    leaves: a.leaves + b.leaves,
    overflows: a.overflows + b.overflows,
    entries: a.entries + b.entries,
  };
}
