/**
 * @param root the package
 * @param groups tests that share a process: their paths below the package
 * @returns paths of the compiled groups, in the same order
 */
export function bundleTests(root: string, groups: readonly (readonly string[])[]): Promise<readonly string[]>;
