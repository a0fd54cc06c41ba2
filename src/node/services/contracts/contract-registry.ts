import { randomBytes } from "node:crypto";
import { NodeError } from "../../../base/errors.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { type Hash, hashToBytes } from "../../../base/primitives/hash.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import type { Failures } from "../../../base/telemetry/failures.ts";
import type { Contract, Contracts } from "../../../dev/artifacts/contracts.ts";
import { textsOf } from "../../../dev/artifacts/parse-artifact.ts";
import { type CreationModules, creationOf } from "../../../rpc/methods/ots/traces.ts";
import type {
  ContractsPort,
  FoundContract,
  KnownContract,
  Verification,
  VerificationRequest,
} from "../../../rpc/ports/contracts.ts";
import type { InspectionPort } from "../../../rpc/ports/inspection.ts";
import type { Compiler } from "../../../rpc/ports/tools.ts";
import { CompilerBusyError } from "../../../rpc/transport/errors.ts";
import {
  assertCompiler,
  checkedInput,
  compileContract,
  constructorArguments,
  declarationOf,
  matchOf,
} from "./compile-sources.ts";
import { ContractVerificationError } from "./contract-verification-error.ts";
import type { VerifiedContract, VerifiedContracts } from "./verified-contracts.ts";

/** Pending and recent verifications, and the work of a search. */
export const CONTRACT_REGISTRY_LIMITS = {
  /** Pending verifications, as many as the compiler queues; each holds its sources in memory. */
  pendingMax: 8,
  /** Stored outcomes; programs poll within seconds. */
  outcomesMax: 200,
  /** Accounts that a search by name reads, in hash order; enough for a dev chain. */
  accountsMax: 10_000,
  /** Contract codes whose lookup is cached, found or not. */
  codesMax: 10_000,
} as const;

const ACCOUNTS_A_READ = 256;

export type ContractRegistryModules = {
  /** From `--artifacts`. */
  readonly artifacts: Contracts | undefined;
  readonly verified: VerifiedContracts;
  readonly compiler: Compiler;
  readonly chain: CreationModules["chain"];
  readonly execution: CreationModules["execution"];
  readonly inspection: Pick<InspectionPort, "dumpState">;
  readonly failures: Pick<Failures, "guard">;
};

/** The chain's contracts that the node knows, from artifacts and from sources verified here. */
export class ContractRegistry implements ContractsPort {
  readonly #modules: ContractRegistryModules;
  readonly #verifications = new Map<string, Verification>();
  readonly #artifactByCode = new Map<Hash, Contract | undefined>();
  readonly #complete: (id: string, work: () => Promise<Verification>) => void;
  #pending = 0;

