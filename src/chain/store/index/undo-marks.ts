import type { KvUndo } from "../../../storage/kv.ts";

/** The states of an index after its newest blocks, as far as the store can go back to them. */
export class UndoMarks {
  readonly #undo: KvUndo | undefined;
  /** By block number, ascending. */
  readonly #marks = new Map<number, number>();

  /** @param undo undefined: there are never any marks */
  constructor(undo: KvUndo | undefined) {
    this.#undo = undo;
  }

  /** The rows are those of the state after block `number`. */
  add(number: number): void {
    if (this.#undo === undefined) return;
    this.#marks.set(number, this.#undo.mark());
    for (const [oldest, mark] of this.#marks) {
      if (this.#undo.canUndoTo(mark)) break;
      this.#marks.delete(oldest);
    }
  }

  /** To be called when something moves from memory into rows, or rows change otherwise: undoing that would lose it. */
  clear(): void {
    this.#marks.clear();
  }

  /** Undoes what was written since block `number` was added; false, and nothing happens, where that is not possible. */
  undoTo(number: number): boolean {
    const mark = this.#marks.get(number);
    if (this.#undo === undefined || mark === undefined || !this.#undo.canUndoTo(mark)) return false;
    this.#undo.undoTo(mark);
    let newer = number + 1;
    while (this.#marks.delete(newer)) newer++;
    return true;
  }
}
