import { NodeError } from "../../errors.ts";
import type { Address } from "../../primitives/address.ts";
import {
  type AddressSearchModules,
  type SearchModules,
  searchResult,
  transactionsOf,
} from "../../rpc/methods/ots/search.ts";
import { type CreationModules, creationOf } from "../../rpc/methods/ots/traces.ts";
import type { ChainView } from "../../rpc/ports/chain-view.ts";
import type { ContractsPort, KnownContract } from "../../rpc/ports/contracts.ts";
import { ApiParameterError, addressOf, ETHERSCAN_API_LIMITS, type Parameters, verificationOf } from "./parameters.ts";
import { listedTransaction, type SearchedTransactions } from "./transactions.ts";

export type ActionModules = {
  readonly contracts: Omit<ContractsPort, "find">;
  readonly chain: CreationModules["chain"] &
    AddressSearchModules["chain"] &
    SearchModules["chain"] &
    Pick<ChainView, "account" | "header">;
  readonly execution: CreationModules["execution"];
};

/** What an action answers: `status`, `message` and `result` of Etherscan. */
export type ApiAnswer = { readonly status: "0" | "1"; readonly message: "OK" | "NOTOK"; readonly result: unknown };

type Action = {
  /** The JSON-RPC method that tells the same: what a listener keeps closed stays closed here. */
  readonly asMethod: string;
  run(parameters: Parameters, modules: ActionModules, signal: { readonly isAborted: boolean }): Promise<ApiAnswer>;
};

const ok = (result: unknown): ApiAnswer => ({ status: "1", message: "OK", result });
export const notOk = (result: string): ApiAnswer => ({ status: "0", message: "NOTOK", result });

/** Literal texts are Etherscan's: programs compare them. */
const NOT_VERIFIED = "Contract source code not verified";

/** By module and action. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  "contract verifysourcecode": {
    asMethod: "eth_compileStandardJson",
    async run(parameters, { contracts }) {
      const { id } = await contracts.verify(verificationOf(parameters));
      return ok(id);
    },
  },
  "contract checkverifystatus": {
    asMethod: "eth_compileStandardJson",
    async run(parameters, { contracts }) {
      const verification = await contracts.verification({ id: parameters.text("guid") });
      if (verification === undefined) return notOk("Unknown UID");
      if (verification.kind === "pending") return notOk("Pending in queue");
      if (verification.kind === "verified") return ok("Pass - Verified");
      return notOk(`Fail - Unable to verify. ${verification.reason}`);
    },
  },
  "contract getabi": {
    asMethod: "eth_getKnownContracts",
    async run(parameters, modules) {
      const contract = await verifiedAt(parameters.address("address"), modules);
      return contract === undefined ? notOk(NOT_VERIFIED) : ok(JSON.stringify(contract.abi));
    },
  },
  "contract getsourcecode": {
    asMethod: "eth_getKnownContracts",
    async run(parameters, modules) {
      return ok([sourceCode(await verifiedAt(parameters.address("address"), modules))]);
    },
  },
  "contract getcontractcreation": {
    asMethod: "ots_getContractCreator",
    async run(parameters, modules) {
      const addresses = parameters.text("contractaddresses").split(",").map(addressOf);
      const max = ETHERSCAN_API_LIMITS.creationsMax;
      if (addresses.length > max) throw new ApiParameterError(`at most ${max} addresses`);
      const found: object[] = [];
      for (const address of addresses) found.push(...(await creationJson(address, modules)));
      return found.length === 0 ? notOk("No data found") : ok(found);
    },
  },
  "account balance": {
    asMethod: "eth_getBalance",
    async run(parameters, { chain }) {
      const account = await chain.account({ address: parameters.address("address"), at: "latest" });
      return ok(String(account?.balance ?? 0n));
    },
  },
  "account txlist": {
    asMethod: "ots_searchTransactionsBefore",
    run: listTransactions,
  },
};

/** Of sources that were compiled here: callers take every answer for that. */
async function verifiedAt(address: Address, { contracts }: ActionModules): Promise<KnownContract | undefined> {
  const [known] = await contracts.known({ addresses: [address], withSources: true });
  return known?.verified === undefined ? undefined : known;
}

