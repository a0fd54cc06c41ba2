/** Builds `dist/browser/`: the node as modules for browsers, from `src/package/browser/` and what it takes from the node. See ADR 91. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, relative } from "node:path";
import { pathToFileURL } from "node:url";

const BROWSER = "src/package/browser";
const REPLACEMENTS = `${BROWSER}/replacements`;
const PLATFORM = `${BROWSER}/platform`;

/** Modules of the node that need a process, a port, native code or a file of a package. Each has a replacement of the same name. */
const REPLACED = [
  "src/node/config/package.ts",
  "src/base/crypto/kzg/cell-setup-file.ts",
  "src/base/crypto/kzg/trusted-setup-file.ts",
  "src/base/crypto/wasm-files.ts",
  "src/node/chain-files/chain-file-io.ts",
  "src/base/threads/pool.ts",
  "src/evm/tracing/js/quickjs-file.ts",
];

/** Those that do nothing in a page, or that it has not. `absent.ts` has the exports of all. */
const ABSENT = [
  "src/chain/store/index/index-place.ts",
  "src/node/calls/execution-threads.ts",
  "src/node/calls/speculation-threads.ts",
  "src/dev/fork/remote-thread.ts",
  "src/node/processes/rpc-processes.ts",
  "src/node/services/solidity-compiler.ts",
  "src/base/threads/serve-thread.ts",
  "src/base/crypto/secp256k1-native.ts",
  "src/node/roles/chain/network-engine.ts",
  "src/node/config/tls-files.ts",
  "src/node/observe/metrics-listener.ts",
  "src/node/observe/other-requests.ts",
  "src/node/observe/otlp-tracer.ts",
  "src/node/profiling/runtime-port.ts",
  "src/rpc/transport/server/server.ts",
  "src/heritage/shh/peers/libp2p-transport.ts",
  "src/store/storage/lmdb/background-lmdb-check.ts",
  "src/store/storage/lmdb/lmdb-check.ts",
  "src/store/storage/lmdb/lmdb-kv.ts",
  "src/store/storage/lock.ts",
  "src/base/telemetry/source-positions.ts",
];

/** Built-in modules of Node that are a few lines for a page; any other one is in a file of its name. */
const FILES_OF_BUILT_IN = {
  "node:fs/promises": "fs.ts",
  "node:net": "system.ts",
  "node:os": "system.ts",
  "node:v8": "system.ts",
};

/** Modules whose tables take milliseconds to make, with their exports: they are evaluated at the first call of one. */
const EVALUATED_LATE = {
  [`${PLATFORM}/ciphers.ts`]: ["createCipheriv", "createDecipheriv"],
  [`${PLATFORM}/ecdh.ts`]: ["createECDH", "convertKey"],
};

const require = createRequire(import.meta.url);

/** WebAssembly of packages, where a module imports `wasm:NAME`. */
const WASM = {
  mcl() {
    const source = readFileSync(require.resolve("mcl-wasm/dist/mcl_c.js"), "latin1");
    return Buffer.from(/wasmBase64 = '([A-Za-z0-9+/=]+)'/.exec(source)[1], "base64");
  },
  quickjs: () => readFileSync(require.resolve("@jitl/quickjs-wasmfile-release-sync/wasm")),
};

/** Packages of WebAssembly, which the bundler does not see as files. */
const WASM_PACKAGES = { mcl: "mcl-wasm", quickjs: "@jitl/quickjs-wasmfile-release-sync" };

/** Files of which `buildBrowser` made the modules. */
export function browserInputs({ inputs }) {
  return Object.keys(inputs).map((input) => {
    const wasm = /^built:wasm:(\w+)$/.exec(input)?.[1];
    return wasm === undefined ? input : `node_modules/${WASM_PACKAGES[wasm]}/wasm`;
  });
}

/**
 * @param root the package
 * @param outdir `dist/browser`
 * @param plugins of `bundle.mjs`
 */
export async function buildBrowser(root, outdir, plugins = []) {
  const { build } = await import("esbuild");
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return build({
    absWorkingDir: root,
    entryPoints: { index: `${BROWSER}/index.ts`, worker: `${BROWSER}/worker/worker.ts` },
    outdir,
    chunkNames: "[name]-[hash]",
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    minify: true,
    legalComments: "none",
    charset: "utf8",
    inject: [`${PLATFORM}/globals.ts`],
    plugins: [
      replaceModules(root),
      trimSetups(root),
      evaluateLate(root),
      builtModules(version),
      keepErrorNames,
      ...plugins,
    ],
    metafile: true,
    logLevel: "warning",
  });
}

