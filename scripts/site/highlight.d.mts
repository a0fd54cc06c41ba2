export function highlight(code: string, lang?: string): string;
