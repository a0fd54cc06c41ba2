/** Imports a package for the bundle: code from V8's code cache imports only with a warning on stderr. A file of its own, which has no such cache. */
export const importPackage = (name: string): Promise<unknown> => import(name);