function replaceModules(root) {
  return {
    name: "replace-modules",
    setup({ onResolve }) {
      onResolve({ filter: /^node:/ }, ({ path }) => {
        const name = FILES_OF_BUILT_IN[path] ?? `${path.slice(5).replace("/", "-")}.ts`;
        const file = join(root, PLATFORM, name);
        return existsSync(file) ? { path: file } : undefined;
      });
      onResolve({ filter: /\.ts$/ }, ({ path, resolveDir }) => {
        const name = relative(root, join(resolveDir, path)).replaceAll("\\", "/");
        if (ABSENT.includes(name)) return { path: join(root, REPLACEMENTS, "absent.ts") };
        if (!REPLACED.includes(name)) return undefined;
        return { path: join(root, REPLACEMENTS, basename(name)) };
      });
    },
  };
}

/** Bytes of a coordinate of a point. */
const COORDINATE = 48;

/**
 * Of the files of the ceremony, which have the points in several forms, those that `src/base/crypto/kzg/` uses. As base64 they take 100 KB less
 * under gzip than as hex.
 */
function trimSetups(root) {
  const pointsModule = (points, coordinates, exported) => {
    const digits = points.map((point) => point.replace("0x", "").replace(" ", "")).join("");
    const bytes = Buffer.from(digits, "hex");
    if (bytes.length !== points.length * coordinates * COORDINATE)
      throw new Error("points of the ceremony have another form");
    return {
      resolveDir: root,
      contents: `
        import { decodeText, encodeText } from "./${PLATFORM}/text-encodings.ts";
        const bytes = decodeText("${bytes.toString("base64")}", "base64");
        const coordinate = (i) => encodeText(bytes.subarray(i * ${COORDINATE}, (i + 1) * ${COORDINATE}), "hex");
        const point = (_, i) => "0x" + ${coordinates === 1 ? "coordinate(i)" : `coordinate(2 * i) + " " + coordinate(2 * i + 1)`};
        const points = Array.from({ length: ${points.length} }, point);
        ${exported}`,
    };
  };
  return {
    name: "trim-setups",
    setup({ onLoad }) {
      onLoad({ filter: /[/\\]trusted-setups[/\\]fast-peerdas\.js$/ }, async ({ path }) => {
        const { trustedSetup } = await import(pathToFileURL(path).href);
        return pointsModule(trustedSetup.fk20, 2, "export const trustedSetup = { fk20: points };");
      });
      onLoad({ filter: /[/\\]trusted-setups[/\\]trusted_setup\.json$/ }, ({ path }) => {
        const { g1_monomial } = JSON.parse(readFileSync(path, "utf8"));
        return pointsModule(g1_monomial, 1, "export default { g1_monomial: points };");
      });
    },
  };
}

function evaluateLate(root) {
  return {
    name: "evaluate-late",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /\.ts$/ }, ({ path, resolveDir, kind }) => {
        const name = relative(root, join(resolveDir, path)).replaceAll("\\", "/");
        return kind === "import-statement" && name in EVALUATED_LATE ? { path: name, namespace: "late" } : undefined;
      });
      onLoad({ filter: /./, namespace: "late" }, ({ path }) => ({
        contents: EVALUATED_LATE[path]
          .map((name) => `export const ${name} = (...args) => require("./${path}").${name}(...args);`)
          .join("\n"),
        resolveDir: root,
      }));
    },
  };
}

/** Names of errors are shown to people. esbuild's `keepNames` keeps all others too, at the price of a call for each closure that is made. */
const keepErrorNames = {
  name: "keep-error-names",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, "utf8").replace(
        /^(?:export )?class (\w+Error) extends [^{]+\{/gm,
        '$& static { Object.defineProperty(this, "name", { value: "$1" }); }',
      ),
      loader: "ts",
    })),
};

/** Modules whose content is made now: see `src/package/browser/built-modules.d.ts`. */
function builtModules(version) {
  return {
    name: "built-modules",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^(wasm|evmint):/ }, ({ path }) => ({ path, namespace: "built" }));
      onLoad({ filter: /^wasm:/, namespace: "built" }, ({ path }) => ({
        // Base64 would be a quarter longer under gzip.
        contents: WASM[path.slice(5)]().toString("latin1"),
        loader: "text",
      }));
      onLoad({ filter: /^evmint:version$/, namespace: "built" }, () => ({
        contents: version,
        loader: "text",
      }));
    },
  };
}
