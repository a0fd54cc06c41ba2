import type * as Replaced from "../../node/adapters/solidity-compiler.ts";
import { UnsupportedInBrowserError } from "../web.ts";

/** The compiler is a package that the operator installs beside the node. */
export const createSolidityCompiler: typeof Replaced.createSolidityCompiler = () => ({
  compilerVersion: async () => undefined,
  async compile() {
    throw new UnsupportedInBrowserError("solc");
  },
});
