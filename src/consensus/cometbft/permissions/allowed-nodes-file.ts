import { type Stats, statSync } from "node:fs";
import { NodeError } from "../../../errors.ts";
import { isJsonObject } from "../../../primitives/shape.ts";
import { readTextFile } from "../../../storage/read-file.ts";
import type { Logger } from "../../../telemetry/logger.ts";

/** The file of `cometbft.allowed-nodes-file` cannot be read, or is no list of nodes. */
class AllowedNodesFileError extends NodeError {
  readonly code = "ENGINE_ALLOWED_NODES_FILE";
}

/** Some five thousand nodes with long names: no network of validators has more. */
const BYTES_MAX = 1 << 20;
const NODE_ID = /^[0-9a-fA-F]{40}$/;

/**
 * The nodes that may connect, from a file: a JSON object whose keys are ids of 40 hex digits, each with a text for people. It is read again
 * when it has changed. A file that is gone, or is no such list, changes nothing: the last good list counts.
 */
export class AllowedNodesFile {
  readonly #path: string;
  readonly #log: Logger;
  #ids: ReadonlySet<string>;
  /** The file that was looked at last, good or not; empty: there was none. */
  #seen: string;

  /** @throws AllowedNodesFileError: without a list the node would not know any */
  constructor(path: string, log: Logger) {
    this.#path = path;
    this.#log = log;
    this.#seen = this.#version();
    this.#ids = readAllowedNodes(path);
  }

  /** @param id 40 hex digits, lower-case */
  has(id: string): boolean {
    return this.#ids.has(id);
  }

  /** Reads the file where it is another one than the last time. */
  refresh(): void {
    const version = this.#version();
    if (version === this.#seen) return;
    this.#seen = version;
    try {
      this.#ids = readAllowedNodes(this.#path);
      this.#log.info("allowed nodes read", { file: this.#path, nodes: this.#ids.size });
    } catch (error) {
      if (!(error instanceof AllowedNodesFileError)) throw error;
      this.#log.error("allowed nodes not read: the list before counts on", { error, nodes: this.#ids.size });
    }
  }

  #version(): string {
    try {
      const stats = statSync(this.#path, { throwIfNoEntry: false });
      return stats === undefined ? "" : versionOf(stats);
    } catch (error) {
      // A circle of links, or a folder that this user may not enter: reading it says so.
      return String((error as NodeJS.ErrnoException).code);
    }
  }
}

/** An editor replaces a file, or writes it in place. */
function versionOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [ino, size, mtimeMs, ctimeMs].join();
}

/** @throws AllowedNodesFileError */
function readAllowedNodes(file: string): ReadonlySet<string> {
  const fail = (reason: string, cause?: unknown) =>
    new AllowedNodesFileError(`cometbft.allowed-nodes-file: ${file} ${reason}`, { file }, { cause });
  let text: string;
  try {
    text = readTextFile(file, { bytesMax: BYTES_MAX });
  } catch (cause) {
    throw fail(`cannot be read: ${(cause as Error).message}`, cause);
  }
  let nodes: unknown;
  try {
    nodes = JSON.parse(text);
  } catch (cause) {
    throw fail("is no JSON", cause);
  }
  if (!isJsonObject(nodes)) {
    throw fail('is no object such as {"ID": "name"}');
  }
  for (const [id, name] of Object.entries(nodes)) {
    if (!NODE_ID.test(id)) throw fail(`has ${JSON.stringify(id.slice(0, 80))}, which is no id of 40 hex digits`);
    if (typeof name !== "string") throw fail(`has no name, a text, for ${id}`);
  }
  return new Set(Object.keys(nodes).map((id) => id.toLowerCase()));
}
