/** Folder of this package: two folders up from `src/base/` and from `dist/bundle/` alike. */
export const PACKAGE_ROOT = new URL("../../", import.meta.url);
