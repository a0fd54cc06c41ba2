export type Heading = { readonly depth: number; readonly id: string; readonly name: string };
export type Section = { readonly id: string; readonly title: string; readonly text: string };

export function renderMarkdown(
  text: string,
  linkOf: (href: string) => string | undefined,
): {
  readonly html: string;
  readonly title: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
};
