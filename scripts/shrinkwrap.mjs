/**
 * Writes `npm-shrinkwrap.json` for the package that is being packed: the versions and hashes of `package-lock.json` without those of
 * development, so that an installation has the packages that were tested. `--remove` removes it: npm prefers it to the lock file in
 * a checkout.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";

const lockFile = new URL("../package-lock.json", import.meta.url);
const shrinkwrapFile = new URL("../npm-shrinkwrap.json", import.meta.url);

if (process.argv.includes("--remove")) rmSync(shrinkwrapFile, { force: true });
else {
  const lock = JSON.parse(readFileSync(lockFile, "utf8"));
  const { devDependencies: _, ...root } = lock.packages[""];
  // `devOptional` ones belong to an optional package too.
  const installed = Object.entries(lock.packages).filter(([path, { dev }]) => path !== "" && !dev);
  const packages = Object.fromEntries([["", root], ...installed]);
  writeFileSync(shrinkwrapFile, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`);
}
