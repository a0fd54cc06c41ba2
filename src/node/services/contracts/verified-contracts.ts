import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Hex } from "../../../base/primitives/hex.ts";
import { isJsonObject, type JsonObject } from "../../../base/primitives/shape.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";
import { Contracts } from "../../../dev/artifacts/contracts.ts";
import {
  contractsOfBuild,
  decodeContract,
  MalformedArtifactError,
  type SolcInput,
} from "../../../dev/artifacts/parse-artifact.ts";
import type { ContractMatch } from "../../../rpc/ports/contracts.ts";
import { ifPresent } from "../../../store/storage/if-present.ts";
import { makeFolder } from "../../../store/storage/make-folder.ts";
import { readTextFile, UnusableFileError } from "../../../store/storage/read-file.ts";
import { replaceFile } from "../../../store/storage/replace-file.ts";
import { ContractVerificationError } from "./contract-verification-error.ts";

/** Stored verified contracts, whose sources anyone who can reach the node may send. */
export const VERIFIED_CONTRACT_LIMITS = {
  /**
   * A project has a hundred; each takes up to 100 KB of memory. The node rejects more, so that strangers cannot evict others' contracts.
   */
  contractsMax: 1000,
  /** Size of all sources on disk. */
  sourcesBytesMax: 256 * 2 ** 20,
  /** Size of one contract's standard JSON input; the largest known projects have 2 MB. */
  inputBytesMax: 4 * 2 ** 20,
  /** Size of one contract's ABI, code and immutable references. */
  factsBytesMax: 4 * 2 ** 20,
  /** Source files of one contract. */
  filesMax: 2000,
  /** Size of an ABI: 24 KB of code has a few hundred functions at most, and one answer contains up to a hundred ABIs. */
  abiBytesMax: 256 * 2 ** 10,
  /** Characters of a contract's name or a source's path. */
  nameCharsMax: 1024,
} as const;

/** A contract whose deployed code results from its sources with this node's compiler. */
export type VerifiedContract = {
  /** keccak256 of the deployed code */
  readonly codeHash: Hash;
  /** where it was verified: other addresses can have the same code */
  readonly address: Address;
  readonly name: string;
  /** the source that declares it */
  readonly file: string;
  readonly compilerVersion: string;
  readonly match: ContractMatch;
  /** as in solc's output */
  readonly compiled: {
    readonly abi: readonly object[];
    readonly evm: { readonly deployedBytecode: object };
  };
  readonly constructorArguments: Hex | null;
};

/** Storage of verified contracts' texts, by a name without folders. */
type TextFiles = {
  names(): readonly string[];
  size(name: string): number | undefined;
  /** undefined if it is missing or unusable. */
  read(name: string, bytesMax: number): string | undefined;
  write(name: string, text: string): void;
};

const FACTS = ".json";
const INPUT = ".input.json";

/**
 * The verified contracts of a home, found by their code, in two files each: facts, and sources, which are read on demand. The files are read at
 * the first use, so that a start costs nothing.
 */
export class VerifiedContracts {
  readonly #files: TextFiles;
  readonly #log: Logger;
  #loaded: Loaded | undefined;

  constructor(files: TextFiles, log: Logger) {
    this.#files = files;
    this.#log = log;
  }

  get all(): Iterable<VerifiedContract> {
    return this.#load().byHash.values();
  }

  /** The contract verified with `code`, or one verified with other immutables and libraries. */
  find(codeHash: Hash, code: Uint8Array): VerifiedContract | undefined {
    const { byHash, contracts, byContract } = this.#load();
    const same = byHash.get(codeHash);
    if (same !== undefined) return same;
    const found = contracts.withRuntime(code);
    const similar = found && byContract.get(found);
    return similar && { ...similar, constructorArguments: null };
  }

  /** Its standard JSON; undefined if the file is missing or `store` did not write it. */
  input({ codeHash }: Pick<VerifiedContract, "codeHash">): SolcInput | undefined {
    const input = parsed(this.#files.read(codeHash + INPUT, VERIFIED_CONTRACT_LIMITS.inputBytesMax));
    const sources = Object.values(Object(input?.["sources"]) as object);
    return sources.length > 0 && sources.every((source) => typeof Object(source).content === "string")
      ? (input as SolcInput)
      : undefined;
  }

  /**
   * Stores `contract` durably. It replaces one with the same code only if that one merely matches by instructions and the new one matches
   * exactly: a source that only has the same instructions can carry misleading names and comments.
   * @throws ContractVerificationError if one is stored already, or a limit is reached
   */
  store(contract: VerifiedContract, input: SolcInput): void {
    const loaded = this.#load();
    const text = JSON.stringify(input);
    const { contractsMax, sourcesBytesMax, abiBytesMax, factsBytesMax } = VERIFIED_CONTRACT_LIMITS;
    const known = loaded.byHash.get(contract.codeHash);
    if (known !== undefined && (known.match === "exact" || contract.match !== "exact")) {
      throw new ContractVerificationError(
        "Contract source code already verified: only an exact match replaces another",
      );
    }
    if (known === undefined && loaded.byHash.size >= contractsMax) {
      throw new ContractVerificationError(`this node already stores ${contractsMax} verified contracts`);
    }
    const bytes = Buffer.byteLength(text);
    const freed = loaded.bytes.get(contract.codeHash) ?? 0;
    if (loaded.sourcesBytes - freed + bytes > sourcesBytesMax) {
      throw new ContractVerificationError("this node has no room for more sources");
    }
    if (Buffer.byteLength(JSON.stringify(contract.compiled.abi)) > abiBytesMax) {
      throw new ContractVerificationError("the ABI is too large");
    }
    const facts = JSON.stringify(contract);
    if (Buffer.byteLength(facts) > factsBytesMax) throw new ContractVerificationError("the contract is too large");
    // The sources first: the facts refer to them.
    this.#files.write(contract.codeHash + INPUT, text);
    this.#files.write(contract.codeHash + FACTS, facts);
    addTo(loaded, contract, bytes);
  }

  #load(): Loaded {
    this.#loaded ??= this.#read();
    return this.#loaded;
  }

