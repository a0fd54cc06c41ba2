import type * as Replaced from "../../services/solidity-compiler.ts";
import { UnsupportedInBrowserError } from "../unsupported.ts";

/** The compiler is a package that the operator installs beside the node. */
export const createSolidityCompiler: typeof Replaced.createSolidityCompiler = () => ({
  compilerVersion: async () => undefined,
  async compile() {
    throw new UnsupportedInBrowserError("solc");
  },
});
