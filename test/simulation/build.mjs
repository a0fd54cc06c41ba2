/** Bundles the program of the simulation with the node's sources, whose world is replaced: `kernel/` and `platform/` alone know the real one. */
import { existsSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const SIMULATION = "test/simulation";

/** Modules of the node that are native, need threads, or compute the same for all nodes; each has a replacement of the same name in `replacements/`. */
const REPLACED = {
  "src/store/storage/lmdb/lmdb-kv.ts": "lmdb-kv.ts",
  "src/store/storage/lmdb/lmdb-check.ts": "lmdb-check.ts",
  "src/store/storage/lock.ts": "lock.ts",
  "src/base/threads/pool.ts": "pool.ts",
  "src/base/crypto/kzg/cells.ts": "cells.ts",
  "src/base/crypto/kzg/scalar.ts": "scalar.ts",
  "src/base/crypto/secp256k1-native.ts": "secp256k1-native.ts",
  "src/base/crypto/compressed-public-key.ts": "compressed-public-key.ts",
};

/** Built-in modules that read nothing of the world. */
const PURE = [
  "diagnostics_channel",
  "assert",
  "buffer",
  "events",
  "path",
  "stream",
  "stream/consumers",
  "stream/promises",
  "string_decoder",
  "url",
  "util",
];
/** Those that only describe the program that runs, or load parts of it. */
const OF_THE_PROGRAM = [
  "module",
  "v8",
  "vm",
  "perf_hooks",
  "inspector",
  "diagnostics_channel",
  "async_hooks",
  "querystring",
  "punycode",
  "constants",
];
/** In a file of another name, or in none: what imports them runs in no simulation. */
const FILES = { "fs/promises": "fs.ts", "timers/promises": "timers-promises.ts", https: "http.ts" };
const ABSENT = ["tls", "dns", "dgram", "zlib/promises", "readline", "repl", "tty", "http2", "cluster"];

/**
 * @param {object} options
 * @param {string} options.root the package
 * @param {string} options.outfile
 * @param {readonly { readonly file: string, readonly from: string, readonly to: string }[]} [options.patches] deliberate faults in sources
 */
export async function buildSimulation({ root, outfile, patches = [] }) {
  const { build } = await import("esbuild");
  await build({
    absWorkingDir: root,
    entryPoints: [`${SIMULATION}/worker.ts`],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    inject: [`${SIMULATION}/platform/globals.ts`],
    define: { "Math.random": "simulatedRandom" },
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
    external: ["lmdb", "secp256k1", "libp2p", "@libp2p/*", "@chainsafe/*", "@multiformats/*", "solc"],
    sourcemap: "linked",
    sourcesContent: false,
    keepNames: false,
    logLevel: "error",
    plugins: [world(root), sources(root, patches)],
  });
}

/** Gives everything but kernel and platform the simulated world. */
function world(root) {
  const real = [join(root, SIMULATION, "kernel"), join(root, SIMULATION, "platform")];
  return {
    name: "simulated-world",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^(node:)?[a-z_0-9]+(\/[a-z]+)?$/ }, ({ path, importer }) => {
        const name = path.replace(/^node:/, "");
        if (real.some((folder) => importer.startsWith(folder)) && path.startsWith("node:"))
          return { path, external: true };
        if (PURE.includes(name) || OF_THE_PROGRAM.includes(name)) return { path: `node:${name}`, external: true };
        const file = join(root, SIMULATION, "platform", FILES[name] ?? `${name}.ts`);
        if (existsSync(file)) return { path: file };
        if (ABSENT.includes(name)) return { path: name, namespace: "absent" };
        if (isBuiltin(path)) return { errors: [{ text: `${path} would read the real world: add it to platform/` }] };
        return undefined;
      });
      onLoad({ filter: /./, namespace: "absent" }, () => ({ contents: "module.exports = {};" }));
      onResolve({ filter: /^original:/ }, ({ path }) => ({ path: join(root, path.slice("original:".length)) }));
      onResolve({ filter: /\.ts$/ }, ({ path, resolveDir, importer }) => {
        if (importer.startsWith(join(root, SIMULATION, "replacements"))) return undefined;
        const name = relative(root, resolve(resolveDir, path)).replaceAll("\\", "/");
        const replacement = REPLACED[name];
        return replacement && { path: join(root, SIMULATION, "replacements", replacement) };
      });
    },
  };
}

/** Modules find files by `import.meta.url`, which stays that of the source. */
function sources(root, patches) {
  return {
    name: "sources",
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
        const name = relative(root, path).replaceAll("\\", "/");
        if (name.startsWith("node_modules")) return undefined;
        let text = readFileSync(path, "utf8");
        for (const { file, from, to } of patches) {
          if (file !== name) continue;
          if (text.split(from).length !== 2) throw new Error(`the patch of ${file} does not fit: ${from}`);
          text = text.replace(from, () => to);
        }
        return { contents: text.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href)), loader: "ts" };
      }),
  };
}
