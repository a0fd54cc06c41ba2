import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { NodeError } from "../../errors.ts";
import { nodeId, nodeKeyFile, validatorKeyFile } from "./engine-keys.ts";

/** A file of the engine's home holds something else than the node needs. */
export class EngineHomeError extends NodeError {
  readonly code = "ENGINE_HOME";
}

/** Where CometBFT keeps its own. */
export type EngineHome = {
  readonly directory: string;
  /** Peer identity of this node. */
  readonly nodeId: string;
};

/**
 * Makes what is missing of CometBFT's home and rewrites its configuration. Keys and signing state that are there are never touched:
 * a validator that forgets what it signed can sign against itself.
 * @throws EngineHomeError when the genesis there is another one
 */
export function prepareEngineHome(
  directory: string,
  files: {
    /** `config.toml` */
    readonly config: string;
    /** `genesis.json` */
    readonly genesis: string;
    /** Of this validator; a full node gets a key of its own that is in no set. */
    readonly validatorKey?: Uint8Array;
  },
): EngineHome {
  const config = (name: string) => join(directory, "config", name);
  mkdirSync(join(directory, "config"), { recursive: true, mode: 0o700 });
  mkdirSync(join(directory, "data"), { recursive: true, mode: 0o700 });
  const genesis = config("genesis.json");
  if (existsSync(genesis) && readFileSync(genesis, "utf8") !== files.genesis) {
    throw new EngineHomeError(
      `${genesis} is of another chain: every node of a chain needs the same genesis file`,
      { file: genesis },
    );
  }
  createOnce(genesis, files.genesis, 0o644);
  const nodeKey = config("node_key.json");
  createOnce(nodeKey, json(nodeKeyFile(randomBytes(32))));
  createOnce(
    config("priv_validator_key.json"),
    json(validatorKeyFile(files.validatorKey ?? randomBytes(32))),
  );
  createOnce(
    join(directory, "data", "priv_validator_state.json"),
    json({ height: "0", round: 0, step: 0 }),
  );
  writeFileSync(config("config.toml"), files.config);
  return { directory, nodeId: nodeIdOf(nodeKey) };
}

function nodeIdOf(file: string): string {
  const { priv_key } = JSON.parse(readFileSync(file, "utf8")) as { priv_key: { value: string } };
  return nodeId(Buffer.from(priv_key.value, "base64").subarray(0, 32));
}

function createOnce(file: string, text: string, mode = 0o600): void {
  if (!existsSync(file)) writeFileSync(file, text, { mode, flag: "wx", flush: true });
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
