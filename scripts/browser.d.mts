import type { BuildResult } from "esbuild";

export function buildBrowser(
  root: string,
  outdir: string,
  plugins?: readonly object[],
): Promise<BuildResult<{ metafile: true }>>;
