import { NodeError } from "../../../base/errors.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { StepWork } from "../../../base/threads/in-slices.ts";
import type { SharedSlices } from "../../../base/threads/shared-slices.ts";
import { joinedJson } from "../../../rpc/methods/json/write.ts";
import { type Position, transactionsOf } from "../../../rpc/methods/ots/search.ts";
import { type CreationModules, creationOf } from "../../../rpc/methods/ots/traces.ts";
import type { ChainView } from "../../../rpc/ports/chain-view.ts";
import type { ContractsPort, KnownContract } from "../../../rpc/ports/contracts.ts";
import type { JsonText } from "../../../rpc/transport/codec.ts";
import { RequestTimeoutError } from "../../../rpc/transport/errors.ts";
import type { MemoryShare } from "../../../rpc/transport/memory-budget.ts";
import { ApiParameterError, addressOf, ETHERSCAN_API_LIMITS, type Parameters, verificationOf } from "./parameters.ts";
import { isOwnTransaction, rowBytes, transactionRow } from "./transactions.ts";

export type ActionModules = {
  readonly contracts: Omit<ContractsPort, "find">;
  readonly chain: CreationModules["chain"] &
    Pick<ChainView, "account" | "addressPage" | "header" | "receipt" | "transactionAt">;
  readonly execution: CreationModules["execution"];
};

/** The answer of an action: `status`, `message` and `result` of Etherscan. */
export type ApiAnswer = {
  readonly status: "0" | "1";
  readonly message: "OK" | "NOTOK";
  readonly result: unknown;
  /** JSON of the result, if it was written in steps. */
  readonly resultJson?: JsonText;
};

/** The request data that an action uses. */
export type ActionRequest = {
  /** The client has gone away. */
  readonly isAborted: boolean;
  /** The answer's share of the output memory. */
  readonly output: Pick<MemoryShare, "add">;
  readonly slices: SharedSlices;
};

type Action = {
  /** The equivalent JSON-RPC method: an action is served only if the listener serves its method. */
  readonly asMethod: string;
  /** The action changes something or compiles, so only POST may call it: any web page can make browsers send GET (RFC 9110, 9.2.1). */
  readonly changes?: true;
  /** The caller controls its duration, so only one runs at a time, among all callers. */
  readonly heavy?: true;
  run(parameters: Parameters, modules: ActionModules, request: ActionRequest): Promise<ApiAnswer>;
};

const ok = (result: unknown): ApiAnswer => ({ status: "1", message: "OK", result });
export const notOk = (result: string): ApiAnswer => ({ status: "0", message: "NOTOK", result });

/** The texts are Etherscan's: programs compare them. */
const NOT_VERIFIED = "Contract source code not verified";

/** By module and action. */
export const ACTIONS: Readonly<Record<string, Action>> = {
  "contract verifysourcecode": {
    asMethod: "eth_compileStandardJson",
    changes: true,
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
    heavy: true,
    async run(parameters, modules) {
      return ok([sourceCode(await verifiedAt(parameters.address("address"), modules))]);
    },
  },
  "contract getcontractcreation": {
    asMethod: "ots_getContractCreator",
    heavy: true,
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
    heavy: true,
    run: listTransactions,
  },
};

/** Only sources compiled by this node: callers trust every answer. */
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
    // Double braces distinguish standard JSON from a source.
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

/** Lists transactions from and to an address, and the one that created it. Transactions before the page are read but not written. */
async function listTransactions(
  parameters: Parameters,
  modules: ActionModules,
  request: ActionRequest,
): Promise<ApiAnswer> {
  const { transactionsMax, answerBytesMax } = ETHERSCAN_API_LIMITS;
  const address = parameters.address("address");
  const from = parameters.integer("startblock", 0, Number.MAX_SAFE_INTEGER);
  const to = parameters.integer("endblock", Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  const page = Math.max(1, parameters.integer("page", 1, transactionsMax));
  const size = parameters.integer("offset", transactionsMax, transactionsMax);
  if (page * size > transactionsMax) {
    return notOk(`Result window is too large, page and offset must not exceed ${transactionsMax} together`);
  }
  const order = parameters.find("sort") === "desc" ? "newestFirst" : "oldestFirst";
  const { chain } = modules;
  const head = (await chain.head()).header.number;
  const work = new StepWork();
  const rows: JsonText[] = [];
  let [looked, own, bytes] = [0, 0, 0];
  const lookAt = async ({ number, index }: Position): Promise<void> => {
    const mined = await chain.transactionAt({ at: number, index });
    const receipt = mined && (await chain.receipt({ hash: mined.tx.hash }));
    // The transaction was rolled back meanwhile.
    if (!receipt) return;
    let read = mined.tx.raw.length;
    for (const { data } of receipt.receipt.logs) read += data.length;
    if (isOwnTransaction(mined, receipt, address) && ++own > (page - 1) * size) {
      const length = rowBytes(mined);
      read += length;
      bytes += length;
      if (bytes > answerBytesMax)
        throw new ApiParameterError(`Result is larger than ${answerBytesMax} bytes, use offset`);
      request.output.add(length);
      rows.push(rows.length === 0 ? "[" : ",", Buffer.from(transactionRow(mined, receipt, head)));
    }
    if (work.add(read) && request.slices.isOver()) await request.slices.next();
    if (request.isAborted) throw new RequestTimeoutError();
  };
  // Internal transactions of the index do not count, so a page may need further ones.
  let range = { from, to };
  for (let isMore = true; isMore && own < page * size && looked < transactionsMax; ) {
    const transactionsMin = Math.min(page * size - own, transactionsMax - looked);
    const positions = await transactionsOf({ address, ...range, order, transactionsMin }, modules, request);
    for (const position of positions.found) {
      if (own === page * size || looked++ === transactionsMax) break;
      await lookAt(position);
    }
    const end = positions.found.at(-1)?.number;
    isMore = positions.isMore && end !== undefined;
    if (end !== undefined) range = order === "newestFirst" ? { from, to: end - 1 } : { from: end + 1, to };
  }
  if (rows.length === 0) return { status: "0", message: "NOTOK", result: [] };
  return { ...ok(undefined), resultJson: joinedJson(...rows, "]") };
}

/** The text of a failure that the caller can fix; undefined for others. */
export function reasonOf(error: unknown): string | undefined {
  return error instanceof ApiParameterError || error instanceof NodeError ? error.message : undefined;
}
