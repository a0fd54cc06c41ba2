export const MENU: readonly (readonly [section: string, files: readonly string[]])[];
export function filesOf(root: string): readonly string[];
export function pathOf(file: string): string;
