/**
 * Makes a bare clone ready: dependencies installed, `dist/` built. Runs before `npm start` and `npm test`, so it is silent
 * and takes a few tens of milliseconds when there is nothing to do. Plain JavaScript without dependencies: it runs before
 * either exists. `--build` builds in any case.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { browserInputs, buildBrowser } from "./browser.mjs";
import { bundle, bundlePlugins, writeLicenses } from "./bundle.mjs";
import { buildExplorer } from "./explorer.mjs";
import { publishTypes } from "./types.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const modules = join(root, "node_modules");
const dist = join(root, "dist");
const installStamp = join(modules, ".evmint-installed");
const buildStamp = join(dist, ".evmint-built");
/** Generated from the other sources, and therefore not one of the build's inputs. */
const METHOD_TYPES = "src/rpc/method-types.ts";

/** Binaries of the compiler and the bundler, without which nothing is built, and the store's. */
const BUILD_BINARIES = [
  `@typescript/typescript-${process.platform}-${process.arch}`,
  `@esbuild/${process.platform}-${process.arch}`,
];
const STORE_BINARY = `@lmdb/lmdb-${process.platform}-${process.arch}`;

/** Files beside the sources on which the build depends. */
const BUILD_INPUTS = [
  "package-lock.json",
  "scripts/browser.mjs",
  "scripts/bundle.mjs",
  "scripts/explorer.mjs",
  "scripts/pages.mjs",
  "scripts/rpc-types.ts",
  "scripts/types.mjs",
  "scripts/warm-up.mjs",
  "tsconfig.build.json",
  "tsconfig.json",
];

class SetupError extends Error {}

try {
  checkNodeVersion();
  installDependencies();
  await build(process.argv.includes("--build"));
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  say(error.message);
  process.exitCode = 1;
}

function checkNodeVersion() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  fail(`Evmint needs Node.js 20.19 or newer; this is ${process.version} (${process.execPath}).`);
}

function installDependencies() {
  const lock = readFileSync(join(root, "package-lock.json"));
  const wanted = createHash("sha256").update(lock).digest("hex");
  if (read(installStamp) === wanted) return;
  const linked = lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
  // No stamp, yet complete: installed by hand. A link belongs to another checkout, whose stamp may be of its own lock file.
  const missing = linked || read(installStamp) === undefined ? missingPackages(lock) : ["(stale)"];
  if (missing.length === 0) {
    if (!linked) writeFileSync(installStamp, wanted);
    return;
  }
  if (linked) {
    // `npm ci` would empty the folder behind the link: its owner has to install.
    say(`node_modules is a link to a folder without ${missing.join(", ")}; going on with it`);
    return;
  }
  say("first start: installing dependencies (npm ci), then a build; one to three minutes in all …");
  const started = Date.now();
  // Development dependencies too, whatever NODE_ENV says: the compiler is one, and its binary is an optional package.
  const include = ["--include=dev", "--include=optional"];
  const options = [...include, "--no-audit", "--no-fund", "--loglevel=error"];
  if (!tryRun("npm", ["ci", ...options])) {
    // `npm ci` refuses a lock file that lacks any platform's optional package, and a registry may not have them all. This
    // keeps to the versions in the lock file too, and writes nothing but node_modules.
    say("npm ci failed; trying npm install …");
    run("npm", ["install", "--no-save", ...options]);
  }
  const leftOut = leftOutBinaries(lock);
  if (leftOut.some((name) => BUILD_BINARIES.includes(name))) {
    fail(`npm left out ${leftOut.join(", ")}: install with "npm ci ${include.join(" ")}"`);
  }
  writeFileSync(installStamp, wanted);
  say(`dependencies installed in ${seconds(started)}`);
}

/** Binaries for this machine that the lock file has and npm left out, as with `npm ci --omit=optional`. */
function leftOutBinaries(lock) {
  const installed = installedPackages() ?? {};
  const { packages } = JSON.parse(lock);
  return [...BUILD_BINARIES, STORE_BINARY].filter((name) => {
    const path = `node_modules/${name}`;
    return packages[path] !== undefined && installed[path] === undefined;
  });
}

/** npm's own record of the last finished installation. */
function installedPackages() {
  const record = read(join(modules, ".package-lock.json"));
  return record === undefined ? undefined : JSON.parse(record).packages;
}

/** Packages the lock file wants and the last finished installation does not have. */
function missingPackages(lock) {
  const installed = installedPackages();
  if (installed === undefined) return ["an installation"];
  const missing = Object.entries(JSON.parse(lock).packages)
    .filter(([path, { version, optional }]) => {
      const found = installed[path]?.version;
      return path !== "" && found !== version && !(optional && found === undefined);
    })
    .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, "")}@${version}`);
  return [...missing, ...leftOutBinaries(lock)];
}

async function build(always) {
  const wanted = sourceFingerprint();
  if (!always && read(buildStamp) === wanted && existsSync(join(root, METHOD_TYPES))) return;
  say("building, about a minute …");
  const started = Date.now();
  // Built aside and moved into place: a node that is running loads its modules from a whole folder.
  const fresh = join(root, `.cache/dist-${process.pid}`);
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const compiler = join(modules, "typescript/bin/tsc");
  try {
    run(process.execPath, ["--import", "tsx", "scripts/rpc-types.ts", METHOD_TYPES]);
    // The types; the code is in the bundle alone.
    run(process.execPath, [compiler, "-p", "tsconfig.build.json", "--outDir", fresh]);
    publishTypes(fresh);
    const inputs = await bundle(root, join(fresh, "bundle"));
    await bundlePlugins(root, join(fresh, "plugins"));
    const { metafile } = await buildBrowser(root, join(fresh, "browser"));
    inputs.push(...browserInputs(metafile));
    await buildExplorer(root, join(fresh, "pages"), inputs);
    // Not imported before: it needs packages that have just been installed.
    const { buildSite } = await import("./site/build.mjs");
    await buildSite(root, join(fresh, "pages"), inputs);
    writeLicenses(root, join(fresh, "bundle"), inputs);
    writeFileSync(join(fresh, ".evmint-built"), wanted);
    const old = `${fresh}-old`;
    if (existsSync(dist)) renameSync(dist, old);
    renameSync(fresh, dist);
    rmSync(old, { recursive: true, force: true });
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  // Without its compiled code the node only starts slower.
  if (!tryRun(process.execPath, [join(root, "scripts/warm-up.mjs")])) say("no code cache");
  say(`built in ${seconds(started)}`);
}

/** Changes when a source file appears, goes or is written. Names, sizes and times: reading contents would cost more than it finds. */
function sourceFingerprint() {
  const hash = createHash("sha256");
  for (const name of [...BUILD_INPUTS, ...sources("src")]) {
    const { size, mtimeMs } = statSync(join(root, name));
    hash.update(`${name} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}

function sources(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return sources(path);
      const isSource = /\.(tsx?|css|html)$/.test(path) && !path.endsWith(".test.ts") && path !== METHOD_TYPES;
      return isSource ? [path] : [];
    });
}

function run(program, args) {
  if (!tryRun(program, args)) fail(`${[program, ...args].join(" ")} failed`);
}

function tryRun(program, args) {
  // Standard output may be what a script reads from `npm start`: progress goes to standard error.
  const { status, error } = spawnSync(program, args, {
    cwd: root,
    stdio: ["ignore", 2, 2],
    shell: process.platform === "win32",
  });
  if (error) say(`${program}: ${error.message}`);
  return status === 0;
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function say(text) {
  process.stderr.write(`evmint: ${text}\n`);
}

function fail(text) {
  throw new SetupError(text);
}

function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
