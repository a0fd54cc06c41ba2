import { fileURLToPath } from "node:url";
import { Worker, type WorkerOptions } from "node:worker_threads";

/** The module `entry` of this directory as `fork` takes it, with the arguments of Node.js that it needs. */
export function forkTarget(entry: string): {
  readonly path: string;
  readonly execArgv: readonly string[];
} {
  const isBuilt = import.meta.url.endsWith(".js");
  const url = new URL(`./${entry}.${isBuilt ? "js" : "ts"}`, import.meta.url);
  return {
    path: fileURLToPath(url),
    execArgv: isBuilt ? [] : ["--import", import.meta.resolve("tsx")],
  };
}

/**
 * A thread that runs the module `entry` of this directory, named without its extension. Once built, the module is a JavaScript
 * file; from the sources it is TypeScript, which a thread of Node 20 has to be taught.
 */
export function startWorker(entry: string, options: WorkerOptions): Worker {
  if (import.meta.url.endsWith(".js")) {
    return new Worker(new URL(`./${entry}.js`, import.meta.url), options);
  }
  const { href } = new URL(`./${entry}.ts`, import.meta.url);
  const code = `import("tsx/esm/api").then(({ register }) => { register(); return import("${href}"); });`;
  return new Worker(code, { ...options, eval: true });
}
