/** Builds the explorer: `src/web/explorer/ui/` and what it takes from the node, as scripts for browsers. See ADR 86. */
import { readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { writePages } from "./pages.mjs";

const FOLDER = "/explorer/";

/** Modules of the node that browsers get another implementation of: their policy forbids WebAssembly. */
const REPLACED = {
  "src/base/primitives/keccak.ts": "src/web/explorer/browser/keccak.ts",
  "src/base/primitives/keccak-pair-wasm.ts": "src/web/explorer/browser/keccak-pair.ts",
  "src/base/crypto/secp256k1-native.ts": "src/web/explorer/browser/secp256k1.ts",
  "src/base/crypto/secp256k1-wasm.ts": "src/web/explorer/browser/secp256k1.ts",
};

/**
 * @param root the package
 * @param outdir `dist/pages`
 * @param inputs receives the files of which the pages are made
 * @returns bytes of all pages by encoding
 */
export async function buildExplorer(root, outdir, inputs) {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    ...browserBuild(root),
    entryPoints: {
      first: "src/web/explorer/ui/first-block.ts",
      main: "src/web/explorer/ui/main.tsx",
      style: "src/web/explorer/ui/style.css",
    },
    outdir: "explorer",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    splitting: true,
    jsx: "automatic",
    jsxImportSource: "preact",
    write: false,
    metafile: true,
  });
  inputs.push(...Object.keys(metafile.inputs));
  const files = outputFiles.map(({ path, contents }) => ({
    path: `${FOLDER}${basename(path)}`,
    content: contents,
    isHashed: true,
  }));
  const pathOf = (pattern) => files.find(({ path }) => pattern.test(path)).path;
  const script = pathOf(/\/main-.*\.js$/);
  // Without these a browser learns of a chunk only when it has read the script before it.
  const preloads = staticImports(metafile, `explorer/${basename(script)}`)
    .map((chunk) => `<link rel="modulepreload" href="${FOLDER}${basename(chunk)}">`)
    .join("\n    ");
  const html = readFileSync(join(root, "src/web/explorer/ui/index.html"), "utf8")
    .replace("<!-- PRELOADS -->", preloads)
    .replace("STYLE", pathOf(/\/style-.*\.css$/))
    .replace("FIRST", pathOf(/\/first-.*\.js$/))
    .replace("SCRIPT", script);
  return writePages(outdir, "explorer", [{ path: FOLDER, content: html }, ...files]);
}

/** Chunks that `output` needs before it runs, at any depth. */
function staticImports({ outputs }, output, found = new Set()) {
  for (const { path, kind } of outputs[output].imports) {
    if (kind !== "import-statement" || found.has(path)) continue;
    found.add(path);
    staticImports({ outputs }, path, found);
  }
  return [...found];
}

/** esbuild's options for modules of the node in browsers. */
export function browserBuild(root) {
  return {
    absWorkingDir: root,
    bundle: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    inject: ["src/package/browser/platform/buffer.ts"],
    plugins: [replaceModules(root)],
    legalComments: "none",
    logLevel: "warning",
  };
}

function replaceModules(root) {
  return {
    name: "replace-modules",
    setup({ onResolve }) {
      onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => {
        const replacement = REPLACED[relative(root, join(resolveDir, path)).replaceAll("\\", "/")];
        return replacement && { path: join(root, replacement) };
      });
    },
  };
}
