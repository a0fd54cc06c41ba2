import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";

/** A position in a file of code, lines and columns from 1. */
export type SourcePosition = {
  readonly file: string;
  readonly line: number;
  readonly column: number;
};

/**
 * Maps positions in bundled files to the sources, by the source map beside each file. Loads a map on first use; positions in files without one
 * are unchanged.
 */
export function createSourcePositions(): (position: SourcePosition) => SourcePosition {
  const maps = new Map<string, SourceMap | undefined>();

  function mapOf(file: string): SourceMap | undefined {
    if (!maps.has(file)) {
      const path = `${file}.map`;
      const text = existsSync(path) ? readFileSync(path, "utf8") : undefined;
      maps.set(file, text === undefined ? undefined : new SourceMap(JSON.parse(text)));
    }
    return maps.get(file);
  }

  return (position) => {
    const entry = mapOf(position.file)?.findEntry(position.line - 1, position.column - 1);
    if (entry === undefined || !("originalSource" in entry)) return position;
    return {
      file: entry.originalSource,
      line: entry.originalLine + 1,
      column: entry.originalColumn + 1,
    };
  };
}
