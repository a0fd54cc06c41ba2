import { randomBytes } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Hash, hashFromBytes, parseHash } from "../primitives/hash.ts";
import { makeFolder } from "../storage/make-folder.ts";
import type { Config } from "./config.ts";
import { dataPath, isInMemory } from "./home.ts";

/** Random id of a chain's data, made when first asked for. */
export type InstanceId = {
  value(): Hash;
  /** The chain began anew. */
  renew(): void;
};

export function openInstanceId(config: Pick<Config, "home" | "dev" | "devChain">): InstanceId {
  if (!isInMemory(config)) {
    return {
      value: () => storedId(config.home),
      renew: () => rmSync(pathOf(config.home), { force: true }),
    };
  }
  const random = () => hashFromBytes(randomBytes(32));
  let id = random();
  return {
    value: () => id,
    renew() {
      id = random();
    },
  };
}

/** Lies beside the data, so that deleting the chain deletes it and the next chain of the home has another, although both have the same genesis block. */
function pathOf(home: string): string {
  return join(dataPath(home), "instance-id");
}

function storedId(home: string): Hash {
  const path = pathOf(home);
  makeFolder(dataPath(home));
  try {
    writeFileSync(path, `0x${randomBytes(32).toString("hex")}\n`, { flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return parseHash(readFileSync(path, "utf8").trim());
}
