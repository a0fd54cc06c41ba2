import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Hash, parseHash } from "../primitives/hash.ts";
import { dataPath } from "./home.ts";

/**
 * Random id of the chain data in `home`, made when first asked for. It lies beside the data, so that deleting the chain deletes it and
 * the next chain of the home has another, although both have the same genesis block.
 */
export function instanceId(home: string): Hash {
  const path = join(dataPath(home), "instance-id");
  mkdirSync(dataPath(home), { recursive: true });
  try {
    writeFileSync(path, `0x${randomBytes(32).toString("hex")}\n`, { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return parseHash(readFileSync(path, "utf8").trim());
}