  #read(): Loaded {
    const loaded: Loaded = {
      byHash: new Map(),
      contracts: new Contracts(),
      byContract: new Map(),
      bytes: new Map(),
      sourcesBytes: 0,
    };
    const names = this.#files.names().filter((name) => name.endsWith(FACTS) && !name.endsWith(INPUT));
    for (const name of names.slice(0, VERIFIED_CONTRACT_LIMITS.contractsMax)) {
      const contract = decodeVerified(this.#files.read(name, VERIFIED_CONTRACT_LIMITS.factsBytesMax));
      const bytes = this.#files.size(name.slice(0, -FACTS.length) + INPUT);
      if (contract === undefined || name !== contract.codeHash + FACTS || bytes === undefined) {
        this.#log.warn("skipped an unusable file of a verified contract", { file: name });
        continue;
      }
      addTo(loaded, contract, bytes);
    }
    return loaded;
  }
}

type Loaded = {
  readonly byHash: Map<Hash, VerifiedContract>;
  readonly contracts: Contracts;
  readonly byContract: Map<unknown, VerifiedContract>;
  readonly bytes: Map<Hash, number>;
  sourcesBytes: number;
};

/** Adds `verified`, replacing one with the same code. Only exact matches are found with other immutables. */
function addTo(loaded: Loaded, verified: VerifiedContract, sourcesBytes: number): void {
  const { name, file, compiled, codeHash, match } = verified;
  loaded.byHash.set(codeHash, verified);
  if (match === "exact") {
    const [contract] = contractsOfBuild({}, { contracts: { [file]: { [name]: compiled as never } } });
    loaded.contracts.add(contract!);
    loaded.byContract.set(contract, verified);
  }
  loaded.sourcesBytes += sourcesBytes - (loaded.bytes.get(codeHash) ?? 0);
  loaded.bytes.set(codeHash, sourcesBytes);
}

/** undefined unless `store` wrote it: a user may have edited the file. */
function decodeVerified(text: string | undefined): VerifiedContract | undefined {
  const value = parsed(text);
  if (value === undefined) return undefined;
  const { codeHash, address, name, file, compilerVersion, match, compiled, constructorArguments } = value;
  const texts = [codeHash, address, name, file, compilerVersion];
  const isWhole =
    texts.every((each) => typeof each === "string") &&
    HASH.test(codeHash as string) &&
    ADDRESS.test(address as string) &&
    (match === "exact" || match === "same instructions") &&
    isVerifiedJson(compiled) &&
    (constructorArguments === null || DATA.test(String(constructorArguments)));
  return isWhole ? (value as unknown as VerifiedContract) : undefined;
}

function isVerifiedJson(compiled: unknown): boolean {
  const { abi, evm } = Object(compiled) as JsonObject;
  if (!Array.isArray(abi) || (Object(evm) as JsonObject)["deployedBytecode"] === undefined) return false;
  try {
    contractsOfBuild({}, { contracts: { file: { name: decodeContract(compiled) } } });
    return true;
  } catch (error) {
    if (error instanceof MalformedArtifactError) return false;
    throw error;
  }
}

function parsed(text: string | undefined): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text ?? "");
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const HASH = /^0x[0-9a-f]{64}$/;
const ADDRESS = /^0x[0-9a-f]{40}$/;
const DATA = /^0x(?:[0-9a-f]{2})*$/;

/** Files in `folder`, which the first write creates. */
export function filesInFolder(folder: string): TextFiles {
  return {
    names: () => ifPresent(() => readdirSync(folder)) ?? [],
    size(name) {
      const stat = lstatSync(join(folder, name), { throwIfNoEntry: false });
      return stat?.isFile() ? stat.size : undefined;
    },
    read(name, bytesMax) {
      try {
        return ifPresent(() => readTextFile(join(folder, name), { bytesMax }));
      } catch (error) {
        if (error instanceof UnusableFileError) return undefined;
        throw error;
      }
    },
    write(name, text) {
      makeFolder(folder);
      replaceFile(join(folder, name), text, 0o600);
    },
  };
}

/** For a chain in memory. */
export function filesInMemory(): TextFiles {
  const texts = new Map<string, string>();
  return {
    names: () => [...texts.keys()],
    size(name) {
      const text = texts.get(name);
      return text === undefined ? undefined : Buffer.byteLength(text);
    },
    read: (name) => texts.get(name),
    write: (name, text) => void texts.set(name, text),
  };
}
