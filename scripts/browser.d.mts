import type { BuildResult, Metafile } from "esbuild";

export function buildBrowser(
  root: string,
  outdir: string,
  plugins?: readonly object[],
): Promise<BuildResult<{ metafile: true }>>;

export function browserInputs(metafile: Metafile): string[];
