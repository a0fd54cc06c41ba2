/**
 * Compiles the tests and what they import, so that a test file starts in a fifth of the CPU time that transpiling it on the way in takes.
 * Modules that tests share are in files of their own, each once. Threads and processes of the node that tests start run from there too.
 *
 * A module costs Node.js up to a millisecond of CPU to find and link, whatever its size. Those of a node, which tests that start one need all, are one file.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join, relative } from "node:path";
import { pathToFileURL } from "node:url";

const ROOM = "scripts/test/room.mjs";
/** Tests that import it start nodes. */
const TEST_NODE = "test/support/test-node.ts";
/** Packages of many small modules, which are compiled like the tests. */
const PACKAGES = /^(?:viem|ox|abitype|ethers|@noble|@scure|@ethereumjs)(?:\/|$)/;

/**
 * @param root the package
 * @param outdir gets the compiled files; a folder in a folder of the package
 * @param groups tests that share a process: their paths below the package
 * @param programs modules that tests run in processes of their own
 * @returns paths of the compiled groups, in the same order
 */
export async function bundleTests(root, outdir, groups, programs) {
  const rooms = groups.filter((files) => files.length > 1);
  const entryOf = (files) =>
    files.length > 1 ? { in: `room:${rooms.indexOf(files)}`, out: `rooms/${rooms.indexOf(files)}` } : own(files[0]);
  const importsNode = (file) => readFileSync(join(root, file), "utf8").includes(`/${basename(TEST_NODE)}"`);
  const startNodes = groups.filter((files) => files.some(importsNode));
  const others = groups.filter((files) => !startNodes.includes(files));
  const plugins = [packages, roomEntries(root, rooms), sourceUrls(root, outdir, new Set(rooms.flat()))];
  await compile(root, outdir, startNodes.map(entryOf), [nodeAsOne(root), ...plugins]);
  await compile(root, outdir, others.map(entryOf), plugins);
  await compile(root, outdir, [...threadEntries(root), ...programs].map(own), plugins);
  // As `dist/bundle/worker.js` of the built node: the first argument names the module.
  const worker = `await import("../../" + process.argv[2] + ".mjs");\n`;
  mkdirSync(join(outdir, "src/base/threads"), { recursive: true });
  writeFileSync(join(outdir, "src/base/threads/worker.js"), worker);
  return groups.map((files) => join(outdir, `${entryOf(files).out}.mjs`));
}

async function compile(root, outdir, entryPoints, plugins) {
  const { build } = await import("esbuild");
  await build({
    absWorkingDir: root,
    entryPoints,
    outdir,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    chunkNames: "chunks/[name]-[hash]",
    sourcemap: "linked",
    sourcesContent: false,
    logLevel: "warning",
    keepNames: false,
    plugins,
  });
}

/** @param file below the package; its compiled form has the same place in the output */
function own(file) {
  return { in: file, out: file.replace(/\.ts$/, "") };
}

/** Modules that threads and processes run. */
function threadEntries(root) {
  return ["src", "test/support"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(?:thread|process)\.ts$/.test(file))
      .map((file) => `${folder}/${file}`),
  );
}

/** Other packages stay as they are: the folder of the compiled files is below the package's, so they are found as from the sources. */
const packages = {
  name: "packages",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || /^[\w-]+:/.test(path) || PACKAGES.test(path) ? undefined : { path, external: true },
    ),
};

/**
 * esbuild puts modules that the same entries need into one file. Each entry here imports `TEST_NODE`, and so does each module that is imported only when it
 * is needed, which is an entry to esbuild: all modules of a node have the same entries.
 */
function nodeAsOne(root) {
  const all = `import ${JSON.stringify(join(root, TEST_NODE))};`;
  return {
    name: "node-as-one",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^\./, namespace: "file" }, ({ path, kind, resolveDir }) =>
        kind === "dynamic-import" ? { path: join(resolveDir, path), namespace: "late" } : undefined,
      );
      onLoad({ filter: /.*/, namespace: "late" }, ({ path }) => ({
        contents: `${all} export * from ${JSON.stringify(path)};`,
        resolveDir: root,
      }));
    },
  };
}

/** The entry of a room imports its files one after the other and then runs their tests; `room.mjs` says how. */
function roomEntries(root, rooms) {
  return {
    name: "room-entries",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^room:/ }, ({ path }) => ({ path, namespace: "room" }));
      onResolve({ filter: /^test-file:/ }, ({ path }) => ({ path, namespace: "test-file" }));
      const room = join(root, ROOM);
      onResolve({ filter: /^node:test$/ }, ({ importer }) =>
        importer === room ? { path: "node:test", external: true } : { path: room },
      );
      onLoad({ filter: /.*/, namespace: "room" }, ({ path }) => ({
        contents: [
          `import { runFiles } from ${JSON.stringify(`./${ROOM}`)};`,
          ...rooms[Number(path.slice("room:".length))].map((file) => `import ${JSON.stringify(`./${file}`)};`),
          "runFiles();",
        ].join("\n"),
        resolveDir: root,
      }));
      onLoad({ filter: /.*/, namespace: "test-file" }, ({ path }) => ({
        contents: [
          `import { beginFile } from ${JSON.stringify(`./${ROOM}`)};`,
          `beginFile(${JSON.stringify(path.slice("test-file:".length))});`,
        ].join("\n"),
        resolveDir: root,
      }));
    },
  };
}

/** Modules find files by `import.meta.url`, which stays that of the source; what starts threads finds their compiled modules. */
function sourceUrls(root, outdir, inRooms) {
  return {
    name: "source-urls",
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.tsx?$/ }, ({ path }) => {
        const name = relative(root, path);
        if (name.startsWith("node_modules")) return undefined;
        const isStarter = path === join(root, "src/base/threads/start-thread.ts");
        const file = isStarter ? join(outdir, "src/base/threads/start-thread.mjs") : path;
        const url = JSON.stringify(pathToFileURL(file).href);
        const text = readFileSync(path, "utf8").replaceAll("import.meta.url", url);
        return {
          // On the first line, so that positions in stacks stay those of the source.
          contents: inRooms.has(name) ? `import "test-file:${name}"; ${text}` : text,
          loader: path.endsWith("x") ? "tsx" : "ts",
        };
      }),
  };
}
