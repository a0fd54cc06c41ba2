/** Builds the explorer: `src/explorer/ui/` and what it takes from the node, as scripts for browsers. See ADR 86. */
import { readFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { writePages } from "./pages.mjs";

const FOLDER = "/explorer/";

/** Modules of the node that browsers get another implementation of: their policy forbids WebAssembly. */
const REPLACED = {
  "src/primitives/keccak.ts": "src/explorer/browser/keccak.ts",
  "src/crypto/secp256k1-native.ts": "src/explorer/browser/secp256k1.ts",
  "src/crypto/secp256k1-wasm.ts": "src/explorer/browser/secp256k1.ts",
};

/**
 * @param root the package
 * @param outdir `dist/pages`
 * @returns bytes of all pages by encoding
 */
export async function buildExplorer(root, outdir) {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: { main: "src/explorer/ui/main.tsx", style: "src/explorer/ui/style.css" },
    outdir: "explorer",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    ...{ bundle: true, splitting: true, format: "esm", target: "es2022", minify: true },
    ...{ jsx: "automatic", jsxImportSource: "preact", platform: "browser", legalComments: "none" },
    inject: ["src/explorer/browser/buffer.ts"],
    plugins: [replaceModules(root)],
    ...{ write: false, logLevel: "warning" },
  });
  const files = outputFiles.map(({ path, contents }) => ({
    path: `${FOLDER}${basename(path)}`,
    content: contents,
    isHashed: true,
  }));
  const pathOf = (pattern) => files.find(({ path }) => pattern.test(path)).path;
  const template = readFileSync(join(root, "src/explorer/ui/index.html"), "utf8");
  const html = template
    .replace("STYLE", pathOf(/\/style-.*\.css$/))
    .replace("SCRIPT", pathOf(/\/main-.*\.js$/));
  return writePages(outdir, "explorer", [{ path: FOLDER, content: html }, ...files]);
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
