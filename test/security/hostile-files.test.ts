import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { NodeError } from "../../src/base/errors.ts";
import { parseGenesis } from "../../src/base/params/genesis.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { readNetworkFile } from "../../src/cli/commands/network-file.ts";
import { readJsonFile } from "../../src/consensus/cometbft/json-file.ts";
import { loadForkChoice } from "../../src/dev/fork/fork-point.ts";
import { createNode } from "../../src/index.ts";
import { readChainFile } from "../../src/node/chain-files/chain-file.ts";
import { AccountPermissions } from "../../src/node/config/account-permissions.ts";
import { readGenesisText } from "../../src/node/config/genesis/genesis-file.ts";
import { loadConfig } from "../../src/node/config/load.ts";
import { readJwtSecret } from "../../src/node/config/secrets.ts";
import { openTlsFiles } from "../../src/node/config/tls-files.ts";
import { readTokenState } from "../../src/node/config/token-file.ts";
import { KeyDirectory } from "../../src/node/keystore/key-directory.ts";
import { parseKeyFile } from "../../src/node/keystore/key-file.ts";
import { STRICT_LOGGER } from "../support/base/telemetry/strict-logger.ts";
import { HOSTILE_CONTENTS, HOSTILE_FILES } from "../support/store/storage/hostile-files.ts";

/**
 * Readers of files that an operator has from somewhere, each with what is at the file's path. A backup, artifacts and verified contracts have this in their own
 * tests.
 */
const READERS: Readonly<
  Record<string, { readonly name: string; readonly read: (path: string, home: string) => unknown }>
> = {
  "a genesis file": { name: "genesis.json", read: (path) => parseGenesis(readGenesisText(path)) },
  "an invitation": { name: "network.json", read: readNetworkFile },
  settings: {
    name: "config/app.toml",
    read: (_path, home) => loadConfig({ home, dev: false, flags: {}, environment: {} }),
  },
  "a list of accounts": {
    name: "accounts.json",
    read: (path) => new AccountPermissions(path, { log: STRICT_LOGGER, timers: fatalTimers }),
  },
  "a file of CometBFT": { name: "genesis.json", read: readJsonFile },
  "a fork's block": { name: "fork.json", read: loadForkChoice },
  "revoked tokens": { name: "config/tokens.json", read: (_path, home) => readTokenState(home) },
  "a secret": { name: "config/jwt.hex", read: (_path, home) => readJwtSecret(home) },
  "a certificate": {
    name: "cert.pem",
    read: (path, home) =>
      openTlsFiles(
        { home, tls: { cert: path, key: path, clientCa: "" } } as never,
        {
          log: STRICT_LOGGER,
          timers: fatalTimers,
        } as never,
      ),
  },
  "a key file": {
    name: "keystore/key",
    read: async (path) =>
      parseKeyFile(await new KeyDirectory(dirname(path), { allowReadableByOthers: true }).read(path)),
  },
  "a chain file": {
    name: "chain.rlp",
    async read(path) {
      for await (const _block of readChainFile(path));
    },
  },
  "a state": {
    name: "state.json",
    read: async (path) => (await createNode({ settings: { "load-state": path } })).stop(),
  },
};

const folder = mkdtempSync(join(tmpdir(), "evmint-hostile-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const skip = process.platform === "win32" && "there are no such files";
let count = 0;

/** What reading a file throws that `make` makes; undefined: it is taken. */
async function faultOf(reader: string, make: (path: string) => void): Promise<Error | undefined> {
  const { name, read } = READERS[reader]!;
  const home = join(folder, String(count++));
  const path = join(home, name);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  make(path);
  try {
    await read(path, home);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

for (const reader of Object.keys(READERS)) {
  test(`${reader} is a regular file of bounded size, or an error that names it`, { skip }, async () => {
    for (const [what, make] of Object.entries(HOSTILE_FILES)) {
      const fault = await faultOf(reader, make);
      assert(fault instanceof Error, `${what} is taken`);
      assert(fault.message.includes(READERS[reader]!.name), `${what}: ${fault.message}`);
      assert(fault instanceof NodeError, `${what}: ${fault.stack}`);
    }
  });

  test(`${reader} of any other content is a rejection, not a fault of the node`, async () => {
    for (const [what, content] of Object.entries(HOSTILE_CONTENTS)) {
      const fault = await faultOf(reader, (path) => writeFileSync(path, content, { mode: 0o600 }));
      assert(fault === undefined || fault instanceof NodeError, `${what}: ${fault?.stack}`);
    }
  });
}
