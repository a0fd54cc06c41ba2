import { CompilerError } from "../../dispatch/errors.ts";
import type { Compiler } from "../../ports/tools.ts";

/** Version of the Solidity compiler, as `0.8.35+commit.47b9dedd`. @throws CompilerError where none is installed */
export async function compilerVersion(tools: Compiler): Promise<string> {
  const version = await tools.compilerVersion();
  if (version === undefined) throw new CompilerError("compiler not available: solidity");
  return version;
}
