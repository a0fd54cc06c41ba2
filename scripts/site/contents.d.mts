export const MENU: readonly (readonly [section: string, files: readonly string[]])[];
export function pathOf(file: string): string;
