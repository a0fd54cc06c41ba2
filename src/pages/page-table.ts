import { readFileSync } from "node:fs";

/** One file that browsers may get, as `scripts/pages.mjs` has written it. */
export type Page = {
  /** below the folder of the pages; compressed forms end with the encoding */
  readonly file: string;
  /** value of Content-Type */
  readonly type: string;
  readonly etag: string;
  /** the path changes with the content, so it may be stored for good */
  readonly isHashed: boolean;
  /** its scripts make WebAssembly */
  readonly runsWasm: boolean;
  /** Content-Encodings there are, best first */
  readonly encodings: readonly string[];
};

/** Pages by the path of their URL. */
export type PageTable = ReadonlyMap<string, Page>;

/** `dist/pages/`: two folders up from the sources and from the bundle alike. */
export const PAGES_FOLDER = new URL("../../dist/pages/", import.meta.url);

/**
 * The pages of the groups `names`; undefined when one of them is not built.
 * @param names of tables in `folder`, as `explorer`
 */
export function readPageTable(
  names: readonly string[],
  folder: URL = PAGES_FOLDER,
): PageTable | undefined {
  try {
    const tables = names.map((name) => readFileSync(new URL(`${name}.json`, folder), "utf8"));
    return new Map(
      tables.flatMap((text) => Object.entries(JSON.parse(text) as Record<string, Page>)),
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
