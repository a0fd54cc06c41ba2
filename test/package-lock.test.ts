import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { LIBP2P_PACKAGES } from "../src/heritage/shh/peers/libp2p-transport.ts";
import { OPENTELEMETRY_PACKAGES } from "../src/node/observe/otlp-tracer.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

type Entry = {
  readonly version: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
};
type Lock = { readonly packages: Readonly<Record<string, Entry>> };

const read = (path: string): Lock => JSON.parse(readFileSync(path, "utf8"));
const lock = read(join(ROOT, "package-lock.json"));

/**
 * Binaries of development for other platforms than those this lock file was written on, whose registry did not have them. npm installs them on such a
 * platform without comparing a hash. `npm view NAME@VERSION dist.integrity` gives what to add here in place of the name.
 */
const WITHOUT_INTEGRITY: ReadonlySet<string> = new Set([
  ...["android-arm64", "android-x64", "darwin-arm64", "darwin-x64", "linux-arm64-musl"].map(
    (platform) => `@biomejs/cli-${platform}`,
  ),
  ...["linux-x64-musl", "win32-arm64", "win32-x64"].map((platform) => `@biomejs/cli-${platform}`),
  ...["anvil", "cast"].flatMap((program) =>
    ["darwin-amd64", "darwin-arm64", "linux-arm64", "win32-amd64"].map(
      (platform) => `@foundry-rs/${program}-${platform}`,
    ),
  ),
]);

test("every package of the lock file has a hash, but development's binaries for other platforms", () => {
  const entries = Object.entries(lock.packages).filter(([path, { link }]) => path !== "" && !link);
  assert.ok(entries.length > 100);
  for (const [path, { integrity, optional, dev }] of entries) {
    const name = path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);
    if (WITHOUT_INTEGRITY.has(name)) assert.ok(optional && dev, name);
    else assert.match(integrity ?? "", /^sha512-[A-Za-z0-9+/]{86}==$/, path);
  }
});

/** What decides about the content of the package, in a folder of its own: another test may pack this one. */
const FILES = ["package.json", "package-lock.json", "scripts/shrinkwrap.mjs", "bin", "test/setup.test.ts"];
const folder = mkdtempSync(join(tmpdir(), "evmint-package-"));
const SHRINKWRAP = join(folder, "npm-shrinkwrap.json");
const shrinkwrap = (...args: readonly string[]) =>
  execFileSync(process.execPath, [join(folder, "scripts/shrinkwrap.mjs"), ...args]);
const SBOM = join(folder, "sbom.json");
before(() => {
  execFileSync(process.execPath, [join(ROOT, "scripts/sbom.mjs"), SBOM]);
  for (const file of FILES) cpSync(join(ROOT, file), join(folder, file), { recursive: true });
  shrinkwrap();
});
after(() => rmSync(folder, { recursive: true }));

test("the package has a shrinkwrap with the versions and hashes of the lock file, and nothing of development", () => {
  const listing = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ files }] = JSON.parse(listing) as [{ files: readonly { readonly path: string }[] }];
  const paths = new Set(files.map(({ path }) => path));
  assert.ok(paths.has("npm-shrinkwrap.json") && paths.has("bin/evmintd.js"));
  for (const path of paths) assert.doesNotMatch(path, /^(test|scripts)/);
  const { "": root, ...packages } = read(SHRINKWRAP).packages;
  assert.equal("devDependencies" in root!, false);
  for (const [path, entry] of Object.entries(packages)) {
    assert.deepEqual(entry, lock.packages[path], path);
    assert.equal(entry.dev, undefined, path);
  }
  const { dependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(ROOT, "package.json"), "utf8"),
  ) as Readonly<Record<string, Readonly<Record<string, string>>>>;
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
    assert.ok(Object.hasOwn(packages, `node_modules/${name}`), name);
  }
});

/** Name and version of each package in the notices. */
function noticed(): readonly (readonly [name: string, version: string, text: string])[] {
  const text = readFileSync(join(ROOT, "dist/bundle/LICENSES.txt"), "utf8");
  const [head = "", ...others] = text.split("\n----\n\n");
  return [head.slice(head.indexOf("\n\n") + 2), ...others].map((notice) => {
    const [, name = "", version = ""] = /^(\S+) (\d\S*) \(\S+\)\n/.exec(notice) ?? [];
    assert.ok(lock.packages[`node_modules/${name}`] !== undefined, notice.slice(0, 80));
    return [name, version, notice] as const;
  });
}

test("the notices have every package whose code is in the bundle, the pages or the modules for browsers", () => {
  const notices = noticed();
  const names = new Set(notices.map(([name]) => name));
  // Of the bundle, the console, the explorer, its charts, the documentation, and as WebAssembly.
  for (const name of ["ws", "viem", "ox", "preact", "uplot", "minisearch", "mcl-wasm", "@noble/curves"]) {
    assert.ok(names.has(name), name);
  }
  for (const [name, , text] of notices) assert.match(text, /copyright/i, name);
});

