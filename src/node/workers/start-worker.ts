import { Worker, type WorkerOptions } from "node:worker_threads";

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