type Settings = {
  readonly optimizer?: { readonly enabled?: unknown; readonly runs?: unknown };
  readonly evmVersion?: unknown;
};

function sourceCode(contract: KnownContract | undefined): object {
  const { input, file, compilerVersion, constructorArguments } = contract?.verified ?? {};
  const { optimizer = {}, evmVersion } = (input?.settings ?? {}) as Settings;
  return {
    // Two pairs of braces tell standard JSON from a source.
    SourceCode: input === undefined ? "" : `{${JSON.stringify(input)}}`,
    ABI: contract === undefined ? NOT_VERIFIED : JSON.stringify(contract.abi),
    ContractName: contract?.name ?? "",
    ContractFileName: file ?? "",
    CompilerVersion: compilerVersion === undefined ? "" : `v${compilerVersion}`,
    CompilerType: contract === undefined ? "" : "solc",
    OptimizationUsed: contract === undefined ? "" : optimizer.enabled === true ? "1" : "0",
    Runs: contract === undefined ? "" : String(optimizer.runs ?? 200),
    ConstructorArguments: constructorArguments?.slice(2) ?? "",
    EVMVersion: contract === undefined ? "" : String(evmVersion ?? "Default"),
    Library: "",
    LicenseType: "",
    Proxy: "0",
    Implementation: "",
    SwarmSource: "",
    SimilarMatch: "",
  };
}

async function creationJson(address: Address, modules: ActionModules): Promise<readonly object[]> {
  const creation = await creationOf(address, modules);
  if (creation === undefined) return [];
  const { hash, creator, number, initCode } = creation;
  const sealed = await modules.chain.header({ at: number });
  return [
    {
      contractAddress: address,
      contractCreator: creator,
      txHash: hash,
      blockNumber: String(number),
      timestamp: String(sealed?.header.timestamp ?? ""),
      contractFactory: "",
      creationBytecode: initCode,
    },
  ];
}

/** Transactions from and to an address, and those that created it: others that the index has of it are internal. */
async function listTransactions(
  parameters: Parameters,
  modules: ActionModules,
  signal: { readonly isAborted: boolean },
): Promise<ApiAnswer> {
  const { transactionsMax } = ETHERSCAN_API_LIMITS;
  const address = parameters.address("address");
  const from = parameters.integer("startblock", 0, Number.MAX_SAFE_INTEGER);
  const to = parameters.integer("endblock", Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const page = Math.max(1, parameters.integer("page", 1, transactionsMax));
  const size = parameters.integer("offset", transactionsMax, transactionsMax);
  if (page * size > transactionsMax) {
    return notOk(`Result window is too large, page and offset must not exceed ${transactionsMax} together`);
  }
  const order = parameters.find("sort") === "desc" ? "newestFirst" : "oldestFirst";
  const query = { address, from, to, order, transactionsMin: transactionsMax } as const;
  const { found } = await transactionsOf(query, modules, signal);
  const text = await searchResult(found.slice(0, transactionsMax), { firstPage: true, lastPage: true }, modules);
  const { txs, receipts } = JSON.parse(text) as SearchedTransactions;
  const head = (await modules.chain.head()).header.number;
  const own = txs.flatMap((tx, i) => {
    const receipt = receipts[i]!;
    const isOwn = [tx.from, tx.to, receipt.contractAddress].includes(address);
    return isOwn ? [listedTransaction(tx, receipt, head)] : [];
  });
  const shown = own.slice((page - 1) * size, page * size);
  if (shown.length === 0) return { status: "0", message: "NOTOK", result: [] };
  return ok(shown);
}

/** The text of a failure that the caller can act on; undefined for others. */
export function reasonOf(error: unknown): string | undefined {
  return error instanceof ApiParameterError || error instanceof NodeError ? error.message : undefined;
}