test("the bill of materials has what an installation gets and what is in the files, and nothing else of development", () => {
  type Component = {
    readonly name: string;
    readonly version: string;
    readonly purl: string;
    readonly hashes?: readonly object[];
    readonly licenses?: readonly object[];
  };
  const { bomFormat, metadata, components, dependencies } = JSON.parse(readFileSync(SBOM, "utf8")) as {
    readonly bomFormat: string;
    readonly metadata: { readonly component: Component };
    readonly components: readonly Component[];
    readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
  };
  assert.equal(bomFormat, "CycloneDX");
  assert.equal(metadata.component.name, "evmint");
  const installed = Object.entries(read(SHRINKWRAP).packages)
    .filter(([path]) => path !== "")
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf("node_modules/") + 13)}@${version}`);
  const bundled = noticed().map(([name, version]) => `${name}@${version}`);
  const listed = components.map(({ name, version }) => `${name}@${version}`);
  assert.deepEqual([...new Set(listed)].sort(), [...new Set([...installed, ...bundled])].sort());
  for (const { name, hashes, licenses } of components) {
    assert.equal(hashes?.length, 1, name);
    assert.ok(licenses?.length, name);
  }
  assert.equal(dependencies.length, components.length + 1);
  // Made again it is the same.
  const again = join(folder, "again.json");
  execFileSync(process.execPath, [join(ROOT, "scripts/sbom.mjs"), again]);
  assert.equal(readFileSync(again, "utf8"), readFileSync(SBOM, "utf8"));
});

/** What a registry takes without a question, and what an install downloads before its dependencies. */
const PACKED_BYTES_MAX = 5e6;
const UNPACKED_BYTES_MAX = 15e6;

test("the package is small, has its documentation once, and brings neither libp2p nor OpenTelemetry", () => {
  const listing = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: ROOT,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  type Listing = {
    readonly size: number;
    readonly unpackedSize: number;
    readonly files: readonly { readonly path: string }[];
  };
  const [{ size, unpackedSize, files }] = JSON.parse(listing) as [Listing];
  const paths = files.map(({ path }) => path);
  assert.ok(paths.includes("dist/pages/docs/index.html.gz"));
  assert.ok(paths.includes("dist/bundle/LICENSES.txt"));
  assert.deepEqual(
    paths.filter((path) => path.startsWith("docs/")),
    [],
  );
  const sbomBytes = paths.includes("dist/sbom.json") ? 0 : gzipSync(readFileSync(SBOM)).length;
  assert.ok(size + sbomBytes <= PACKED_BYTES_MAX, `${size} and ${sbomBytes} bytes packed`);
  assert.ok(unpackedSize <= UNPACKED_BYTES_MAX, `${unpackedSize} bytes unpacked`);
  for (const path of Object.keys(read(SHRINKWRAP).packages)) assert.doesNotMatch(path, /libp2p|opentelemetry/);
});

test("the errors that name optional packages have the versions that are tested", () => {
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  // The hosts of plugins are there before the plugin.
  const hosts = new Set(["hardhat", "vitest"]);
  const named = Object.entries(manifest.peerDependencies).filter(([name]) => !hosts.has(name));
  const peers = named.map(([name, version]) => `${name}@${version}`);
  assert.deepEqual([...LIBP2P_PACKAGES, ...OPENTELEMETRY_PACKAGES].sort(), peers.sort());
  // The page has the command to copy.
  const page = readFileSync(join(ROOT, "docs/guides/monitoring.md"), "utf8");
  assert.ok(page.includes(`npm install ${OPENTELEMETRY_PACKAGES.join(" ")}\n`));
  for (const name of Object.keys(manifest.peerDependencies)) {
    assert.deepEqual(manifest.peerDependenciesMeta[name], { optional: true });
    assert.match(manifest.peerDependencies[name], /^\^?\d+\.\d+\.\d+(?: \|\| \^\d+\.0\.0)*$/, name);
    if (!hosts.has(name)) assert.equal(manifest.devDependencies[name], manifest.peerDependencies[name]);
  }
});

test("packing writes the shrinkwrap and removes it, and so does the image", () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  // npm prefers the shrinkwrap, which lacks the packages whose code is bundled.
  assert.match(scripts.prepack, /scripts\/sbom\.mjs && node scripts\/shrinkwrap\.mjs$/);
  assert.match(scripts.postpack, /scripts\/shrinkwrap\.mjs --remove$/);
  assert.ok(existsSync(SHRINKWRAP));
  shrinkwrap("--remove");
  assert.ok(!existsSync(SHRINKWRAP));
  const dockerfile = readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8");
  assert.match(dockerfile, /sbom\.mjs && node scripts\/shrinkwrap\.mjs && npm pack --ignore-scripts/);
});
