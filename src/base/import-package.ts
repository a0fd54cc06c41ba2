import { fileURLToPath } from "node:url";
import { constants, Script } from "node:vm";

type Import = (name: string) => Promise<unknown>;

/**
 * Imports a package that the operator installs beside the node. The bundle is run from V8's code cache, and code from there cannot import: there a
 * script that is compiled now does it.
 */
export function packageImporter(): Import {
  if (import.meta.url.endsWith(".ts")) return (name) => import(name);
  const script = new Script("(name) => import(name)", {
    filename: fileURLToPath(import.meta.url),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  return script.runInThisContext() as Import;
}

/** The name of the package whose lack `error` reports; undefined where it is another error. */
export function missingPackage(error: unknown): string | undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== "ERR_MODULE_NOT_FOUND") return undefined;
  return /package '([^']+)'/.exec(message)?.[1] ?? "";
}
