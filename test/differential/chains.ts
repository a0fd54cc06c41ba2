import { DEV_ADDRESSES } from "../support/accounts.ts";
import { fixture } from "../support/fixtures.ts";
import { type ChainFiles, writeScenarioChain } from "./scenario.ts";

export type ChainName = "scenario" | "amsterdam" | "upgrades" | "forks";

/** A chain that both nodes import. */
export type ChainUnderTest = {
  readonly name: ChainName;
  /** A funded account without code. */
  readonly sender: string;
  /** Undefined where the fixtures are missing. */
  files(): Promise<ChainFiles | undefined>;
};

/** The account that the scenario funds, in lower case as in answers. */
export const SCENARIO_SENDER = DEV_ADDRESSES[0].toLowerCase();

/** @param dir where files that are made here are written */
export function chainsUnderTest(dir: string): readonly ChainUnderTest[] {
  return [
    {
      name: "scenario",
      sender: SCENARIO_SENDER,
      files: () => writeScenarioChain(dir, "osaka"),
    },
    {
      name: "amsterdam",
      sender: SCENARIO_SENDER,
      files: () => writeScenarioChain(dir, "amsterdam"),
    },
    {
      name: "upgrades",
      sender: SCENARIO_SENDER,
      files: () => writeScenarioChain(dir, "shanghai"),
    },
    {
      name: "forks",
      sender: "0x7435ed30a8b4aeb0877cef0c6e8cffe834eb865f",
      files: async () => forksChain(),
    },
  ];
}

/** The recorded chain of execution-apis: one block for each fork from Frontier to Osaka. */
export function forksChain(): ChainFiles | undefined {
  const genesisFile = fixture("rpc-compat", "genesis.json");
  const chainFile = fixture("rpc-compat", "chain.rlp");
  return genesisFile && chainFile ? { genesisFile, chainFile } : undefined;
}
