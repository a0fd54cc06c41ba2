/** Where the code of a contract came from, as solc's source maps say. */
export type SourceMap = {
  /** `s:l:f:j:m;…`, one entry for each instruction; what is left out is as in the entry before. */
  readonly text: string;
  /** Path and text of a source by its number in the compilation; undefined where the artifact does not have it. */
  readonly source: (index: number) => { readonly path: string; readonly text: string } | undefined;
};

const PUSH1 = 0x60;
const PUSH32 = 0x7f;

/**
 * `path:line` of the instruction that ran last and has a place in the sources: a revert is in code of the compiler's own, which has none.
 * @param pcs program counters in the order in which they ran
 */
export function lineOf(
  pcs: readonly number[],
  code: Uint8Array,
  { text, source }: SourceMap,
): string | undefined {
  const entries = entriesOf(text);
  const indexes = instructionIndexes(code);
  for (const pc of [...pcs].reverse()) {
    const entry = entries[indexes.get(pc) ?? -1];
    const file = entry && entry.file >= 0 ? source(entry.file) : undefined;
    if (entry === undefined || file === undefined) continue;
    const before = Buffer.from(file.text).subarray(0, entry.start).toString();
    return `${file.path}:${before.split("\n").length}`;
  }
  return undefined;
}

type Entry = { readonly start: number; readonly file: number };

function entriesOf(text: string): readonly Entry[] {
  let start = 0;
  let file = -1;
  return text.split(";").map((entry) => {
    const [from = "", , index = ""] = entry.split(":");
    if (from !== "") start = Number(from);
    if (index !== "") file = Number(index);
    return { start, file };
  });
}

/** Number of the instruction at each program counter. */
function instructionIndexes(code: Uint8Array): ReadonlyMap<number, number> {
  const indexes = new Map<number, number>();
  for (let pc = 0, index = 0; pc < code.length; pc++, index++) {
    indexes.set(pc, index);
    const opcode = code[pc]!;
    if (opcode >= PUSH1 && opcode <= PUSH32) pc += opcode - PUSH1 + 1;
  }
  return indexes;
}