  constructor(modules: ContractRegistryModules) {
    this.#modules = modules;
    this.#complete = modules.failures.guard(
      "contract verification",
      async (id: string, work: () => Promise<Verification>) => {
        try {
          this.#note(id, await work());
        } catch (error) {
          const isRejection = error instanceof NodeError;
          this.#note(id, { kind: "failed", reason: isRejection ? error.message : "the node failed" });
          if (!isRejection) throw error;
        } finally {
          this.#pending--;
        }
      },
    );
  }

  async known(input: {
    readonly addresses: readonly Address[];
    readonly withSources: boolean;
  }): Promise<readonly (KnownContract | undefined)[]> {
    const { chain } = this.#modules;
    const known: (KnownContract | undefined)[] = [];
    for (const address of input.addresses) {
      const code = await chain.code({ address, at: "latest" });
      known.push(code.length === 0 ? undefined : this.#knownBy(address, code, input.withSources));
    }
    return known;
  }

  #knownBy(address: Address, code: Uint8Array, withSources: boolean): KnownContract | undefined {
    const codeHash = keccak256Hash(code);
    const { verified } = this.#modules;
    const own = verified.find(codeHash, code);
    if (own !== undefined) return this.#verifiedAt(address, own, withSources);
    const artifact = this.#artifactOf(codeHash, code);
    if (artifact === undefined) return undefined;
    const { name, abi } = artifact;
    const sources = (withSources && artifact.sources?.()) || {};
    return { address, name, origin: "artifacts", match: "exact", abi, compilerVersion: undefined, sources };
  }

  #verifiedAt(address: Address, contract: VerifiedContract, withSources: boolean): KnownContract {
    const { name, match, compiled, compilerVersion, file } = contract;
    const base = { address, name, origin: "verified", match, abi: compiled.abi as KnownContract["abi"] } as const;
    const input = withSources ? this.#modules.verified.input(contract) : undefined;
    if (input === undefined) return { ...base, compilerVersion, sources: {} };
    const isSame = contract.address === address && contract.constructorArguments !== null;
    return {
      ...base,
      compilerVersion,
      sources: textsOf(input, file),
      verified: {
        input,
        file,
        compilerVersion,
        constructorArguments: isSame ? contract.constructorArguments! : undefined,
      },
    };
  }

  #artifactOf(codeHash: Hash, code: Uint8Array): Contract | undefined {
    const byCode = this.#artifactByCode;
    if (!byCode.has(codeHash)) {
      if (byCode.size >= CONTRACT_REGISTRY_LIMITS.codesMax) byCode.clear();
      byCode.set(codeHash, this.#modules.artifacts?.withRuntime(code));
    }
    return byCode.get(codeHash);
  }

  async find(input: { readonly name: string; readonly countMax: number }): Promise<readonly FoundContract[]> {
    const wanted = input.name.toLowerCase();
    const found = new Map<Address, FoundContract>();
    const take = ({ address, name, origin }: FoundContract) => {
      if (name.toLowerCase().startsWith(wanted)) found.set(address, { address, name, origin });
    };
    const { verified, artifacts } = this.#modules;
    for (const { address } of verified.all) {
      const [known] = await this.known({ addresses: [address], withSources: false });
      if (known !== undefined) take(known);
    }
    // Reading the state pays only if an artifact has such a name.
    if (artifacts?.all.some(({ name }) => name.toLowerCase().startsWith(wanted))) {
      for await (const known of this.#deployed()) take(known);
    }
    const isWhole = ({ name }: FoundContract) => Number(name.toLowerCase() !== wanted);
    return [...found.values()].sort((a, b) => isWhole(a) - isWhole(b)).slice(0, input.countMax);
  }

  async *#deployed(): AsyncGenerator<KnownContract> {
    let start: Uint8Array = new Uint8Array(0);
    for (let read = 0; read < CONTRACT_REGISTRY_LIMITS.accountsMax; read += ACCOUNTS_A_READ) {
      const request = { start, accountsMax: ACCOUNTS_A_READ, withCode: true, withStorage: false };
      const { accounts, next } = await this.#modules.inspection.dumpState({ at: "latest", request });
      for (const { address, code } of accounts) {
        const known = code.length === 0 ? undefined : this.#knownBy(address, code, false);
        if (known !== undefined) yield known;
      }
      if (next === undefined) return;
      start = hashToBytes(next);
    }
  }

  async verify(request: VerificationRequest): Promise<{ readonly id: string }> {
    if (this.#pending >= CONTRACT_REGISTRY_LIMITS.pendingMax) throw new CompilerBusyError();
    this.#pending++;
    try {
      const work = await this.#prepare(request);
      const id = randomBytes(25).toString("hex");
      this.#note(id, { kind: "pending" });
      this.#pending++;
      this.#complete(id, work);
      return { id };
    } finally {
      this.#pending--;
    }
  }

  async verification({ id }: { readonly id: string }): Promise<Verification | undefined> {
    return this.#verifications.get(id);
  }

  /** Does the work before compilation. @returns the remaining work */
  async #prepare(request: VerificationRequest): Promise<() => Promise<Verification>> {
    const { chain, verified, compiler } = this.#modules;
    const { address } = request;
    const code = await chain.code({ address, at: "latest" });
    // Programs look for this text.
    if (code.length === 0) throw new ContractVerificationError(`Unable to locate ContractCode at ${address}`);
    const codeHash = keccak256Hash(code);
    if (verified.find(codeHash, code)?.match === "exact") {
      throw new ContractVerificationError("Contract source code already verified");
    }
    const input = checkedInput(request.input);
    const declaration = declarationOf(request.contract, input);
    const compilerVersion = await assertCompiler(request.compilerVersion, compiler);
    return async () => {
      const { contract, compiled } = await compileContract(input, declaration, compiler);
      const match = matchOf(code, contract);
      const creation = await creationOf(address, this.#modules).catch(() => undefined);
      const own = creation && constructorArguments(creation.initCode, contract, request.constructorArguments);
      verified.store(
        {
          codeHash,
          address,
          ...declaration,
          compilerVersion,
          match,
          compiled,
          constructorArguments: own ?? null,
        },
        input,
      );
      return { kind: "verified", match };
    };
  }

  #note(id: string, verification: Verification): void {
    const verifications = this.#verifications;
    verifications.set(id, verification);
    const [oldest] = verifications.keys();
    if (verifications.size > CONTRACT_REGISTRY_LIMITS.outcomesMax) verifications.delete(oldest!);
  }
}
