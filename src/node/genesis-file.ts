import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Config } from "../config/config.ts";
import { renderDevGenesis } from "../config/genesis.ts";
import { genesisPath } from "../config/home.ts";
import { NodeError } from "../errors.ts";
import { type Genesis, parseGenesis } from "../params/genesis.ts";

/** There is no chain in this home yet. */
export class HomeNotInitialisedError extends NodeError {
  readonly code = "HOME_NOT_INITIALISED";
  constructor(details: { readonly home: string }) {
    super(`no chain in ${details.home}: run "evmintd init" first, or "evmintd start --dev"`, details);
  }
}

/**
 * The genesis of a home. A dev chain writes its own at its first start, because the time of that start is part of it.
 * @throws HomeNotInitialisedError, InvalidGenesisError
 */
export function genesisOf(config: Config): Genesis {
  const path = genesisPath(config.home);
  if (!existsSync(path)) {
    if (!config.dev) throw new HomeNotInitialisedError({ home: config.home });
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, renderDevGenesis(Math.floor(Date.now() / 1000)), { flag: "wx" });
  }
  return parseGenesis(readFileSync(path, "utf8"));
}
