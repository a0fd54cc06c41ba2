/** Imports a package for the bundle: code from V8's code cache imports only with a warning on stderr, so this separate file has no cache. */
export const importPackage = (name: string): Promise<unknown> => import(name);
