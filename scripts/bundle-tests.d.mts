/**
 * @param root the package
 * @param files paths of tests below it
 * @returns paths of the compiled files, in the same order
 */
export function bundleTests(root: string, files: readonly string[]): Promise<readonly string[]>;
