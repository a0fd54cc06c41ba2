/** Compiles every `.sol` file of contracts, test/contracts and bench/contracts to a `.json` beside it: `{ abi, bytecode, runtime }`. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const solc = createRequire(import.meta.url)("solc") as { compile(input: string): string };
const root = fileURLToPath(new URL("..", import.meta.url));

type Artifact = {
  readonly abi: readonly object[];
  readonly evm: {
    readonly bytecode: { readonly object: string };
    readonly deployedBytecode: { readonly object: string };
  };
};

for (const dir of ["contracts", "test/contracts", "bench/contracts"]) {
  for (const file of readdirSync(join(root, dir)).filter((name) => name.endsWith(".sol"))) {
    const output = JSON.parse(
      solc.compile(
        JSON.stringify({
          language: "Solidity",
          sources: { [file]: { content: readFileSync(join(root, dir, file), "utf8") } },
          settings: {
            optimizer: { enabled: true, runs: 200 },
            metadata: { appendCBOR: false },
            evmVersion: "cancun",
            outputSelection: {
              "*": { "*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"] },
            },
          },
        }),
      ),
    ) as {
      readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
      readonly contracts?: Readonly<Record<string, Readonly<Record<string, Artifact>>>>;
    };
    const errors = output.errors?.filter(({ severity }) => severity === "error") ?? [];
    if (errors.length > 0) throw new Error(errors.map((e) => e.formattedMessage).join("\n"));
    for (const [name, { abi, evm }] of Object.entries(output.contracts?.[file] ?? {})) {
      const artifact = {
        abi,
        bytecode: `0x${evm.bytecode.object}`,
        runtime: `0x${evm.deployedBytecode.object}`,
      };
      writeFileSync(join(root, dir, `${name}.json`), `${JSON.stringify(artifact, null, 2)}\n`);
      console.log(`${dir}/${name}.json: ${(artifact.runtime.length - 2) / 2} bytes`);
    }
  }
}
