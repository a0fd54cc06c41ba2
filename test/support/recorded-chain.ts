import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { genesisPath } from "../../src/node/config/home.ts";
import { loadConfig } from "../../src/node/config/load.ts";
import { readJwtSecret } from "../../src/node/config/secrets.ts";
import { nodeOperations } from "../../src/node/roles/operations.ts";
import { signJwt } from "../../src/rpc/transport/auth/jwt.ts";
import { NodeLog } from "./node-log.ts";
import { PATIENT_ENVIRONMENT, patient } from "./patient.ts";

export type RecordedChain = {
  readonly url: string;
  /** A header that private methods accept. */
  authorization(): Readonly<Record<string, string>>;
  stop(): Promise<void>;
};

/** Starts a node that has imported the RLP chain file on the geth genesis file, with a free port and its own home. */
export async function startRecordedChain(options: {
  readonly genesisFile: string;
  readonly chainFile: string;
}): Promise<RecordedChain> {
  const home = mkdtempSync(join(tmpdir(), "evmint-recorded-"));
  try {
    mkdirSync(dirname(genesisPath(home)), { recursive: true });
    cpSync(options.genesisFile, genesisPath(home));
    const { config } = loadConfig({
      home,
      dev: false,
      flags: {
        "json-rpc.enable": true,
        "json-rpc.address": "127.0.0.1:0",
        "json-rpc.ws-address": "127.0.0.1:0",
        "json-rpc.api": "all",
        "consensus.block-time": "manual",
        "index.addresses": true,
      },
      environment: PATIENT_ENVIRONMENT,
      // Answers are compared, not times: a loaded machine takes long for a trace.
      limits: patient(),
    });
    const log = new NodeLog();
    await nodeOperations.importChain(config, log.logger, {
      file: options.chainFile,
      onProgress() {},
      signal: new AbortController().signal,
    });
    const node = await nodeOperations.startNode(config, log.logger);
    const { url } = node.listeners.find(({ kind }) => kind === "http")!;
    return {
      url,
      authorization() {
        const token = signJwt({ iat: Math.floor(Date.now() / 1000) }, readJwtSecret(home));
        return { authorization: `Bearer ${token}` };
      },
      async stop() {
        await node.stop();
        rmSync(home, { recursive: true });
        log.assertErrors([]);
      },
    };
  } catch (error) {
    rmSync(home, { recursive: true });
    throw error;
  }
}
