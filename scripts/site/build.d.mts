export type SiteFile = {
  readonly path: string;
  readonly content: string | Uint8Array;
  readonly isHashed?: boolean;
};

export function sitePages(root: string): Promise<readonly SiteFile[]>;
