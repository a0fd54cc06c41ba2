/**
 * @param root the package
 * @param outdir gets the compiled files; a folder in a folder of the package
 * @param groups tests that share a process: their paths below the package
 * @param programs modules that tests run in processes of their own
 * @returns paths of the compiled groups, in the same order
 */
export function bundleTests(
  root: string,
  outdir: string,
  groups: readonly (readonly string[])[],
  programs: readonly string[],
): Promise<readonly string[]>;
