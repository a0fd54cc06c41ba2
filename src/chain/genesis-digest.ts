import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Hash, parseHash } from "../base/primitives/hash.ts";
import { replaceFile } from "../store/storage/replace-file.ts";

const FILE = "genesis.digest";

/**
 * The hash of block 0 that a genesis file gives, remembered in a data directory: computing it takes a trie of all its accounts,
 * seconds for a million of them.
 *
 *     genesis.digest   SHA-256 of the genesis file, in hex ‖ space ‖ hash of block 0 ‖ newline
 */
export type GenesisDigest = {
  /** undefined when nothing is remembered of a file with this text */
  hash(): Hash | undefined;
  /** Remembers the hash; a disk that does not take it costs the next start the computation. */
  remember(hash: Hash): void;
};

/** @param text of the genesis file */
export function openGenesisDigest(directory: string, text: string): GenesisDigest {
  const path = join(directory, FILE);
  const digest = createHash("sha256").update(text).digest("hex");
  return {
    hash() {
      try {
        const [known, hash = ""] = readFileSync(path, "latin1").trimEnd().split(" ");
        return known === digest ? parseHash(hash) : undefined;
      } catch {
        return undefined;
      }
    },
    remember(hash) {
      try {
        replaceFile(path, `${digest} ${hash}\n`, 0o600);
      } catch {
        // As before: computed again.
      }
    },
  };
}
