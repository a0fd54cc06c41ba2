export type SiteFile = {
  readonly path: string;
  readonly content: string | Uint8Array;
  readonly isHashed?: boolean;
  readonly runsWasm?: boolean;
};

export function sitePages(root: string): Promise<readonly SiteFile[]>;
